"""What an operator may have done with a review, by where it stands.

The card offers exactly these, and a press of anything else is refused. Who is an operator says the policy; this module
must not know how any of it is carried out.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from bot.core.model import Review, ReviewState


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
