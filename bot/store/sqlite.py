"""SQLite's connection for SQLAlchemy's asyncio side, with one crossing to the connection's thread for each statement.

aiosqlite crosses four times for a SELECT: for a cursor, the statement, the rows, the cursor's end. Each crossing wakes a
thread and then the loop, which takes longer than what a click reads. Rows are held whole, as SQLAlchemy would hold them
anyway. This module must not know a statement.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any, Self

import aiosqlite
from sqlalchemy.engine import URL

_CHUNK = 64


class OneTrip(aiosqlite.Connection):
    """aiosqlite's connection with another kind of cursor."""

    def cursor(self) -> Statement:  # type: ignore[override]
        """A cursor; the thread hears of it with its first statement."""
        return Statement(self)


class Statement:
    """What SQLAlchemy asks of a cursor. Everything of the database's is done, and over, when `execute` returns."""

    def __init__(self, conn: OneTrip) -> None:
        self._conn = conn
        self._rows: Sequence[Any] = ()
        self.description: Any = None
        self.rowcount = -1
        self.lastrowid: int | None = None
        self.arraysize = 1

    async def __aenter__(self) -> Self:
        return self

    async def execute(self, sql: str, parameters: Iterable[Any] = ()) -> Statement:
        """Run it and take its rows."""
        return await self._sent(sqlite3.Cursor.execute, sql, parameters)

    async def executemany(self, sql: str, parameters: Iterable[Iterable[Any]]) -> Statement:
        """Run it for each of several."""
        return await self._sent(sqlite3.Cursor.executemany, sql, parameters)

    async def fetchall(self) -> Sequence[Any]:
        """The rows, once."""
        rows, self._rows = self._rows, ()
        return rows

    async def close(self) -> None:
        """Nothing is open."""

    async def _sent(self, how: Callable[..., Any], sql: str, parameters: Any) -> Statement:
        # aiosqlite has no public way onto its thread; every test of the store passes here.
        await self._conn._execute(self._run, how, sql, parameters)  # type: ignore[no-untyped-call]  # noqa: SLF001
        return self

    def _run(self, how: Callable[..., Any], sql: str, parameters: Any) -> None:
        cursor = self._conn._conn.cursor()  # noqa: SLF001
        try:
            how(cursor, sql, parameters)
            if cursor.description:
                self._rows = cursor.fetchall()
            self.description, self.rowcount, self.lastrowid = cursor.description, cursor.rowcount, cursor.lastrowid
        finally:
            cursor.close()


def connecting(url: URL, *, timeout: float) -> Callable[[], Awaitable[OneTrip]]:
    """What opens a connection to the file of a URL. `timeout`: seconds for which another's lock is waited for.

    The driver begins no transaction by itself.
    """
    (file,), given = url.get_dialect()().create_connect_args(url)
    options: dict[str, Any] = {**given, "isolation_level": None, "timeout": timeout}

    def connect() -> sqlite3.Connection:
        connection: sqlite3.Connection = sqlite3.connect(file, **options)
        return connection

    async def connected() -> OneTrip:
        opened = OneTrip(connect, _CHUNK)
        opened._thread.daemon = True  # noqa: SLF001 - as SQLAlchemy does: an exit must not wait for it
        await opened
        return opened

    return connected
