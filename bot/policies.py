"""The policy in force, as every replica sees it at its next transaction.

The newest stored version counts; its text is parsed once per version. This module must not know where a policy file
came from, nor who may do what.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from bot.core.policy import Policy, TenantPolicy
from bot.core.policyfile import parse
from bot.errors import ConfigurationError
from bot.store.engine import Tx
from bot.store.policies import current, current_version


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
