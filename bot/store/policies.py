"""Versions of the policy: each applied text is kept, and authority follows the newest.

An older text comes back only by an explicit rollback, as a new version, so that a replica with a stale file grants
nothing. What a policy means is not known here.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import func, insert, select
from sqlalchemy import text as sql

from bot.errors import StoreError
from bot.store import audit
from bot.store.engine import Tx
from bot.store.registers import policy_versions
from bot.store.tables import LIVE_REVIEW, messages, reviews
from bot.store.transitions import redraw
from bot.store.writing import serialise


@dataclass(frozen=True, slots=True)
class StoredPolicy:
    """One applied version; `digest` is of its text."""

    version: int
    text: str
    digest: str
    applied_by: str
    applied_at: int


_FIELDS = [policy_versions.c[name] for name in StoredPolicy.__slots__]
_NEWEST = select(func.max(policy_versions.c.version))


async def current(tx: Tx) -> StoredPolicy | None:
    """The policy in force, None in a store without one."""
    newest = select(*_FIELDS).order_by(policy_versions.c.version.desc()).limit(1)
    row = (await tx.conn.execute(newest)).one_or_none()
    return None if row is None else StoredPolicy(*row)


async def current_version(tx: Tx) -> int:
    """The number of the policy in force, 0 for none: cheap, for a caller that keeps texts by version."""
    newest: int | None = await tx.conn.scalar(_NEWEST)
    return newest or 0


async def version(tx: Tx, number: int) -> StoredPolicy | None:
    """One version, for looking up what a decision was made under."""
    row = (await tx.conn.execute(select(*_FIELDS).where(policy_versions.c.version == number))).one_or_none()
    return None if row is None else StoredPolicy(*row)


async def known_digests(tx: Tx) -> frozenset[str]:
    """Digests of every version that was ever in force."""
    return frozenset(await tx.conn.scalars(select(policy_versions.c.digest)))


async def apply(tx: Tx, *, text: str, digest: str, by: str, rollback: bool = False) -> StoredPolicy:
    """Put a text in force, or return the current version if it is that already.

    Raises `StoreError` for a text that was in force before the current one, unless `rollback`.
    """
    await serialise(tx, "policy")
    newest = await current(tx)
    if newest and newest.digest == digest:
        return newest
    if not rollback and digest in await known_digests(tx):
        raise StoreError("this policy is older than the one in force: apply it with --rollback to go back to it")
    applied = StoredPolicy(newest.version + 1 if newest else 1, text, digest, by, tx.now)
    row = {name: getattr(applied, name) for name in StoredPolicy.__slots__}
    await tx.conn.execute(insert(policy_versions).values(**row))
    content = {"version": applied.version, "digest": digest, "rollback": rollback}
    await audit.record(tx, tenant=audit.EVERYONE, kind="policy.applied", actor=by, content=content)
    await _redraw(tx)
    return applied


async def _redraw(tx: Tx) -> None:
    """Every open card may offer something else now; one that does not costs no call to Slack."""
    live = select(reviews.c.id).where(sql(LIVE_REVIEW))
    await redraw(tx, messages.c.review_id.in_(live))
