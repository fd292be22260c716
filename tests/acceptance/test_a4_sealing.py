"""A4 restart, of the record: killed in the middle of sealing, the chain holds as far as it goes, and goes on from there."""

from __future__ import annotations

import pytest
from sqlalchemy import func, select

from bot.store.audit import events
from bot.store.audit.events import Event
from bot.store.audit.verify import VerifyRequest, verify
from bot.store.tables import audit_events

pytestmark = pytest.mark.asyncio

EVENTS, KILLS = 12_000, 3


async def sealed(house):
    """How many of the tenant's events stand in its chain."""
    counted = select(func.count(audit_events.c.seq)).where(audit_events.c.tenant == "demo")
    async with house.office.stores[0].read() as tx:
        return int(await tx.conn.scalar(counted) or 0)


async def report(house):
    async with house.office.stores[0].read() as tx:
        return await verify(tx, VerifyRequest("demo"))


async def test_a4_restart_killed_while_it_seals_leaves_a_chain_that_holds_and_goes_on(house_of):
    async with house_of() as house:
        async with house.office.stores[0].begin() as tx:
            await events.record_all(tx, [Event("demo", "test.noted", content={"n": n}) for n in range(EVENTS)])

        stops = [0]
        for _ in range(KILLS):
            process = await house.start(later_ms=0)
            await house.office.until(lambda: beyond(house, stops[-1]), "more to be sealed", every=0.002)
            await process.killed()
            found = await report(house)
            assert found.holds, found
            stops.append(await sealed(house))
        await house.start(later_ms=0)
        await house.office.until(lambda: beyond(house, EVENTS - 1), "everything to be sealed")
        found = await report(house)

        assert stops[-1] < EVENTS, "it was in the middle every time"
        assert sorted(set(stops)) == stops
        assert found.holds
        assert found.chains[0].head.seq >= EVENTS
        assert found.chains[0].unsealed == 0


async def beyond(house, count):
    return await sealed(house) > count
