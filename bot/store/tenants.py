"""What is true of a whole tenant: paused by an operator, or ailing.

A pause stops claims at once (`bot.store.dispatches` reads it) and never a decision. A fault is what an operator must see
until it is over; which faults there are is not known here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import and_, or_, select, text, update

from bot.store.audit import events
from bot.store.dialects import insert_once
from bot.store.engine import Tx
from bot.store.tables import LIVE_REVIEW, messages, reviews, tenants
from bot.store.transitions import redraw

# Pausing this name pauses every tenant, those of a later policy too.
ALL = events.EVERYONE


@dataclass(frozen=True, slots=True)
class Pause:
    """Who stopped a tenant's dispatches, and when (ms)."""

    by: str
    at: int


@dataclass(frozen=True, slots=True)
class TenantFault:
    """What ails a tenant since `at` (ms)."""

    code: str
    text: str
    at: int
    channel: str | None = None  # the one channel that it is about


async def pause(tx: Tx, tenant: str, *, by: str) -> bool:
    """Stop dispatching for one tenant, or for `ALL`; False if it is paused already."""
    return await _set_pause(tx, tenant, by=by, to=Pause(by, tx.now))


async def resume(tx: Tx, tenant: str, *, by: str) -> bool:
    """Let dispatches go on; False if it was not paused. A pause of `ALL` ends only under that name."""
    return await _set_pause(tx, tenant, by=by, to=None)


async def _set_pause(tx: Tx, tenant: str, *, by: str, to: Pause | None) -> bool:
    changes = {"paused_by": to and to.by, "paused_at": to and to.at}
    was = tenants.c.paused_at.is_(None) if to else tenants.c.paused_at.is_not(None)
    if not await _change(tx, tenant, was, changes):
        return False
    await events.record(tx, tenant=tenant, kind="tenant.paused" if to else "tenant.resumed", actor=by)
    await _redraw(tx, tenant)
    return True


async def _redraw(tx: Tx, tenant: str) -> None:
    """Every open card says whether its tenant is paused."""
    live = select(reviews.c.id).where(text(LIVE_REVIEW))
    if tenant != ALL:
        live = live.where(reviews.c.tenant == tenant)
    await redraw(tx, messages.c.review_id.in_(live))


async def paused(tx: Tx) -> Mapping[str, Pause]:
    """Every pause by tenant; the key `ALL` means all of them."""
    columns = select(tenants.c.name, tenants.c.paused_by, tenants.c.paused_at)
    found = await tx.conn.execute(columns.where(tenants.c.paused_at.is_not(None)))
    return {row.name: Pause(row.paused_by, row.paused_at) for row in found}


async def is_paused(tx: Tx, tenant: str) -> bool:
    """Whether this tenant is paused, by itself or with all."""
    here = and_(tenants.c.name.in_((tenant, ALL)), tenants.c.paused_at.is_not(None))
    return await tx.conn.scalar(select(tenants.c.name).where(here).limit(1)) is not None


async def set_fault(tx: Tx, tenant: str, *, code: str, text: str = "", channel: str | None = None) -> bool:
    """Mark what ails a tenant; True if it is news: it ailed from nothing, or from something else."""
    changes = {"fault_code": code, "fault_text": text, "fault_at": tx.now, "fault_channel": channel}
    new = or_(tenants.c.fault_code.is_(None), tenants.c.fault_code != code)
    if not await _change(tx, tenant, new, changes):
        return False
    await events.record(
        tx, tenant=tenant, kind="tenant.fault", content={"code": code} | ({"channel": channel} if channel else {})
    )
    return True


async def clear_fault(tx: Tx, tenant: str, *, code: str | None = None) -> bool:
    """The fault is over; with `code`, only that one."""
    ailing = tenants.c.fault_code.is_not(None) if code is None else tenants.c.fault_code == code
    cleared = {"fault_code": None, "fault_text": None, "fault_at": None, "fault_channel": None}
    if not await _change(tx, tenant, ailing, cleared):
        return False
    await events.record(tx, tenant=tenant, kind="tenant.recovered", content={"code": code})
    return True


async def faults(tx: Tx) -> Mapping[str, TenantFault]:
    """What ails which tenant now."""
    columns = select(
        tenants.c.name, tenants.c.fault_code, tenants.c.fault_text, tenants.c.fault_at, tenants.c.fault_channel
    )
    found = await tx.conn.execute(columns.where(tenants.c.fault_code.is_not(None)))
    return {
        row.name: TenantFault(row.fault_code, row.fault_text or "", row.fault_at, row.fault_channel) for row in found
    }


async def _change(tx: Tx, tenant: str, condition: Any, changes: Mapping[str, Any]) -> bool:
    await insert_once(tx, tenants, {"name": tenant})
    here = and_(tenants.c.name == tenant, condition)
    return (await tx.conn.execute(update(tenants).where(here).values(**changes))).rowcount == 1
