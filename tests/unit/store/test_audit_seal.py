"""Sealing on both engines: every event once, in one chain a tenant, whoever seals."""

import asyncio
from contextlib import nullcontext

import pytest
from sqlalchemy import select, update

from bot.dispatch.housekeeping import LOG_EVERY_MS, Sealer
from bot.store.audit import events
from bot.store.audit.chain import START, follow
from bot.store.audit.seal import chains, head_of, heads, links, seal_tenant, unsealed_tenants
from bot.store.engine import Store
from bot.store.tables import audit_events
from tests.kit.made import given_decided

pytestmark = pytest.mark.asyncio


async def given_events(store: Store, count: int, *, tenant: str = "acme") -> None:
    async with store.begin() as tx:
        for number in range(count):
            await events.record(tx, tenant=tenant, kind="test.happened", content={"number": number})


async def seal_all(store: Store) -> None:
    sealer = Sealer(store)
    while await sealer.step():
        pass


async def chain(store: Store, tenant: str = "acme") -> list:
    async with store.read() as tx:
        return [link async for page in links(tx, tenant) for link in page]


async def test_every_event_is_sealed_in_one_chain_for_each_tenant(store: Store) -> None:
    await given_decided(store)
    await given_events(store, 3, tenant="globex")

    await seal_all(store)

    async with store.read() as tx:
        assert await unsealed_tenants(tx) == []
        assert await chains(tx) == ["acme", "globex"]
        found = await heads(tx)
    for tenant in ("acme", "globex"):
        assert follow(await chain(store, tenant), START) == (found[tenant], None)
    assert found["globex"].seq == 3


async def test_a_chain_goes_on_after_its_head(store: Store) -> None:
    await given_events(store, 2)
    await seal_all(store)
    await given_events(store, 2)

    await seal_all(store)

    linked = await chain(store)
    assert [link.seq for link in linked] == [1, 2, 3, 4]
    assert follow(linked, START)[1] is None


async def test_more_events_than_one_batch_are_sealed_batch_by_batch(store: Store) -> None:
    await given_events(store, 5)

    async with store.begin() as tx:
        assert await seal_tenant(tx, "acme", limit=3) == 3
    async with store.begin() as tx:
        assert await seal_tenant(tx, "acme", limit=3) == 2
        assert await seal_tenant(tx, "acme", limit=3) == 0

    assert follow(await chain(store), START)[1] is None


async def test_sealing_an_empty_store_finds_nothing(store: Store) -> None:
    await seal_all(store)

    async with store.read() as tx:
        assert await heads(tx) == {}
        assert await head_of(tx, "acme") is None


async def test_two_replicas_sealing_while_others_record_make_one_chain(store: Store, replica: Store) -> None:
    for root in (store, replica):
        root._gate = nullcontext()
    sealers = [Sealer(store), Sealer(replica), Sealer(store), Sealer(replica)]

    for _ in range(4):
        await asyncio.gather(
            *(given_events(root, 3) for root in (store, replica)), *(sealer.step() for sealer in sealers)
        )
    await seal_all(store)

    linked = await chain(store)
    assert follow(linked, START)[1] is None
    assert len({link.entry.id for link in linked}) == len(linked) == 24


async def test_an_event_that_commits_after_a_younger_one_is_chained_after_it(store: Store, replica: Store) -> None:
    if store.dialect == "sqlite":
        pytest.skip("SQLite has one writer at a time, so ids commit in order")
    async with store.begin() as slow:
        await events.record(slow, tenant="acme", kind="test.slow")
        await given_events(replica, 1)
        await seal_all(replica)
        assert [link.entry.kind for link in await chain(replica)] == ["test.happened"]

    await seal_all(replica)

    linked = await chain(store)
    assert [link.entry.kind for link in linked] == ["test.happened", "test.slow"]
    assert linked[0].entry.id > linked[1].entry.id
    assert follow(linked, START)[1] is None


async def test_what_is_sealed_once_is_never_sealed_again(store: Store) -> None:
    await given_events(store, 2)
    await seal_all(store)
    before = await chain(store)
    async with store.begin() as tx:
        await tx.conn.execute(update(audit_events).where(audit_events.c.seq == 2).values(kind="test.forged"))

    await seal_all(store)

    after = await chain(store)
    assert [link.hash for link in after] == [link.hash for link in before]


async def test_heads_are_logged_with_a_mac_once_an_hour_and_only_when_they_moved(store: Store, capsys) -> None:
    sealer = Sealer(store, "the secret")
    await given_events(store, 1)
    for passing_ms in (0, 1_000, LOG_EVERY_MS, LOG_EVERY_MS):
        store.offset_ms += passing_ms
        await sealer.step()
    await given_events(store, 1)
    await sealer.step()
    store.offset_ms += LOG_EVERY_MS
    await sealer.step()

    lines = [line for line in capsys.readouterr().out.splitlines() if "audit_head" in line]

    assert len(lines) == 2
    async with store.read() as tx:
        assert str(await head_of(tx, "acme")) in lines[1]
        hashes = list(await tx.conn.scalars(select(audit_events.c.hash).order_by(audit_events.c.seq)))
    assert f"1:{hashes[0]}" in lines[0]
    assert "the secret" not in lines[0]
