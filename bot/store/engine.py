"""The database behind transactions, its clock, and the ids of its rows.

Ids of stored rows: unguessable, because a showing's id is all that a button carries. The prefix says what a row is;
nothing may be read out of the rest.

The database behind transactions: one connection pool for writing, one for reading, one clock. A write transaction on
SQLite begins IMMEDIATE, so that what it reads first cannot change under it; on PostgreSQL it is READ COMMITTED and
every function states its condition in the UPDATE itself. A read transaction sees one moment.
"""

from __future__ import annotations

import asyncio
import base64
import os
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakValueDictionary

from sqlalchemy import event, text
from sqlalchemy.engine import Connection
from sqlalchemy.exc import DataError, DBAPIError, IntegrityError, ProgrammingError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.pool import NullPool

from bot.errors import StoreError
from bot.store.connection import POSTGRESQL, SQLITE, Address, FileLock, connecting


def new_id(prefix: str) -> str:
    """`prefix`, an underscore, and 128 random bits as 26 lowercase base32 characters."""
    return f"{prefix}_{base64.b32encode(os.urandom(16)).decode().rstrip('=').lower()}"


BUSY_SECONDS = 10
CONNECT_SECONDS = 10
POOL = 10

# julianday() keeps whole milliseconds, but not exactly: rounding gives them back.
CLOCK = {
    SQLITE: text("SELECT cast(round((julianday('now') - 2440587.5) * 86400000) AS integer)"),
    POSTGRESQL: text("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint"),
}

CHANNEL = "placet"
ASKED_FOR = frozenset({"requests"})
NOTIFY = text("SELECT pg_notify(:channel, :said)")

# One writer at a time per file and loop. A courtesy that keeps waiters in order; the database decides without it.
_gates: WeakValueDictionary[tuple[str, int], asyncio.Lock] = WeakValueDictionary()


@dataclass(frozen=True, slots=True)
class Tx:
    """One transaction; `now` is the database's time (ms) when it began, plus the store's offset.

    `began` is this process's own (monotonic) clock just before that was read: waiting for a connection or for another
    writer is over by then, and standing still since then shows.
    """

    conn: AsyncConnection
    now: int
    dialect: str
    began: float
    wakes: set[str] = field(default_factory=set)  # workers for whom this makes work


@contextmanager
def translated(label: str) -> Iterator[None]:
    """Turn what a driver raises when the database is away, locked or full into `StoreError`; our own bugs stay."""
    try:
        yield
    except (IntegrityError, ProgrammingError, DataError):
        raise
    except (DBAPIError, PoolTimeout) as exc:
        cause = str(getattr(exc, "orig", None) or exc).splitlines()[0]
        mend = ": restore it from a backup" if "malformed" in cause else ""
        raise StoreError(f"{label} cannot be used: {cause}{mend}") from exc


@contextmanager
def reaching(label: str) -> Iterator[None]:
    """Around connecting only: what the network raises there, asyncpg passes on as it is."""
    try:
        yield
    except OSError as exc:
        said = exc.strerror or str(exc) or "no answer"
        raise StoreError(f"{label} cannot be reached: {said}. Start it, or correct PLACET_DATABASE_URL") from exc


class Store:
    """An open database. `offset_ms` moves its clock, for tests."""

    def __init__(self, address: Address, *, offset_ms: int = 0, lock: FileLock | None = None) -> None:
        self.dialect = address.dialect
        self.offset_ms = offset_ms
        self.address = address
        # Set by whoever serves: called after a commit with the workers for whom it made work.
        self.woken: Callable[[frozenset[str]], None] | None = None
        self._label, self._lock = address.label, lock
        self._writer, self._reader = _engines(address)
        self._gate = _gate(address)

    @asynccontextmanager
    async def begin(self) -> AsyncIterator[Tx]:
        """A write transaction: commits at the end of the block, or leaves nothing. Never nest two in one task."""
        async with self._gate, self._run(self._writer) as tx:
            yield tx
            if self.woken is None and self.dialect == POSTGRESQL and tx.wakes & ASKED_FOR:
                # A command's own row. Whoever serves speaks after the commit: a notifying commit holds up all others.
                await tx.conn.execute(NOTIFY, {"channel": CHANNEL, "said": f":{','.join(sorted(tx.wakes))}"})
        if tx.wakes and self.woken is not None:
            self.woken(frozenset(tx.wakes))

    @asynccontextmanager
    async def read(self) -> AsyncIterator[Tx]:
        """A consistent, read-only view."""
        async with self._run(self._reader) as tx:
            yield tx

    async def now(self) -> int:
        """The database's time in milliseconds, plus the offset."""
        async with self.read() as tx:
            return tx.now

    async def close(self) -> None:
        """Close every connection and free the file."""
        await self._writer.dispose()
        await self._reader.dispose()
        if self._lock:
            self._lock.release()
            self._lock = None

    @asynccontextmanager
    async def _run(self, engine: AsyncEngine) -> AsyncIterator[Tx]:
        with translated(self._label):
            conn, now, began = await self._start(engine)
            try:
                yield Tx(conn, now + self.offset_ms, self.dialect, began)
                await conn.commit()
            finally:
                await _finish(conn.close())

    async def _start(self, engine: AsyncEngine) -> tuple[AsyncConnection, int, float]:
        """Begin and read the clock; once more if the pool's connection had died with a restart of the database."""
        with reaching(self._label):
            try:
                return await _begun(engine, self.dialect)
            except DBAPIError as exc:
                if not exc.connection_invalidated:
                    raise
            return await _begun(engine, self.dialect)


async def _begun(engine: AsyncEngine, dialect: str) -> tuple[AsyncConnection, int, float]:
    opening = asyncio.ensure_future(_connect(engine))
    try:
        conn = await asyncio.shield(opening)
    except asyncio.CancelledError:
        # A connection that nobody waits for any more would be lost to its pool: take it, then give it back.
        await asyncio.wait({opening})
        if not opening.cancelled() and opening.exception() is None:
            await _finish(opening.result().close())
        raise
    try:
        await conn.begin()
        began = time.monotonic()
        now = await conn.scalar(CLOCK[dialect])
    except BaseException:
        await _finish(conn.close())
        raise
    return conn, int(now), began


async def _connect(engine: AsyncEngine) -> AsyncConnection:
    return await engine.connect()


async def _finish(closing: Coroutine[Any, Any, None]) -> None:
    """Await to the end, also when the caller is cancelled meanwhile."""
    task = asyncio.ensure_future(closing)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait({task})
        raise


def _gate(address: Address) -> AbstractAsyncContextManager[Any]:
    if address.dialect != SQLITE:
        return nullcontext()
    return _gates.setdefault((address.label, id(asyncio.get_running_loop())), asyncio.Lock())


def _engines(address: Address) -> tuple[AsyncEngine, AsyncEngine]:
    if address.dialect == SQLITE:
        return sqlite_engine(address, writes=True), sqlite_engine(address, writes=False)
    engine = postgres_engine(address)
    # READ COMMITTED would show two statements two moments.
    return engine, engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)


def sqlite_engine(address: Address, *, writes: bool) -> AsyncEngine:
    """One writing connection (SQLite has one writer), or several that refuse to write."""
    engine = create_async_engine(
        address.url,
        # The driver begins nothing by itself, so that BEGIN below is the only one.
        async_creator=connecting(address.url, timeout=BUSY_SECONDS),
        pool_size=1 if writes else POOL,
        max_overflow=0,
        pool_timeout=60,
    )
    pragmas = ["foreign_keys = ON", "synchronous = FULL", f"query_only = {'OFF' if writes else 'ON'}"]
    begin = "BEGIN IMMEDIATE" if writes else "BEGIN"

    def prepare(raw: Any, _record: object) -> None:
        cursor = raw.cursor()
        for pragma in pragmas:
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()

    def start(conn: Connection) -> None:
        conn.exec_driver_sql(begin)

    event.listen(engine.sync_engine, "connect", prepare)
    event.listen(engine.sync_engine, "begin", start)
    return engine


def postgres_engine(address: Address) -> AsyncEngine:
    """Raises `StoreError` if the driver is not installed."""
    # No overflow: that is closed after each use, and a new connection prepares every statement anew.
    return _postgres(address, pool_size=2 * POOL, max_overflow=0)


def lone_engine(address: Address) -> AsyncEngine:
    """Connections that are nobody else's, each closed after its use. As `postgres_engine`."""
    return _postgres(address, poolclass=NullPool)


def _postgres(address: Address, **pool: Any) -> AsyncEngine:
    # Our statements are short: compiling them to machine code costs more than it gives.
    settings = {"application_name": "placet", "jit": "off"}
    try:
        return create_async_engine(
            address.url, connect_args={"timeout": CONNECT_SECONDS, "server_settings": settings}, **pool
        )
    except ModuleNotFoundError as exc:
        raise StoreError(
            "PostgreSQL needs the driver asyncpg: pip install 'placet[postgres]', or in a clone `uv run --extra postgres placet …`"
        ) from exc
