"""Waking workers of other replicas: LISTEN and NOTIFY on PostgreSQL, with polling behind it.

A commit that makes work for a worker says so to the others, as a hint and nothing more: whoever misses it polls a second
later. A notification inside the transaction would have every commit in the cluster wait for one lock, also those of
clicks; so a process that serves sends its hints after the commit, gathered, over the connection on which it listens. A
process that only leaves a row, such as a command, has no such connection and notifies in its transaction. On SQLite there
is nobody else to wake. What a worker does is not known here.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Collection
from typing import Any

import structlog
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.errors import StoreError
from bot.store.connection import POSTGRESQL, Address
from bot.store.engine import CHANNEL, lone_engine, reaching, translated

log = structlog.get_logger("placet")
GATHER_S = 0.02
ALIVE_EVERY_S = 15.0
ANSWER_S = 5.0
PAUSES_S = (0.1, 0.3, 1.0, 3.0)


class Wakes:
    """One process's ear and voice. `heard` is called with a worker's name, or with "" when any may have been missed."""

    def __init__(self, address: Address, heard: Callable[[str], None]) -> None:
        self._address, self._heard = address, heard
        self._self = secrets.token_hex(4)
        self._wanted: set[str] = set()
        self._hearing = False
        self._something = asyncio.Event()

    def send(self, workers: Collection[str]) -> None:
        """Have other replicas' workers woken soon; never waits and never fails."""
        self._wanted.update(workers)
        self._something.set()

    async def run(self) -> None:
        """Listen until cancelled, again after every loss of the connection."""
        times, lost = 0, losses()
        engine = lone_engine(self._address)
        try:
            while True:
                try:
                    await self._connected(engine)
                except lost as exc:
                    if times == 0:
                        log.warning("Hints between replicas are lost; polling goes on.", action="deaf", fault=str(exc))
                await asyncio.sleep(PAUSES_S[min(times, len(PAUSES_S) - 1)])
                times = 0 if self._hearing else times + 1
                self._hearing = False
        finally:
            await engine.dispose()

    async def _connected(self, engine: AsyncEngine) -> None:
        """Listen and send on one connection until it is lost."""
        with translated(self._address.label), reaching(self._address.label):
            conn = await engine.connect()
        try:
            driver: Any = (await conn.get_raw_connection()).driver_connection
            gone = asyncio.Event()
            driver.add_termination_listener(lambda _conn: gone.set())
            await driver.add_listener(CHANNEL, self._notified)
            self._hearing = True
            self._heard("")  # whatever was said while nobody listened
            await self._speak(driver, gone)
        finally:
            await conn.invalidate()
            await conn.close()

    async def _speak(self, driver: Any, gone: asyncio.Event) -> None:
        ending = asyncio.ensure_future(gone.wait())
        try:
            while not gone.is_set():
                said = asyncio.ensure_future(self._something.wait())
                await asyncio.wait({said, ending}, timeout=ALIVE_EVERY_S, return_when=asyncio.FIRST_COMPLETED)
                said.cancel()
                if not self._something.is_set():
                    # A peer that vanished without a word is noticed only by asking.
                    await driver.execute("SELECT 1", timeout=ANSWER_S)
                    continue
                await asyncio.sleep(GATHER_S)
                self._something.clear()
                names, self._wanted = self._wanted, set()
                await driver.execute(
                    "SELECT pg_notify($1, $2)", CHANNEL, f"{self._self}:{','.join(sorted(names))}", timeout=ANSWER_S
                )
        finally:
            ending.cancel()

    def _notified(self, _conn: object, _pid: int, _channel: str, payload: str) -> None:
        sender, _, names = payload.partition(":")
        if sender != self._self:
            for name in names.split(","):
                self._heard(name)


def losses() -> tuple[type[Exception], ...]:
    """How a connection is lost, in our words and in those of asyncpg, which is installed wherever this runs."""
    import asyncpg  # type: ignore[import-untyped]

    return (StoreError, DBAPIError, OSError, TimeoutError, asyncpg.PostgresError, asyncpg.InterfaceError)


def wakes_of(address: Address, heard: Callable[[str], None]) -> Wakes | None:
    """The wakes of a database that others can be waiting on, None for a file."""
    return Wakes(address, heard) if address.dialect == POSTGRESQL else None
