"""Hints between replicas on PostgreSQL: who is told what, and that a restart of the database only makes them late."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest

from bot.core.model import ReviewState
from bot.store.engine import Store
from bot.store.requests import ask
from bot.store.reviews import move
from bot.store.upgrade import migrate, open_store
from bot.store.wakes import Wakes, wakes_of
from tests.kit.made import given_decided, given_review
from tests.kit.postgres import restarted, start_postgres

pytestmark = pytest.mark.asyncio
PATIENCE_S = 30


class Ear:
    """What one replica was woken for."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self._more = asyncio.Event()

    def __call__(self, worker: str) -> None:
        self.heard.append(worker)
        self._more.set()

    async def hears(self, worker: str) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while worker not in self.heard:
                self._more.clear()
                await self._more.wait()


@contextlib.asynccontextmanager
async def listening(store: Store) -> AsyncIterator[tuple[Wakes, Ear]]:
    ear = Ear()
    wakes = wakes_of(store.address, ear)
    assert wakes is not None
    running = asyncio.create_task(wakes.run())
    await ear.hears("")  # connected: whatever was said before may have been missed
    ear.heard.clear()
    try:
        yield wakes, ear
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


@pytest.fixture
def engine() -> str:
    return "postgresql"


async def test_another_replicas_worker_is_woken_by_a_commit_and_ones_own_is_not(store: Store, replica: Store) -> None:
    async with listening(store) as (mine, ear), listening(replica) as (_, other):
        store.woken = mine.send
        await given_decided(store)

        await other.hears("dispatch")
        async with replica.begin() as tx:
            await ask(tx, kind="pause", by="test")  # as a command does, which does not listen
        await ear.hears("requests")

    assert "dispatch" not in ear.heard


async def test_what_was_not_committed_wakes_nobody(store: Store, replica: Store) -> None:
    review = await given_review(store)
    async with listening(store) as (mine, _), listening(replica) as (_, other):
        store.woken = mine.send
        with contextlib.suppress(LookupError):
            async with store.begin() as tx:
                await move(tx, review, ReviewState.EXPIRED)
                raise LookupError
        async with store.begin() as tx:
            await ask(tx, kind="pause", by="test")
        await other.hears("requests")

    assert "dispatch" not in other.heard


async def test_a_restart_of_the_database_loses_no_listener(tmp_path) -> None:
    server = start_postgres(tmp_path)
    try:
        url = server.url(server.new_database())
        await migrate(url)
        store = await open_store(url)
        async with listening(store) as (_, ear):
            server = await asyncio.to_thread(restarted, server)

            await ear.hears("")  # everything may have been missed, so every worker looks
            async with store.begin() as tx:
                await ask(tx, kind="pause", by="test")
            await ear.hears("requests")
        await store.close()
    finally:
        server.stop()


async def test_a_file_has_nobody_else_to_wake(tmp_path) -> None:
    url = f"sqlite:///{tmp_path / 'placet.db'}"
    await migrate(url)
    store = await open_store(url)

    assert wakes_of(store.address, Ear()) is None
    await store.close()
