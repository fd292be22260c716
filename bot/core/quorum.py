"""How many people have said yes to one and the same thing.

Approvals count only for one digest, one for each person. Other arguments begin a new count, whose author is the first;
a rejection or an answer needs nobody else, and ends it. Who may approve, and how many are needed, is told.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bot.core.decision import same_arguments
from bot.core.model import Action, Decision, DecisionType

RUNS_THE_TOOL = frozenset({DecisionType.APPROVE, DecisionType.EDIT})


@dataclass(frozen=True, slots=True)
class Vote:
    """What one accepted intent makes: an approval, a decision, or both at once where it is the last that was missing."""

    would_send: Decision
    decision: Decision | None = None
    approval: Decision | None = None
    voids: bool = False  # the approvals that stood there before


def seconds(action: Action, kind: DecisionType, typed: str | None) -> bool:
    """Whether this says yes to the edit that awaits more approvals: pressed on it, or typed the same once more."""
    proposal = action.proposal
    if proposal is None or kind not in RUNS_THE_TOOL:
        return False
    return kind is DecisionType.APPROVE or same_arguments(typed, proposal.final_args)


def count(action: Action, made: Decision, *, needed: int) -> Vote | None:
    """Count one person's decision; None when the same person has approved the same before and others are missing."""
    sent = as_sent(made)
    standing = tuple(one for one in action.approvals if one.digest == made.digest)
    if made.type not in RUNS_THE_TOOL:
        return Vote(sent, decision=made, voids=bool(action.approvals))
    if needed <= 1 and not standing:
        return Vote(sent, decision=sent, voids=bool(action.approvals))
    again = any(one.by == made.by for one in standing)
    everybody = standing if again else (*standing, made)
    complete = enough(everybody, needed)
    if again and not complete:
        return None
    voids = bool(action.approvals) and not standing
    return Vote(sent, sent if complete else None, None if again else made, voids)


def enough(approvals: Sequence[Decision], needed: int) -> bool:
    """Whether so many different people stand behind it."""
    return len({one.by for one in approvals}) >= needed


def as_sent(made: Decision) -> Decision:
    """An approval of edited arguments goes out as that edit, whoever made it."""
    return made if made.final_args is None else replace(made, type=DecisionType.EDIT)


def stand_behind(action: Action) -> tuple[Decision, ...]:
    """Everybody on whose word the position's decision rests."""
    decision = action.decision
    if decision is None:
        return ()
    counted = tuple(one for one in action.approvals if one.digest == decision.digest)
    return counted if counted and decision.type in RUNS_THE_TOOL else (decision,)
