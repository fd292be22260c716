"""Offices on the real servers of `tests.kit.live_fixtures`."""

import shutil

import pytest

from tests.kit.engines import DRIVER
from tests.live.offices import office_at, relayed_office_at
from tests.live.pythons import NoPython
from tests.live.servers import aegra_server, langgraph_server


@pytest.fixture
def live_office(live_server, migrated_file, tmp_path):
    """A factory of offices on each real server in turn: `async with live_office(resume="commands") as office`."""
    path = tmp_path / "placet.db"
    shutil.copy(migrated_file, path)

    def make(**lines):
        return office_at(live_server, f"sqlite+aiosqlite:///{path}", **lines)

    return make


@pytest.fixture
def aegra_office(aegra, postgres, migrated_database):
    """A factory of offices with two replicas on PostgreSQL, on live Aegra."""
    name = postgres.new_database(like=migrated_database)

    def make(**lines):
        return office_at(aegra, postgres.url(name, driver=DRIVER), replicas=2, **lines)

    yield make
    postgres.drop_database(name)


@pytest.fixture(scope="module")
def guarded_aegra(tmp_path_factory, postgres):
    """Aegra with the auth guard."""
    try:
        with aegra_server(tmp_path_factory.mktemp("guarded"), postgres, guarded=True) as server:
            yield server
    except NoPython as missing:
        pytest.skip(f"Aegra not run: {missing}")


@pytest.fixture(scope="module")
def guarded_langgraph(tmp_path_factory):
    """LangGraph's development server with the same."""
    try:
        with langgraph_server(tmp_path_factory.mktemp("guarded"), guarded=True) as server:
            yield server
    except NoPython as missing:
        pytest.skip(f"langgraph dev not run: {missing}")


@pytest.fixture
def relayed_office(postgres, migrated_database):
    """A factory of offices with two replicas on PostgreSQL and a relay before the given server."""
    name = postgres.new_database(like=migrated_database)

    def make(server, **lines):
        return relayed_office_at(server, postgres.url(name, driver=DRIVER), replicas=2, **lines)

    yield make
    postgres.drop_database(name)
