"""Reported answers of agent servers that look like success, and bad answers that can never be taken back."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import httpx
import pytest

from bot.core.decision import UnsendableAnswer, answer_tree
from bot.core.model import DecisionType, Review, ReviewState
from bot.core.states import TERMINAL, TRANSITIONS
from bot.errors import AgentRejected, OutcomeUnknown
from bot.runtimes.langgraph.interrupts import parse_interrupt
from bot.runtimes.langgraph.resume import accepted, resume_body
from bot.runtimes.langgraph.verdict import Observation, RunRow, VerdictKind, judge
from bot.store.engine import new_id
from tests.kit.factories import (
    ALL,
    APPROVE,
    EDIT,
    INTERRUPT,
    REJECT,
    RESPOND,
    decide_all,
    make_action,
    make_batch,
    make_config,
    make_decision,
    make_request,
    make_review,
    record,
    review_of,
    tree,
)

BUSY = "Thread is already running a task. Wait for it to finish or choose a different multitask strategy."
CANNOT = "Cannot resume: thread is not in interrupted state"


def envelope(code: str, message: str = "x", *, command: int | None = 1) -> dict[str, Any]:
    return {"type": "error", "id": command, "error": code, "message": message}


async def verdict_on(body: Any, *, status: int = 200, command: int | None = 1) -> str:
    """What an answer of the server means: accepted, refused, or not clear."""
    content = body.encode() if isinstance(body, str) else json.dumps(body).encode()
    try:
        await accepted(httpx.Response(status, content=content), command=command, patience=5.0)
    except AgentRejected:
        return "refused"
    except OutcomeUnknown:
        return "not clear"
    return "accepted"


@pytest.mark.asyncio
async def test_case_073_only_success_under_our_own_id_counts_as_accepted():
    assert await verdict_on({"type": "success", "id": 1, "result": {"run_id": "run-1"}}) == "accepted"


@pytest.mark.asyncio
@pytest.mark.parametrize("code", ["invalid_argument", "no_such_interrupt", "no_such_run", "permission_denied"])
async def test_case_073_an_error_inside_an_http_200_is_a_refusal(code):
    assert await verdict_on(envelope(code)) == "refused"


@pytest.mark.asyncio
@pytest.mark.parametrize(
    "body",
    [
        envelope("unknown_error", command=None),
        envelope("invalid_argument", command=2),
        {"type": "success", "id": 7, "result": {"run_id": "run-1"}},
        {"type": "success", "id": "1"},
        {"id": 1, "result": {}},
        [],
        "<html>ok</html>",
        "",
    ],
)
async def test_case_073_every_other_body_leaves_it_open_what_happened(body):
    assert await verdict_on(body) == "not clear"


def two_calls() -> Review:
    calls = [make_request("delete_file"), make_request("send_email")]
    configs = [make_config("delete_file", ["approve", "reject"]), make_config("send_email")]
    return review_of(parse_interrupt(INTERRUPT, tree(make_batch(calls, configs))))


def bad_answers() -> dict[str, Review]:
    """Reviews whose answer would be stored by the server and come first for ever."""
    review = two_calls()
    good = decide_all(review, [APPROVE, APPROVE])
    first, second = good.actions
    return {
        "one decision for two calls": record(review, [make_decision(review, APPROVE, 0)]),
        "the second call alone": good.evolve(actions=(second,)),
        "more positions than calls": good.evolve(actions=(first, second, replace(second, position=3))),
        "positions in another order": good.evolve(actions=(second, first)),
        "type not allowed there": decide_all(review, [EDIT, APPROVE]),
        "edit without arguments": record(good, [make_decision(review, EDIT, 1, final_args=None)]),
        "edit that is no object": record(good, [make_decision(review, EDIT, 1, final_args="[1]")]),
        "answer without words": record(good, [make_decision(review, RESPOND, 1, message=" ")]),
    }


@pytest.mark.parametrize("what", bad_answers())
def test_case_074_an_answer_that_would_poison_its_interrupt_never_leaves(what):
    with pytest.raises(UnsendableAnswer):
        answer_tree(bad_answers()[what])


@pytest.mark.parametrize(
    ("kind", "keys"),
    [(APPROVE, {"type"}), (REJECT, {"type"}), (RESPOND, {"type", "message"}), (EDIT, {"type", "edited_action"})],
)
def test_case_074_each_decision_has_exactly_its_own_keys(kind, keys):
    answer = answer_tree(decide_all(make_review(), [kind]))
    assert answer.keys() == {"decisions"}
    assert answer["decisions"][0].keys() == keys


def seen(*kinds: DecisionType, **changes: Any) -> Observation:
    """One look at a thread whose interrupt is pending as it was shown."""
    sent = kinds or (APPROVE,)
    made: dict[str, Any] = {
        "dispatch": "d_one",
        "kind": "aegra",
        "sent": sent,
        "results": (None,) * len(sent),
        "listed": True,
        "same_digest": True,
        "task_error": None,
        "thread_status": "interrupted",
        "runs": (),
    }
    return Observation(**(made | changes))


COUNT = "ValueError('Number of human decisions (1) does not match number of hanging tool calls (2).')"


def test_case_074_an_interrupt_whose_task_carries_an_error_is_broken_though_it_is_listed():
    assert judge(seen(task_error=COUNT, thread_status="error")).kind is VerdictKind.POISONED


def test_case_074_nothing_is_sent_again_after_a_review_broke():
    assert ReviewState.BROKEN in TERMINAL
    assert ReviewState.BROKEN in TRANSITIONS[ReviewState.SENT]


def test_case_074_no_call_of_a_poisoned_interrupt_counts_as_executed_or_rejected():
    assert set(judge(seen(APPROVE, REJECT, task_error=COUNT)).outcomes) == {None}


def resume_of(review: Review) -> dict[str, Any]:
    body = resume_body(
        assistant="agent",
        interrupt_id=review.interrupt_id,
        answer_tree=answer_tree(review),
        dispatch_id=new_id("d"),
        attempt=1,
        kind="aegra",
    )
    read: dict[str, Any] = json.loads(body)
    return read


def test_case_075_the_only_key_of_an_answer_is_the_server_s_own_interrupt_id():
    assert list(resume_of(decide_all(make_review(), [APPROVE]))["command"]["resume"]) == [INTERRUPT]


@pytest.mark.parametrize("prefix", ["r", "d", "s", "m"])
def test_case_075_no_id_of_ours_can_be_taken_for_an_interrupt_s(prefix):
    assert not re.fullmatch(r"[0-9a-f]{32}", new_id(prefix))


def test_case_075_an_interrupt_that_is_still_pending_after_our_run_is_not_called_done():
    ours = RunRow("run-1", "success", 1, dispatch="d_one")
    still = judge(seen(runs=(ours,), accepted=True, run_id="run-1"))
    assert still.kind not in (VerdictKind.DONE, VerdictKind.TAKEN_NO_RESULT, VerdictKind.ABSENT)


def test_case_075_what_our_run_left_pending_was_not_executed():
    ours = RunRow("run-1", "success", 1, dispatch="d_one")
    outcomes = judge(seen(runs=(ours,), accepted=True, run_id="run-1")).outcomes
    assert not {"executed", "rejected", "answered", "taken"} & {outcome.value for outcome in outcomes if outcome}


@pytest.mark.asyncio
@pytest.mark.parametrize("status", [409, 422])
async def test_case_077_a_busy_thread_refuses_and_nothing_counts_as_sent(status):
    assert await verdict_on({"detail": BUSY}, status=status, command=None) == "refused"


@pytest.mark.asyncio
async def test_case_077_a_status_that_nobody_promised_leaves_it_open_what_happened():
    assert await verdict_on({"detail": BUSY}, status=423, command=None) == "not clear"


@pytest.mark.asyncio
async def test_case_077_an_envelope_that_says_not_interrupted_is_a_refusal():
    assert await verdict_on(envelope("invalid_argument", CANNOT)) == "refused"


def test_case_077_while_the_thread_is_busy_nothing_is_concluded_and_nothing_sent():
    other = RunRow("run-9", "running", 1)
    assert judge(seen(thread_status="busy", runs=(other,))).kind is VerdictKind.WAIT


def test_case_077_only_a_thread_that_shows_the_interrupt_again_may_be_answered_again():
    assert judge(seen()).kind is VerdictKind.ABSENT
    assert judge(seen(listed=False)).kind is VerdictKind.MOVED_ON


def test_case_077_a_resume_never_pushes_another_run_aside():
    assert resume_of(decide_all(make_review(), [APPROVE]))["multitask_strategy"] == "reject"


def rejected_because(typed: str | None) -> dict[str, Any]:
    review = make_review(make_action(tool="delete_file", allowed=ALL))
    answer = answer_tree(record(review, [make_decision(review, REJECT, message=typed)]))
    sent: dict[str, Any] = answer["decisions"][0]
    return sent


@pytest.mark.parametrize("typed", [None, "", "   "])
def test_case_079_without_a_reason_there_is_no_message_key_at_all(typed):
    assert rejected_because(typed) == {"type": "reject"}


@pytest.mark.parametrize("typed", ["no", "wrong recipient", "R" * 3000])
def test_case_079_a_reason_reaches_the_agent_with_the_word_that_nothing_ran(typed):
    message = rejected_because(typed)["message"]
    assert typed in message
    assert "was not executed" in message
    assert "Do not try it again" in message
