"""One look at a thread, reduced to what `bot.core.judge` asks of it.

Plain records between the two agent servers' ways of telling and the one table that judges; they say what was seen,
and whose each run is, but draw no conclusion.
"""

from __future__ import annotations

from dataclasses import dataclass

from bot.core.model import DecisionType
from bot.core.outcome import CallResult

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
