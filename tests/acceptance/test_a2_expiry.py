"""A2 expiry: what nobody decided and sent in time never runs, by the database's clock."""

from __future__ import annotations

import pytest

from tests.kit.crossing import ONE_AND_TWO
from tests.kit.office import ADA, buttons
from tests.kit.operating import ask
from tests.kit.steps import (
    call,
    decide_in_modal,
    heal,
    opened,
    pause,
    paused,
    redrawn,
    reread,
    resume,
    says,
    stands,
    start,
)

pytestmark = pytest.mark.asyncio
REPLICAS = ONE_AND_TWO

DAY_MS = 24 * 3_600_000


async def a_waiting_card(office, preset="one"):
    thread = await office.propose(preset)
    (review,) = await opened(office, thread)
    return review, await office.card_of(review, button="decide.approve")


async def test_a2_expiry_a_decision_after_the_time_is_refused_and_everything_is_rejected(office_of):
    async with office_of() as office:
        review, card = await a_waiting_card(office)

        office.advance(DAY_MS + 1_000)
        answer = await office.click(ADA, card, "decide.approve")
        await stands(office, review, "resumed")

        assert answer["acked"]
        assert office.ran() == []
        (message,) = await office.tool_messages(review.thread_id)
        assert "not executed" in message["content"]
        await redrawn(office, review, "nobody decided in time")
        kinds = [event.kind for event in await office.events(review.id)]
        assert "review.expired" in kinds
        assert "decision.made" not in kinds


async def test_a2_expiry_what_was_decided_in_time_and_not_sent_in_time_is_not_sent(office_of):
    async with office_of() as office:
        review, card = await a_waiting_card(office)
        await pause(office)
        await office.click(ADA, card, "decide.approve")
        await stands(office, review, "decided")

        office.advance(DAY_MS + 1_000)
        await stands(office, review, "expired")
        await resume(office)
        await stands(office, review, "resumed")

        assert office.ran() == []
        (message,) = await office.tool_messages(review.thread_id)
        assert message["status"] == "error"


async def test_a2_expiry_a_partly_decided_batch_is_rejected_whole(office_of):
    async with office_of() as office:
        calls = [call("disable_user", user_id=f"u_{number}", reason="dormant") for number in range(2)]
        thread = await office.propose(turns=[calls])
        (review,) = await opened(office, thread)
        await office.click(ADA, await office.card_of(review, 0, button="decide.approve"), "decide.approve")
        await redrawn(office, review, "Decided", position=0)

        office.advance(DAY_MS + 1_000)
        settled = await stands(office, review, "resumed")

        assert office.ran() == []
        assert [action.outcome.value for action in settled.actions] == ["expired", "expired"]


async def test_a2_expiry_what_cannot_be_rejected_is_held_until_an_operator_opens_it_again(office_of):
    async with office_of() as office:
        given = {"messages": [{"role": "user", "content": "one"}]}
        thread = await start(office, "ops_when", given)
        await paused(office, thread)
        (review,) = await opened(office, thread)

        office.advance(DAY_MS + 1_000)
        held = await stands(office, review, "held", why="not_rejectable")
        await redrawn(office, review, "cannot be rejected")
        told = await ask(office, "reopen", review=review)
        again = await stands(office, review, "open")
        await reread(office, ADA)
        await office.click(ADA, await office.card_of(review, button="decide.approve"), "decide.approve")
        await stands(office, review, "resumed")

        assert told["ok"]
        assert again.decide_by > held.decide_by
        assert office.ran() == ["disable_user"]


async def test_a2_expiry_hold_keeps_the_decision_of_an_unsent_review_from_counting_after_it_is_reopened(office_of):
    async with office_of(more="    on_expiry: hold\n") as office:
        review, card = await a_waiting_card(office)
        await pause(office)
        await office.click(ADA, card, "decide.approve")
        await stands(office, review, "decided")
        office.advance(DAY_MS + 1_000)
        await stands(office, review, "expired")
        await resume(office)
        await stands(office, review, "held", why="held_by_policy")

        await ask(office, "reopen", review=review)
        opened_again = await stands(office, review, "open")
        assert opened_again.actions[0].decision is None
        await reread(office, ADA)
        await decide_in_modal(office, ADA, await office.card_of(review, button="decide.reject"), "reject", "No.")
        await stands(office, review, "resumed")

        assert office.ran() == []
        (message,) = await office.tool_messages(review.thread_id)
        assert "No." in message["content"]


async def test_a2_expiry_a_card_that_was_never_delivered_never_expires(office_of):
    async with office_of() as office:
        await office.fault("chat.postMessage", error="internal_error", times=None)
        thread = await office.propose("one")
        review = await office.review(thread, state="open")

        office.advance(2 * DAY_MS)
        await heal(office)
        office.advance(120_000)
        (posted,) = await opened(office, thread)
        delivered = await stands(office, posted, "open")

        assert delivered.id == review.id
        assert delivered.decide_by > delivered.delivered_at > review.opened_at + DAY_MS


async def test_a2_expiry_the_last_minute_offers_no_approve(office_of):
    async with office_of() as office:
        review, _ = await a_waiting_card(office)
        now = await office.stores[0].now()
        review = await stands(office, review, "open")

        office.advance(review.decide_by - now - 30_000)

        async def without_approve():
            found = await office.card_of(review)
            return found if "decide.approve" not in buttons(found) else None

        late = await office.until(without_approve, "a card without Approve")
        assert "decide.reject" in buttons(late)
        assert "Decide by" in says(late)
