"""Versions of the policy, and the one in force.

Versions of the policy: each applied text is kept, and authority follows the newest. An older text comes back only by
an explicit rollback, as a new version, so that a replica with a stale file grants nothing.

The policy in force, as every replica sees it at its next transaction. The newest stored version counts; its text is
parsed once per version.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from sqlalchemy import func, insert, select
from sqlalchemy import text as sql

from bot.errors import ConfigurationError, StoreError
from bot.policy.model import Policy, TenantPolicy
from bot.policy.source import parse
from bot.store.audit import events
from bot.store.dialects import serialise
from bot.store.engine import Tx
from bot.store.tables import LIVE_REVIEW, messages, policy_versions, reviews
from bot.store.transitions import redraw


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
    await events.record(tx, tenant=events.EVERYONE, kind="policy.applied", actor=by, content=content)
    await _redraw(tx)
    return applied


async def _redraw(tx: Tx) -> None:
    """Every open card may offer something else now; one that does not costs no call to Slack."""
    live = select(reviews.c.id).where(sql(LIVE_REVIEW))
    await redraw(tx, messages.c.review_id.in_(live))


@dataclass(frozen=True, slots=True)
class InForce:
    """A stored policy and its version number; version 0 is the empty policy of a store that has none."""

    version: int
    policy: Policy | None

    def tenant(self, name: str) -> TenantPolicy | None:
        """The tenant of this name, or None when the policy does not have it."""
        return self.policy.tenants.get(name) if self.policy else None

    def tenants(self) -> tuple[TenantPolicy, ...]:
        """All tenants."""
        return tuple(self.policy.tenants.values()) if self.policy else ()


class Policies:
    """Reads the version in force and remembers its parsed form."""

    def __init__(self) -> None:
        self._last = InForce(0, None)

    @property
    def latest(self) -> InForce:
        """The policy as it was read last: a newer one may be in force by now."""
        return self._last

    async def in_force(self, tx: Tx, *, known: int | None = None) -> InForce:
        """The policy as this transaction sees it; `known` is the version in force, if it has just been read."""
        version = await current_version(tx) if known is None else known
        if version != self._last.version:
            stored = await current(tx)
            self._last = InForce(stored.version, parse(stored.text)) if stored else InForce(0, None)
        return self._last


def text_digest(text: str) -> str:
    """SHA-256 of a policy file's text, hex."""
    return hashlib.sha256(text.encode()).hexdigest()


async def require_tenant(tx: Tx, name: str) -> None:
    """Raises `ConfigurationError` for a name that the policy in force does not have; without a policy any name passes."""
    policy = (await Policies().in_force(tx)).policy
    if policy is not None and name not in policy.tenants:
        raise ConfigurationError(no_tenant(name, policy.tenants))


def no_tenant(name: str, known: Iterable[str]) -> str:
    """What is told to whoever names a tenant that the policy does not have."""
    return f"The policy has no tenant {name}: it has {', '.join(known) or 'none'}."
