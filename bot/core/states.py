"""The states of a review, every transition between them, and what an operator may do in each.

Everything that moves a review's state lives in this file. `TRANSITIONS` holds every state, also those that nothing
follows; a missing cell is the illegal transition. The store asks `check` before each conditional UPDATE, and the
README's diagram is drawn from the same table.

What an operator may have done with a review, by where it stands. The card offers exactly these, and a press of
anything else is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from bot.core.model import Review, ReviewState
from bot.core.model import ReviewState as S

TRANSITIONS: Mapping[S, Mapping[S, str]] = MappingProxyType(
    {
        S.OPEN: {
            S.DECIDED: "the last position was decided",
            S.EXPIRED: "nobody decided in time",
            S.SUPERSEDED: "the thread moved on",
            S.BROKEN: "the interrupt carries an error",
        },
        S.DECIDED: {
            S.OPEN: "taken back or voided",
            S.CLAIMED: "a worker took the thread",
            S.EXPIRED: "not sent in time",
            S.SUPERSEDED: "the thread moved on",
            S.BROKEN: "the interrupt carries an error",
        },
        S.CLAIMED: {
            S.ARMED: "about to write the first byte",
            S.DECIDED: "lease lost, thread busy, or cannot tell",
            S.OPEN: "voided at the re-check",
            S.EXPIRED: "not sent in time",
            S.SUPERSEDED: "the thread moved on",
            S.BROKEN: "the interrupt carries an error",
        },
        S.ARMED: {
            S.SENT: "the server accepted the run",
            S.DECIDED: "proven not taken",
            S.UNKNOWN: "cannot be told",
            S.SUPERSEDED: "answered elsewhere",
            S.BROKEN: "the answer was refused and stored",
        },
        S.SENT: {
            S.RESUMED: "the outcome is known",
            S.UNKNOWN: "cannot be told",
            S.SUPERSEDED: "answered elsewhere",
            S.BROKEN: "the answer was refused and stored",
        },
        S.UNKNOWN: {
            S.RESUMED: "settled by the server's state or an operator",
            S.DECIDED: "settled as not executed",
            S.BROKEN: "the interrupt carries an error",
            S.SUPERSEDED: "the thread moved on",
        },
        S.EXPIRED: {
            S.CLAIMED: "a worker rejects every position",
            S.HELD: "cannot be rejected, or held by policy",
            S.SUPERSEDED: "the thread moved on",
            S.BROKEN: "the interrupt carries an error",
        },
        S.HELD: {S.OPEN: "reopened by an operator", S.SUPERSEDED: "the thread moved on"},
        S.RESUMED: {},
        S.SUPERSEDED: {},
        S.BROKEN: {},
    }
)

TERMINAL = frozenset(state for state, following in TRANSITIONS.items() if not following)
# States in which an answer is on its way: nothing may be decided, changed or taken back.
IN_FLIGHT = frozenset({S.CLAIMED, S.ARMED, S.SENT})


class IllegalTransition(Exception):
    """The table has no such cell."""

    def __init__(self, current: S, following: S) -> None:
        super().__init__(f"a review that is {current.value} cannot become {following.value}")
        self.current, self.following = current, following


def check(current: S, following: S) -> None:
    """Raise `IllegalTransition` unless the table has this cell."""
    if following not in TRANSITIONS[current]:
        raise IllegalTransition(current, following)


def sources(following: S) -> frozenset[S]:
    """Every state from which `following` can be reached in one step."""
    return frozenset(state for state, cells in TRANSITIONS.items() if following in cells)


def mermaid() -> str:
    """The table as a Mermaid state diagram."""
    lines = ["stateDiagram-v2", "    [*] --> open"]
    for state, cells in TRANSITIONS.items():
        lines += [f"    {state.value} --> {following.value}: {why}" for following, why in cells.items()]
    lines += [f"    {state.value} --> [*]" for state in TRANSITIONS if state in TERMINAL]
    return "\n".join(lines)


class Operation(StrEnum):
    """What the process that serves does on an operator's word; the names are those of the requests."""

    REPAIR = "repair"
    SETTLE = "settle"
    CANCEL = "cancel"
    REOPEN = "reopen"


# Something may still run there, or the agent server believes so.
STUCK = frozenset({"stuck", "still_running"})
# Whether it ran once or twice nobody can tell from here, and no operator has looked yet.
TWICE = frozenset({"raced", "possibly_twice"})
_BY_STATE: Mapping[ReviewState, tuple[Operation, ...]] = MappingProxyType(
    {
        ReviewState.BROKEN: (Operation.REPAIR,),
        ReviewState.UNKNOWN: (Operation.SETTLE,),
        ReviewState.HELD: (Operation.REOPEN,),
    }
)


def maybe_twice(review: Review) -> bool:
    """Whether the outcome stands and may have happened twice."""
    return review.why in TWICE and review.state in (ReviewState.RESUMED, ReviewState.SUPERSEDED)


def operations(review: Review) -> tuple[Operation, ...]:
    """What an operator may ask for now."""
    if maybe_twice(review):
        return (Operation.SETTLE,)
    offered = _BY_STATE.get(review.state, ())
    stuck = review.state is ReviewState.UNKNOWN and review.why in STUCK
    return (*offered, Operation.CANCEL) if stuck else offered
