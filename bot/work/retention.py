"""The worker of retention: once a minute, each tenant's own times.

A tenant that sets no time keeps everything, and so does one that the policy no longer has. What is erased is decided in
`bot.store.retention`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bot.core.policy import TenantPolicy
from bot.policies import Policies
from bot.store.engine import Store
from bot.store.retention import erase_notices, erase_settled, prune_audit

BATCH = 50


@dataclass(frozen=True, slots=True)
class Retention:
    """One replica's eraser; several may run. `changed` hurries the cards on."""

    store: Store
    policies: Policies
    changed: Callable[[], None]

    async def step(self) -> bool:
        """Erase some of what is due; answers whether there may be more."""
        async with self.store.read() as tx:
            tenants = (await self.policies.in_force(tx)).tenants()
        erased = [await self._tenant(tenant) for tenant in tenants]
        if any(erased):
            self.changed()
        return BATCH in erased

    async def _tenant(self, tenant: TenantPolicy) -> int:
        arguments, record = tenant.retain_arguments_ms, tenant.retain_audit_ms
        erased = 0
        if arguments is not None:
            async with self.store.begin() as tx:
                erased = await erase_settled(tx, tenant=tenant.name, older_than_ms=arguments, limit=BATCH)
                await erase_notices(tx, tenant=tenant.name, older_than_ms=arguments)
        if record is not None:
            async with self.store.begin() as tx:
                await prune_audit(tx, tenant=tenant.name, older_than_ms=record)
        return erased
