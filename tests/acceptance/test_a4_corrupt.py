"""A4 corrupt: on a database that is missing, cut, foreign or of another version the bot does not start, and resumes nothing.

Each is met by the program itself: its exit code and the one line that it says. There is something to resume in every
case: a decision was claimed and not sent when the database was still whole, and it is sent once it is whole again. How
each damage is told from others stands in `tests.unit.store.test_store_opening`.
"""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import text

from bot.store.upgrade import open_store
from tests.kit.engines import DRIVER
from tests.kit.office import ADA
from tests.kit.processes import house_on
from tests.kit.steps import opened, stands
from tests.kit.wiretap import resumes

pytestmark = pytest.mark.asyncio

on_sqlite = pytest.mark.parametrize("database", ["sqlite"], indirect=True)
on_postgresql = pytest.mark.parametrize("database", ["postgresql"], indirect=True)


async def left_to_send(house):
    """A decision that only has to be sent, and no process that could."""
    process = await house.start()
    thread = await house.office.propose("one")
    (review,) = await opened(house.office, thread)
    reading = house.agent.hold(f"/{thread}/state", method="GET", every=True)
    await house.office.click(ADA, await house.office.card_of(review, button="decide.approve"), "decide.approve")
    await reading.reached.wait()
    await stands(house.office, review, "claimed")
    await process.killed()
    reading.lose()
    return review


async def refused(house, *arguments, **environ):
    """Start the program, which must not run; the one line that it says instead."""
    process = house.launch(*(arguments or ("serve",)), **environ)
    assert await process.ended() == 2, process.said()
    (line,) = process.said().splitlines()
    assert line.startswith("placet: ")
    return line


async def sent_once_it_is_whole(house, review):
    """Until now nothing was sent; from the whole database it is, once."""
    office = house.office
    assert office.ran() == []
    assert resumes(office.agent.heard, review.thread_id) == []
    await house.start()
    await stands(office, review, "resumed")
    assert office.ran() == ["disable_user"]


def changed(file, statement):
    with closing(sqlite3.connect(file)) as connection:
        connection.execute(statement)
        connection.commit()


@on_sqlite
async def test_a4_corrupt_file_stops_the_start_with_one_line_and_resumes_nothing(database, warm, tmp_path):
    async with house_on(database, warm, tmp_path) as house:
        review = await left_to_send(house)
        await house.office.stores[0].close()  # so that the file holds everything
        whole, bad = Path(database.partition(":///")[2]), tmp_path / "bad.db"
        url = f"sqlite:///{bad}"

        shutil.copy(whole, bad)
        bad.write_bytes(bad.read_bytes()[:-5_000])
        cut = await refused(house, PLACET_DATABASE_URL=url)
        bad.write_bytes(b"anything but a database, and long enough to have a header of one" * 9)
        junk = await refused(house, PLACET_DATABASE_URL=url)
        bad.unlink()
        changed(bad, "CREATE TABLE bookings (id integer)")
        foreign = await refused(house, PLACET_DATABASE_URL=url)
        shutil.copy(whole, bad)
        changed(bad, "UPDATE placet_schema SET version_num = '9999'")
        newer = await refused(house, PLACET_DATABASE_URL=url)
        folder = await refused(house, PLACET_DATABASE_URL=f"sqlite:///{tmp_path}/nowhere/placet.db")

        assert "is cut short: restore it" in cut
        assert "is not a SQLite database" in junk
        assert "tables that are not Placet's" in foreign
        assert "newer Placet (9999)" in newer
        assert "does not exist: create it" in folder
        await sent_once_it_is_whole(house, review)


@on_sqlite
async def test_a4_corrupt_missing_file_is_told_by_commands_and_nothing_of_it_is_resumed(database, warm, tmp_path):
    """Where there is no file, `serve` begins a new one. It knows of no decision, so the call is asked for anew."""
    async with house_on(database, warm, tmp_path) as house:
        review = await left_to_send(house)
        new = f"sqlite+aiosqlite:///{tmp_path / 'new.db'}"

        told = [await refused(house, *command, PLACET_DATABASE_URL=new) for command in (["pending"], ["stats"])]
        house.environ["PLACET_DATABASE_URL"] = new
        process = house.launch("migrate")
        assert await process.ended() == 0
        office = house.office
        office.stores[:] = [await open_store(new)]
        await house.start()
        (again,) = await opened(office, review.thread_id)

        assert all("placet migrate" in line for line in told)
        assert again.id != review.id
        assert again.actions[0].decision is None
        assert resumes(office.agent.heard, review.thread_id) == []
        assert office.ran() == []


@on_postgresql
async def test_a4_corrupt_database_on_a_server_stops_the_start_and_resumes_nothing(database, warm, tmp_path, postgres):
    async with house_on(database, warm, tmp_path) as house:
        review = await left_to_send(house)
        missing = await refused(house, PLACET_DATABASE_URL=f"{database}_missing")
        name = postgres.new_database("empty")
        try:
            empty = postgres.url(name, driver=DRIVER)
            bare = await refused(house, PLACET_DATABASE_URL=empty)
        finally:
            postgres.drop_database(name)

        async with house.office.stores[0].read() as tx:
            version = await tx.conn.scalar(text("SELECT version_num FROM placet_schema"))
        await said_to(house, "UPDATE placet_schema SET version_num = '9999'")
        newer = await refused(house)
        await said_to(house, "DELETE FROM placet_schema")
        foreign = await refused(house)
        await said_to(house, f"INSERT INTO placet_schema VALUES ('{version}')")

        assert "does not exist" in missing
        assert "run `placet migrate`" in bare
        assert "newer Placet (9999)" in newer
        assert "tables that are not Placet's" in foreign
        await sent_once_it_is_whole(house, review)


async def said_to(house, statement):
    async with house.office.stores[0].begin() as tx:
        await tx.conn.execute(text(statement))
