"""Closed dispatches whose thread is looked at once more, soon after and beside the way of a click.

The quick end of a dispatch reads the thread's state only; whether somebody else answered at the same moment stands in
the list of runs. So each closed dispatch leaves a row here in the very transaction that closes it, and a crash loses
none. What a look proves is not known here.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from sqlalchemy import delete, func, select, update

from bot.store.claims import Claim, claim_of
from bot.store.engine import Tx
from bot.store.tables import dispatches, lookbacks
from bot.store.writing import upsert

# The window within which two answers count as racing, so that the other one's row is sure to be listed.
FIRST_LOOK_MS = 1_000


@dataclass(frozen=True, slots=True)
class Due:
    """A dispatch to look back at: closed when (ms), and the alarm that was raised for it already, if any."""

    claim: Claim
    closed_at: int
    alarm: str | None


async def look_back(tx: Tx, dispatch_id: str, *, after_ms: int = FIRST_LOOK_MS) -> None:
    """Have a dispatch looked at so much later."""
    await upsert(tx, lookbacks, {"dispatch_id": dispatch_id, "look_at": tx.now + after_ms})


async def any_due(tx: Tx) -> bool:
    """Whether something is due: asked in a reading transaction, so that an idle bot writes nothing."""
    first = await tx.conn.scalar(select(func.min(lookbacks.c.look_at)))
    return first is not None and first <= tx.now


async def take_due(tx: Tx, *, lease_ms: int, limit: int) -> list[Due]:
    """What is due, put off by `lease_ms` so that one worker looks."""
    here = select(lookbacks.c.dispatch_id).where(lookbacks.c.look_at <= tx.now).order_by(lookbacks.c.look_at)
    ids = list(await tx.conn.scalars(here.limit(limit).with_for_update(skip_locked=True)))
    if not ids:
        return []
    await tx.conn.execute(update(lookbacks).where(lookbacks.c.dispatch_id.in_(ids)).values(look_at=tx.now + lease_ms))
    found = await tx.conn.execute(select(dispatches).where(dispatches.c.id.in_(ids)).order_by(dispatches.c.id))
    return [Due(claim_of(row), row.closed_at or tx.now, row.alarm) for row in found]


async def put_off(tx: Tx, again: Mapping[str, int], done: Collection[str]) -> None:
    """Look at some again, so many ms from now by dispatch, and at those that are done no more."""
    for dispatch_id, after_ms in again.items():
        await look_back(tx, dispatch_id, after_ms=after_ms)
    if done:
        await tx.conn.execute(delete(lookbacks).where(lookbacks.c.dispatch_id.in_(done)))


async def known_dispatches(tx: Tx, marks: Collection[str]) -> frozenset[str]:
    """Which of these marks are dispatches of ours: their runs answer other interrupts, one after the other."""
    return frozenset(await tx.conn.scalars(select(dispatches.c.id).where(dispatches.c.id.in_(marks))))
