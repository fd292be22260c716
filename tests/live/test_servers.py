"""The real servers start, pause, resume by interrupt id and run exactly what was allowed."""

import httpx
import pytest
import pytest_asyncio

from bot.sandbox.agents import effects
from bot.sandbox.agents.propose import propose
from tests.live.scenarios import APPROVE, MARK, answer, decided, look, paused, rested

pytestmark = [pytest.mark.live, pytest.mark.asyncio]


@pytest_asyncio.fixture
async def client(live_server):
    async with httpx.AsyncClient(base_url=live_server.url, headers={"X-User-Id": "approvals"}, timeout=30) as opened:
        yield opened


async def test_three_calls_decided_together_run_only_what_was_approved(client, live_server):
    run = await paused(client, "three")
    decisions = decided(APPROVE, {"type": "reject", "message": "no"}, {"type": "respond", "message": "EU"})

    answered = await answer(client, run, decisions)

    assert answered.status_code == 200
    ran = [line["tool"] for line in effects.read(live_server.effects_file) if line["thread_id"] == run["thread_id"]]
    assert sorted(ran) == ["disable_user", "read_data"]


async def test_a_run_carries_its_mark_in_the_list_of_runs_and_in_state(client):
    run = await paused(client, "one")

    await answer(client, run, decided(APPROVE))

    seen = await look(client, run["thread_id"])
    newest = seen["runs"][0]
    assert MARK["metadata"].items() <= (newest.get("metadata") or newest["config"]["metadata"]).items()
    assert MARK["metadata"].items() <= seen["state"]["metadata"].items()


async def test_parallel_interrupts_are_answered_one_at_a_time_by_id(client, live_server):
    run = await paused(client, "parallel")

    await answer(client, run, decided(APPROVE), which=0)
    left = (await client.get(f"/threads/{run['thread_id']}/state")).json()["interrupts"]
    await answer(client, run, decided({"type": "reject"}), which=1)

    assert [interrupt["id"] for interrupt in left] == [run["interrupts"][1]]
    assert (await rested(client, run["thread_id"]))["status"] == "idle"
    ran = [line["tool"] for line in effects.read(live_server.effects_file) if line["thread_id"] == run["thread_id"]]
    assert len(ran) == 1


async def test_requester_named_at_the_start_is_found_by_search(client):
    started = await propose(client, preset="one", user="U0CLEO")
    assert (await rested(client, started["thread_id"]))["status"] == "interrupted"

    found = await client.post("/threads/search", json={"status": "interrupted", "metadata": {"slack_user": "U0CLEO"}})

    assert started["thread_id"] in [row["thread_id"] for row in found.json()]
