"""How a review's row moves: one conditional UPDATE, its audit event, and a wish to redraw its messages.

`bot.core.states` says what may follow what; this module only asks it. Whoever changes a review beside other rows
locks the review first (`lock_ref`), so that two transactions never wait for each other in a circle.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Update, and_, bindparam, case, select, update

from bot.core.model import Review, ReviewState
from bot.core.states import TERMINAL, check
from bot.store.audit import events as audit
from bot.store.engine import Tx
from bot.store.tables import messages, reviews

_DISPATCHED = frozenset({ReviewState.DECIDED, ReviewState.EXPIRED})
_AT_ONCE = frozenset({ReviewState.DECIDED, ReviewState.EXPIRED, ReviewState.UNKNOWN})

# A state on the way to an outcome is drawn only if it lasts longer than this: most pass before anybody could read it.
QUIET_MS = 3_000
UNDER_WAY = frozenset({ReviewState.DECIDED, ReviewState.CLAIMED, ReviewState.ARMED, ReviewState.SENT})

# Made once: to build a statement costs as much as to send it. What is set comes with the parameters.
_AT = update(reviews).where(
    reviews.c.id == bindparam("at_id"),
    reviews.c.state == bindparam("at_state"),
    reviews.c.version == bindparam("at_version"),
)


def _drawn_anew(*, later: bool) -> Update:
    behind = messages.c.wanted > messages.c.shown
    kept = behind if later else and_(behind, messages.c.last_error != "")
    waited = case((kept, messages.c.next_try_at), else_=bindparam("due", type_=BigInteger))
    return update(messages).values(wanted=messages.c.wanted + 1, next_try_at=waited)


_MESSAGES = {later: _drawn_anew(later=later) for later in (False, True)}
_ITS_MESSAGES = {
    later: drawn.where(messages.c.review_id == bindparam("of_review")) for later, drawn in _MESSAGES.items()
}


@dataclass(frozen=True, slots=True)
class ReviewRef:
    """Where a review stands: all that a move needs to know of it."""

    id: str
    tenant: str
    state: ReviewState
    version: int


@dataclass(frozen=True, slots=True)
class Move:
    """A transition to make, and what the record should say of it."""

    to: ReviewState
    why: str = ""
    actor: str = audit.PLACET
    content: Mapping[str, Any] | None = None
    next_try_at: int | None = None
    before: Sequence[audit.Event] = ()  # recorded ahead of the move, in the same statement


def ref_of(review: Review) -> ReviewRef:
    """Where a loaded review stood when it was loaded."""
    return ReviewRef(review.id, review.tenant, review.state, review.version)


async def lock_ref(tx: Tx, review_id: str) -> ReviewRef | None:
    """Read and lock one review's row; SQLite's write transaction has locked everything already."""
    columns = select(reviews.c.id, reviews.c.tenant, reviews.c.state, reviews.c.version)
    found = await tx.conn.execute(columns.where(reviews.c.id == review_id).with_for_update(key_share=True))
    row = found.one_or_none()
    return row and ReviewRef(row.id, row.tenant, ReviewState(row.state), row.version)


async def shift(tx: Tx, at: ReviewRef, move: Move) -> ReviewRef | None:
    """Make the transition, or return None if the review no longer stands at `at`. `IllegalTransition`."""
    check(at.state, move.to)
    moved = replace(at, state=move.to, version=at.version + 1)
    changes: dict[str, Any] = {"state": move.to.value, "why": move.why, "version": moved.version}
    if move.to in TERMINAL:
        changes["settled_at"] = tx.now
    if move.next_try_at is not None or move.to in _AT_ONCE:
        changes["next_try_at"] = tx.now if move.next_try_at is None else move.next_try_at
    if not await _change(tx, at, changes):
        return None
    if move.to in _DISPATCHED and changes["next_try_at"] <= tx.now:
        tx.wakes.add("dispatch")
    await want_redraw(tx, at.id, state=move.to)
    content = {"from": at.state.value, "why": move.why, **(move.content or {})}
    event = audit.Event(at.tenant, f"review.{move.to.value}", at.id, None, move.actor, content)
    await audit.record_all(tx, [*move.before, event])
    return moved


async def revise(tx: Tx, at: ReviewRef, events: Sequence[audit.Event], **changes: Any) -> ReviewRef | None:
    """Count and record one change that moves no state, of these columns too; None if the review moved meanwhile."""
    if not await _change(tx, at, {"version": at.version + 1, **changes}):
        return None
    await want_redraw(tx, at.id)
    await audit.record_all(tx, events)
    return replace(at, version=at.version + 1)


async def remark(
    tx: Tx, at: ReviewRef, *, why: str, actor: str = audit.PLACET, content: Mapping[str, Any] | None = None
) -> ReviewRef | None:
    """Say something else of a review that stays where it is; None if it moved meanwhile."""
    if not await _change(tx, at, {"version": at.version + 1, "why": why}):
        return None
    await want_redraw(tx, at.id)
    told = {"why": why, **(content or {})}
    await audit.record(tx, tenant=at.tenant, kind="review.remarked", review_id=at.id, actor=actor, content=told)
    return replace(at, version=at.version + 1)


async def _change(tx: Tx, at: ReviewRef, changes: Mapping[str, Any]) -> bool:
    here = {"at_id": at.id, "at_state": at.state.value, "at_version": at.version}
    return (await tx.conn.execute(_AT, {**here, **changes})).rowcount == 1


async def want_redraw(tx: Tx, review_id: str, *, state: ReviewState | None = None) -> None:
    """Raise the wanted version of a review's messages; `state` sets how urgent they are, and whether they wait."""
    changes = {} if state is None else {"urgency": urgency(state)}
    later_ms = QUIET_MS if state in UNDER_WAY else 0
    await _redraw(tx, _ITS_MESSAGES[later_ms > 0], later_ms, {"of_review": review_id, **changes})


async def redraw(tx: Tx, which: ColumnElement[bool], *, later_ms: int = 0, **changes: Any) -> None:
    """Raise the wanted version of some messages, to be drawn so much later at the latest.

    A back-off after an error is left alone.
    """
    await _redraw(tx, _MESSAGES[later_ms > 0].where(which), later_ms, changes)


async def _redraw(tx: Tx, which: Update, later_ms: int, changes: Mapping[str, Any]) -> None:
    if not later_ms:
        tx.wakes.add("messages")
    await tx.conn.execute(which, {"due": tx.now + later_ms, **changes})


def urgency(state: ReviewState) -> int:
    """Cards that wait for people go out before cards that report."""
    return 0 if state is ReviewState.OPEN else 1
