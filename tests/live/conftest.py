"""Offices on the real servers of `tests.live_fixtures`."""

import pytest

from tests.live.offices import office_at


@pytest.fixture
def live_office(live_server, tmp_path):
    """A factory of offices on each real server in turn: `async with live_office(resume="commands") as office`."""

    def make(**lines):
        return office_at(live_server, f"sqlite+aiosqlite:///{tmp_path / 'placet.db'}", **lines)

    return make


@pytest.fixture
def aegra_office(aegra, postgres):
    """A factory of offices with two replicas on PostgreSQL, on live Aegra."""
    name = postgres.new_database()

    def make(**lines):
        return office_at(aegra, postgres.url(name, driver="postgresql+asyncpg"), replicas=2, **lines)

    yield make
    postgres.drop_database(name)
