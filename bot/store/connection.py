"""Where the database is, SQLite's file, and SQLite's driver.

Operators write what other programs accept (`sqlite:///placet.db`, `postgresql://…`); the drivers' own spellings are
made here. Passwords must never reach a message: `label` is what may be shown.

SQLite's file, seen from outside: does it exist, is it whole, who holds it. A damaged file must stop the start with
one clear line, before anything could be resumed from half of the truth.

SQLite's connection for SQLAlchemy's asyncio side, with one crossing to the connection's thread for each statement.
aiosqlite crosses four times for a SELECT: for a cursor, the statement, the rows, the cursor's end. Each crossing
wakes a thread and then the loop, which takes longer than what a click reads. Rows are held whole, as SQLAlchemy would
hold them anyway.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import aiosqlite
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from bot.errors import StoreError

SQLITE = "sqlite"
POSTGRESQL = "postgresql"
_NAMES = {"sqlite": SQLITE, "postgresql": POSTGRESQL, "postgres": POSTGRESQL}
_DRIVERS = {SQLITE: "sqlite+aiosqlite", POSTGRESQL: "postgresql+asyncpg"}


@dataclass(frozen=True, slots=True)
class Address:
    """One database; `path` only for SQLite."""

    url: URL
    dialect: str
    label: str
    path: Path | None = None


def read_address(text: str) -> Address:
    """Raises `StoreError` for anything but a SQLite file or a PostgreSQL database."""
    try:
        url = make_url(text)
        dialect = _NAMES[url.drivername.partition("+")[0]]
    except (ArgumentError, KeyError) as exc:
        raise StoreError("PLACET_DATABASE_URL must begin with sqlite:/// or postgresql://") from exc
    url = url.set(drivername=_DRIVERS[dialect])
    return _file(url) if dialect == SQLITE else _server(url)


def _file(url: URL) -> Address:
    if url.database in {None, "", ":memory:"}:
        raise StoreError("PLACET_DATABASE_URL names no file: decisions would not outlive the process")
    path = Path(str(url.database)).absolute()
    return Address(url.set(database=str(path)), SQLITE, str(path), path)


def _server(url: URL) -> Address:
    # libpq's name for what asyncpg calls ssl.
    mode = url.query.get("sslmode")
    if mode is not None:
        url = url.difference_update_query(["sslmode"]).update_query_dict({"ssl": mode})
    host = url.host or url.query.get("host") or "localhost"
    port = f":{url.port}" if url.port else ""
    return Address(url, POSTGRESQL, f"PostgreSQL at {host}{port}/{url.database or ''}")


MAGIC = b"SQLite format 3\x00"
OWNER_ONLY = 0o600


class FileLock:
    """The right of one process to serve from a file; the system frees it when the process dies."""

    def __init__(self, database: Path) -> None:
        """Raises `StoreError` if another holder has it."""
        require_folder(database)
        path = database.with_name(f"{database.name}.lock")
        self._handle = os.open(path, os.O_RDWR | os.O_CREAT, OWNER_ONLY)
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as exc:
            os.close(self._handle)
            raise StoreError(f"{database} is in use by another placet process: stop that one first") from exc

    def release(self) -> None:
        os.close(self._handle)


def require_folder(path: Path) -> None:
    """Raises `StoreError` if the folder is missing or cannot be written."""
    if not path.parent.is_dir():
        raise StoreError(f"the folder {path.parent} does not exist: create it, or correct PLACET_DATABASE_URL")
    if not os.access(path.parent, os.W_OK):
        raise StoreError(f"the folder {path.parent} cannot be written: SQLite keeps files beside {path.name}")


def create(path: Path) -> None:
    """Make the file for its owner alone; SQLite gives the files beside it the same mode."""
    if not path.exists():
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, OWNER_ONLY))
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("VACUUM")
    path.chmod(OWNER_ONLY)


def require_whole(path: Path) -> None:
    """Raises `StoreError` for a missing, foreign or cut file.

    The length is checked only while no write-ahead log is pending: after a crash the log may hold the missing pages.
    Format: https://www.sqlite.org/fileformat2.html, offsets 16 and 28.
    """
    require_folder(path)
    if not path.is_file():
        raise StoreError(f"there is no database at {path}: run `placet migrate`, or correct PLACET_DATABASE_URL")
    try:
        with path.open("rb") as file:
            header = file.read(100)
    except OSError as exc:
        raise StoreError(f"{path} cannot be read: {exc.strerror}") from exc
    if not header.startswith(MAGIC):
        raise StoreError(f"{path} is not a SQLite database: restore it from a backup, or move it away")
    if not _log_pending(path) and path.stat().st_size < _length(header):
        raise StoreError(f"{path} is cut short: restore it from a backup")


def _length(header: bytes) -> int:
    page = int.from_bytes(header[16:18], "big")
    return (65536 if page == 1 else page) * int.from_bytes(header[28:32], "big")


def _log_pending(path: Path) -> bool:
    log = path.with_name(f"{path.name}-wal")
    return log.exists() and log.stat().st_size > 0


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
