"""Threads that cannot be read: since when, why, and whether operators were told.

Losing a row costs a reading and at most one more notice. When a thread is read again is not decided here.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from sqlalchemy import and_, delete, func, select, update

from bot.store.dialects import insert_once
from bot.store.engine import Tx
from bot.store.tables import unreadable_threads as table


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A thread that could not be read `failures` times in a row; `fault` says how it failed last."""

    tenant: str
    identity: str
    thread_id: str
    fault: str
    failures: int
    since: int
    told_at: int | None


_FIELDS = [table.c[name] for name in Unreadable.__slots__]


def _here(tenant: str, identity: str, thread_id: str) -> Any:
    return and_(table.c.tenant == tenant, table.c.identity == identity, table.c.thread_id == thread_id)


async def note_unreadable(tx: Tx, *, tenant: str, identity: str, thread_id: str, fault: str) -> Unreadable:
    """Count one more reading that failed."""
    place = {"tenant": tenant, "identity": identity, "thread_id": thread_id}
    first = {"fault": fault, "failures": 1, "since": tx.now, "tried_at": tx.now}
    here = _here(tenant, identity, thread_id)
    if not await insert_once(tx, table, place | first):
        more = {"fault": fault, "failures": table.c.failures + 1, "tried_at": tx.now}
        await tx.conn.execute(update(table).where(here).values(**more))
    row = (await tx.conn.execute(select(*_FIELDS).where(here))).one()
    return Unreadable(*row)


async def note_told(tx: Tx, one: Unreadable) -> bool:
    """Mark that operators hear of it; False if that was done before."""
    untold = _here(one.tenant, one.identity, one.thread_id) & table.c.told_at.is_(None)
    return (await tx.conn.execute(update(table).where(untold).values(told_at=tx.now))).rowcount == 1


async def count_told(tx: Tx, tenant: str) -> int:
    """How many of a tenant's unreadable threads operators were told of."""
    told = select(func.count()).select_from(table).where(table.c.tenant == tenant, table.c.told_at.is_not(None))
    return int(await tx.conn.scalar(told) or 0)


async def forget(tx: Tx, *, tenant: str, identity: str, thread_ids: Collection[str]) -> None:
    """Drop threads that were read, or that nothing waits on any more."""
    for thread_id in thread_ids:
        await tx.conn.execute(delete(table).where(_here(tenant, identity, thread_id)))


async def unreadable(tx: Tx, *, tenant: str | None = None) -> list[Unreadable]:
    """Threads that could not be read, of one tenant or of all, longest first."""
    found = select(*_FIELDS) if tenant is None else select(*_FIELDS).where(table.c.tenant == tenant)
    return [Unreadable(*row) for row in await tx.conn.execute(found.order_by(table.c.since, table.c.thread_id))]
