"""Bringing a database to this code's schema, and opening it or saying why not.

Alembic runs inside the process, in one transaction on either engine. The version stands in a table of our own name,
so that another program's Alembic database is recognised as foreign instead of being migrated. Nothing is dropped
here.

Opening the database, or one clear line why not. Whatever is wrong (missing, cut, foreign, too old, too new, held,
away) is found before the first worker starts.
"""

from __future__ import annotations

from pathlib import Path

from alembic.command import upgrade as run_upgrade
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import inspect, text
from sqlalchemy.engine import Connection
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from bot.errors import StoreError
from bot.store.connection import (
    POSTGRESQL,
    SQLITE,
    Address,
    FileLock,
    create,
    read_address,
    require_folder,
    require_whole,
)
from bot.store.engine import Store, postgres_engine, reaching, sqlite_engine, translated

VERSION_TABLE = "placet_schema"
# Any constant of our own: two replicas that start together must not both create tables.
ADVISORY_KEY = 7_052_103_918


async def migrate(url: str) -> None:
    """Create the database's tables, or bring them up to date; a SQLite file must be held by nobody. `StoreError`."""
    address = read_address(url)
    if address.path is None:
        await upgrade(address)
        return
    lock = FileLock(address.path)
    try:
        await upgrade(address)
    finally:
        lock.release()


async def upgrade(address: Address) -> None:
    """As `migrate`, for a caller that holds the file's lock."""
    if address.path:
        require_folder(address.path)
        create(address.path)
        require_whole(address.path)
    engine = sqlite_engine(address, writes=True) if address.dialect == SQLITE else postgres_engine(address)
    try:
        with translated(address.label):
            await _upgrade(engine, address)
    finally:
        await engine.dispose()


async def _upgrade(engine: AsyncEngine, address: Address) -> None:
    with reaching(address.label):
        conn = await engine.connect()
    try:
        await _locked(conn, address)
        await conn.run_sync(_to_head, address.label)
        await conn.commit()
    finally:
        await conn.close()


async def _locked(conn: AsyncConnection, address: Address) -> None:
    if address.dialect == POSTGRESQL:
        await conn.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": ADVISORY_KEY})


def _config(connection: Connection | None = None) -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    config.attributes["connection"] = connection
    return config


def _to_head(conn: Connection, label: str) -> None:
    _version(conn, label)
    run_upgrade(_config(conn), "head")


def _version(conn: Connection, label: str) -> str | None:
    """The stored version, None for an empty database; raises `StoreError` for one that is not ours to touch."""
    version = MigrationContext.configure(conn, opts={"version_table": VERSION_TABLE}).get_current_revision()
    tables = inspect(conn).get_table_names() if version is None else []
    if set(tables) - {VERSION_TABLE}:
        raise StoreError(f"{label} holds tables that are not Placet's: name an empty database")
    known = {script.revision for script in ScriptDirectory.from_config(_config()).walk_revisions()}
    if version is not None and version not in known:
        raise StoreError(f"{label} was written by a newer Placet ({version}): upgrade this one")
    return version


def require_current(conn: Connection, label: str) -> None:
    """Raises `StoreError` unless the schema is exactly the code's."""
    if _version(conn, label) != ScriptDirectory.from_config(_config()).get_current_head():
        raise StoreError(f"{label} has not been migrated: run `placet migrate`")


async def open_store(url: str, offset_ms: int = 0, *, exclusive: bool = False) -> Store:
    """An open store whose schema is the code's.

    `exclusive` (serve, demo) takes SQLite's file lock and creates or migrates the file; on PostgreSQL it changes
    nothing, because replicas share that. Raises `StoreError`.
    """
    address = read_address(url)
    lock = FileLock(address.path) if exclusive and address.path else None
    try:
        return await _open(address, offset_ms, lock)
    except BaseException:
        if lock:
            lock.release()
        raise


async def _open(address: Address, offset_ms: int, lock: FileLock | None) -> Store:
    if lock:
        await upgrade(address)
    if address.dialect == SQLITE and address.path:
        require_whole(address.path)
    store = Store(address, offset_ms=offset_ms, lock=lock)
    try:
        async with store.read() as tx:
            await tx.conn.run_sync(require_current, address.label)
    except BaseException:
        await store.close()
        raise
    return store
