"""Approvals that count towards a quorum: at most one active for each person and position, never deleted.

They stand beside the decisions, because a decision is one and final and an approval waits for others. Which of them
count, and how many are needed, is not known here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import and_, bindparam, insert, select, text, update

from bot.core.model import Decision, DecisionType, PersonId
from bot.store.audit import events
from bot.store.engine import Tx
from bot.store.tables import ACTIVE_DECISION, approvals

_COLUMNS = [
    approvals.c[name]
    for name in ("id", "position", "type", "team", "user_id", "at", "showing_id", "digest", "final_args", "rule")
]
_ACTIVE = (
    select(approvals.c.review_id, approvals.c.policy_version, *_COLUMNS)
    .where(text(ACTIVE_DECISION))
    .order_by(approvals.c.at, approvals.c.id)
)
# Made once: to build a statement costs as much as to send it.
_ITS_ACTIVE = _ACTIVE.where(approvals.c.review_id == bindparam("review"))


async def load_approvals(tx: Tx, review_ids: Collection[str]) -> Mapping[tuple[str, int], tuple[Decision, ...]]:
    """The active approvals of some reviews by review and position, in the order in which they were made."""
    found: dict[tuple[str, int], list[Decision]] = defaultdict(list)
    for row in await _active(tx, review_ids):
        found[row.review_id, row.position].append(_approval(row))
    return {place: tuple(made) for place, made in found.items()}


async def _active(tx: Tx, review_ids: Collection[str]) -> Iterable[Any]:
    if len(review_ids) == 1:
        return await tx.conn.execute(_ITS_ACTIVE, {"review": next(iter(review_ids))})
    return await tx.conn.execute(_ACTIVE.where(approvals.c.review_id.in_(review_ids)))


def _approval(row: Any) -> Decision:
    return Decision(
        id=row.id,
        position=row.position,
        type=DecisionType(row.type),
        by=PersonId(row.team, row.user_id),
        at=row.at,
        showing_id=row.showing_id,
        digest=row.digest,
        final_args=row.final_args,
        rule=row.rule,
        policy_version=row.policy_version,
    )


async def insert_approvals(tx: Tx, review_id: str, made: Sequence[Decision]) -> None:
    """Store approvals that the caller has counted, under the review's lock."""
    rows = [_approval_row(review_id, one) for one in made]
    if rows:
        await tx.conn.execute(insert(approvals), rows)


def _approval_row(review_id: str, made: Decision) -> dict[str, Any]:
    return {
        "id": made.id,
        "review_id": review_id,
        "position": made.position,
        "type": made.type.value,
        "team": made.by.team,
        "user_id": made.by.user,
        "at": made.at,
        "showing_id": made.showing_id,
        "digest": made.digest,
        "final_args": made.final_args,
        "rule": made.rule,
        "policy_version": made.policy_version,
        "voided_at": None,
        "void_why": None,
    }


async def void_approvals(tx: Tx, review_id: str, positions: Collection[int], *, why: str) -> None:
    """Let no earlier approval of these positions count any more."""
    here = and_(approvals.c.review_id == review_id, approvals.c.position.in_(positions), text(ACTIVE_DECISION))
    await tx.conn.execute(update(approvals).where(here).values(voided_at=tx.now, void_why=why))


async def withdraw(tx: Tx, approval: Decision, *, why: str) -> None:
    """Let this one approval count no more."""
    here = and_(approvals.c.id == approval.id, text(ACTIVE_DECISION))
    await tx.conn.execute(update(approvals).where(here).values(voided_at=tx.now, void_why=why))


def approval_event(tenant: str, review_id: str, made: Decision) -> events.Event:
    """What the record says of one approval."""
    content = {
        "approval": made.id,
        "type": made.type.value,
        "showing": made.showing_id,
        "approved": made.digest,
        "person": {"team": made.by.team, "user": made.by.user},
        "rule": made.rule,
        "policy_version": made.policy_version,
    }
    return events.Event(tenant, "approval.made", review_id, made.position, events.slack_actor(made.by), content)


def withdrawn_event(tenant: str, review_id: str, approval: Decision, *, why: str) -> events.Event:
    """What the record says when somebody's own approval counts no more."""
    content = {"approval": approval.id, "why": why}
    return events.Event(
        tenant, "approval.voided", review_id, approval.position, events.slack_actor(approval.by), content
    )


def voided_event(tenant: str, review_id: str, position: int, *, why: str, actor: str) -> events.Event:
    """What the record says when the approvals of a position count no more."""
    return events.Event(tenant, "approvals.voided", review_id, position, actor, {"why": why})
