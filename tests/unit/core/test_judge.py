"""Each row of the decision table, then the order of rows, alarms and outcomes."""

from typing import Any

import pytest

from bot.core.model import DecisionType, Outcome
from bot.runtimes.langgraph.outcomes import CallResult
from bot.runtimes.langgraph.verdict import (
    POSSIBLY_TWICE,
    RACED_ALARM,
    SECOND_LOOK,
    TABLE,
    Observation,
    RunRow,
    Verdict,
    VerdictKind,
    judge,
    needs_second_look,
)

APPROVE, EDIT, REJECT, RESPOND = DecisionType
T0 = 1_796_030_444_000
EXECUTED = CallResult(Outcome.EXECUTED, "disabled u_4821")
REJECTED = CallResult(Outcome.REJECTED, "User rejected it")
FAILED = CallResult(Outcome.FAILED, "Error invoking tool")
BOOM = "RuntimeError('had its effect and failed')"


def ours(status: str = "success", at: int = 0, lasted: int | None = 80, run_id: str = "run-ours") -> RunRow:
    return RunRow(run_id, status, T0 + at, "d_1", 1, None if lasted is None else T0 + at + lasted)


def theirs(status: str = "success", at: int = -60_000, lasted: int | None = 80, run_id: str = "run-theirs") -> RunRow:
    return RunRow(run_id, status, T0 + at, None, None, None if lasted is None else T0 + at + lasted)


def seen(**changes: Any) -> Observation:
    """A call that waits on Aegra as it was shown, proposed by a run of a minute ago, with nothing of ours."""
    proposer = theirs("interrupted", run_id="run-proposer")
    base: dict[str, Any] = {
        "dispatch": "d_1",
        "kind": "aegra",
        "sent": (APPROVE,),
        "results": (None,),
        "listed": True,
        "same_digest": True,
        "task_error": None,
        "thread_status": "interrupted",
        "runs": (proposer,),
    }
    runs = changes.pop("runs", ())
    return Observation(**{**base, "runs": (*runs, proposer), **changes})


def gone(**changes: Any) -> Observation:
    """The interrupt is no longer listed and the thread is at rest."""
    return seen(**{"listed": False, "same_digest": False, "thread_status": "idle", **changes})


# Every conclusion with the smallest thing seen that leads to it; the enumeration below keeps it complete.
ROWS: dict[VerdictKind, Observation] = {
    VerdictKind.TAKEN: seen(runs=(ours("running"),), thread_status="busy"),
    VerdictKind.DONE: gone(runs=(ours(),), results=(EXECUTED,)),
    VerdictKind.UNOPPOSED: gone(runs=(ours(),), results=(REJECTED,)),
    VerdictKind.LOST_RACE: gone(runs=(ours(), theirs(at=3)), results=(REJECTED,)),
    VerdictKind.ELSEWHERE: gone(results=(REJECTED,), runs=(theirs(at=0),)),
    VerdictKind.POISONED: seen(task_error="ValueError('no')", thread_status="error"),
    VerdictKind.RAISED: gone(runs=(ours("error"),), thread_status="error", errors=(BOOM,)),
    VerdictKind.TAKEN_NO_RESULT: gone(runs=(ours("success"),)),
    VerdictKind.CUT_OFF: gone(runs=(ours("interrupted"),)),
    VerdictKind.STUCK: seen(thread_status="busy"),
    VerdictKind.RACED: gone(runs=(ours("success"), theirs("running", at=5, lasted=None)), thread_status="busy"),
    VerdictKind.WAIT: seen(thread_status="busy", runs=(theirs("running", at=0, lasted=None),)),
    VerdictKind.ABSENT: seen(),
    VerdictKind.MOVED_ON: gone(),
    VerdictKind.UNANSWERABLE: seen(thread_status="error"),
}


@pytest.mark.parametrize("kind", VerdictKind)
def test_every_conclusion_has_an_observation_that_leads_to_it(kind: VerdictKind) -> None:
    assert judge(ROWS[kind]).kind is kind


def test_every_conclusion_stands_in_the_table_and_nothing_else() -> None:
    assert {row.kind for row in TABLE} == set(VerdictKind)


# -- a run with our mark is active


@pytest.mark.parametrize("status", ["pending", "running"])
def test_an_active_run_of_ours_was_taken_whatever_else_is_seen(status: str) -> None:
    for other in ROWS.values():
        runs = (ours(status), *other.runs)
        changed = Observation(**{name: getattr(other, name) for name in Observation.__slots__} | {"runs": runs})
        assert judge(changed).kind is VerdictKind.TAKEN


def test_the_run_that_the_server_named_is_ours_even_where_it_hides_the_mark() -> None:
    unmarked = theirs("running", at=0, lasted=None, run_id="run-x")

    assert judge(seen(runs=(unmarked,), accepted=True, run_id="run-x", thread_status="busy")).kind is VerdictKind.TAKEN


# -- every call has its result


def test_results_as_sent_under_our_mark_are_done() -> None:
    verdict = judge(gone(sent=(APPROVE, REJECT), results=(EXECUTED, REJECTED), runs=(ours(),)))

    assert verdict == Verdict(VerdictKind.DONE, (Outcome.EXECUTED, Outcome.REJECTED), "every call has its result")


@pytest.mark.parametrize("known", [{"mark_seen": True}, {"accepted": True}])
def test_a_mark_in_the_history_or_an_acceptance_counts_as_ours(known: dict[str, Any]) -> None:
    assert judge(gone(results=(EXECUTED,), **known)).kind is VerdictKind.DONE


def test_a_call_that_failed_before_it_ran_is_done_and_failed() -> None:
    verdict = judge(gone(results=(FAILED,), runs=(ours(),)))

    assert (verdict.kind, verdict.outcomes) == (VerdictKind.DONE, (Outcome.FAILED,))


def test_a_result_is_believed_though_the_run_failed_later_on() -> None:
    assert judge(gone(results=(EXECUTED,), runs=(ours("error"),), thread_status="error")).kind is VerdictKind.DONE


@pytest.mark.parametrize(("sent", "result"), [(APPROVE, REJECTED), (REJECT, EXECUTED), (RESPOND, EXECUTED)])
def test_another_answer_than_ours_is_a_lost_race_where_a_run_of_somebody_elses_took_part(
    sent: DecisionType, result: CallResult
) -> None:
    proposed = theirs("interrupted", at=-60_000, run_id="run-proposer")
    evidence: list[dict[str, Any]] = [
        {"runs": (ours(), theirs(at=3))},
        {"runs": (ours(), theirs(at=-3))},
        {"runs": (ours(),), "beside": ("run-theirs",)},
        # Theirs was over before ours began: ours was taken, and did nothing.
        {"runs": (ours(), theirs(at=-5000), proposed), "wrote": False, "asked_by": "run-proposer"},
    ]
    for seen_too in evidence:
        verdict = judge(gone(sent=(sent,), results=(result,), **seen_too))
        assert (verdict.kind, verdict.outcomes) == (VerdictKind.LOST_RACE, (result.outcome,))


@pytest.mark.parametrize(
    ("sent", "result", "outcome"),
    [
        (APPROVE, REJECTED, Outcome.TAKEN),
        (REJECT, EXECUTED, Outcome.TAKEN),
        (REJECT, FAILED, Outcome.REJECTED),
        (RESPOND, EXECUTED, Outcome.TAKEN),
    ],
)
@pytest.mark.parametrize(
    "alone",
    [
        {},
        {"runs": (ours(), theirs(at=-5000), theirs(at=5000, run_id="asked something else"))},
        {"runs": (ours(), theirs(at=3)), "asked_by": "run-theirs"},
        {"wrote": False},
        {"wrote": True, "asked_by": "run-proposer"},
    ],
)
def test_a_result_that_surprises_is_no_evidence_of_somebody_else(
    sent: DecisionType, result: CallResult, outcome: Outcome, alone: dict[str, Any]
) -> None:
    verdict = judge(gone(**{"runs": (ours(),), "sent": (sent,), "results": (result,), **alone}))

    assert (verdict.kind, verdict.outcomes) == (VerdictKind.UNOPPOSED, (outcome,))


def test_runs_of_our_other_answers_are_nobody_elses() -> None:
    other = RunRow("run-2", "success", T0 + 2, "d_2", 1, T0 + 90)
    runs = (ours(), other)

    known = judge(gone(sent=(REJECT,), results=(EXECUTED,), runs=runs, siblings=frozenset({"d_2"})))
    forged = judge(gone(sent=(REJECT,), results=(EXECUTED,), runs=runs))

    assert (known.kind, known.alarms) == (VerdictKind.UNOPPOSED, ())
    assert (forged.kind, forged.alarms) == (VerdictKind.LOST_RACE, (POSSIBLY_TWICE, RACED_ALARM))


def test_an_edit_that_ran_with_other_arguments_is_not_called_ours() -> None:
    ran = CallResult(Outcome.EXECUTED, "done", edited=True, edited_args='{"n":2}')
    other = {"sent": (EDIT,), "sent_args": ('{"n":1}',), "results": (ran,)}

    assert judge(gone(**other, runs=(ours(),))).outcomes == (Outcome.TAKEN,)
    assert judge(gone(**other, runs=(ours(), theirs(at=2)))).kind is VerdictKind.LOST_RACE
    assert judge(gone(**{**other, "sent_args": ('{"n":2}',)}, runs=(ours(),))).kind is VerdictKind.DONE


def test_one_position_answered_otherwise_is_enough_for_a_lost_race() -> None:
    verdict = judge(gone(sent=(APPROVE, APPROVE), results=(EXECUTED, REJECTED), runs=(ours(), theirs(at=3))))

    assert verdict.kind is VerdictKind.LOST_RACE


def test_one_position_that_surprises_does_not_drag_the_others_along() -> None:
    verdict = judge(gone(sent=(APPROVE, RESPOND), results=(EXECUTED, EXECUTED), runs=(ours(),)))

    assert verdict.outcomes == (Outcome.EXECUTED, Outcome.TAKEN)


def test_what_was_said_tells_our_own_unmarked_answers() -> None:
    words = CallResult(Outcome.FAILED, "no"), CallResult(Outcome.EXECUTED, "the second one")
    verdict = judge(gone(sent=(REJECT, RESPOND), said=("no", "the second one"), results=words, runs=(ours(),)))

    assert (verdict.kind, verdict.outcomes) == (VerdictKind.DONE, (Outcome.REJECTED, Outcome.ANSWERED))


def test_results_without_any_trace_of_ours_were_answered_elsewhere() -> None:
    verdict = judge(gone(results=(EXECUTED,)))

    assert (verdict.kind, verdict.outcomes) == (VerdictKind.ELSEWHERE, (Outcome.EXECUTED,))


def test_an_old_servers_rejection_is_a_rejection_where_we_sent_one() -> None:
    unmarked = CallResult(Outcome.FAILED, "User rejected the tool call for `x`", says_rejected=True)

    ours_rejected = judge(gone(sent=(REJECT,), results=(unmarked,), runs=(ours(),)))
    ours_approved = judge(gone(sent=(APPROVE,), results=(unmarked,), runs=(ours(),)))

    assert ours_rejected.outcomes == (Outcome.REJECTED,)
    assert ours_approved.outcomes == (Outcome.FAILED,)


# -- no result


def errored(**changes: Any) -> Observation:
    """Our run failed, and the interrupt is still listed with the error on its task."""
    found = {"task_error": BOOM, "errors": (BOOM,), "runs": (ours("error"),), "thread_status": "error"}
    return seen(**{**found, **changes})


@pytest.mark.parametrize(
    "changes",
    [
        {"runs": ()},
        {"asks_only": True},
        {"sent": (REJECT,)},
        {"sent": (RESPOND,)},
        {"asks_only": True, "wrote": False},
    ],
)
def test_an_error_of_the_answer_poisons_a_listed_interrupt(changes: dict[str, Any]) -> None:
    verdict = judge(errored(**changes))

    assert (verdict.kind, verdict.outcomes) == (VerdictKind.POISONED, (None,))


@pytest.mark.parametrize("sent", [APPROVE, EDIT])
@pytest.mark.parametrize("changes", [{}, {"wrote": True, "asks_only": True}])
def test_a_tool_that_raised_where_it_asked_is_failed_and_not_broken(
    sent: DecisionType, changes: dict[str, Any]
) -> None:
    verdict = judge(errored(sent=(sent,), **changes))

    assert (verdict.kind, verdict.outcomes) == (VerdictKind.RAISED, (Outcome.FAILED,))


@pytest.mark.parametrize(
    "error",
    [
        "CancelledError()",
        "asyncio.exceptions.CancelledError()",
        "GraphRecursionError('Recursion limit of 25 reached')",
        "Recursion limit of 25 reached without hitting a stop condition.",
        "UserInterrupt('User interrupted the run')",
    ],
)
@pytest.mark.parametrize("where", [errored, gone])
def test_an_error_that_is_not_the_tools_leaves_it_unknown(where: Any, error: str) -> None:
    listed = {"task_error": error} if where is errored else {}
    verdict = judge(where(**{"runs": (ours("error"),), **listed, "errors": (error,)}))

    assert (verdict.kind, verdict.outcomes) == (VerdictKind.CUT_OFF, (Outcome.UNKNOWN,))


def test_a_run_that_failed_where_no_task_did_leaves_it_unknown() -> None:
    assert judge(gone(runs=(ours("error"),), thread_status="error")).kind is VerdictKind.CUT_OFF
    assert judge(seen(runs=(ours("error"),), thread_status="error")).kind is VerdictKind.CUT_OFF


def test_an_accepted_answer_whose_run_is_not_listed_is_never_called_poisoned() -> None:
    assert judge(errored(runs=(), accepted=True)).kind is VerdictKind.CUT_OFF


def test_our_run_that_failed_leaves_its_one_call_failed() -> None:
    assert judge(ROWS[VerdictKind.RAISED]).outcomes == (Outcome.FAILED,)


def test_which_of_several_calls_failed_is_not_guessed() -> None:
    both = judge(gone(sent=(APPROVE, APPROVE), results=(None, None), runs=(ours("error"),), errors=(BOOM,)))
    one = judge(gone(sent=(APPROVE, REJECT), results=(None, REJECTED), runs=(ours("error"),), errors=(BOOM,)))

    assert both.outcomes == (Outcome.UNKNOWN, Outcome.UNKNOWN)
    assert one.outcomes == (Outcome.FAILED, Outcome.REJECTED)


def test_a_rejection_without_a_result_is_not_called_failed() -> None:
    assert judge(gone(sent=(REJECT,), runs=(ours("error"),), errors=(BOOM,))).outcomes == (Outcome.UNKNOWN,)


@pytest.mark.parametrize("status", ["interrupted", "timeout", "cancelled", ""])
def test_our_run_that_ended_otherwise_is_cut_off_and_unknown(status: str) -> None:
    verdict = judge(gone(runs=(ours(status),)))

    assert (verdict.kind, verdict.outcomes) == (VerdictKind.CUT_OFF, (Outcome.UNKNOWN,))


@pytest.mark.parametrize("known", [{"accepted": True}, {"mark_seen": True}, {"accepted": True, "run_id": "run-lost"}])
@pytest.mark.parametrize("where", [seen, gone])
def test_what_was_accepted_is_never_absent_even_without_a_row(where: Any, known: dict[str, Any]) -> None:
    assert judge(where(**known)).kind is VerdictKind.CUT_OFF


def test_our_run_that_ended_while_the_call_still_waits_is_cut_off() -> None:
    assert judge(seen(runs=(ours("success"),))).kind is VerdictKind.CUT_OFF


@pytest.mark.parametrize(("kind", "status"), [("langgraph", "success"), ("aegra", "interrupted"), ("aegra", "success")])
@pytest.mark.parametrize("moved", [{"mark_seen": True}, {"wrote": True}, {"asks_again": True}])
def test_a_question_that_is_listed_after_our_run_went_on_is_a_new_one(
    kind: str, status: str, moved: dict[str, Any]
) -> None:
    verdict = judge(seen(kind=kind, runs=(ours(status),), **moved))

    assert (verdict.kind, verdict.outcomes, verdict.alarms) == (VerdictKind.TAKEN_NO_RESULT, (Outcome.TAKEN,), ())


@pytest.mark.parametrize("kind", ["aegra", "langgraph"])
def test_a_run_that_stopped_before_the_work_was_taken(kind: str) -> None:
    status = "interrupted" if kind == "aegra" else "success"
    stopped = gone(kind=kind, runs=(ours(status),), thread_status="interrupted", unfinished=True)

    assert (judge(stopped).kind, judge(stopped).outcomes) == (VerdictKind.TAKEN_NO_RESULT, (Outcome.TAKEN,))


# -- taken without a result: a branch's messages are gone, or a node of the deployment's own


@pytest.mark.parametrize(
    ("decision", "outcome"),
    [(APPROVE, Outcome.TAKEN), (EDIT, Outcome.TAKEN), (RESPOND, Outcome.TAKEN), (REJECT, Outcome.REJECTED)],
)
def test_a_run_of_ours_that_ended_well_took_what_was_sent(decision: DecisionType, outcome: Outcome) -> None:
    verdict = judge(gone(sent=(decision,), runs=(ours("success"),)))

    assert (verdict.kind, verdict.outcomes) == (VerdictKind.TAKEN_NO_RESULT, (outcome,))


def test_a_call_that_shows_its_result_keeps_it_beside_one_that_does_not() -> None:
    verdict = judge(gone(sent=(APPROVE, APPROVE), results=(EXECUTED, None), runs=(ours("success"),)))

    assert verdict.outcomes == (Outcome.EXECUTED, Outcome.TAKEN)


def test_a_run_that_paused_again_at_a_siblings_interrupt_ended_well_on_aegra() -> None:
    paused = gone(runs=(ours("interrupted"),), thread_status="interrupted", others_pending=True)

    assert judge(paused).kind is VerdictKind.TAKEN_NO_RESULT


def test_a_run_that_paused_again_ended_well_on_langgraph() -> None:
    paused = gone(kind="langgraph", runs=(ours("success"),), thread_status="interrupted", others_pending=True)

    assert judge(paused).kind is VerdictKind.TAKEN_NO_RESULT


@pytest.mark.parametrize(
    "changes",
    [
        {"thread_status": "idle", "others_pending": True},
        {"thread_status": "interrupted", "others_pending": False},
        {"thread_status": "interrupted", "others_pending": True, "kind": "langgraph"},
        {"thread_status": "interrupted", "others_pending": True, "runs": (theirs(at=5000), ours("interrupted"))},
    ],
)
def test_a_cancelled_run_is_not_taken_for_one_that_paused(changes: dict[str, Any]) -> None:
    assert judge(gone(**{"runs": (ours("interrupted"),), **changes})).kind is VerdictKind.CUT_OFF


def test_a_rejection_that_somebody_raced_is_not_called_rejected() -> None:
    verdict = judge(gone(sent=(REJECT,), runs=(ours("success"), theirs(at=3))))

    assert (verdict.kind, verdict.outcomes) == (VerdictKind.TAKEN_NO_RESULT, (Outcome.TAKEN,))


# -- somebody else's run


def test_a_busy_thread_without_a_run_is_stuck() -> None:
    verdict = judge(ROWS[VerdictKind.STUCK])

    assert verdict.outcomes == (Outcome.UNKNOWN,)


@pytest.mark.parametrize("status", ["busy", "interrupted", "idle"])
def test_an_active_run_of_somebody_elses_is_waited_for(status: str) -> None:
    assert judge(seen(thread_status=status, runs=(theirs("pending", at=0),))).kind is VerdictKind.WAIT


def test_nothing_is_concluded_of_our_ended_run_while_somebody_elses_goes_on() -> None:
    later = gone(runs=(ours("success"), theirs("running", at=5000, lasted=None)), thread_status="busy")

    assert judge(later).kind is VerdictKind.WAIT


def test_a_run_made_within_a_second_of_ours_is_waited_for_with_an_alarm() -> None:
    verdict = judge(ROWS[VerdictKind.RACED])

    assert (verdict.kind, verdict.alarms) == (VerdictKind.RACED, (POSSIBLY_TWICE, RACED_ALARM))
    assert verdict.raced_by == ("run-theirs",)


# -- nothing of ours


@pytest.mark.parametrize("changes", [{"listed": False}, {"same_digest": False}])
def test_another_question_than_the_one_shown_means_the_thread_moved_on(changes: dict[str, Any]) -> None:
    verdict = judge(seen(**changes))

    assert (verdict.kind, verdict.outcomes) == (VerdictKind.MOVED_ON, (Outcome.SUPERSEDED,))


def test_a_thread_that_is_gone_moved_on() -> None:
    assert judge(gone(thread_status=None, runs=())).kind is VerdictKind.MOVED_ON


@pytest.mark.parametrize("status", ["idle", "error", "", None, "something new"])
def test_a_listed_interrupt_on_a_thread_that_does_not_wait_cannot_be_answered(status: str | None) -> None:
    verdict = judge(seen(thread_status=status))

    assert (verdict.kind, verdict.outcomes) == (VerdictKind.UNANSWERABLE, (Outcome.UNKNOWN,))


@pytest.mark.parametrize(
    "changes",
    [
        {"thread_status": "busy"},
        {"task_error": "x"},
        {"accepted": True},
        {"mark_seen": True},
        {"runs": (ours(),)},
        {"runs": (theirs("running"),)},
        {"same_digest": False},
        {"listed": False},
        {"thread_status": "idle"},
        {"results": (EXECUTED,)},
    ],
)
def test_absence_needs_every_single_thing_to_be_as_it_was(changes: dict[str, Any]) -> None:
    assert judge(seen(**changes)).kind is not VerdictKind.ABSENT


# -- alarms


def test_two_runs_with_our_mark_raise_the_alarm_whatever_the_result_says() -> None:
    twice = (ours(), ours(at=5000, run_id="run-again"))
    for changes in ({"results": (EXECUTED,)}, {}, {"kind": "langgraph", "results": (EXECUTED,)}):
        assert POSSIBLY_TWICE in judge(gone(runs=twice, **changes)).alarms


@pytest.mark.parametrize("apart", [-1000, -10, 0, 3, 1000])
def test_somebody_elses_run_alive_together_with_ours_raises_the_alarm_on_aegra(apart: int) -> None:
    both = (ours(lasted=2000), theirs(at=apart, lasted=2000))

    assert judge(gone(runs=both, results=(EXECUTED,))).alarms == (POSSIBLY_TWICE, RACED_ALARM)


def test_on_langgraph_runs_queue_so_a_race_doubles_nothing() -> None:
    both = (ours(lasted=2000), theirs(at=3, lasted=2000))

    assert judge(gone(kind="langgraph", runs=both, results=(EXECUTED,))).alarms == (RACED_ALARM,)


@pytest.mark.parametrize(
    "other",
    [
        theirs(at=-300, lasted=100, run_id="proposed it just before"),
        theirs(at=-200, lasted=150, run_id="answered a sibling just before"),
        theirs(at=500, lasted=100, run_id="began after ours had ended"),
        theirs(at=1500, lasted=100, run_id="more than a second later"),
    ],
)
def test_a_run_that_was_not_alive_with_ours_raises_none(other: RunRow) -> None:
    assert judge(gone(runs=(ours(), other), results=(EXECUTED,))).alarms == ()


def test_a_run_whose_end_is_not_told_counts_as_alive() -> None:
    unended = theirs(at=-500, lasted=None)

    assert RACED_ALARM in judge(gone(runs=(ours(), unended), results=(EXECUTED,))).alarms


def test_our_two_attempts_do_not_race_each_other() -> None:
    assert judge(gone(runs=(ours(), ours(at=5, run_id="again")), results=(EXECUTED,))).raced_by == ()


# -- what needs a second look


def test_only_done_and_taken_are_believed_at_first_sight_of_all_that_ends_or_accepts() -> None:
    never_closing = {VerdictKind.TAKEN, VerdictKind.WAIT, VerdictKind.RACED, VerdictKind.ABSENT}

    assert set(SECOND_LOOK) == set(VerdictKind) - never_closing - {VerdictKind.DONE}
    assert {kind for kind in VerdictKind if needs_second_look(kind)} == set(SECOND_LOOK)
    assert {kind for kind in VerdictKind if judge(ROWS[kind]).settled} == set(SECOND_LOOK) | {VerdictKind.DONE}


def test_a_stuck_thread_is_given_two_seconds() -> None:
    assert SECOND_LOOK[VerdictKind.STUCK] == 2.0


def test_a_review_without_calls_is_never_done() -> None:
    assert judge(gone(sent=(), results=(), runs=(ours(),))).kind is VerdictKind.TAKEN_NO_RESULT
