"""Slack refuses, limits, forgets or loses a message: cards come right in the end, each once, and no decision is touched."""

from __future__ import annotations

import json

import pytest

from tests.kit.office import ADA, CHANNEL, buttons
from tests.kit.running import approve, calls, change, events, fault_of, office_in, rows_of
from tests.kit.sights import cards_of, known_at

pytestmark = pytest.mark.asyncio

BOT = "U0BOT"
LONG_MS = 10 * 60_000


# -- 067: limits


async def test_case_067_after_a_429_the_rest_waits_as_long_as_slack_says_and_comes_each_once_in_order(tmp_path):
    async with office_in(tmp_path) as office:
        await office.fault("chat.postMessage", status=429, retry_after=30)
        threads = []
        for number in range(4):
            call = {"name": "disable_user", "args": {"user_id": f"u_{number}", "reason": "x"}}
            threads.append(await office.propose(turns=[[call]]))
            await office.until(lambda thread=threads[-1]: office.reviews(thread), "the review to be stored")
        await office.until(lambda: limited_rows(office, threads), "every card to wait its turn")
        refused = await calls(office, "chat.postMessage")

        office.advance(31_000)
        await office.cards(4)

        assert [call["error"] for call in refused] == ["ratelimited"], "one refusal speaks for all of them"
        shown = [json.dumps(card["blocks"]) for card in await cards_of(office)]
        assert [next(n for n in range(4) if f"u_{n}" in text) for text in shown] == [0, 1, 2, 3]


async def limited_rows(office, threads):
    rows = [row for thread in threads for row in await rows_of(office, (await office.reviews(thread))[0])]
    return all(row.last_error == "ratelimited" for row in rows)


async def test_case_067_a_limited_card_holds_no_answer_back_and_is_updated_once_for_all_that_happened(tmp_path):
    async with office_in(tmp_path) as office:
        thread = await office.propose("one")
        card = await office.card("disable_user", button="decide.approve")

        await office.fault("chat.update", status=429, retry_after=120)
        await approve(office, ADA, card)
        (review,) = await office.settled(thread)
        await office.until(lambda: limited_rows(office, [thread]), "the refused update to be put off")
        ran = office.ran(thread)
        stale = (await cards_of(office))[0]
        office.advance(121_000)
        settled = await office.card("Ran", without="decide.approve")

        assert ran == ["disable_user"]
        assert "decide.approve" in buttons(stale)
        assert settled["ts"] == card["ts"]
        assert len(await calls(office, "chat.update", well=True)) == 1
        assert (await rows_of(office, review))[0].ts == card["ts"]


async def test_case_067_another_method_goes_on_while_one_is_limited(tmp_path):
    async with office_in(tmp_path) as office:
        thread = await office.propose("one")
        card = await office.card("disable_user", button="decide.approve")

        await office.fault("chat.postMessage", status=429, retry_after=600)
        await office.propose("email")
        await office.until(lambda: calls(office, "chat.postMessage", well=False), "the refused post")
        await approve(office, ADA, card)
        await office.settled(thread)
        settled = await office.card("Ran", without="decide.approve")

        assert settled["ts"] == card["ts"]
        assert len(await cards_of(office)) == 1


# -- 068: it cannot be posted

UNDELIVERABLE = ["channel_not_found", "restricted_action", "restricted_action_read_only_channel"]


@pytest.mark.parametrize("error", UNDELIVERABLE)
async def test_case_068_a_card_that_cannot_be_posted_is_known_as_undelivered_and_goes_out_after_the_mend(
    tmp_path, error
):
    async with office_in(tmp_path) as office:
        await office.fault("chat.postMessage", error=error, times=None)
        thread = await office.propose("one")
        await office.until(lambda: fault_of(office), "the tenant to ail")
        (review,) = await office.reviews(thread)
        ailing, (row,) = await fault_of(office), await rows_of(office, review)

        office.advance(LONG_MS)
        still = (await office.review(thread)).state.value
        await change(office, "faults", clear=True)
        office.advance(LONG_MS)
        card = await office.card("disable_user", button="decide.approve")
        await office.until(lambda: well(office), "the tenant to be well")
        await approve(office, ADA, card)
        await office.settled(thread)

        assert (ailing, row.ts, review.delivered_at) == (error, None, None)
        assert still == "open", "an undelivered card neither expires nor counts as answered"
        assert len(await cards_of(office)) == 1
        assert office.ran(thread) == ["disable_user"]


async def well(office):
    return await fault_of(office) is None


async def test_case_068_a_bot_that_is_invited_again_posts_what_it_owes(tmp_path):
    async with office_in(tmp_path) as office:
        await change(office, "channels", id=CHANNEL, remove=[BOT])
        thread = await office.propose("one")
        await office.until(lambda: fault_of(office), "the tenant to ail")

        await change(office, "channels", id=CHANNEL, add=[BOT])
        office.advance(LONG_MS)
        await office.card("disable_user", button="decide.approve")
        await office.until(lambda: well(office), "the tenant to be well")

        assert len(await cards_of(office)) == 1
        kinds = [event.kind for event in await events(office, "tenant.fault", "tenant.recovered")]
        assert kinds == ["tenant.fault", "tenant.recovered"]
        assert (await office.review(thread)).delivered_at is not None


async def test_case_068_a_bot_that_was_thrown_out_after_posting_still_takes_the_press(tmp_path):
    async with office_in(tmp_path) as office:
        thread = await office.propose("one")
        card = await office.card("disable_user", button="decide.approve")

        await change(office, "channels", id=CHANNEL, remove=[BOT])
        await office.fault("chat.update", error="not_in_channel", times=None)
        await approve(office, ADA, card)
        await office.settled(thread)
        await office.until(lambda: fault_of(office), "the tenant to ail")
        await change(office, "channels", id=CHANNEL, add=[BOT])
        await change(office, "faults", clear=True)
        office.advance(LONG_MS)
        settled = await office.card("Ran", without="decide.approve")

        assert office.ran(thread) == ["disable_user"]
        assert settled["ts"] == card["ts"]


async def test_case_068_a_post_that_slack_took_without_saying_where_is_found_and_not_repeated(tmp_path):
    async with office_in(tmp_path) as office:
        await office.fault("chat.postMessage", omit="ts")
        thread = await office.propose("one")
        card = await office.card("disable_user", button="decide.approve")

        office.advance(5_000)
        await office.until(lambda: known_at(office, thread, card), "the card to be found")
        await approve(office, ADA, card)
        await office.settled(thread)

        assert len(await cards_of(office)) == 1
        assert office.ran(thread) == ["disable_user"]


async def test_case_068_a_channel_that_the_policy_gives_up_is_where_nothing_more_is_owed(tmp_path):
    from tests.kit.office import policy_text

    async with office_in(tmp_path) as office:
        await change(office, "channels", id=CHANNEL, archived=True)
        thread = await office.propose("one")
        await office.until(lambda: fault_of(office), "the tenant to ail")

        await change(office, "channels", id="C0GENERAL", add=[BOT])
        text = policy_text(office.agent.url, kind=office.agent.kind)
        await office.apply_policy(text.replace(CHANNEL, "C0GENERAL"))
        office.advance(LONG_MS)
        await office.until(lambda: well(office), "the tenant to be well")

        (row,) = await rows_of(office, (await office.reviews(thread))[0])
        assert row.channel == "C0GENERAL"
        assert row.ts in office.world.messages["C0GENERAL"]
