"""Databases for tests that run on both engines: migrated once in a run, copied for each test."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
from pathlib import Path

import pytest

from bot.store.upgrade import migrate
from tests.kit.postgres import running_postgres

ENGINES = ("sqlite", "postgresql")
DRIVER = "postgresql+asyncpg"


@pytest.fixture(scope="session")
def postgres(tmp_path_factory):
    """One PostgreSQL server for the whole run."""
    with running_postgres(tmp_path_factory.mktemp("postgres")) as server:
        yield server


@pytest.fixture(scope="session")
def migrated_file(tmp_path_factory):
    """A SQLite file that holds the schema and nothing else."""
    path = tmp_path_factory.mktemp("sqlite") / "placet.db"
    asyncio.run(migrate(f"sqlite+aiosqlite:///{path}"))
    return path


@pytest.fixture(scope="session")
def migrated_database(postgres):
    """The same in PostgreSQL, by name."""
    name = postgres.new_database("template")
    asyncio.run(migrate(postgres.url(name, driver=DRIVER)))
    return name


@pytest.fixture(params=ENGINES)
def database(request, tmp_path):
    """The URL of a database with the schema and no rows, on each engine in turn."""
    with database_on(request.param, request, tmp_path) as url:
        yield url


@contextlib.contextmanager
def database_on(engine: str, request: pytest.FixtureRequest, tmp_path: Path):
    """The URL of a database with the schema and no rows, gone afterwards."""
    if engine == "sqlite":
        path = tmp_path / "placet.db"
        shutil.copy(request.getfixturevalue("migrated_file"), path)
        path.chmod(0o600)
        yield f"sqlite+aiosqlite:///{path}"
        return
    server = request.getfixturevalue("postgres")
    name = server.new_database(like=request.getfixturevalue("migrated_database"))
    yield server.url(name, driver=DRIVER)
    server.drop_database(name)
