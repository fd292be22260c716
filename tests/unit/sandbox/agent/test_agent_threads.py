"""Threads: made, found, walled off, kept over a restart."""

import asyncio
import json
import sys
from pathlib import Path

import httpx
import pytest

from bot.sandbox.agents import effects
from tests.live.scenarios import APPROVE, answer, decided, look, paused, rested

pytestmark = pytest.mark.asyncio


async def search(agent, **body):
    return [row["thread_id"] for row in (await agent.client.post("/threads/search", json=body)).json()]


async def test_search_finds_threads_by_status_and_metadata(agent):
    waiting = (await paused(agent.client, "one"))["thread_id"]
    (await paused(agent.client, "read"))["thread_id"]
    other = await agent.client.post("/threads", json={"metadata": {"slack_user": "U0DAN"}})

    assert await search(agent, status="interrupted") == [waiting]
    assert await search(agent, metadata={"slack_user": "U0DAN"}) == [other.json()["thread_id"]]


async def test_search_pages_in_the_order_asked_for(agent):
    made = [(await agent.client.post("/threads", json={})).json()["thread_id"] for _ in range(3)]

    assert await search(agent, sort_by="created_at", sort_order="asc", limit=2) == made[:2]
    assert await search(agent, sort_by="created_at", sort_order="asc", limit=2, offset=2) == made[2:]
    assert await search(agent, sort_by="created_at", sort_order="desc") == made[::-1]


async def test_only_langgraph_selects_fields_and_shows_interrupts_in_rows(agent):
    run = await paused(agent.client, "one")

    answered = await agent.client.post("/threads/search", json={"select": ["thread_id", "interrupts"]})

    if agent.kind == "aegra":
        assert answered.status_code == 422
    else:
        ((row),) = answered.json()
        assert [held["id"] for waiting in row["interrupts"].values() for held in waiting] == run["interrupts"]


async def test_patching_metadata_adds_to_it(agent):
    run = await paused(agent.client, "one")

    await agent.client.patch(f"/threads/{run['thread_id']}", json={"metadata": {"ticket": 7}})

    metadata = (await agent.client.get(f"/threads/{run['thread_id']}")).json()["metadata"]
    assert (metadata["ticket"], metadata["slack_user"], metadata["graph_id"]) == (7, "U0CLEO", "ops")


async def test_a_thread_without_a_run_has_an_empty_state(agent):
    thread = (await agent.client.post("/threads", json={})).json()["thread_id"]

    state = (await agent.client.get(f"/threads/{thread}/state")).json()

    assert (state["values"], state["next"], state["interrupts"], state["checkpoint_id"]) == ({}, [], [], None)


async def test_a_thread_id_is_taken_once(agent):
    await agent.client.post("/threads", json={"thread_id": "t-1"})

    again = await agent.client.post("/threads", json={"thread_id": "t-1"})
    same = await agent.client.post("/threads", json={"thread_id": "t-1", "if_exists": "do_nothing"})

    assert (again.status_code, same.status_code) == (409, 200)


async def test_only_aegra_hides_a_thread_from_other_identities(agent):
    run = await paused(agent.client, "one")
    agent.client.headers["X-User-Id"] = "somebody-else"

    answers = [
        await agent.client.get(f"/threads/{run['thread_id']}"),
        await agent.client.get(f"/threads/{run['thread_id']}/state"),
        await answer(agent.client, run, decided({"type": "reject"})),
    ]

    assert {response.status_code for response in answers} == ({404} if agent.kind == "aegra" else {200})
    assert await search(agent) == ([] if agent.kind == "aegra" else [run["thread_id"]])


async def test_a_bearer_key_is_asked_for_everywhere_but_at_the_health_endpoints(make_agent):
    agent = await make_agent(api_key="k-1")

    refused = await agent.client.post("/threads", json={})
    admitted = await agent.client.post("/threads", json={}, headers={"Authorization": "Bearer k-1"})

    assert (refused.status_code, admitted.status_code) == (401, 200)
    assert (await agent.client.get("/health")).status_code == 200


@pytest.mark.parametrize("body", ["[1]", "{", '{"assistant_id": 7}', '{"assistant_id": "ops", "command": "go"}'])
async def test_a_malformed_run_is_refused_and_leaves_the_thread_alone(agent, body):
    run = await paused(agent.client, "one")

    refused = await agent.client.post(f"/threads/{run['thread_id']}/runs/wait", content=body)

    assert refused.status_code == 422
    assert (await rested(agent.client, run["thread_id"]))["status"] == "interrupted"


async def test_an_unknown_assistant_is_refused(agent):
    thread = (await agent.client.post("/threads", json={})).json()["thread_id"]

    refused = await agent.client.post(f"/threads/{thread}/runs", json={"assistant_id": "nobody", "input": {}})

    assert refused.status_code == 404


async def test_a_deleted_thread_is_gone_with_its_runs(agent):
    run = await paused(agent.client, "one")

    await agent.client.delete(f"/threads/{run['thread_id']}")

    assert (await agent.client.get(f"/threads/{run['thread_id']}/runs/{run['run_id']}")).status_code == 404


class Process:
    """The server in a process of its own, which a test may kill."""

    def __init__(self, folder: Path, kind: str) -> None:
        self.effects_file = folder / "effects.jsonl"
        self._command = [sys.executable, "-m", "bot.sandbox.agents", "--kind", kind]
        self._command += ["--database", folder / "agent.db", "--effects", self.effects_file]

    async def __aenter__(self) -> httpx.AsyncClient:
        self.process = await asyncio.create_subprocess_exec(*self._command, stdout=asyncio.subprocess.PIPE)
        url = (await self.process.stdout.readline()).decode().strip()
        self.client = httpx.AsyncClient(base_url=url, headers={"X-User-Id": "approvals"}, timeout=30, verify=False)
        return self.client

    async def __aexit__(self, *_) -> None:
        await self.client.aclose()
        if self.process.returncode is None:
            self.process.kill()
        await self.process.communicate()


@pytest.mark.parametrize("kind", ["langgraph", "aegra"])
async def test_a_killed_server_keeps_the_pause_and_says_what_it_knows_of_the_run_cut_off(tmp_path, kind):
    server = Process(tmp_path, kind)
    async with server as client:
        waiting = await paused(client, "one")
        slow = await paused(client, "slow")
        resume = {"assistant_id": "ops", "command": {"resume": {slow["interrupts"][0]: decided(APPROVE)}}}
        await client.post(f"/threads/{slow['thread_id']}/runs", json=resume)
        async with asyncio.timeout(20):
            while not effects.read(server.effects_file):  # noqa: ASYNC110 - another process writes the file
                await asyncio.sleep(0.02)
        server.process.kill()
        await server.process.wait()

    async with server as client:
        cut_off = (await client.get(f"/threads/{slow['thread_id']}")).json()["status"]
        (newest, *_) = (await client.get(f"/threads/{slow['thread_id']}/runs")).json()
        await answer(client, waiting, decided(APPROVE))
        freed = await client.post(f"/threads/{slow['thread_id']}/runs/{newest['run_id']}/cancel")

        # Aegra's own executor forgets such a run: it stays `running` until somebody cancels it.
        assert (cut_off, newest["status"]) == (("busy", "running") if kind == "aegra" else ("error", "error"))
        assert freed.status_code == (200 if kind == "aegra" else 404)
        assert (await look(client, slow["thread_id"]))["thread"]["status"] == ("idle" if kind == "aegra" else "error")
    assert [line["tool"] for line in effects.read(server.effects_file)] == ["slow_op.begin", "disable_user"]


async def test_a_server_stopped_in_the_middle_of_a_run_notes_it(make_agent, tmp_path):
    server = Process(tmp_path, "langgraph")
    async with server as client:
        run = await paused(client, "slow")
        resume = {"assistant_id": "ops", "command": {"resume": {run["interrupts"][0]: decided(APPROVE)}}}
        await client.post(f"/threads/{run['thread_id']}/runs", json=resume)
        server.process.terminate()
        await server.process.wait()

    agent = await make_agent(database=tmp_path / "agent.db")
    (newest, *_) = (await agent.client.get(f"/threads/{run['thread_id']}/runs")).json()

    assert newest["status"] == "error"
    assert json.dumps(newest)
