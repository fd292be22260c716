"""Whether a press becomes a decision.

`decide` takes what is stored and what a person did, and answers `Accepted` or `Refused`: a refusal is a value, never an
exception. The same function judges a button on a card, a modal's submission and a replica's late copy of either. Who
may do what is asked of `Authority`, which the policy answers; this module must not know users, groups or Slack.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from bot.core.decision import answer_problem, decided_digest, edit_problem, message_problem, same_arguments
from bot.core.model import Action, Decision, DecisionType, PersonId, Review, ReviewState, Showing
from bot.core.quorum import RUNS_THE_TOOL, Vote, count, seconds
from bot.core.states import IN_FLIGHT

LAST_MINUTE_MS = 60_000


class Refusal(StrEnum):
    """Why a press was refused; `blocks.words` has one sentence for each."""

    NOT_A_REVIEWER = "not_a_reviewer"
    DECISION_NOT_ALLOWED = "decision_not_allowed"
    DECISION_NOT_PERMITTED = "decision_not_permitted"
    DENIED = "denied"
    CONDITION_NOT_MET = "condition_not_met"
    JOINED_TOO_LATE = "joined_too_late"
    OWN_REQUEST = "own_request"
    REQUESTER_UNKNOWN = "requester_unknown"
    ALREADY_DECIDED = "already_decided"
    ALREADY_APPROVED = "already_approved"
    STALE_SHOWING = "stale_showing"
    NOT_FULLY_SHOWN = "not_fully_shown"
    EXPIRED = "expired"
    LAST_MINUTE = "last_minute"
    GONE = "gone"
    NOT_DECIDABLE = "not_decidable"
    UNKNOWN_SHOWING = "unknown_showing"
    OTHER_WORKSPACE = "other_workspace"
    OUTSIDER = "outsider"
    GUEST = "guest"
    DEACTIVATED = "deactivated"
    BOT_USER = "bot_user"
    CANNOT_CONFIRM = "cannot_confirm"
    GROUP_UNREADABLE = "group_unreadable"
    INVALID_EDIT = "invalid_edit"
    UNCHANGED_EDIT_NOT_ALLOWED = "unchanged_edit_not_allowed"
    EMPTY_ANSWER = "empty_answer"
    UNSENDABLE_TEXT = "unsendable_text"
    TOO_LATE_TO_CHANGE = "too_late_to_change"
    NOT_AUTHOR = "not_author"
    NOT_AN_OPERATOR = "not_an_operator"
    TOO_SLOW = "too_slow"
    NOT_REDRAWN = "not_redrawn"
    MALFORMED = "malformed"
    INTERNAL = "internal"


@dataclass(frozen=True, slots=True)
class Permission:
    """The policy's answer for one person, one call and one decision."""

    allowed: bool
    refusal: Refusal | None = None
    rule: str = ""
    policy_version: int = 0
    quorum: int = 1  # how many people must approve this call before it is decided
    problem: str = ""  # what is wrong with the final arguments, where that is why


# (action, decision, final arguments or None) -> permission, for the person who pressed.
Authority = Callable[[Action, DecisionType, str | None], Permission]


@dataclass(frozen=True, slots=True)
class Intent:
    """What a person asks for one position. `showing`: where that is not the press's own, the view that showed an edit."""

    position: int
    type: DecisionType
    final_args: str | None = None
    message: str | None = None
    showing: Showing | None = None


@dataclass(frozen=True, slots=True)
class Click:
    """One delivery from Slack: who asked what, on which showing, at which database time."""

    who: PersonId
    showing: Showing
    intents: tuple[Intent, ...]
    now: int


@dataclass(frozen=True, slots=True)
class Accepted:
    """What to record, without ids.

    `approvals` count towards a quorum, and stand beside the decision that the last of them makes. At the positions in
    `voided` earlier approvals count no more: they were for other arguments, or one person has said no.
    """

    decisions: tuple[Decision, ...]
    approvals: tuple[Decision, ...] = ()
    voided: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Refused:
    """Why nothing is recorded; `position` when one call is at fault."""

    reason: Refusal
    position: int | None = None
    facts: Mapping[str, str] = field(default_factory=dict)


def review_digest(review: Review) -> str:
    """The digest of a whole review: of what stands at its calls, in order."""
    return hashlib.sha256("".join(action.standing_digest for action in review.actions).encode()).hexdigest()


def decide(review: Review, press: Click, authority: Authority) -> Accepted | Refused:
    """Judge every intent of a press; all are accepted or none is.

    Positions that somebody else decided meanwhile are refused by name, so that a batch can be sent again without them.
    """
    refused = _closed(review, press)
    if refused:
        return refused
    taken: list[Vote] = []
    for intent in press.intents:
        result = _one(review, press, intent, authority)
        if isinstance(result, Refused):
            return result
        taken.append(result)
    return _sendable(review, [one.would_send for one in taken]) or _accepted(taken)


def _accepted(taken: Sequence[Vote]) -> Accepted:
    return Accepted(
        tuple(one.decision for one in taken if one.decision),
        tuple(one.approval for one in taken if one.approval),
        tuple(one.would_send.position for one in taken if one.voids),
    )


def _closed(review: Review, press: Click) -> Refused | None:
    """Why this review takes no decision at all from this showing."""
    named = [press.showing, *(intent.showing for intent in press.intents if intent.showing)]
    theirs = all(one.review_id == review.id and one.to in (None, press.who) for one in named)
    if not theirs or not _one_each(press.intents):
        return Refused(Refusal.UNKNOWN_SHOWING)
    if review.state in (ReviewState.SUPERSEDED, ReviewState.BROKEN):
        return Refused(Refusal.GONE)
    if review.state in (ReviewState.EXPIRED, ReviewState.HELD):
        return Refused(Refusal.EXPIRED)
    if review.state is not ReviewState.OPEN:
        return _decided_by_other(review, press) or Refused(_late(review))
    if review.problem:
        return Refused(Refusal.NOT_DECIDABLE)
    if review.decide_by is not None and press.now >= review.decide_by:
        return Refused(Refusal.EXPIRED)
    return None


def _one_each(intents: Sequence[Intent]) -> bool:
    """Whether something is asked, and of no position twice; no view of ours can send anything else."""
    return 0 < len(intents) == len({intent.position for intent in intents})


def _late(review: Review) -> Refusal:
    return Refusal.TOO_LATE_TO_CHANGE if review.state in IN_FLIGHT else Refusal.ALREADY_DECIDED


def _decided_by_other(review: Review, press: Click) -> Refused | None:
    for intent in press.intents:
        action = _find(review, intent.position)
        if action and action.decision:
            return Refused(Refusal.ALREADY_DECIDED, intent.position, _deciders(action.decision))
    return None


def _deciders(decision: Decision) -> dict[str, str]:
    return {"by": decision.by.user, "type": decision.type.value}


def _find(review: Review, position: int) -> Action | None:
    return next((action for action in review.actions if action.position == position), None)


def _one(review: Review, press: Click, intent: Intent, authority: Authority) -> Vote | Refused:
    action = _find(review, intent.position)
    if action is None:
        return Refused(Refusal.UNKNOWN_SHOWING, intent.position)
    if action.decision is not None:
        return Refused(Refusal.ALREADY_DECIDED, action.position, _deciders(action.decision))
    if intent.type not in action.allowed:
        return Refused(Refusal.DECISION_NOT_ALLOWED, action.position, {"type": intent.type.value})
    seen = intent.showing or press.showing
    if not all(_fresh(review, action, one) for one in (press.showing, seen)) or not _as_shown(seen, intent):
        return Refused(Refusal.STALE_SHOWING, action.position)
    refused = _visible(review, press, intent)
    if refused:
        return refused
    final = _final(action, intent)
    if isinstance(final, Refused):
        return final
    permission = authority(action, final.type, final.final_args)
    if not permission.allowed:
        facts = {"type": final.type.value} | ({"problem": permission.problem} if permission.problem else {})
        return Refused(permission.refusal or Refusal.NOT_A_REVIEWER, action.position, facts)
    made = _decision(review, action, replace(press, showing=seen), final, permission)
    taken = count(action, made, needed=permission.quorum)
    return taken or Refused(Refusal.ALREADY_APPROVED, action.position)


def _fresh(review: Review, action: Action, showing: Showing) -> bool:
    if showing.position is None:
        return showing.digest == review_digest(review)
    return showing.position == action.position and showing.digest == action.standing_digest


def _as_shown(showing: Showing, intent: Intent) -> bool:
    """Whether an edit that was shown as a diff is sent with exactly those arguments."""
    return showing.position is None or showing.final_args in (None, intent.final_args)


def _visible(review: Review, press: Click, intent: Intent) -> Refused | None:
    """Only what was offered is taken; nobody runs what was not fully shown to them, nor in the last minute."""
    offer = (intent.showing or press.showing).offer(intent.position)
    if intent.type in RUNS_THE_TOOL and (offer is None or not offer.complete):
        return Refused(Refusal.NOT_FULLY_SHOWN, intent.position)
    if offer is None or intent.type not in offer.offered:
        return Refused(Refusal.DECISION_NOT_ALLOWED, intent.position, {"type": intent.type.value})
    if intent.type not in RUNS_THE_TOOL:
        return None
    if review.decide_by is not None and press.now >= review.decide_by - LAST_MINUTE_MS:
        return Refused(Refusal.LAST_MINUTE, intent.position)
    return None


def _final(action: Action, intent: Intent) -> Intent | Refused:
    """The intent as it would be sent: an edit that changes nothing is an approve, whatever could not be sent in it."""
    if intent.type is DecisionType.RESPOND and not (intent.message or "").strip():
        return Refused(Refusal.EMPTY_ANSWER, action.position)
    if seconds(action, intent.type, intent.final_args):
        return replace(intent, final_args=action.standing_args)
    if intent.type is not DecisionType.EDIT:
        return _worded(action, intent)
    typed = intent.final_args or ""
    if same_arguments(typed, action.args):
        return _unchanged(action)
    problem = edit_problem(typed)
    return Refused(Refusal.INVALID_EDIT, action.position, {"problem": problem}) if problem else intent


def _worded(action: Action, intent: Intent) -> Intent | Refused:
    problem = message_problem(intent.message)
    if problem:
        return Refused(Refusal.UNSENDABLE_TEXT, action.position, {"problem": problem})
    return Intent(action.position, intent.type, message=intent.message)


def _unchanged(action: Action) -> Intent | Refused:
    if DecisionType.APPROVE in action.allowed:
        return Intent(action.position, DecisionType.APPROVE)
    return Refused(Refusal.UNCHANGED_EDIT_NOT_ALLOWED, action.position)


def _decision(review: Review, action: Action, press: Click, final: Intent, permission: Permission) -> Decision:
    return Decision(
        id="",
        position=action.position,
        type=final.type,
        by=press.who,
        at=press.now,
        showing_id=press.showing.id,
        digest=decided_digest(review, action, final.final_args),
        final_args=final.final_args,
        message=final.message,
        rule=permission.rule,
        policy_version=permission.policy_version,
    )


def _sendable(review: Review, decisions: Sequence[Decision]) -> Refused | None:
    """A server schema that would refuse the answer is better met in the modal than at dispatch."""
    problem = answer_problem(review, decisions)
    if problem is None:
        return None
    reason = Refusal.INVALID_EDIT if decisions[0].type is DecisionType.EDIT else Refusal.NOT_DECIDABLE
    return Refused(reason, decisions[0].position, {"problem": problem})
