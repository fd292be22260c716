"""Retention: after the time that the policy names, what was asked and answered goes, and that it happened stays.

Arguments, results, drafts, reasons and edited values of settled reviews are erased, and so is the salt, so that nothing
short can be guessed back out of a digest. The record never held any of them, so its chain stands. Record that is itself
too old is taken from the chain's beginning only, with a note of where the rest goes on.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import and_, delete, func, literal, select, text, update

from bot.store.audit import events
from bot.store.audit.verify import PRUNED
from bot.store.connection import SQLITE
from bot.store.engine import Tx
from bot.store.tables import (
    ERASABLE,
    actions,
    approvals,
    audit_events,
    decisions,
    drafts,
    messages,
    notices,
    reviews,
    showings,
)
from bot.store.transitions import redraw

# A chain whose beginning is taken daily, not event by event: each taking is an event itself.
SLACK_MS = 86_400_000


async def erase_settled(tx: Tx, *, tenant: str, older_than_ms: int, limit: int) -> int:
    """Erase what reviews that settled before then were about; their cards are drawn again. Returns how many."""
    due = select(reviews.c.id).where(
        text(ERASABLE), reviews.c.tenant == tenant, reviews.c.settled_at < tx.now - older_than_ms
    )
    ordered = due.order_by(reviews.c.settled_at).limit(limit)
    ids = list(await tx.conn.scalars(ordered.with_for_update(skip_locked=True, key_share=True)))
    if ids:
        await _overwrite_freed_pages(tx)
        await _erase(tx, ids)
        await events.record_all(tx, [events.Event(tenant, "review.erased", review_id) for review_id in ids])
    return len(ids)


async def _overwrite_freed_pages(tx: Tx) -> None:
    """SQLite leaves old values in the file until their place is used again, unless it is told not to."""
    if tx.dialect == SQLITE:
        await tx.conn.exec_driver_sql("PRAGMA secure_delete = ON")


async def _erase(tx: Tx, ids: list[str]) -> None:
    # The hash of the whole interrupt goes as well: it is unsalted, because every replica must recognise an interrupt by it.
    gone = literal("erased:") + reviews.c.id
    erased = {
        "salt": b"",
        "response_schema": None,
        "started_with": None,
        "surroundings": None,
        "erased_at": tx.now,
        "content_hash": gone,
    }
    await _blank(tx, reviews, reviews.c.id.in_(ids), **erased)
    await _blank(tx, actions, actions.c.review_id.in_(ids), args=None, description=None, outcome_text=None)
    await _blank(tx, decisions, decisions.c.review_id.in_(ids), final_args=None, message=None)
    await _blank(tx, approvals, approvals.c.review_id.in_(ids), final_args=None)
    await _blank(tx, showings, showings.c.review_id.in_(ids), final_args=None)
    await tx.conn.execute(delete(drafts).where(drafts.c.review_id.in_(ids)))
    await redraw(tx, messages.c.review_id.in_(ids))


async def _blank(tx: Tx, table: Any, where: Any, **values: Any) -> None:
    await tx.conn.execute(update(table).where(where).values(**values))


async def erase_notices(tx: Tx, *, tenant: str, older_than_ms: int) -> int:
    """Erase what was told to people before then; returns how many notices."""
    old = and_(notices.c.tenant == tenant, notices.c.created_at < tx.now - older_than_ms, notices.c.state != "new")
    here = and_(old, notices.c.text != "")
    return (await tx.conn.execute(update(notices).where(here).values(text="", last_error=""))).rowcount


async def prune_audit(tx: Tx, *, tenant: str, older_than_ms: int) -> int:
    """Take sealed events written before then from the chain's beginning; the newest sealed one always stays."""
    here = audit_events.c.tenant == tenant
    oldest = await tx.conn.scalar(select(func.min(audit_events.c.at)).where(here, audit_events.c.seq.is_not(None)))
    before = tx.now - older_than_ms
    if oldest is None or oldest >= before - SLACK_MS:
        return 0
    last = await _last_to_go(tx, tenant, before)
    row = (await tx.conn.execute(select(audit_events).where(here, audit_events.c.seq == last))).one_or_none()
    if row is None:
        return 0
    through = await tx.conn.scalar(select(func.max(audit_events.c.id)).where(here, audit_events.c.seq <= last))
    gone = (await tx.conn.execute(delete(audit_events).where(here, audit_events.c.seq <= last))).rowcount
    content = {"seq": row.seq, "hash": row.hash, "before": before, "through": through, "count": gone}
    await events.record(tx, tenant=tenant, kind=PRUNED, content=content)
    return gone


async def _last_to_go(tx: Tx, tenant: str, before: int) -> int:
    """The number before the first event that is young enough to stay, and never the newest."""
    sealed = and_(audit_events.c.tenant == tenant, audit_events.c.seq.is_not(None))
    stays = await tx.conn.scalar(select(func.min(audit_events.c.seq)).where(sealed, audit_events.c.at >= before))
    newest = await tx.conn.scalar(select(func.max(audit_events.c.seq)).where(sealed))
    return int(min(stays or newest, newest)) - 1
