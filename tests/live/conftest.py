"""Offices on the real servers of `tests.live_fixtures`."""

import shutil

import pytest

from tests.engines import DRIVER
from tests.live.offices import office_at


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
