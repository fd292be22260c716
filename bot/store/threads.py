"""Threads that sync has read, and hints that one should be read soon.

Nothing here is truth: losing it costs a read. Hints are rows because some identities are never polled; one stays until
somebody has read the thread after it came.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import and_, case, delete, or_, select, text, update

from bot.store.engine import Tx
from bot.store.registers import HINTED, threads_seen
from bot.store.writing import insert_once, upsert


@dataclass(frozen=True, slots=True)
class Seen:
    """When we last read a thread, and what the server called its last change then."""

    updated_at: str
    checked_at: int


@dataclass(frozen=True, slots=True)
class Hint:
    """Somebody says that this thread changed."""

    tenant: str
    identity: str
    thread_id: str
    hinted_at: int


_HINT = [threads_seen.c[name] for name in Hint.__slots__]


def _here(tenant: str, identity: str) -> Any:
    return and_(threads_seen.c.tenant == tenant, threads_seen.c.identity == identity)


async def seen(tx: Tx, *, tenant: str, identity: str) -> Mapping[str, Seen]:
    """Threads that were read under one identity, by thread id; those only hinted at are not among them."""
    columns = select(threads_seen.c.thread_id, threads_seen.c.updated_at, threads_seen.c.checked_at)
    found = await tx.conn.execute(columns.where(_here(tenant, identity), threads_seen.c.checked_at > 0))
    return {row.thread_id: Seen(row.updated_at, row.checked_at) for row in found}


async def save_seen(tx: Tx, *, tenant: str, identity: str, thread_id: str, updated_at: str) -> None:
    """Note that a thread was read now."""
    row = {"tenant": tenant, "identity": identity, "thread_id": thread_id}
    await upsert(tx, threads_seen, row | {"updated_at": updated_at, "checked_at": tx.now})


async def forget(tx: Tx, *, tenant: str, identity: str, thread_ids: Sequence[str]) -> None:
    """Drop threads that are gone or done, unless a hint waits."""
    gone = and_(_here(tenant, identity), threads_seen.c.thread_id.in_(thread_ids), threads_seen.c.hinted_at.is_(None))
    await tx.conn.execute(delete(threads_seen).where(gone))


async def hint(tx: Tx, *, tenant: str, identity: str, thread_id: str) -> None:
    """Ask for a thread to be read soon; many hints for one thread are one."""
    row = {"tenant": tenant, "identity": identity, "thread_id": thread_id}
    if await insert_once(tx, threads_seen, row | {"updated_at": "", "checked_at": 0, "hinted_at": tx.now}):
        return
    here = and_(_here(tenant, identity), threads_seen.c.thread_id == thread_id)
    # Never the time of a hint that may be taken already: `hint_done` tells the two apart by it.
    later = case((threads_seen.c.hinted_at >= tx.now, threads_seen.c.hinted_at + 1), else_=tx.now)
    await tx.conn.execute(update(threads_seen).where(here).values(hinted_at=later))


async def take_hints(tx: Tx, *, tenant: str, lease_ms: int, limit: int) -> list[Hint]:
    """Hints of one tenant, oldest first; each is yours for `lease_ms`, then it comes up again unless `hint_done`."""
    free = or_(threads_seen.c.hint_until.is_(None), threads_seen.c.hint_until < tx.now)
    due = select(*_HINT).where(text(HINTED), threads_seen.c.tenant == tenant, free)
    ordered = due.order_by(threads_seen.c.hinted_at, threads_seen.c.thread_id).limit(limit)
    taken = [Hint(*row) for row in await tx.conn.execute(ordered.with_for_update(skip_locked=True))]
    for one in taken:
        await tx.conn.execute(update(threads_seen).where(_of(one)).values(hint_until=tx.now + lease_ms))
    return taken


async def hint_done(tx: Tx, taken: Hint) -> None:
    """The thread was read; a hint that came meanwhile stays, and is free to be taken."""
    came = threads_seen.c.hinted_at > taken.hinted_at
    await tx.conn.execute(update(threads_seen).where(_of(taken), came).values(hint_until=None))
    done = update(threads_seen).where(_of(taken), threads_seen.c.hinted_at == taken.hinted_at)
    await tx.conn.execute(done.values(hinted_at=None, hint_until=None))


def _of(one: Hint) -> Any:
    return and_(_here(one.tenant, one.identity), threads_seen.c.thread_id == one.thread_id)
