"""B2 keyed: each of several pending interrupts is answered under its own id, and its siblings go on waiting."""

from __future__ import annotations

import asyncio

import pytest

from tests.kit.office import ADA
from tests.kit.steps import heard, opened, pending, sent, stands

pytestmark = pytest.mark.asyncio

OUTCOMES = {"executed", "rejected", "taken"}


async def by_tool(office, thread, count):
    return {review.actions[0].tool: review for review in await opened(office, thread, count)}


async def approve(office, review):
    await office.click(ADA, await office.card_of(review, button="decide.approve"), "decide.approve")


async def reject(office, review):
    await office.click(ADA, await office.card_of(review, button="decide.reject"), "decide.reject")
    await office.submit(ADA, {"m.0": "No."})


def keyed(bodies):
    """Every answer names exactly one interrupt and no checkpoint."""
    assert all(set(body) == {"assistant_id", "command", "config", "multitask_strategy"} for body in bodies)
    assert all(list(body["command"]) == ["resume"] and len(body["command"]["resume"]) == 1 for body in bodies)
    return [next(iter(body["command"]["resume"])) for body in bodies]


@pytest.mark.parametrize("kind", ["langgraph", "aegra"])
async def test_b2_keyed_the_second_of_two_goes_first_and_the_other_still_waits(office_of, kind):
    async with office_of(kind=kind) as office:
        thread = await office.propose("parallel")
        two = await by_tool(office, thread, 2)

        await approve(office, two["execute_sql"])
        await stands(office, two["execute_sql"], "resumed")
        assert office.ran(thread) == ["execute_sql"]
        assert [one["id"] for one in await pending(office, thread)] == [two["disable_user"].interrupt_id]
        assert (await stands(office, two["disable_user"], "open")).actions[0].decision is None

        await approve(office, two["disable_user"])
        await stands(office, two["disable_user"], "resumed")
        assert office.ran(thread) == ["execute_sql", "disable_user"]
        assert keyed(sent(office, thread)) == [two[tool].interrupt_id for tool in ("execute_sql", "disable_user")]


@pytest.mark.parametrize("kind", ["langgraph", "aegra"])
async def test_b2_keyed_three_at_once_end_executed_rejected_or_taken(office_of, kind):
    async with office_of(kind=kind, replicas=2) as office:
        thread = await office.propose("parallel-three")
        three = await by_tool(office, thread, 3)

        await reject(office, three["send_email"])
        await asyncio.gather(approve(office, three["execute_sql"]), approve(office, three["disable_user"]))
        ended = {tool: await stands(office, review, "resumed") for tool, review in three.items()}

        outcomes = {tool: review.actions[0].outcome.value for tool, review in ended.items()}
        assert set(outcomes.values()) <= OUTCOMES
        assert outcomes["send_email"] == "rejected"
        assert sorted(office.ran(thread)) == ["disable_user", "execute_sql"]
        assert sorted(keyed(sent(office, thread))) == sorted(review.interrupt_id for review in three.values())
        assert len(heard(office, thread)) == 3
