"""The sealer: within a second every event stands in its tenant's chain, and every hour the heads are logged.

Any number of replicas may run one; the database lets one at a time seal a tenant. The logged heads are what an auditor
compares with, so they belong where whoever can write the database cannot write.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import structlog

from bot.core.chain import Head, head_mac
from bot.store.engine import Store
from bot.store.seal import BATCH, heads, seal_tenant, unsealed_tenants

log = structlog.get_logger("placet")
LOG_EVERY_MS = 3_600_000


@dataclass(slots=True)
class Sealer:
    """One replica's sealer. Without a secret key heads are logged without a MAC."""

    store: Store
    secret: str = ""
    _logged: dict[str, Head] = field(default_factory=dict)
    _logged_at: int | None = None

    async def step(self) -> bool:
        """Seal what waits, one tenant in one transaction; answers whether there is more."""
        async with self.store.read() as tx:
            waiting, now = await unsealed_tenants(tx), tx.now
        more = False
        for tenant in waiting:
            async with self.store.begin() as tx:
                more = await seal_tenant(tx, tenant) == BATCH or more
        if not more and (self._logged_at is None or now >= self._logged_at + LOG_EVERY_MS):
            self._logged_at = now
            await self._log_heads()
        return more

    async def _log_heads(self) -> None:
        async with self.store.read() as tx:
            found = await heads(tx)
        for tenant, head in found.items():
            if self._logged.get(tenant) != head:
                mac = head_mac(self.secret, tenant, head) if self.secret else None
                log.info("The audit's head.", action="audit_head", tenant=tenant, head=str(head), mac=mac)
        self._logged = found
