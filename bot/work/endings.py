"""What a closing verdict makes of a review, as data; and the outcomes that are stored with it."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType

from bot.core.judge import POSSIBLY_TWICE, RACED_ALARM, Verdict, VerdictKind
from bot.core.model import Outcome, ReviewState
from bot.core.outcome import CallResult

# Of a review whose answer may have left us: its next state, and why.
ENDINGS = MappingProxyType(
    {
        VerdictKind.DONE: (ReviewState.RESUMED, ""),
        VerdictKind.UNOPPOSED: (ReviewState.RESUMED, ""),
        VerdictKind.TAKEN_NO_RESULT: (ReviewState.RESUMED, ""),
        VerdictKind.LOST_RACE: (ReviewState.SUPERSEDED, "answered_elsewhere"),
        VerdictKind.ELSEWHERE: (ReviewState.SUPERSEDED, "answered_elsewhere"),
        VerdictKind.POISONED: (ReviewState.BROKEN, "poisoned"),
        VerdictKind.RAISED: (ReviewState.RESUMED, "raised"),
        VerdictKind.CUT_OFF: (ReviewState.UNKNOWN, "cut_off"),
        VerdictKind.STUCK: (ReviewState.UNKNOWN, "stuck"),
        VerdictKind.MOVED_ON: (ReviewState.SUPERSEDED, "thread_moved_on"),
        VerdictKind.UNANSWERABLE: (ReviewState.UNKNOWN, "unanswerable"),
    }
)
# The same for a review of which nothing has left us in this attempt. Any other verdict says that an earlier one arrived.
UNSENT_ENDINGS = MappingProxyType(
    {
        VerdictKind.ELSEWHERE: (ReviewState.SUPERSEDED, "answered_elsewhere"),
        VerdictKind.POISONED: (ReviewState.BROKEN, "poisoned"),
        VerdictKind.MOVED_ON: (ReviewState.SUPERSEDED, "thread_moved_on"),
        VerdictKind.UNANSWERABLE: (ReviewState.BROKEN, "unanswerable"),
    }
)
# Verdicts that only time changes.
UNDER_WAY = frozenset({VerdictKind.WAIT, VerdictKind.RACED})


def outcomes_of(
    verdict: Verdict, results: Sequence[CallResult | None], *, expiry: bool
) -> dict[int, tuple[Outcome, str | None]]:
    """Each known outcome with the server's own words; a rejection that Placet sent for expiry is called that."""
    told: dict[int, tuple[Outcome, str | None]] = {}
    for position, outcome in enumerate(verdict.outcomes):
        if outcome is None:
            continue
        result = results[position] if position < len(results) else None
        named = Outcome.EXPIRED if expiry and outcome is Outcome.REJECTED else outcome
        told[position] = (named, result.text if result else None)
    return told


def why_of(verdict: Verdict, why: str) -> str:
    """The reason code to store: that it may have run twice, which was told when it was seen, goes before everything else."""
    return alarm_why(verdict) if POSSIBLY_TWICE in verdict.alarms else why


def alarm_why(verdict: Verdict) -> str:
    """What the card says of a call that may have run twice: with whom it raced, if it was not our own second copy."""
    return RACED_ALARM if verdict.raced_by else POSSIBLY_TWICE
