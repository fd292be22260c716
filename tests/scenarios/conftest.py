"""Every scenario runs over both of Slack's transports and on both engines: the bot is the same, and nothing here asks which.

Three ways cover both pairs; the fourth (Socket Mode beside PostgreSQL) would say nothing that these do not.
"""

from __future__ import annotations

import pytest

from tests.kit.engines import database_on
from tests.kit.running import office_in as _office_in

WAYS = {
    "http-sqlite": ("http", "sqlite"),
    "http-postgresql": ("http", "postgresql"),
    "socket-sqlite": ("socket", "sqlite"),
}


@pytest.fixture(params=list(WAYS))
def way(request):
    """How Slack's deliveries come, and where they are stored."""
    return WAYS[request.param]


@pytest.fixture
def transport(way):
    """http or socket."""
    return way[0]


@pytest.fixture
def database(way, request, tmp_path):
    """A database with the schema and no rows, on this way's engine."""
    with database_on(way[1], request, tmp_path) as url:
        yield url


@pytest.fixture
def office_of(office_of, transport):
    """The office, with its deliveries coming this way."""

    def make(**lines):
        return office_of(**{"transport": transport, **lines})

    return make


@pytest.fixture(params=["http", "socket"])
def office_in(request):
    """The office on SQLite in a folder, over each transport in turn."""

    def make(folder, **lines):
        return _office_in(folder, **{"transport": request.param, **lines})

    return make
