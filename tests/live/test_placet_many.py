"""Several interrupts of one thread at once, each its own review, answered one at a time under its own id."""

import pytest

from bot.core.model import Outcome
from tests.kit.office import ADA, buttons

pytestmark = [pytest.mark.live, pytest.mark.asyncio]
# Aegra does not say what a call allows that pauses by itself.
LISTED = '      "*": {decisions: [approve, reject]}\n'


async def waiting(office, thread, count):
    """The thread's reviews by tool, once so many wait."""

    async def there():
        found = await office.reviews(thread)
        return found if len(found) == count else None

    found = await office.until(there, f"{count} reviews of {thread}")
    return {review.actions[0].tool: review for review in found}


async def approve(office, review):
    await office.click(ADA, await office.card_of(review, button="decide.approve"), "decide.approve")


async def reject(office, review):
    await office.click(ADA, await office.card_of(review, button="decide.reject"), "decide.reject")
    await office.submit(ADA, {"m.0": "not now"})


async def ended(office, thread):
    """Each call's outcome by its tool, once every review has ended for good or as unknown."""
    found = await office.settled(thread, states=("resumed", "superseded", "broken", "unknown"))
    return {review.actions[0].tool: review.actions[0].outcome for review in found}


@pytest.mark.parametrize("route", ["runs", "commands"])
async def test_three_interrupts_decided_in_another_order_end_known_and_run_once_each(live_office, route):
    async with live_office(resume=route) as office:
        thread = await office.propose("parallel-three")
        by_tool = await waiting(office, thread, 3)

        await approve(office, by_tool["send_email"])
        await reject(office, by_tool["execute_sql"])
        await approve(office, by_tool["disable_user"])
        outcomes = await ended(office, thread)

        assert outcomes["execute_sql"] is Outcome.REJECTED
        assert {outcomes["send_email"], outcomes["disable_user"]} <= {Outcome.EXECUTED, Outcome.TAKEN}
        assert sorted(office.ran(thread)) == ["disable_user", "send_email"]


async def test_one_answered_interrupt_leaves_its_siblings_waiting(live_office):
    async with live_office() as office:
        thread = await office.propose("parallel-three")
        by_tool = await waiting(office, thread, 3)

        await approve(office, by_tool["execute_sql"])
        await office.until(lambda: state_of(office, by_tool["execute_sql"], "resumed"), "the answer to be taken")
        await office.hint(thread)
        after = await waiting(office, thread, 3)

        assert office.ran(thread) == ["execute_sql"]
        assert [after[tool].state.value for tool in ("disable_user", "send_email")] == ["open", "open"]
        pending = {interrupt["id"] for interrupt in (await office.state(thread))["interrupts"]}
        assert pending == {after["disable_user"].interrupt_id, after["send_email"].interrupt_id}


async def state_of(office, review, state):
    return next(one for one in await office.reviews(review.thread_id) if one.id == review.id).state.value == state


async def test_calls_that_pause_one_by_one_are_decided_one_by_one(live_office):
    async with live_office(tools=LISTED) as office:
        thread = await office.propose("per-call")
        by_tool = await waiting(office, thread, 2)

        await reject(office, by_tool["execute_sql"])
        await approve(office, by_tool["disable_user"])

        assert await ended(office, thread) == {"execute_sql": Outcome.REJECTED, "disable_user": Outcome.EXECUTED}
        assert office.ran(thread) == ["disable_user"]


@pytest.mark.parametrize("route", ["runs", "commands"])
async def test_of_two_calls_that_pause_one_by_one_only_the_approved_one_runs(live_office, route):
    async with live_office(resume=route, tools=LISTED) as office:
        thread = await office.propose("per-call")
        by_tool = await waiting(office, thread, 2)

        await approve(office, by_tool["execute_sql"])
        await office.until(lambda: state_of(office, by_tool["execute_sql"], "resumed"), "the answer to be taken")
        await office.hint(thread)
        left = (await waiting(office, thread, 2))["disable_user"]

        assert office.ran(thread) == ["execute_sql"]
        assert left.state.value == "open"
        assert "decide.approve" in buttons(await office.card_of(left))
