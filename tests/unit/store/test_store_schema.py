"""The migrations make exactly the tables that the code names."""

import re

import pytest
import pytest_asyncio
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import text
from sqlalchemy.engine import Connection

from bot.store.engine import Store, Tx
from bot.store.rows import metadata
from bot.store.tables import audit_events, reviews
from bot.store.upgrade import VERSION_TABLE, migrate, open_store

OBJECTS = {
    "sqlite": "SELECT name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' AND name <> 'placet_schema'",
    "postgresql": "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public' "
    "AND tablename <> 'placet_schema' "
    "UNION ALL SELECT conrelid::regclass || '.' || conname, pg_get_constraintdef(oid) FROM pg_constraint "
    "WHERE connamespace = 'public'::regnamespace AND conrelid::regclass::text <> 'placet_schema' "
    "UNION ALL SELECT table_name || '.' || column_name, concat_ws(' ', data_type, is_nullable, column_default) "
    "FROM information_schema.columns WHERE table_schema = 'public' AND table_name <> 'placet_schema'",
}

WORDS = re.compile(r"[^\s,()]+")


def _differences(conn: Connection) -> list[object]:
    options = {"compare_type": True, "version_table": VERSION_TABLE}
    return list(compare_metadata(MigrationContext.configure(conn, opts=options), metadata))


@pytest.mark.asyncio
async def test_migrated_tables_are_those_of_the_code(store: Store) -> None:
    assert reviews.metadata is audit_events.metadata

    async with store.begin() as tx:
        assert await tx.conn.run_sync(_differences) == []


async def _objects(tx: Tx) -> dict[str, object]:
    found = {row[0]: row[1] for row in await tx.conn.execute(text(OBJECTS[tx.dialect]))}
    # SQLite keeps the statement itself, to which a column that was added later is put at the end.
    return found if tx.dialect != "sqlite" else {name: sorted(WORDS.findall(made)) for name, made in found.items()}


@pytest_asyncio.fixture
async def objects(own_database: None, store: Store) -> dict[str, dict[str, object]]:
    """Every table, index and constraint: as migrated, and as the code would make it."""
    found = {}
    async with store.begin() as tx:
        found["migrated"] = await _objects(tx)
        await tx.conn.run_sync(metadata.drop_all)
        await tx.conn.run_sync(metadata.create_all)
        found["made"] = await _objects(tx)
    return found


@pytest.mark.asyncio
async def test_migrated_indexes_and_constraints_are_those_of_the_code(objects: dict[str, dict[str, object]]) -> None:
    assert len(objects["made"]) > 40
    assert objects["migrated"] == objects["made"]


@pytest.mark.asyncio
async def test_migrating_again_changes_nothing(url: str) -> None:
    await migrate(url)

    store = await open_store(url)
    await store.close()
