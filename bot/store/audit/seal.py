"""Sealing: unsealed events take their place in their tenant's hash chain.

Whoever records an event never waits for this. Events are chained in the order in which they are seen committed: an
event that committed before another transaction began always stands before that one's events, and one whose id is
lower but which commits later simply comes later. Waiting for every running transaction instead would let one forgotten
session anywhere in the cluster stop the chain. What a chain proves is judged in `bot.store.audit.chain`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any

from sqlalchemy import bindparam, func, select, text, update

from bot.store.audit.chain import START, Entry, Head, Link, seal
from bot.store.audit.events import RecordedEvent
from bot.store.connection import POSTGRESQL
from bot.store.engine import Tx
from bot.store.tables import UNSEALED, audit_events

SEALED_AT_ONCE = 500
PAGE = 2_000

_ENTRY = [audit_events.c[name] for name in Entry.__slots__]
_RECORDED = [audit_events.c[name] for name in RecordedEvent.__slots__]
_SEAL = (
    update(audit_events)
    .where(audit_events.c.id == bindparam("event"), audit_events.c.hash.is_(None))
    .values(seq=bindparam("to_seq"), prev_hash=bindparam("to_prev"), hash=bindparam("to_hash"))
)


async def unsealed_tenants(tx: Tx) -> list[str]:
    """Tenants with events that wait to be sealed."""
    waiting = select(audit_events.c.tenant).where(text(UNSEALED)).distinct()
    return list(await tx.conn.scalars(waiting.order_by(audit_events.c.tenant)))


async def seal_tenant(tx: Tx, tenant: str, *, limit: int = SEALED_AT_ONCE) -> int:
    """Seal up to `limit` events of one tenant; 0 where another sealer is at it. Returns how many."""
    if not await _alone(tx, tenant):
        return 0
    waiting = select(*_ENTRY).where(text(UNSEALED), audit_events.c.tenant == tenant).order_by(audit_events.c.id)
    entries = [Entry(*row) for row in await tx.conn.execute(waiting.limit(limit))]
    links = seal(entries, await head_of(tx, tenant) or START)
    if links:
        await tx.conn.execute(_SEAL, [_place(link) for link in links])
    return len(links)


async def _alone(tx: Tx, tenant: str) -> bool:
    """One sealer a tenant; SQLite's write transaction is alone already. The unique (tenant, seq) stands behind it."""
    if tx.dialect != POSTGRESQL:
        return True
    locked = text("SELECT pg_try_advisory_xact_lock(hashtext(:name))")
    return bool(await tx.conn.scalar(locked, {"name": f"placet:seal:{tenant}"}))


def _place(link: Link) -> dict[str, Any]:
    return {"event": link.entry.id, "to_seq": link.seq, "to_prev": link.prev_hash, "to_hash": link.hash}


async def head_of(tx: Tx, tenant: str) -> Head | None:
    """The newest sealed event of one chain."""
    sealed = select(audit_events.c.seq, audit_events.c.hash).where(
        audit_events.c.tenant == tenant, audit_events.c.seq.is_not(None)
    )
    row = (await tx.conn.execute(sealed.order_by(audit_events.c.seq.desc()).limit(1))).one_or_none()
    return None if row is None else Head(row.seq, row.hash)


async def chains(tx: Tx) -> list[str]:
    """Every tenant that has events, the chain of everybody (`*`) too."""
    return list(await tx.conn.scalars(select(audit_events.c.tenant).distinct().order_by(audit_events.c.tenant)))


async def heads(tx: Tx) -> dict[str, Head]:
    """Every chain's head."""
    found = {tenant: await head_of(tx, tenant) for tenant in await chains(tx)}
    return {tenant: head for tenant, head in found.items() if head is not None}


async def links(tx: Tx, tenant: str) -> AsyncIterator[list[Link]]:
    """One chain in pages, by number."""
    after = 0
    sealed = select(*_ENTRY, audit_events.c.seq, audit_events.c.prev_hash, audit_events.c.hash)
    while True:
        here = sealed.where(audit_events.c.tenant == tenant, audit_events.c.seq > after)
        rows: Sequence[Any] = (await tx.conn.execute(here.order_by(audit_events.c.seq).limit(PAGE))).all()
        if not rows:
            return
        yield [_link(row) for row in rows]
        after = rows[-1].seq


def _link(row: Any) -> Link:
    return Link(Entry(*row[: len(_ENTRY)]), row.seq, row.prev_hash or "", row.hash or "")


async def hashes(tx: Tx, tenant: str) -> frozenset[str]:
    """Every stored hash of one chain."""
    return frozenset(
        await tx.conn.scalars(
            select(audit_events.c.hash).where(audit_events.c.tenant == tenant, audit_events.c.hash.is_not(None))
        )
    )


async def chained_events(tx: Tx, *, tenant: str | None = None) -> AsyncIterator[list[RecordedEvent]]:
    """All events as they are stored, in pages, by id."""
    after = 0
    while True:
        here = select(*_RECORDED).where(audit_events.c.id > after)
        if tenant is not None:
            here = here.where(audit_events.c.tenant == tenant)
        rows = (await tx.conn.execute(here.order_by(audit_events.c.id).limit(PAGE))).all()
        if not rows:
            return
        yield [RecordedEvent(*row) for row in rows]
        after = rows[-1].id


async def waiting(tx: Tx, tenant: str) -> tuple[int, int | None]:
    """How many events of a tenant are not sealed yet, and since when the oldest waits (ms)."""
    counted = select(func.count(), func.min(audit_events.c.at)).where(text(UNSEALED), audit_events.c.tenant == tenant)
    row = (await tx.conn.execute(counted)).one()
    return int(row[0]), row[1]
