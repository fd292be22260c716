"""The database is restarted under the running bot: nothing is lost, and it goes on by itself."""

from __future__ import annotations

import asyncio

import pytest

from tests.kit.engines import DRIVER
from tests.kit.office import ADA, local_agent, open_office
from tests.kit.operating import ask
from tests.kit.postgres import restarted, start_postgres
from tests.kit.running import PATIENT, approve

pytestmark = pytest.mark.asyncio


async def test_what_was_proposed_before_a_restart_of_the_database_is_decided_and_sent_after_it(tmp_path):
    server = start_postgres(tmp_path)
    try:
        database = server.url(server.new_database(), driver=DRIVER)
        async with local_agent(tmp_path) as agent, open_office(database, agent, replicas=2, rules=PATIENT) as office:
            first = await office.propose("one")
            card = await office.card("disable_user", button="decide.approve")

            server = await asyncio.to_thread(restarted, server)
            await approve(office, ADA, card)
            await office.settled(first)
            told = await ask(office, "pause", tenant="demo")

            assert office.ran(first) == ["disable_user"]
            assert told["ok"]
            assert all(not task.done() for placet in office.replicas for task in placet._running)
    finally:
        server.stop()
