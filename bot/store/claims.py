"""Taking the exclusive right to dispatch on a thread, and taking it over from an owner that died.

The right is a row: at most one live dispatch per thread across all tenants, by a partial unique index; a token that
rises with every owner fences off the ones before. What is done with a claim stands in `bot.store.dispatches`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row, Select, and_, exists, func, literal, not_, or_, select, text, update
from sqlalchemy.exc import IntegrityError

from bot.core.model import ReviewState
from bot.store import audit
from bot.store.engine import Tx
from bot.store.ids import new_id
from bot.store.registers import tenants
from bot.store.tables import DUE_REVIEW, LIVE_DISPATCH, dispatches, reviews
from bot.store.transitions import Move, Standing, shift
from bot.store.writing import insert_once

# Candidates of one tenant that a claim looks at before it leaves the rest to the next poll.
CANDIDATES = 8


@dataclass(frozen=True, slots=True)
class Claim:
    """A live dispatch as its owner holds it. `expiry`: nobody decided in time, so every position is rejected."""

    dispatch_id: str
    review_id: str
    tenant: str
    url: str
    thread_id: str
    token: int
    attempt: int
    state: str  # claimed | armed | accepted | closed | idle
    armed_at: int | None
    alive_at: int | None
    run_id: str | None
    lease_until: int
    owner: str
    expiry: bool
    accepted_at: int | None = None


def claim_of(row: Row[Any]) -> Claim:
    """A claim from its dispatch row."""
    return Claim(
        dispatch_id=row.id,
        review_id=row.review_id,
        tenant=row.tenant,
        url=row.server_url,
        thread_id=row.thread_id,
        token=row.token,
        attempt=row.attempt,
        state=row.state,
        armed_at=row.armed_at,
        alive_at=row.alive_at,
        run_id=row.run_id,
        lease_until=row.lease_until,
        owner=row.owner,
        expiry=row.expiry,
        accepted_at=row.accepted_at,
    )


async def claim_next(tx: Tx, *, owner: str, lease_ms: int, skip_tenants: Sequence[str] = ()) -> Claim | None:
    """Claim the oldest due review of the tenant that has waited longest for a claim; None when nothing is due.

    Skips paused tenants, threads with a live dispatch, and rows that another transaction is claiming.
    """
    for tenant in await _waiting_tenants(tx, skip_tenants):
        found = await tx.conn.execute(due_reviews(tenant, now=tx.now))
        for row in found.all():
            claim = await _claim(tx, row, owner=owner, lease_ms=lease_ms)
            if claim:
                return claim
    return None


async def _waiting_tenants(tx: Tx, skip: Sequence[str]) -> list[str]:
    names = [row.tenant for row in await tx.conn.execute(waiting_tenants())]
    if not names:
        return []
    paused = set(await tx.conn.scalars(select(tenants.c.name).where(tenants.c.paused_at.is_not(None))))
    skipped = paused | set(skip)
    return [] if audit.EVERYONE in paused else [name for name in names if name not in skipped]


def waiting_tenants() -> Select[tuple[str]]:
    """Tenants with a due review, by their last claim. Hops through the index: the cost is one step a tenant."""
    first = select(func.min(reviews.c.tenant)).where(text(DUE_REVIEW)).scalar_subquery()
    hop = select(first.label("tenant")).cte("waiting", recursive=True)
    following = select(func.min(reviews.c.tenant)).where(text(DUE_REVIEW), reviews.c.tenant > hop.c.tenant)
    hop = hop.union_all(select(following.scalar_subquery()).where(hop.c.tenant.is_not(None)))
    last = select(func.max(dispatches.c.claimed_at)).where(dispatches.c.tenant == hop.c.tenant).scalar_subquery()
    return select(hop.c.tenant).where(hop.c.tenant.is_not(None)).order_by(func.coalesce(last, 0), hop.c.tenant)


def due_reviews(tenant: str, *, now: int) -> Select[Any]:
    """Due reviews of one tenant whose threads nobody holds, oldest first, skipping rows locked elsewhere."""
    taken = exists(literal(1)).where(
        dispatches.c.server_url == reviews.c.server_url,
        dispatches.c.thread_id == reviews.c.thread_id,
        text(LIVE_DISPATCH),
    )
    columns = (reviews.c.id, reviews.c.tenant, reviews.c.state, reviews.c.version)
    statement = select(*columns, reviews.c.server_url, reviews.c.thread_id).where(
        text(DUE_REVIEW), reviews.c.tenant == tenant, reviews.c.next_try_at <= now, not_(taken)
    )
    ordered = statement.order_by(reviews.c.next_try_at, reviews.c.id).limit(CANDIDATES)
    return ordered.with_for_update(skip_locked=True, key_share=True, of=reviews)


async def _claim(tx: Tx, row: Row[Any], *, owner: str, lease_ms: int) -> Claim | None:
    held = {"owner": owner, "lease_ms": lease_ms, "lease_until": tx.now + lease_ms, "claimed_at": tx.now}
    if not (await _first(tx, row, held) or await _again(tx, row, held)):
        return None
    taken = (await tx.conn.execute(select(dispatches).where(dispatches.c.review_id == row.id))).one()
    claim = claim_of(taken)
    content = {"dispatch": claim.dispatch_id, "token": claim.token, "attempt": claim.attempt, "owner": owner}
    at = Standing(row.id, row.tenant, ReviewState(row.state), row.version)
    await shift(tx, at, Move(ReviewState.CLAIMED, content=content))
    return claim


async def _first(tx: Tx, row: Row[Any], held: dict[str, Any]) -> bool:
    fresh = {
        "id": new_id("d"),
        "review_id": row.id,
        "tenant": row.tenant,
        "server_url": row.server_url,
        "thread_id": row.thread_id,
        "state": "claimed",
        "live": True,
        "expiry": row.state == ReviewState.EXPIRED.value,
        "token": 1,
        "attempt": 0,
        "next_try_at": 0,
        "why": "",
    }
    return await insert_once(tx, dispatches, fresh | held)


async def _again(tx: Tx, row: Row[Any], held: dict[str, Any]) -> bool:
    """Claim with the dispatch that the review has already: its id must stay, because the server may know it."""
    expiry = or_(dispatches.c.expiry, literal(row.state == ReviewState.EXPIRED.value))
    renewed = held | {"token": dispatches.c.token + 1, "state": "claimed", "live": True, "expiry": expiry, "why": ""}
    cleared = {"armed_at": None, "alive_at": None, "accepted_at": None, "run_id": None, "outcome": None}
    here = and_(dispatches.c.review_id == row.id, not_(dispatches.c.live))
    try:
        async with tx.conn.begin_nested():
            changed = await tx.conn.execute(update(dispatches).where(here).values(**renewed, **cleared))
    except IntegrityError:
        # Another review of the thread was claimed since we looked.
        return False
    return changed.rowcount == 1


async def adopt_orphan(tx: Tx, *, owner: str, lease_ms: int) -> Claim | None:
    """Take over one live dispatch whose lease has run out, as it stands, under a new token."""
    lapsed = select(dispatches.c.id).where(text(LIVE_DISPATCH), dispatches.c.lease_until < tx.now)
    one = lapsed.order_by(dispatches.c.lease_until).limit(1).with_for_update(skip_locked=True).scalar_subquery()
    held = {"owner": owner, "lease_ms": lease_ms, "lease_until": tx.now + lease_ms, "token": dispatches.c.token + 1}
    changed = update(dispatches).where(dispatches.c.id == one, text(LIVE_DISPATCH)).values(**held)
    row = (await tx.conn.execute(changed.returning(dispatches))).one_or_none()
    if row is None:
        return None
    content = {"dispatch": row.id, "token": row.token, "state": row.state, "owner": owner}
    await audit.record(tx, tenant=row.tenant, kind="dispatch.adopted", review_id=row.review_id, content=content)
    return claim_of(row)
