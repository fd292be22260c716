"""Transactions leave everything or nothing, and a reading sees one moment."""

import asyncio

import pytest
from sqlalchemy import select, text
from sqlalchemy.exc import DBAPIError, IntegrityError

from bot.errors import StoreError
from bot.store.engine import Store
from bot.store.tables import tenants

INSERT = text("INSERT INTO tenants (name) VALUES ('acme')")


async def _names(store: Store) -> list[str]:
    async with store.read() as tx:
        return list(await tx.conn.scalars(select(tenants.c.name)))


async def _insert(store: Store, *, then: type[Exception] | None = None) -> None:
    async with store.begin() as tx:
        await tx.conn.execute(INSERT)
        if then:
            raise then


@pytest.mark.asyncio
async def test_a_failed_block_leaves_nothing(store: Store) -> None:
    with pytest.raises(RuntimeError):
        await _insert(store, then=RuntimeError)

    assert await _names(store) == []


@pytest.mark.asyncio
async def test_a_cancelled_block_leaves_nothing_and_the_next_one_works(store: Store) -> None:
    written, never = asyncio.Event(), asyncio.Event()

    async def hang() -> None:
        async with store.begin() as tx:
            await tx.conn.execute(INSERT)
            written.set()
            await never.wait()

    task = asyncio.create_task(hang())
    await written.wait()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)

    async with store.begin() as tx:
        await tx.conn.execute(INSERT)
    assert await _names(store) == ["acme"]


@pytest.mark.asyncio
async def test_a_reading_sees_one_moment_while_a_writer_commits(store: Store) -> None:
    async with store.read() as tx:
        first = await tx.conn.scalar(text("SELECT count(*) FROM tenants"))
        async with store.begin() as writing:
            await writing.conn.execute(INSERT)
        second = await tx.conn.scalar(text("SELECT count(*) FROM tenants"))

    assert (first, second) == (0, 0)
    assert await _names(store) == ["acme"]


@pytest.mark.asyncio
async def test_a_reading_cannot_write(store: Store) -> None:
    with pytest.raises((StoreError, DBAPIError)):
        async with store.read() as tx:
            await tx.conn.execute(INSERT)


@pytest.mark.asyncio
async def test_a_broken_rule_of_ours_is_not_dressed_up_as_an_outage(store: Store) -> None:
    await _insert(store)

    with pytest.raises(IntegrityError):
        await _insert(store)


@pytest.mark.asyncio
@pytest.mark.parametrize("engine", ["postgresql"])
async def test_connections_that_died_with_the_server_are_replaced_unseen(store: Store) -> None:
    await store.now()
    async with store.begin() as tx:
        with pytest.raises(DBAPIError):
            await tx.conn.execute(
                text("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()")
            )
        await tx.conn.rollback()

    assert await store.now() > 0


@pytest.mark.asyncio
@pytest.mark.parametrize("engine", ["postgresql"])
async def test_a_server_lost_inside_a_transaction_is_a_store_error(store: Store) -> None:
    with pytest.raises(StoreError, match="cannot be used"):
        async with store.begin() as tx:
            await tx.conn.execute(text("SELECT pg_terminate_backend(pg_backend_pid())"))


@pytest.mark.asyncio
async def test_the_time_is_read_once_a_transaction_from_the_database(store: Store) -> None:
    store.offset_ms = 1_000

    async with store.begin() as tx:
        assert isinstance(tx.now, int)
        assert abs(tx.now - 1_000 - int(await tx.conn.scalar(text(_CLOCK[tx.dialect])))) < 5_000


_CLOCK = {
    "sqlite": "SELECT CAST(strftime('%s', 'now') AS integer) * 1000",
    "postgresql": "SELECT CAST(extract(epoch FROM now()) AS bigint) * 1000",
}
