"""What one look at a thread proves about one dispatch: the decision table, row by row.

One look is reduced here to what `judge` asks of it. Plain records between the two agent servers' ways of telling and
the one table that judges; they say what was seen, and whose each run is, but draw no conclusion.

An agent server has no idempotency key, so after a send whose answer was lost only its state, its thread status and
its list of runs can tell. Each row of `TABLE` is one conclusion with its condition; the first that holds is the
verdict.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from bot.core.model import DecisionType, Outcome
from bot.runtimes.langgraph.outcomes import CallResult, explained, unopposed

ACTIVE = frozenset({"pending", "running"})


@dataclass(frozen=True, slots=True)
class RunRow:
    """One run as the server lists it; times are milliseconds since the epoch on the server's clock."""

    run_id: str
    status: str
    created_at: int
    dispatch: str | None = None  # our mark
    attempt: int | None = None
    updated_at: int | None = None

    @property
    def active(self) -> bool:
        """Whether it may still do something."""
        return self.status in ACTIVE


@dataclass(frozen=True, slots=True)
class Observation:
    """One look at a thread, reduced to what the table asks.

    `sent_args` are the final arguments of edits and `said` the reasons and answers as sent, by position. `task_error` is
    the error on the way to our interrupt, `errors` every task's. `asks_only`: what listed it only asks and runs nothing,
    so that an error there is one of the answer; `asks_again`: it holds an answer already. `mark_seen`: our mark in the state's or the history's metadata.
    `accepted`: the server confirmed a run, whose id may be unknown. `others_pending`: interrupts other than ours are
    listed; `unfinished`: the thread names what comes next. `thread_status` is None where the thread is gone.

    `siblings` are other dispatches of ours on the thread, and `asked_by` the run that raised the interrupt: neither can
    have answered it. `wrote`: whether a run of ours wrote a checkpoint, None where the history does not tell. `beside`:
    other runs that went on from the checkpoint at which the interrupt waited. `raced_before`: an earlier look found one.
    """

    dispatch: str
    kind: str
    sent: tuple[DecisionType, ...]
    results: tuple[CallResult | None, ...]
    listed: bool
    same_digest: bool
    task_error: str | None
    thread_status: str | None
    runs: tuple[RunRow, ...]
    sent_args: tuple[str | None, ...] = ()
    said: tuple[str | None, ...] = ()
    errors: tuple[str, ...] = ()
    asks_only: bool = False
    asks_again: bool = False
    mark_seen: bool = False
    accepted: bool = False
    run_id: str | None = None
    others_pending: bool = False
    unfinished: bool = False
    siblings: frozenset[str] = frozenset()
    asked_by: str | None = None
    wrote: bool | None = None
    beside: tuple[str, ...] = ()
    raced_before: bool = False

    @property
    def ours(self) -> tuple[RunRow, ...]:
        """Runs that carry our mark, or that the server named when it accepted ours."""
        return tuple(run for run in self.runs if run.dispatch == self.dispatch or run.run_id == self.run_id)

    @property
    def others(self) -> tuple[RunRow, ...]:
        """All other runs, those of our answers to other interrupts too."""
        mine = {run.run_id for run in self.ours}
        return tuple(run for run in self.runs if run.run_id not in mine)

    @property
    def foreign(self) -> tuple[RunRow, ...]:
        """Runs that somebody else may have answered this interrupt with."""
        return tuple(run for run in self.others if run.dispatch not in self.siblings and run.run_id != self.asked_by)

    @property
    def carried(self) -> bool:
        """Whether the server ever had our answer."""
        return self.accepted or self.mark_seen or bool(self.ours)

    @property
    def answered(self) -> bool:
        """Whether every call has a result."""
        return bool(self.results) and all(result is not None for result in self.results)


RACE_MS = 1000
# How a run ends that was stopped from outside: no word on what its tool did.
NOT_THE_TOOLS = re.compile(
    r"(\w+\.)*(CancelledError|GraphRecursionError|GraphInterrupt|GraphDrained|UserInterrupt|UserRollback"
    r"|KeyboardInterrupt|SystemExit)\b|Recursion limit of "
)
POSSIBLY_TWICE = "possibly_twice"
RACED_ALARM = "raced"
RAISED_ALARM = "raised"


class VerdictKind(StrEnum):
    """Every conclusion that a look can give."""

    TAKEN = "taken"  # our run is active: follow it, never send again
    DONE = "done"  # every call has its result, as sent
    UNOPPOSED = "unopposed"  # every call has a result that our answer does not explain, and there was no other answer
    LOST_RACE = "lost_race"  # ours was accepted, and somebody else's answer counted
    ELSEWHERE = "elsewhere"  # answered without us
    POISONED = "poisoned"  # a bad answer is stored: the interrupt can never be answered
    RAISED = "raised"  # a tool failed in our run: effect unknown, never again
    TAKEN_NO_RESULT = "taken_no_result"  # our run ended well and the thread shows no result
    CUT_OFF = "cut_off"  # our run ended otherwise: effect unknown
    STUCK = "stuck"  # busy without any run
    RACED = "raced"  # somebody else's run, made within a second of ours: wait, and raise the alarm
    WAIT = "wait"  # somebody else's run
    ABSENT = "absent"  # no trace of ours, and answerable
    MOVED_ON = "moved_on"  # no longer listed, or with other content
    UNANSWERABLE = "unanswerable"  # listed, and the thread takes no answer


# Seconds until the same verdict must be seen again. State is read before the runs, so a run that ends in between shows
# itself half: only DONE and TAKEN are believed at first sight. ABSENT has a settling rule of its own.
SECOND_LOOK: Mapping[VerdictKind, float] = MappingProxyType(
    {
        VerdictKind.UNOPPOSED: 0.25,
        VerdictKind.LOST_RACE: 0.25,
        VerdictKind.ELSEWHERE: 0.25,
        VerdictKind.POISONED: 0.25,
        VerdictKind.RAISED: 0.25,
        VerdictKind.TAKEN_NO_RESULT: 0.25,
        VerdictKind.CUT_OFF: 0.25,
        VerdictKind.STUCK: 2.0,
        VerdictKind.MOVED_ON: 0.25,
        VerdictKind.UNANSWERABLE: 0.25,
    }
)


def needs_second_look(kind: VerdictKind) -> bool:
    """Whether this verdict closes a dispatch only when a second look agrees."""
    return kind in SECOND_LOOK


@dataclass(frozen=True, slots=True)
class Verdict:
    """A conclusion, the outcome of each call as far as it is known, and what an operator must hear."""

    kind: VerdictKind
    outcomes: tuple[Outcome | None, ...]
    why: str
    alarms: tuple[str, ...] = ()
    raced_by: tuple[str, ...] = field(default=())  # run ids behind the alarms

    @property
    def settled(self) -> bool:
        """Whether the dispatch is over once `needs_second_look` is satisfied."""
        return self.kind is VerdictKind.DONE or self.kind in SECOND_LOOK


@dataclass(frozen=True, slots=True)
class _Row:
    kind: VerdictKind
    holds: Callable[[Observation], bool]
    why: str


def judge(seen: Observation) -> Verdict:
    """The first row of `TABLE` that holds; its last row always does."""
    row = next(row for row in TABLE if row.holds(seen))
    racing = _racing(seen)
    # langgraph dev runs one at a time; measured: two answers at once never gave two effects there.
    twice = len(seen.ours) > 1 or (bool(racing) and seen.kind != "langgraph")
    alarms = (POSSIBLY_TWICE,) * twice + (RACED_ALARM,) * bool(racing)
    return Verdict(row.kind, _outcomes(row.kind, seen, raced=bool(racing)), row.why, alarms, racing)


def _our_run_active(seen: Observation) -> bool:
    return any(run.active for run in seen.ours)


def _others_active(seen: Observation) -> bool:
    return any(run.active for run in seen.others)


def _explained(seen: Observation, at: int) -> Outcome | None:
    """What our answer makes of the result at this position, if it explains it."""
    result = seen.results[at]
    args, said = (one[at] if one else None for one in (seen.sent_args, seen.said))
    return None if result is None else explained(result, seen.sent[at], final_args=args, said=said)


def _as_sent(seen: Observation) -> bool:
    return all(_explained(seen, at) is not None for at in range(len(seen.sent)))


def _somebody_else(seen: Observation) -> bool:
    """Whether another client's run took part at our interrupt: a result that surprises is no evidence by itself."""
    return bool(_racing(seen) or seen.beside or seen.raced_before) or (seen.wrote is False and _others_since(seen))


def _others_since(seen: Observation) -> bool:
    """Whether somebody's run was made after the one that raised our interrupt."""
    asked = next((run for run in seen.runs if run.run_id == seen.asked_by), None)
    return asked is not None and any(run.created_at > asked.created_at for run in seen.foreign)


def _answer_refused(seen: Observation) -> bool:
    """Whether an error on our interrupt is one of its answer: none of ours came past the step that asks.

    Where the asking task runs the tool as well, only an answer that lets nothing run can say so.
    """
    runs_nothing = not {DecisionType.APPROVE, DecisionType.EDIT} & set(seen.sent)
    return not seen.carried or (seen.wrote is not True and (seen.asks_only or runs_nothing))


def _tool_failed(seen: Observation) -> bool:
    """Whether a task of the thread carries an error of its own."""
    return any(not NOT_THE_TOOLS.match(error) for error in seen.errors)


def _our_run_failed(seen: Observation) -> bool:
    return any(run.status == "error" for run in seen.ours)


def _our_run_ended_well(seen: Observation) -> bool:
    """Whether a run of ours came to its end.

    Measured: langgraph dev says `success` also when the thread pauses again; Aegra says `interrupted` then, and the
    same of a run that was cancelled, whose thread becomes `idle`. So on Aegra `interrupted` counts only while the thread
    waits for something and no later run can have caused that.
    """
    if any(run.status == "success" for run in seen.ours):
        return True
    newest = max(seen.runs, key=lambda run: run.created_at, default=None)
    paused = newest in seen.ours and newest is not None and newest.status == "interrupted"
    waits = seen.listed or seen.others_pending or seen.unfinished
    return seen.kind == "aegra" and paused and seen.thread_status == "interrupted" and waits


def _asked_since(seen: Observation) -> bool:
    """Whether what is listed under our interrupt's id is a later question, which our answer led to."""
    return seen.task_error is None and (seen.mark_seen or seen.wrote is True or seen.asks_again)


def _racing(seen: Observation) -> tuple[str, ...]:
    """Other runs that were alive together with one of ours and were made within a second of it.

    Two answers that reach Aegra within about ten milliseconds both run. A run that ended before ours was made, such as
    the one that proposed the call or the answer to a sibling, cannot have raced it.
    """
    return tuple(run.run_id for run in seen.foreign if any(_overlap(run, ours) for ours in seen.ours))


def _overlap(one: RunRow, other: RunRow) -> bool:
    near = abs(one.created_at - other.created_at) <= RACE_MS
    return near and not _over_before(one, other) and not _over_before(other, one)


def _over_before(one: RunRow, other: RunRow) -> bool:
    return not one.active and one.updated_at is not None and one.updated_at < other.created_at


def _outcomes(kind: VerdictKind, seen: Observation, *, raced: bool) -> tuple[Outcome | None, ...]:
    """Each call's own result; for the rest, what the verdict says of calls without one."""
    blank = _blank(kind, seen, raced=raced)
    theirs = kind in (VerdictKind.LOST_RACE, VerdictKind.ELSEWHERE)
    return tuple(
        blank[at] if result is None else _theirs(result, seen.sent[at]) if theirs else _settled(seen, at, result)
        for at, result in enumerate(seen.results)
    )


def _settled(seen: Observation, at: int, result: CallResult) -> Outcome:
    """What became of it by our own answer; nothing is believed of a result that a race may have made."""
    ours = _explained(seen, at)
    if ours is not None or _somebody_else(seen) or not seen.carried:
        return ours or result.outcome
    return unopposed(result, seen.sent[at], final_args=seen.sent_args[at] if seen.sent_args else None)


def _theirs(result: CallResult, decision: DecisionType) -> Outcome | None:
    """Older versions write a rejection without the marker: believed where we sent one, else it may be a tool's words."""
    if not result.says_rejected:
        return result.outcome
    return Outcome.REJECTED if decision is DecisionType.REJECT else None


def _blank(kind: VerdictKind, seen: Observation, *, raced: bool) -> tuple[Outcome | None, ...]:
    match kind:
        case VerdictKind.TAKEN_NO_RESULT:
            return tuple(_taken(decision, raced=raced) for decision in seen.sent)
        case VerdictKind.RAISED:
            return _after_failure(seen)
        case VerdictKind.CUT_OFF | VerdictKind.STUCK | VerdictKind.UNANSWERABLE:
            return (Outcome.UNKNOWN,) * len(seen.sent)
        case VerdictKind.MOVED_ON:
            return (Outcome.SUPERSEDED,) * len(seen.sent)
    return (None,) * len(seen.sent)


def _taken(decision: DecisionType, *, raced: bool) -> Outcome:
    """A run of ours carried the rejection and nobody raced it, so it was taken as one."""
    return Outcome.REJECTED if decision is DecisionType.REJECT and not raced else Outcome.TAKEN


def _after_failure(seen: Observation) -> tuple[Outcome | None, ...]:
    """A lone call without a result, and meant to run, is the one that failed; of several, any may have."""
    bare = [decision for result, decision in zip(seen.results, seen.sent, strict=True) if result is None]
    lone = len(bare) == 1 and bare[0] in (DecisionType.APPROVE, DecisionType.EDIT)
    return (Outcome.FAILED if lone else Outcome.UNKNOWN,) * len(seen.sent)


TABLE: tuple[_Row, ...] = (
    _Row(VerdictKind.TAKEN, _our_run_active, "a run of ours is active"),
    _Row(VerdictKind.DONE, lambda seen: seen.answered and seen.carried and _as_sent(seen), "every call has its result"),
    _Row(
        VerdictKind.LOST_RACE,
        lambda seen: seen.answered and seen.carried and _somebody_else(seen),
        "our answer was accepted and another one counted",
    ),
    _Row(
        VerdictKind.UNOPPOSED,
        lambda seen: seen.answered and seen.carried,
        "every call has a result, and nobody else is known to have answered",
    ),
    _Row(VerdictKind.ELSEWHERE, lambda seen: seen.answered, "every call has a result and no run of ours is known"),
    _Row(
        VerdictKind.POISONED,
        lambda seen: seen.listed and seen.task_error is not None and _answer_refused(seen),
        "the interrupt is listed and its task carries an error of the answer",
    ),
    _Row(VerdictKind.RAISED, lambda seen: _our_run_failed(seen) and _tool_failed(seen), "a tool failed in our run"),
    # Ours ended while somebody else's run goes on: what it does is not over, so nothing is concluded yet.
    _Row(
        VerdictKind.RACED,
        lambda seen: _others_active(seen) and bool(_racing(seen)),
        "somebody else's run was made within a second of ours",
    ),
    _Row(
        VerdictKind.WAIT,
        lambda seen: seen.carried and _others_active(seen),
        "somebody else's run is active after ours ended",
    ),
    _Row(
        VerdictKind.TAKEN_NO_RESULT,
        lambda seen: _our_run_ended_well(seen) and (not seen.listed or _asked_since(seen)),
        "our run ended and the thread shows no result for the call; what is listed by now was asked since",
    ),
    _Row(VerdictKind.CUT_OFF, lambda seen: seen.carried, "our run ended without a result"),
    _Row(
        VerdictKind.STUCK,
        lambda seen: seen.thread_status == "busy" and not _others_active(seen),
        "the thread is busy and no run is active",
    ),
    _Row(
        VerdictKind.WAIT,
        lambda seen: seen.thread_status == "busy" or _others_active(seen),
        "somebody else's run is active",
    ),
    _Row(
        VerdictKind.ABSENT,
        lambda seen: seen.listed and seen.same_digest and seen.thread_status == "interrupted",
        "pending as it was shown, and no trace of ours",
    ),
    _Row(VerdictKind.MOVED_ON, lambda seen: not (seen.listed and seen.same_digest), "the thread moved on"),
    _Row(VerdictKind.UNANSWERABLE, lambda seen: seen.listed, "listed, and the thread takes no answer"),
)
