"""Cards that somebody deleted, and posts of which nobody knows whether they arrived: one card in the end."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from tests.kit.office import ADA, BEN, CHANNEL, buttons
from tests.kit.running import (
    approve,
    calls,
    change,
    deciding,
    decisions,
    fault_of,
    fields,
    office_in,
    opened,
    posted,
    rows_of,
    said,
)
from tests.kit.sights import cards_of, known_at

pytestmark = pytest.mark.asyncio


# -- 070: the card is gone


async def test_case_070_a_card_deleted_while_its_window_is_open_is_answered_and_told_of_once(tmp_path):
    async with office_in(tmp_path) as office:
        thread = await office.propose("one")
        card = await office.card("disable_user", button="decide.reject")
        view = await opened(office, BEN, card, "decide.reject")

        await change(office, "delete-message", channel=CHANNEL, ts=card["ts"])
        closed = await office.submit(BEN, {fields(view, "m")[0]: "No."})
        await office.settled(thread)
        settled = await office.card("Rejected", without="decide.reject")

        assert (closed["view"], closed["error"]) == (None, None)
        assert settled["ts"] != card["ts"]
        assert deciding(settled) == []
        assert len(await cards_of(office)) == 1
        assert len(await calls(office, "chat.postMessage", well=True)) == 2
        assert office.ran(thread) == []


async def test_case_070_a_card_deleted_while_it_waits_is_posted_again_at_the_next_touch_and_can_be_decided(tmp_path):
    async with office_in(tmp_path, more="    decide_within: 10m\n") as office:
        thread = await office.propose("one")
        card = await office.card("disable_user", button="decide.approve")
        await posted(office, thread)

        await change(office, "delete-message", channel=CHANNEL, ts=card["ts"])
        office.advance(9 * 60_000 + 15_000)  # the last minute begins, and the card is drawn anew
        again = await office.card("disable_user", button="decide.reject")
        await said(office, ADA, again, "reject", "Out of time.")
        await office.settled(thread)

        assert again["ts"] != card["ts"]
        assert len(await calls(office, "chat.postMessage", well=True)) == 2
        (message,) = await office.tool_messages(thread)
        assert "Out of time." in message["content"]


async def test_case_070_a_deleted_root_comes_again_and_its_calls_are_still_decided(tmp_path):
    async with office_in(tmp_path) as office:
        thread = await office.propose("three")
        root = await office.card("wait together", button="review.open")
        await office.cards(4)

        await change(office, "delete-message", channel=CHANNEL, ts=root["ts"])
        review = await office.review(thread)
        await approve(office, ADA, await office.card_of(review, 0, button="decide.approve"))
        await office.until(lambda: another_root(office, root), "another root")
        fresh = await office.card("wait together", button="review.open")
        view = await opened(office, ADA, fresh, "review.open")
        await office.press(ADA, view, "decision", "d.1", value="reject", wait_s=20)
        await office.submit(ADA, {"d.1": "reject", "m.1": "no", "m.2": "EU"})
        await office.settled(thread)

        assert sorted(office.ran(thread)) == ["disable_user", "read_data"]


async def another_root(office, root):
    return [card for card in await cards_of(office) if card["ts"] != root["ts"]]


# -- 071: posted or not?

LOST = [{"drop": "after"}, {"error": "internal_error", "drop": "after", "status": 500}]


@pytest.mark.parametrize("lost", LOST, ids=["cut off", "answered 500"])
async def test_case_071_a_post_whose_answer_was_lost_is_found_by_its_mark_and_not_repeated(tmp_path, lost):
    async with office_in(tmp_path) as office:
        await office.fault("chat.postMessage", **lost)
        thread = await office.propose("one")
        card = await office.card("disable_user", button="decide.approve")

        office.advance(5_000)
        await approve(office, ADA, card)
        await office.settled(thread)
        settled = await office.card("Ran", without="decide.approve")

        assert settled["ts"] == card["ts"]
        assert len(await cards_of(office)) == 1
        assert len(await calls(office, "chat.postMessage")) == 1
        assert card["metadata"]["event_type"]
        assert "u_4821" not in json.dumps(card["metadata"]), "everybody in the workspace can read metadata"


async def test_case_071_of_two_posts_that_both_arrived_unheard_one_is_left(tmp_path):
    async with office_in(tmp_path) as office:
        await office.fault("chat.postMessage", drop="after")
        thread = await office.propose("one")
        await office.until(lambda: tried(office, thread), "the first attempt")
        (lost,) = office.world.messages[CHANNEL].values()
        office.world.put(replace(lost, ts=office.world.next_ts()))

        office.advance(5_000)
        await office.until(lambda: alone(office), "the other one to go")
        await approve(office, ADA, await office.card("disable_user", button="decide.approve"))
        await office.settled(thread)

        assert office.ran(thread) == ["disable_user"]


async def alone(office):
    return len(await cards_of(office)) == 1


async def test_case_071_where_the_history_may_not_be_read_a_card_twice_is_better_than_none(tmp_path):
    async with office_in(tmp_path) as office:
        scopes = ["chat:write", "users:read", "usergroups:read", "channels:read"]
        await change(office, "installation", team="T0DEMO", scopes=scopes)
        await office.fault("chat.postMessage", drop="before")
        thread = await office.propose("one")
        await office.until(lambda: tried(office, thread), "the first attempt")
        office.advance(5_000)
        card = await office.card("disable_user", button="decide.approve")

        await approve(office, ADA, card)
        await office.settled(thread)

        assert office.ran(thread) == ["disable_user"]
        assert await fault_of(office) is None


async def tried(office, thread):
    rows = [row for review in await office.reviews(thread) for row in await rows_of(office, review)]
    return rows and all(row.last_error for row in rows)


async def test_case_071_of_two_cards_for_one_call_either_decides_and_one_is_left_at_the_end(tmp_path):
    async with office_in(tmp_path) as office:
        await office.fault("chat.postMessage", drop="after")
        await office.fault("conversations.history", error="missing_scope")  # as if the history did not show it yet
        thread = await office.propose("one")
        await office.until(lambda: tried(office, thread), "the first post to be in doubt")
        office.advance(5_000)
        first, second = await office.cards(2)

        await approve(office, ADA, first)
        await approve(office, BEN, second)
        await office.settled(thread)
        settled = await office.card("Ran", without="decide.approve")
        await office.until(lambda: one_card(office), "the other card to go")

        assert settled["ts"] == second["ts"]
        assert await decisions(office) == 1
        assert office.ran(thread) == ["disable_user"]
        assert "already decided" in await office.told(BEN)


async def one_card(office):
    return len(await cards_of(office)) == 1


async def test_case_071_a_copy_that_shows_up_late_is_removed_though_nobody_presses_anything(tmp_path):
    async with office_in(tmp_path) as office:
        await office.fault("chat.postMessage", drop="after")
        await office.fault("conversations.history", error="missing_scope")
        thread = await office.propose("one")
        await office.until(lambda: tried(office, thread), "the first post to be in doubt")
        office.advance(5_000)
        _, second = await office.cards(2)
        await office.until(lambda: known_at(office, thread, second), "the second to be known")

        office.advance(61_000)
        await office.until(lambda: one_card(office), "the copy to go")

        (left,) = await cards_of(office)
        assert left["ts"] == second["ts"]
        assert "decide.approve" in buttons(left)
        assert (await office.review(thread)).state.value == "open"


async def test_case_071_a_copy_that_may_not_be_deleted_keeps_the_other_card_from_nothing(tmp_path):
    async with office_in(tmp_path) as office:
        await office.fault("chat.postMessage", drop="after")
        await office.fault("conversations.history", error="missing_scope")
        await office.fault("chat.delete", error="cant_delete_message", times=None)
        thread = await office.propose("one")
        await office.until(lambda: tried(office, thread), "the first post to be in doubt")
        office.advance(5_000)
        _, second = await office.cards(2)

        await approve(office, ADA, second)
        await office.settled(thread)
        settled = await office.card("Ran", without="decide.approve")

        assert settled["ts"] == second["ts"]
        assert office.ran(thread) == ["disable_user"]
