"""A5 on the wire: the answer is lost, or the request, or it comes late, or somebody else's comes first. One effect each.

What was sent is counted where it arrives, and what ran on the effects file. In which process the worker runs is of no
matter here; that it dies or stands still meanwhile is `tests.acceptance.test_a4_restart` and `test_a5_sleeping`.
"""

from __future__ import annotations

import pytest
from sqlalchemy import select

from blocks.reasons import why_text
from bot.store.tables import dispatches
from tests.kit.office import ADA
from tests.kit.steps import decide_in_modal, deciding, heard, opened, redrawn, run_on, says, stands
from tests.kit.wires import wired_office

pytestmark = [pytest.mark.asyncio, pytest.mark.parametrize("kind", ["langgraph", "aegra"])]


@pytest.fixture
def wired(database, tmp_path, kind):
    """A factory of wired offices."""
    return lambda **lines: wired_office(database, tmp_path, kind=kind, **lines)


async def under_way(office, gate, *, answer=False, decision="approve"):
    """One call that was decided; its answer is held on the wire."""
    thread = await office.propose("one")
    (review,) = await opened(office, thread)
    held = gate.hold("/runs/wait", answer=answer)
    card = await office.card_of(review, button=f"decide.{decision}")
    if decision == "approve":
        await office.click(ADA, card, "decide.approve")
    else:
        await decide_in_modal(office, ADA, card, decision, "Not by us.")
    await held.reached.wait()
    return review, held


async def ran_and_says_so(office, review):
    """The call ran once, and its card is settled."""
    await stands(office, review, "resumed")
    card = await redrawn(office, review, "Ran")
    assert deciding(card) == []
    assert office.ran() == ["disable_user"]


def attempt_of(one):
    """Which attempt an answer that arrived was."""
    return one.json["config"]["metadata"]["placet_attempt"]


async def looked_once(office, review):
    """Whether the first of the two looks that prove it was not taken is stored."""
    async with office.stores[0].read() as tx:
        return await tx.conn.scalar(select(dispatches.c.alive_at).where(dispatches.c.review_id == review.id))


async def test_a5_lost_response_is_found_in_the_state_and_nothing_is_sent_again(wired):
    async with wired() as (office, gate):
        review, held = await under_way(office, gate, answer=True)

        held.lose()
        await ran_and_says_so(office, review)

        assert [attempt_of(one) for one in heard(office, review.thread_id)] == [1]


async def test_a5_not_taken_is_sent_again_under_the_same_name_once_it_is_certain(wired):
    async with wired() as (office, gate):
        review, held = await under_way(office, gate)

        held.lose()
        await ran_and_says_so(office, review)

        assert [attempt_of(one) for one in heard(office, review.thread_id)] == [2]


async def test_a5_late_delivery_within_the_settling_time_is_taken_for_the_one_that_was_sent(wired):
    async with wired(settle="3s") as (office, gate):
        review, held = await under_way(office, gate)

        held.hang_up()
        await office.until(lambda: looked_once(office, review), "the first look that finds nothing")
        held.let_go()
        await ran_and_says_so(office, review)

        assert [attempt_of(one) for one in heard(office, review.thread_id)] == [1]


async def test_a5_late_delivery_after_it_was_sent_again_runs_nothing_more(wired):
    async with wired() as (office, gate):
        review, held = await under_way(office, gate)

        held.hang_up()
        await ran_and_says_so(office, review)
        held.let_go()
        await held.over.wait()
        office.advance(60_000)

        assert [attempt_of(one) for one in heard(office, review.thread_id)] == [2, 1]
        await ran_and_says_so(office, review)
        assert (await office.tool_messages(review.thread_id))[-1]["status"] == "success"


@pytest.mark.parametrize(
    ("ours", "theirs", "ran"), [("approve", "reject", []), ("reject", "approve", ["disable_user"])]
)
async def test_a5_someone_else_answers_between_our_read_and_our_send(wired, ours, theirs, ran):
    async with wired() as (office, gate):
        review, held = await under_way(office, gate, decision=ours)
        thread = review.thread_id

        resume = {review.interrupt_id: {"decisions": [{"type": theirs}]}}
        await run_on(office, thread, {"assistant_id": "agent_platform", "command": {"resume": resume}})
        await office.until(lambda: answered(office, thread), "their answer to be carried out")
        held.let_go()
        ended = await stands(office, review, "superseded")
        (why,) = {why_text(ended.why)} & {why_text("answered_elsewhere"), why_text("thread_moved_on")}
        card = await redrawn(office, review, why)
        if ended.why == "answered_elsewhere":  # and not just found gone by whoever reads the thread
            assert ended.actions[0].outcome.value == {"reject": "rejected", "approve": "executed"}[theirs]

        assert office.ran() == ran
        assert "✅" not in says(card)
        assert why in card["text"]
        assert deciding(card) == []


async def answered(office, thread):
    return (await office.thread(thread))["status"] == "idle"
