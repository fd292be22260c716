"""SQLite's connection crosses to its thread once for each statement, and is as usable after a bad one."""

import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from sqlalchemy import text
from sqlalchemy.exc import OperationalError
from sqlalchemy.ext.asyncio import AsyncEngine

from bot.store.connection import OneTrip, read_address
from bot.store.engine import sqlite_engine


@pytest_asyncio.fixture
async def engine(tmp_path: Path) -> AsyncIterator[AsyncEngine]:
    file = tmp_path / "one.db"
    sqlite3.connect(file).close()
    opened = sqlite_engine(read_address(f"sqlite:///{file}"), writes=True)
    yield opened
    await opened.dispose()


@pytest.mark.asyncio
async def test_a_statement_crosses_to_the_connections_thread_once(
    engine: AsyncEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    crossings: list[str] = []
    plain = OneTrip._execute

    async def counted(self: OneTrip, work: object, *given: object) -> object:
        crossings.append(str(given[1]) if len(given) > 1 else "")
        return await plain(self, work, *given)

    async with engine.begin() as conn:
        monkeypatch.setattr(OneTrip, "_execute", counted)
        rows = (await conn.execute(text("SELECT 1 UNION SELECT 2"))).all()
        monkeypatch.undo()

    assert [tuple(row) for row in rows] == [(1,), (2,)]
    assert crossings == ["SELECT 1 UNION SELECT 2"]


@pytest.mark.asyncio
async def test_a_statement_that_fails_leaves_the_connection_usable(engine: AsyncEngine) -> None:
    async with engine.begin() as conn:
        await conn.execute(text("CREATE TABLE one (id INTEGER PRIMARY KEY)"))
        with pytest.raises(OperationalError, match="no such table"):
            await conn.execute(text("SELECT * FROM other"))
        made = await conn.execute(text("INSERT INTO one VALUES (7)"))
        found = await conn.scalar(text("SELECT id FROM one"))

    assert (made.rowcount, found) == (1, 7)
