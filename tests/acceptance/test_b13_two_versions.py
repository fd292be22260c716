"""B13 rollout, of processes: a running one goes on while a newer version brings the database forward under it.

What a newer version adds is nothing that this one asks for; only starting anew against it is refused. Two processes share
a database on PostgreSQL only; that they never both send stands in `tests.acceptance.test_a5_sleeping`.
"""

from __future__ import annotations

import pytest
from sqlalchemy import text

from tests.kit.office import ADA, BEN
from tests.kit.steps import opened, stands
from tests.kit.wiretap import resumes

pytestmark = [pytest.mark.asyncio, pytest.mark.parametrize("database", ["postgresql"], indirect=True)]

NEWER = (
    "ALTER TABLE reviews ADD COLUMN colour text",
    "ALTER TABLE dispatches ADD COLUMN colour text DEFAULT 'blue'",
    "ALTER TABLE messages ADD COLUMN colour text",
    "CREATE TABLE colours (name text PRIMARY KEY)",
    "UPDATE placet_schema SET version_num = '9999'",
)


async def approve(office, review, user):
    await office.click(user, await office.card_of(review, button="decide.approve"), "decide.approve")
    await stands(office, review, "resumed")


async def test_b13_two_versions_a_running_process_goes_on_after_a_newer_ones_migration(house_of):
    async with house_of() as house:
        office = house.office
        older = await house.start()
        (before,) = await opened(office, await office.propose("one"))
        async with office.stores[0].begin() as tx:
            for statement in NEWER:
                await tx.conn.execute(text(statement))

        await approve(office, before, ADA)
        (after,) = await opened(office, await office.propose("one"))
        await approve(office, after, BEN)
        again = house.launch("serve")
        code = await again.ended()

        assert not older.over()
        assert [one["thread_id"] for one in office.effects()] == [before.thread_id, after.thread_id]
        assert all(len(resumes(office.agent.heard, one.thread_id)) == 1 for one in (before, after))
        assert "Traceback" not in older.said()
        assert code == 2
        assert "newer Placet (9999)" in again.said()
