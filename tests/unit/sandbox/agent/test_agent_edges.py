"""What is asked for seldom: ids taken twice, things gone meanwhile, a server that cannot start."""

import asyncio

import pytest
from starlette.applications import Starlette

from bot.sandbox.agents import effects
from bot.sandbox.agents.model import next_message
from bot.sandbox.agents.views import plain
from bot.sandbox.serving import listen, serving
from tests.live.scenarios import APPROVE, answer, decided, paused, rested


@pytest.mark.asyncio
async def test_an_assistant_id_is_taken_once(agent):
    body = {"assistant_id": "a-1", "graph_id": "ops"}
    await agent.client.post("/assistants", json=body)

    again = await agent.client.post("/assistants", json=body)

    assert again.status_code == 409


@pytest.mark.asyncio
async def test_an_assistant_of_an_unknown_graph_is_refused(agent):
    refused = await agent.client.post("/assistants", json={"graph_id": "nope"})

    assert refused.status_code == 404


@pytest.mark.asyncio
async def test_a_graphs_own_assistant_is_found_by_name_and_by_id_and_stays(agent):
    named = (await agent.client.get("/assistants/fanout")).json()

    deleted = await agent.client.delete(f"/assistants/{named['assistant_id']}")

    assert deleted.status_code == 403
    assert (await agent.client.get(f"/assistants/{named['assistant_id']}")).json()["graph_id"] == "fanout"


@pytest.mark.asyncio
async def test_the_server_says_what_it_is(agent):
    assert (await agent.client.get("/info")).json()["kind"] == agent.kind


@pytest.mark.asyncio
async def test_a_thread_deleted_under_its_run_does_not_end_the_server(agent):
    run = await paused(agent.client, "slow")
    resumed = asyncio.create_task(answer(agent.client, run, decided(APPROVE)))
    async with asyncio.timeout(10):
        while not agent.ran():  # noqa: ASYNC110 - a file: nothing to wait on
            await asyncio.sleep(0.01)

    await agent.client.delete(f"/threads/{run['thread_id']}")

    assert (await resumed).json() == {}
    assert (await agent.client.get("/ok")).status_code == 200


@pytest.mark.asyncio
async def test_a_command_refused_at_the_door_is_an_error_envelope(make_agent):
    agent = await make_agent("aegra")
    run = await paused(agent.client, "one")
    params = {"interrupt_id": run["interrupts"][0], "response": decided(APPROVE)}
    body = {"id": 7, "method": "input.respond", "params": params}
    await agent.client.post(f"/threads/{run['thread_id']}/commands", json=body)
    await rested(agent.client, run["thread_id"])

    again = (await agent.client.post(f"/threads/{run['thread_id']}/commands", json=body)).json()

    assert (again["type"], again["id"], again["error"]) == ("error", 7, "invalid_argument")


@pytest.mark.asyncio
async def test_a_sort_that_does_not_exist_is_refused(agent):
    refused = await agent.client.post("/threads/search", json={"sort_by": "mood"})

    assert refused.status_code == 422


@pytest.mark.asyncio
async def test_a_typed_interrupt_hands_its_answer_over_as_the_type(agent):
    thread = (await agent.client.post("/threads", json={})).json()["thread_id"]
    body = {"assistant_id": "freeform", "input": {"kind": "schema"}}
    await agent.client.post(f"/threads/{thread}/runs/wait", json=body)
    (held,) = (await agent.client.get(f"/threads/{thread}/state")).json()["interrupts"]

    run = {"thread_id": thread, "assistant": "freeform", "interrupts": [held["id"]]}
    await answer(agent.client, run, {"ok": True, "note": "fine"})

    (line,) = effects.read(agent.effects_file)
    assert line["args"] == {"answers": [{"ok": True, "note": "fine"}]}


@pytest.mark.asyncio
@pytest.mark.parametrize("preset", ["restart", "refund", "email", "sql", "long"])
async def test_an_approved_call_runs_once_with_the_arguments_that_were_shown(agent, preset):
    run = await paused(agent.client, preset)
    state = (await agent.client.get(f"/threads/{run['thread_id']}/state")).json()
    (shown,) = state["interrupts"][0]["value"]["action_requests"]

    await answer(agent.client, run, decided(APPROVE))

    assert [(line["tool"], line["args"]) for line in effects.read(agent.effects_file)] == [
        (shown["name"], shown["args"])
    ]


@pytest.mark.asyncio
async def test_an_application_that_does_not_start_is_an_error_at_once():
    def fail(app):
        raise RuntimeError("no database")

    with pytest.raises(RuntimeError, match="did not start"):
        async with serving(Starlette(lifespan=fail)):
            pass


def test_a_taken_port_is_an_error():
    with listen() as held, pytest.raises(OSError, match="in use"):
        listen(held.getsockname()[1])


def test_a_conversation_without_a_question_gets_an_answer_without_calls():
    assert next_message([]).tool_calls == []


def test_numbers_that_json_does_not_know_are_shown_as_null():
    assert plain({"a": float("nan"), "b": {1}, "c": object}) == {"a": None, "b": [1], "c": "<class 'object'>"}
