"""Databases for tests that run on both engines."""

from __future__ import annotations

import pytest

from tests.postgres import running_postgres

ENGINES = ("sqlite", "postgresql")


@pytest.fixture(scope="session")
def postgres(tmp_path_factory):
    """One PostgreSQL server for the whole run."""
    with running_postgres(tmp_path_factory.mktemp("postgres")) as server:
        yield server


@pytest.fixture(params=ENGINES)
def database(request, tmp_path):
    """The URL of an empty database, on each engine in turn."""
    if request.param == "sqlite":
        yield f"sqlite+aiosqlite:///{tmp_path / 'placet.db'}"
        return
    server = request.getfixturevalue("postgres")
    name = server.new_database()
    yield server.url(name, driver="postgresql+asyncpg")
    server.drop_database(name)
