"""A store per test, on each engine.

PostgreSQL is one server a session with one migrated database, emptied after each test; a test that changes the schema
itself asks for `own_database`.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import asyncpg
import pytest
import pytest_asyncio

from bot.store.engine import Store
from bot.store.rows import metadata
from bot.store.tables import reviews
from bot.store.upgrade import migrate, open_store
from tests.kit.postgres import Postgres, running_postgres

ENGINES = ("sqlite", "postgresql")
TABLES = {reviews.name, *metadata.tables}
EMPTY = f"TRUNCATE {', '.join(sorted(TABLES))} RESTART IDENTITY"


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Postgres]:
    with running_postgres(tmp_path_factory.mktemp("postgres")) as server:
        yield server


@pytest.fixture(scope="session")
def shared(postgres: Postgres) -> str:
    """The migrated database that most tests take turns with."""
    url = postgres.url(postgres.new_database())
    asyncio.run(migrate(url))
    return url


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def own_database() -> None:
    """Requested by name: this test may leave the schema different from how it found it."""


@pytest.fixture
def url(engine: str, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[str]:
    """A migrated, empty database of this test's own."""
    if engine == "sqlite":
        url = f"sqlite:///{tmp_path / 'placet.db'}"
        asyncio.run(migrate(url))
        yield url
    elif "own_database" in request.fixturenames:
        server: Postgres = request.getfixturevalue("postgres")
        url = server.url(server.new_database())
        asyncio.run(migrate(url))
        yield url
    else:
        url = request.getfixturevalue("shared")
        yield url
        asyncio.run(_empty(url))


async def _empty(url: str) -> None:
    conn = await asyncpg.connect(url)
    await conn.execute(EMPTY)
    await conn.close()


@pytest_asyncio.fixture
async def store(url: str) -> AsyncIterator[Store]:
    opened = await open_store(url)
    yield opened
    await opened.close()


@pytest_asyncio.fixture
async def replica(store: Store, url: str) -> AsyncIterator[Store]:
    """A second root on the same database."""
    opened = await open_store(url)
    yield opened
    await opened.close()
