"""The same press twice, by two hands, through two replicas, redelivered, over a socket that went away: one decision."""

from __future__ import annotations

import asyncio

import pytest

from bot.slack.client import socket_mode
from tests.kit.forging import forge
from tests.kit.office import ADA, BEN, WHO, buttons
from tests.kit.running import (
    approve,
    button,
    change,
    deciding,
    decisions,
    deliveries,
    events,
    modal,
    office_in,
    opened,
    posted,
    press_of,
    replay,
    said,
)

pytestmark = pytest.mark.asyncio


async def test_case_050_a_double_click_on_two_replicas_is_one_decision_and_no_error_for_anybody(tmp_path):
    async with office_in(tmp_path, replicas=2) as office:
        thread = await office.propose("one")
        card = await office.card("disable_user", button="decide.approve")

        answers = await asyncio.gather(*(approve(office, ADA, card) for _ in range(4)))
        await office.settled(thread)

        assert all(answer["acked"] for answer in answers)
        assert office.ran(thread) == ["disable_user"]
        assert await decisions(office) == 1
        assert len(await office.messages()) == 1, "nothing but the card stands in the channel"
        await office.told(ADA, "already decided")


async def test_case_050_approve_against_reject_ends_as_whichever_was_first_says(tmp_path):
    async with office_in(tmp_path, replicas=2) as office:
        thread = await office.propose("one")
        card = await office.card("disable_user", button="decide.reject")
        view = await opened(office, BEN, card, "decide.reject")

        await asyncio.gather(approve(office, ADA, card), office.submit(BEN, {view["blocks"][-1]["block_id"]: "No."}))
        (review,) = await office.settled(thread)

        (made,) = await events(office, "decision.made")
        won = review.actions[0].decision
        assert office.ran(thread) == (["disable_user"] if won.type.value == "approve" else [])
        assert made.actor.endswith(won.by.user)
        settled = await office.card("", without="decide.approve")
        assert ("Ran" in str(settled["blocks"]), "Rejected" in str(settled["blocks"])) == (
            won.type.value == "approve",
            won.type.value == "reject",
        )
        loser = ADA if won.by.user == BEN else BEN
        told = await office.ephemerals(loser) if loser == ADA else list((await modal(office, BEN))["errors"].values())
        assert any("already decided" in text for text in told)


async def test_case_051_a_redelivered_press_is_answered_as_the_first_was(tmp_path):
    async with office_in(tmp_path) as office:
        thread = await office.propose("one")
        card = await office.card("disable_user", button="decide.approve")
        await approve(office, ADA, card)
        await office.settled(thread)

        (delivered,) = await deliveries(office, "block_actions")
        again = [await replay(office, delivered) for _ in range(3)]

        assert [answer["status"] for answer in again] == [200, 200, 200]
        assert await decisions(office) == 1
        assert await events(office, "press.refused") == []
        assert await office.ephemerals(ADA) == []
        assert office.ran(thread) == ["disable_user"]


async def test_case_051_a_redelivered_submission_closes_its_window_like_the_first(tmp_path):
    async with office_in(tmp_path) as office:
        thread = await office.propose("one")
        card = await office.card("disable_user", button="decide.reject")
        await said(office, ADA, card, "reject", "Not today.")
        await office.settled(thread)

        (delivered,) = await deliveries(office, "view_submission")
        again = await replay(office, delivered)

        assert again["status"] == 200
        assert "errors" not in again["body"]
        assert len(await office.tool_messages(thread)) == 1
        assert await decisions(office) == 1


async def test_case_051_a_press_whose_first_delivery_was_lost_is_taken_though_it_says_retry(tmp_path):
    async with office_in(tmp_path) as office:
        thread = await office.propose("one")
        card = await office.card("disable_user", button="decide.approve")

        retried = {"x-slack-retry-num": "1", "x-slack-retry-reason": "http_timeout"}
        payload = press_of(card, "decide.approve", value=button(card, "decide.approve")["value"])
        answer = await forge(office, payload, headers=retried)
        await office.settled(thread)

        assert answer.status_code == 200
        assert office.ran(thread) == ["disable_user"]


async def test_case_051_an_envelope_sent_again_over_the_socket_decides_once(tmp_path):
    async with office_in(tmp_path, transport="socket") as office:
        thread = await office.propose("one")
        card = await office.card("disable_user", button="decide.approve")
        await approve(office, ADA, card)
        await office.settled(thread)

        (delivered,) = await deliveries(office, "block_actions")
        again = await replay(office, delivered)

        assert again["status"] == 200
        assert await decisions(office) == 1
        assert office.ran(thread) == ["disable_user"]


async def test_case_054_one_interrupt_that_is_told_many_times_has_one_card(tmp_path):
    async with office_in(tmp_path, replicas=2) as office:
        thread = await office.propose("one")
        await asyncio.gather(*(office.hint(thread) for _ in range(10)))
        card = await office.card("disable_user", button="decide.approve")
        await asyncio.gather(*(office.hint(thread) for _ in range(10)))

        await approve(office, ADA, card)
        await office.settled(thread)
        await asyncio.gather(*(office.hint(thread) for _ in range(10)))
        settled = await office.card("Ran", without="decide.approve")
        await all_read(office)

        assert [message["ts"] for message in await office.messages()] == [card["ts"]] == [settled["ts"]]
        assert len(await office.reviews(thread)) == 1


async def all_read(office):
    """Wait until every replica has taken its hints."""

    async def taken():
        return not any(placet.watcher._hints for placet in office.replicas)

    await office.until(taken, "all hints to be taken")


# -- decided or ended elsewhere


async def answered_elsewhere(office, thread):
    """Another client answers the waiting interrupt."""
    (waiting,) = [one for task in (await office.state(thread))["tasks"] for one in task["interrupts"]]
    answer = {"decisions": [{"type": "reject", "message": "decided in the web page"}]}
    body = {"assistant_id": "ops", "command": {"resume": {waiting["id"]: answer}}}
    (await office.agents.post(f"/threads/{thread}/runs/wait", json=body, headers=WHO)).raise_for_status()


async def test_case_056_a_card_answered_elsewhere_loses_its_buttons_without_a_press(tmp_path):
    async with office_in(tmp_path) as office:
        thread = await office.propose("one")
        card = await office.card("disable_user", button="decide.approve")
        view = await opened(office, BEN, card, "decide.reject")

        await answered_elsewhere(office, thread)
        gone = await office.card("disable_user", without="decide.approve")
        await forge(office, press_of(card, "decide.approve", value=button(card, "decide.approve")["value"]))
        late = await office.submit(BEN, {view["blocks"][-1]["block_id"]: "No."})

        assert gone["ts"] == card["ts"]
        assert deciding(gone) == []
        assert "no longer waiting" in await office.told(ADA)
        assert "no longer waiting" in str(late["errors"]) + str(late["view"])
        assert await decisions(office) == 0
        assert office.ran(thread) == []


async def test_case_056_a_deleted_thread_ends_its_card(tmp_path):
    async with office_in(tmp_path) as office:
        thread = await office.propose("one")
        card = await office.card("disable_user", button="decide.approve")

        (await office.agents.delete(f"/threads/{thread}", headers=WHO)).raise_for_status()
        await office.hint(thread)
        gone = await office.card("disable_user", without="decide.approve")

        assert gone["ts"] == card["ts"]
        assert (await office.review(thread)).state.value == "superseded"


async def test_case_056_a_call_whose_time_ran_out_is_rejected_and_its_buttons_say_so(tmp_path):
    async with office_in(tmp_path, more="    decide_within: 10m\n") as office:
        thread = await office.propose("one")
        card = await office.card("disable_user", button="decide.approve")
        old = button(card, "decide.approve")["value"]
        await posted(office, thread)

        office.advance(11 * 60_000)
        await office.settled(thread)
        gone = await office.card("disable_user", without="decide.reject")
        await forge(office, press_of(card, "decide.approve", value=old))

        assert gone["ts"] == card["ts"]
        assert await office.told(ADA)
        assert office.ran(thread) == []
        assert await decisions(office) == 0


# -- Socket Mode


async def connected(office):
    """Whether at least one socket is open."""
    found = (await office.slack.get("/sandbox/socket")).raise_for_status().json()
    return found["connections"] > 0


@pytest.mark.parametrize(
    "ending",
    [{"reason": "refresh_requested"}, {"reason": "warning", "close": True}, {"cut": True}],
    ids=["asked to reconnect", "hung up on", "cut"],
)
async def test_case_064_after_its_socket_ended_the_bot_connects_again_and_the_next_press_counts(tmp_path, ending):
    async with office_in(tmp_path, transport="socket") as office:
        thread = await office.propose("one")
        card = await office.card("disable_user", button="decide.approve")

        await change(office, "socket", **ending)
        await office.until(lambda: pressed(office, card), "a press to arrive again", patience=40)
        await office.settled(thread)

        assert office.ran(thread) == ["disable_user"]
        assert await decisions(office) == 1


async def pressed(office, card):
    """Press as somebody does whose press failed: again."""
    if await connected(office) and "decide.approve" in buttons((await office.messages())[0]):
        await approve(office, ADA, card)
    return await decisions(office)


async def test_case_064_a_socket_that_is_open_and_dead_is_noticed_and_the_next_press_counts(tmp_path, monkeypatch):
    monkeypatch.setattr(socket_mode, "PING_S", 0.4)
    async with office_in(tmp_path, transport="socket") as office:
        thread = await office.propose("one")
        card = await office.card("disable_user", button="decide.approve")

        dead = await change(office, "socket", silent=True)
        lost = await approve(office, ADA, card)
        # Sooner than the sandbox's own server would find out, which pings too.
        await office.until(lambda: pressed(office, card), "a press to arrive again", patience=15)
        await office.settled(thread)

        assert dead["connections"] == 1
        assert not lost["acked"]
        assert office.ran(thread) == ["disable_user"]
        assert await decisions(office) == 1


async def test_case_064_a_press_that_found_no_socket_is_lost_and_nothing_else_is(tmp_path):
    async with office_in(tmp_path, transport="socket") as office:
        thread = await office.propose("one")
        card = await office.card("disable_user", button="decide.approve")

        await office.fault("deliver.block_actions", drop="before")
        lost = await approve(office, ADA, card)
        await approve(office, ADA, card)
        await office.settled(thread)

        assert not lost["acked"]
        assert office.ran(thread) == ["disable_user"]


async def test_case_051_the_same_request_twice_over_http_with_its_old_signature_is_answered_alike(tmp_path):
    async with office_in(tmp_path) as office:
        thread = await office.propose("one")
        card = await office.card("disable_user", button="decide.approve")
        await approve(office, ADA, card)
        await office.settled(thread)

        (delivered,) = await deliveries(office, "block_actions")
        again = await change(office, "replay", number=delivered["number"])

        assert again["status"] == 200
        assert await decisions(office) == 1
