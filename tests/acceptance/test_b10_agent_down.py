"""B10 agent down: for an hour nothing gets through to the agent server, and decisions wait where people can see it.

The hour is the database's; the gate before the server cuts every connection. That a single request or answer is lost
stands in `tests.acceptance.test_a5_wire`.
"""

from __future__ import annotations

import pytest

from blocks.reasons import why_text
from tests.kit.office import ADA, BEN
from tests.kit.steps import decide_in_modal, deciding, heard, opened, redrawn, stands
from tests.kit.wires import wired_office

pytestmark = pytest.mark.asyncio

MINUTE_MS = 60_000
STEPS, STEP_MS = 6, 10 * MINUTE_MS  # an hour
SOON = "      send_email: {decide_within: 30m}\n"


async def an_hour_passes(office, gate, *reviews):
    """In steps, so that the bot tries again all the while; nothing leaves and nothing is given up."""
    for _ in range(STEPS):
        before = gate.turned_away
        office.advance(STEP_MS)
        await office.until(lambda before=before: more(gate, before), "the server to be tried again")
        for review in reviews:
            await stands(office, review, "decided", "claimed")


async def more(gate, before):
    return gate.turned_away > before


@pytest.mark.parametrize("kind", ["langgraph", "aegra"])
async def test_b10_agent_down_for_an_hour_keeps_decisions_and_sends_each_once_when_it_is_back(database, tmp_path, kind):
    async with wired_office(database, tmp_path, kind=kind, replicas=2) as (office, gate):
        approved, rejected = [(await opened(office, await office.propose("one")))[0] for _ in range(2)]
        gate.closed = True
        await office.click(ADA, await office.card_of(approved, button="decide.approve"), "decide.approve")
        card = await office.card_of(rejected, button="decide.reject")
        closed = await decide_in_modal(office, BEN, card, "reject", "Not now.")

        for review in (approved, rejected):
            await stands(office, review, "decided", why="agent_unreachable")
        office.advance(5_000)  # what lasts longer than a moment is drawn
        for review in (approved, rejected):
            waits = await redrawn(office, review, why_text("agent_unreachable"))
            assert "Decided" in waits["text"]
        await an_hour_passes(office, gate, approved, rejected)
        ran, sent = office.ran(), [heard(office, one.thread_id) for one in (approved, rejected)]
        gate.closed = False
        office.advance(MINUTE_MS)
        for review in (approved, rejected):
            await stands(office, review, "resumed")

        assert closed["view"] is None
        assert (ran, sent) == ([], [[], []])
        assert [one["thread_id"] for one in office.effects()] == [approved.thread_id]
        assert [len(heard(office, one.thread_id)) for one in (approved, rejected)] == [1, 1]
        (message,) = await office.tool_messages(rejected.thread_id)
        assert "Not now." in message["content"]
        assert not deciding(await redrawn(office, approved, "Ran"))
        assert not deciding(await redrawn(office, rejected, "Rejected"))


async def test_b10_agent_down_past_the_time_to_decide_sends_the_rejection_of_expiry_instead(database, tmp_path):
    async with wired_office(database, tmp_path, tools=SOON) as (office, gate):
        (review,) = await opened(office, await office.propose("email"))
        gate.closed = True
        await office.click(ADA, await office.card_of(review, button="decide.approve"), "decide.approve")
        await stands(office, review, "decided", why="agent_unreachable")

        office.advance(31 * MINUTE_MS)
        await stands(office, review, "expired")
        gate.closed = False
        office.advance(MINUTE_MS)
        await stands(office, review, "resumed")

        assert office.ran() == []
        (answer,) = heard(office, review.thread_id)
        assert [one["type"] for one in answer.json["command"]["resume"][review.interrupt_id]["decisions"]] == ["reject"]
        assert not deciding(await redrawn(office, review, "Expired"))
