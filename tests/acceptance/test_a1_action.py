"""A1 action: what runs is what was approved, on the thread's own terms, or nothing."""

from __future__ import annotations

import pytest

from tests.kit.office import ADA
from tests.kit.steps import (
    blindfold,
    call,
    deciding,
    heard,
    opened,
    pause,
    pending,
    propose_instead,
    redrawn,
    resume,
    sent,
    stands,
    unblind,
)

pytestmark = pytest.mark.asyncio

OTHER_ARGUMENTS = call("disable_user", user_id="u_0001", reason="chargeback dispute")
OTHER_TOOL = call("restart_host", host="db-1.internal")


async def test_a1_action_an_approved_call_does_not_run_once_the_agent_proposes_other_arguments(office_of):
    async with office_of(kind="aegra") as office:
        thread = await office.propose("one")
        card = await office.card("disable_user", button="decide.approve")
        await pause(office)
        await office.click(ADA, card, "decide.approve")
        old = await office.review(thread, state="decided")

        await propose_instead(office, thread, OTHER_ARGUMENTS)
        await resume(office)

        await stands(office, old, "superseded", why="thread_moved_on")
        assert not deciding(await redrawn(office, old, "Superseded"))
        (fresh,) = await opened(office, thread)
        assert office.ran(thread) == []
        assert heard(office, thread) == []

        await office.click(ADA, await office.card_of(fresh, button="decide.approve"), "decide.approve")
        await stands(office, fresh, "resumed")
        assert [one["args"] for one in office.effects(thread)] == [OTHER_ARGUMENTS["args"]]


async def test_a1_action_the_dispatch_itself_notices_that_another_tool_is_proposed(office_of):
    async with office_of() as office:
        thread = await office.propose("one")
        card = await office.card("disable_user", button="decide.approve")
        await pause(office)
        await office.click(ADA, card, "decide.approve")
        old = await office.review(thread, state="decided")
        blindfold(office)

        await propose_instead(office, thread, OTHER_TOOL)
        await resume(office)

        await stands(office, old, "superseded", why="thread_moved_on")
        assert office.ran(thread) == []
        assert heard(office, thread) == []
        unblind(office)
        (fresh,) = await opened(office, thread)
        assert fresh.id != old.id
        assert fresh.actions[0].decision is None


@pytest.mark.parametrize("kind", ["langgraph", "aegra"])
async def test_a1_action_one_approved_call_of_another_assistants_thread_runs_alone(office_of, kind):
    async with office_of(kind=kind, tools='      "*": {decisions: [approve, reject]}\n') as office:
        thread = await office.propose("per-call")
        two = {review.actions[0].tool: review for review in await opened(office, thread, 2)}
        approved, other = two["execute_sql"], two["disable_user"]

        await office.click(ADA, await office.card_of(approved, button="decide.approve"), "decide.approve")
        await stands(office, approved, "resumed")

        assert office.ran(thread) == ["execute_sql"]
        assert [one["id"] for one in await pending(office, thread)] == [other.interrupt_id]
        assert (await stands(office, other, "open")).actions[0].decision is None
        (body,) = sent(office, thread)
        assert body["assistant_id"] == (await office.thread(thread))["metadata"]["assistant_id"]
        assert body["command"] == {"resume": {approved.interrupt_id: {"type": "approve"}}}
