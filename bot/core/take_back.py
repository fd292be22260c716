"""Changing one's mind about a decision that has not been sent, and stopping somebody else's approval.

Only its author takes a decision back, and where it needed several people, each of them is one: an approval that still waits
for others is taken back alone, and once there were enough, the decision falls with it, since too few stand behind it then.
Anybody who may reject may turn a not yet sent approval into a reject. From the moment that a worker has claimed the review it
is too late for all of this. This module must not know how either is stored.
"""

from __future__ import annotations

from dataclasses import replace

from bot.core.decide import Click, Refusal, Refused
from bot.core.model import Action, Decision, DecisionType, PersonId, Review, ReviewState
from bot.core.quorum import RUNS_THE_TOOL, stand_behind
from bot.core.states import IN_FLIGHT

CHANGEABLE = frozenset({ReviewState.OPEN, ReviewState.DECIDED})


def is_changeable(review: Review, action: Action) -> bool:
    """Whether this call has a decision, or an approval that waits for others, that could still be taken back."""
    return review.state in CHANGEABLE and bool(_behind(action))


def authors(action: Action) -> frozenset[PersonId]:
    """Who may take something back here, as long as it is changeable."""
    return frozenset(one.by for one in _behind(action))


def _behind(action: Action) -> tuple[Decision, ...]:
    """The decision's authors, or whoever has approved so far."""
    return stand_behind(action) or action.approvals


def is_stoppable(review: Review, action: Action) -> bool:
    """Whether this call is approved, not yet sent, and can be rejected instead."""
    approved = action.decision is not None and action.decision.type in RUNS_THE_TOOL
    return approved and is_changeable(review, action) and DecisionType.REJECT in action.allowed


def take_back_refusal(review: Review, position: int | None, who: PersonId) -> Refused | None:
    """Why this person may not take back their decision or approval at a position, or None."""
    action = review.actions[position] if position is not None and position < len(review.actions) else None
    if action is None:
        return Refused(Refusal.UNKNOWN_SHOWING)
    if review.state in IN_FLIGHT:
        return Refused(Refusal.TOO_LATE_TO_CHANGE, action.position)
    if review.state not in CHANGEABLE:
        return Refused(Refusal.GONE, action.position)
    behind = _behind(action)
    if not behind:
        return Refused(Refusal.STALE_SHOWING, action.position)
    if who not in authors(action):
        return Refused(Refusal.NOT_AUTHOR, action.position, {"by": behind[-1].by.user})
    return None


def without_stopped(review: Review, press: Click) -> Review | None:
    """The review as it was before the approval that this press would stop, or None for any other press.

    Only what was shown after the approval can stop it: who pressed Reject before that has lost the race and is told.
    """
    if len(press.intents) != 1 or press.intents[0].type is not DecisionType.REJECT:
        return None
    position = press.intents[0].position
    action = next((one for one in review.actions if one.position == position), None)
    if action is None or action.decision is None or not is_stoppable(review, action):
        return None
    if press.showing.at < action.decision.at or press.showing.position != position:
        return None
    actions = tuple(replace(one, decision=None) if one is action else one for one in review.actions)
    return review.evolve(state=ReviewState.OPEN, actions=actions)
