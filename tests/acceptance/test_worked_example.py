"""The gate on `disable_user`, line by line, as somebody would accept it who has nothing but the account service to look at.

One agent proposes to disable u_4821 for a chargeback dispute, over and over; each line does with it what the matrix says
and counts what the service did. The bot runs as real processes, because two of the lines end one. In the end the
duplicates are counted: completed effects less distinct approved operations.
"""

from __future__ import annotations

import asyncio
import json

import pytest

from tests.kit.office import ADA, BEN, DAN
from tests.kit.steps import call, decide_in_modal, deciding, opened, pause, propose_instead, redrawn, resume, stands
from tests.kit.wiretap import resumes

pytestmark = [pytest.mark.asyncio, pytest.mark.timeout(180)]

V1 = {"user_id": "u_4821", "reason": "chargeback dispute"}
V2 = {"user_id": "u_9000", "reason": "chargeback dispute"}


async def proposed(house, turns=1):
    """The agent proposes v1 on a thread of its own, and its card shows all of it."""
    thread = await house.office.propose(turns=[[call("disable_user", **V1)]] * turns)
    (review,) = await opened(house.office, thread)
    card = await house.office.card_of(review, button="decide.approve")
    assert all(part in card["text"] for part in ("disable_user", "u_4821", "chargeback dispute", "demo"))
    return review


async def approve(house, review, user=ADA):
    return await house.office.click(user, await house.office.card_of(review, button="decide.approve"), "decide.approve")


def disabled(house, review):
    """What the account service did for this review's thread: the arguments of every completed call."""
    return [one["args"] for one in house.office.effects(review.thread_id)]


async def receipt(house, review):
    """What the service answered, as the agent has it and as Placet recorded it; they must name the same call."""
    (ended,) = [one for one in await house.office.reviews(review.thread_id) if one.id == review.id]
    (effect,) = house.office.effects(review.thread_id)
    message = (await house.office.tool_messages(review.thread_id))[-1]
    assert effect["tool_call_id"] == message["tool_call_id"] == ended.actions[0].tool_call_id
    assert ended.actions[0].outcome.value == "executed"
    assert ended.actions[0].outcome_text == message["content"]
    return ended


async def approved_as_it_is(house):
    """Approve v1 unchanged: one effect on u_4821, and its receipt."""
    review = await proposed(house)
    await approve(house, review)
    await stands(house.office, review, "resumed")

    assert disabled(house, review) == [V1]
    await receipt(house, review)
    return {review.thread_id}


async def edited_and_then_approved(house):
    """Change the reason, see the final values, approve those: the service gets them, the record keeps both."""
    review = await proposed(house)
    await house.office.click(ADA, await house.office.card_of(review, button="decide.edit"), "decide.edit")
    final = {**V1, "reason": "fraud review"}
    shown = await house.office.submit(ADA, {"reason": "fraud review"})
    assert "fraud review" in json.dumps(shown["view"]["blocks"])
    assert disabled(house, review) == []
    await house.office.submit(ADA)
    await stands(house.office, review, "resumed")

    assert disabled(house, review) == [final]
    ended = await receipt(house, review)
    assert json.loads(ended.actions[0].args) == V1
    assert json.loads(ended.actions[0].decision.final_args) == final
    return {review.thread_id}


async def rejected(house):
    """Reject v1: no call; the next proposal of the very same does not live off that, in either direction."""
    review = await proposed(house, turns=2)
    await decide_in_modal(
        house.office, BEN, await house.office.card_of(review, button="decide.reject"), "reject", "Not without a ticket."
    )
    await stands(house.office, review, "resumed")
    (later,) = await opened(house.office, review.thread_id)

    assert disabled(house, review) == []
    assert (later.interrupt_id != review.interrupt_id, later.actions[0].decision) == (True, None)
    assert "Not without a ticket." in (await house.office.tool_messages(review.thread_id))[-1]["content"]
    return set()


async def target_changed_after_approval(house):
    """Approve v1; before it is sent the agent wants u_9000 instead: no call, and v2 is asked for."""
    review = await proposed(house)
    await pause(house.office)
    await approve(house, review)
    await stands(house.office, review, "decided")
    await propose_instead(house.office, review.thread_id, call("disable_user", **V2))
    await resume(house.office)
    await stands(house.office, review, "superseded")
    (v2,) = await opened(house.office, review.thread_id)

    assert disabled(house, review) == []
    assert not deciding(await redrawn(house.office, review, "Superseded"))
    assert json.loads(v2.actions[0].args) == V2
    assert v2.actions[0].decision is None
    assert resumes(house.office.agent.heard, review.thread_id) == []
    return set()


async def restarted_while_it_waits(house):
    """Kill the worker while v1 waits: the same action waits again, for a reviewer; a thread beside it does not move."""
    review, unrelated = await proposed(house), await proposed(house)
    await house.running[-1].killed()
    await house.start()
    (same,) = await house.office.reviews(review.thread_id)
    assert (same.id, same.state.value, same.actions[0].digest) == (review.id, "open", review.actions[0].digest)
    await approve(house, review, DAN)
    await house.office.told(DAN, "not a reviewer")
    assert disabled(house, review) == []
    await approve(house, review, BEN)
    await stands(house.office, review, "resumed")

    assert disabled(house, review) == [V1]
    await receipt(house, review)
    assert disabled(house, unrelated) == []
    await stands(house.office, unrelated, "open")
    return {review.thread_id}


async def delivered_to_two_workers_and_the_response_lost(house):
    """The decision arrives twice, any worker may claim it, and the answer to the one claim is lost after the effect."""
    if "postgresql" in house.environ["PLACET_DATABASE_URL"]:
        await house.start(later_ms=0)  # on a file there is one process
    review = await proposed(house)
    await house.office.fault("deliver.block_actions", dup=True)
    answer = house.agent.hold("/runs/wait", answer=True)
    await approve(house, review)
    await answer.reached.wait()
    await house.office.until(lambda: asyncio.to_thread(disabled, house, review), "the service to have done it")
    answer.lose()
    await stands(house.office, review, "resumed")

    assert disabled(house, review) == [V1]
    await receipt(house, review)
    assert len(resumes(house.office.agent.heard, review.thread_id)) == 1
    kinds = [event.kind for event in await house.office.events(review.id)]
    assert (kinds.count("decision.made"), kinds.count("review.claimed")) == (1, 1)
    return {review.thread_id}


LINES = (
    approved_as_it_is,
    edited_and_then_approved,
    rejected,
    target_changed_after_approval,
    restarted_while_it_waits,
    delivered_to_two_workers_and_the_response_lost,
)


async def test_worked_example_of_the_gate_on_disable_user_holds_line_by_line(house_of):
    async with house_of(kind="aegra") as house:
        await house.start()
        approved = set()
        for line in LINES:
            approved |= await line(house)

        completed = house.office.effects()
        assert len(approved) == 4
        assert len(completed) - len(approved) == 0, "duplicate effects"
        assert {one["thread_id"] for one in completed} == approved
