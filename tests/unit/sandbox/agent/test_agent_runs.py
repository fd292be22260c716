"""Runs: accepted in one piece, one at a time where the server queues them, and carried through unwatched."""

import asyncio

import pytest

from bot.sandbox.agents import effects
from bot.sandbox.agents.propose import propose
from tests.live.scenarios import APPROVE, MARK, answer, decided, look, paused, rested

pytestmark = pytest.mark.asyncio
SLOW = [[{"name": "slow_op", "args": {"seconds": 0.3}}]]


async def pause_on(agent, turns):
    started = await propose(agent.client, turns=turns, user="U0CLEO")
    await rested(agent.client, started["thread_id"])
    state = (await agent.client.get(f"/threads/{started['thread_id']}/state")).json()
    return {**started, "interrupts": [interrupt["id"] for interrupt in state["interrupts"]]}


async def until_ran(agent, tool):
    async with asyncio.timeout(10):
        while tool not in agent.ran():  # noqa: ASYNC110 - a file: nothing to wait on
            await asyncio.sleep(0.01)


async def test_nothing_gated_runs_before_it_is_decided(agent):
    await paused(agent.client, "three")

    assert agent.ran() == []


async def test_an_effect_is_logged_with_the_ids_that_state_shows(agent):
    run = await paused(agent.client, "one")

    await answer(agent.client, run, decided(APPROVE))

    (line,) = effects.read(agent.effects_file)
    seen = await look(agent.client, run["thread_id"])
    (call,) = seen["state"]["values"]["messages"][1]["tool_calls"]
    assert {**line, "at": 0} == {
        "at": 0,
        "tool": "disable_user",
        "args": {"user_id": "u_4821", "reason": "chargeback dispute"},
        "thread_id": run["thread_id"],
        "run_id": seen["runs"][0]["run_id"],
        "tool_call_id": call["id"],
    }


async def test_headers_of_a_waiting_run_come_before_its_end_and_name_it(agent):
    run = await pause_on(agent, SLOW)
    body = {"assistant_id": "ops", "command": {"resume": {run["interrupts"][0]: decided(APPROVE)}}, "config": MARK}

    async with agent.client.stream("POST", f"/threads/{run['thread_id']}/runs/wait", json=body) as response:
        where = response.headers["content-location"]
        thread = (await agent.client.get(f"/threads/{run['thread_id']}")).json()
        listed = (await agent.client.get(f"/threads/{run['thread_id']}/runs")).json()

    assert "slow_op" not in agent.ran()
    assert thread["status"] == "busy"
    assert where == f"/threads/{run['thread_id']}/runs/{listed[0]['run_id']}"


async def test_a_run_outlives_the_client_that_hung_up(agent):
    run = await pause_on(agent, SLOW)
    body = {"assistant_id": "ops", "command": {"resume": {run["interrupts"][0]: decided(APPROVE)}}}

    async with agent.client.stream("POST", f"/threads/{run['thread_id']}/runs/wait", json=body):
        pass

    await until_ran(agent, "slow_op")
    assert (await rested(agent.client, run["thread_id"]))["status"] == "idle"


async def test_a_mark_is_listed_with_its_run_and_its_checkpoints_and_no_later_ones(agent):
    run = await paused(agent.client, "twice")
    await answer(agent.client, run, decided(APPROVE))
    (second,) = (await agent.client.get(f"/threads/{run['thread_id']}/state")).json()["interrupts"]
    body = {"assistant_id": "ops", "command": {"resume": {second["id"]: decided(APPROVE)}}}
    await agent.client.post(f"/threads/{run['thread_id']}/runs/wait", json=body)

    history = (await agent.client.get(f"/threads/{run['thread_id']}/history?limit=50")).json()

    runs = (await look(agent.client, run["thread_id"]))["runs"]
    marked = [(run.get("metadata") or run["config"].get("metadata") or {}).get("placet_dispatch") for run in runs]
    assert marked == [None, "d_example", None]
    by_run = {shown["metadata"]["run_id"]: shown["metadata"].get("placet_dispatch") for shown in history}
    assert [by_run[run["run_id"]] for run in runs] == marked


async def test_langgraph_refuses_a_second_run_where_asked_to(make_agent):
    agent = await make_agent("langgraph")
    run = await pause_on(agent, SLOW)
    first = asyncio.create_task(answer(agent.client, run, decided(APPROVE)))
    await until_ran(agent, "slow_op.begin")

    second = await answer(agent.client, run, decided(APPROVE))

    assert second.status_code == 409
    assert (await first).status_code == 200


async def test_langgraph_queues_runs_of_a_thread(make_agent):
    agent = await make_agent("langgraph")
    run = await pause_on(agent, SLOW)
    body = {"assistant_id": "ops", "command": {"resume": {run["interrupts"][0]: decided(APPROVE)}}}

    both = await asyncio.gather(
        *(agent.client.post(f"/threads/{run['thread_id']}/runs/wait", json=body) for _ in range(2))
    )

    assert [response.status_code for response in both] == [200, 200]
    assert agent.ran() == ["slow_op.begin", "slow_op"]


async def test_aegra_runs_the_tool_twice_for_two_resumes_at_once(make_agent):
    agent = await make_agent("aegra")
    run = await pause_on(agent, SLOW)

    await asyncio.gather(*(answer(agent.client, run, decided(APPROVE)) for _ in range(2)))

    assert agent.ran().count("slow_op") == 2
    assert len({line["tool_call_id"] for line in effects.read(agent.effects_file)}) == 1


async def test_aegra_refuses_to_resume_a_thread_that_does_not_wait(make_agent):
    agent = await make_agent("aegra")
    run = await paused(agent.client, "one")
    await answer(agent.client, run, decided(APPROVE))

    again = await answer(agent.client, run, decided(APPROVE))

    assert again.status_code == 400
    assert again.json()["message"] == "Cannot resume: thread is not in interrupted state"
    assert agent.ran() == ["disable_user"]


async def test_an_unknown_interrupt_id_changes_nothing(agent):
    run = await paused(agent.client, "one")

    answered = await answer(agent.client, {**run, "interrupts": ["0" * 32]}, decided(APPROVE))

    seen = await look(agent.client, run["thread_id"])
    assert answered.status_code == 200
    assert (seen["thread"]["status"], agent.ran()) == ("interrupted", [])
    assert [interrupt["id"] for interrupt in seen["state"]["interrupts"]] == run["interrupts"]


async def test_a_bad_answer_spoils_the_interrupt_for_every_later_one(agent):
    run = await paused(agent.client, "one")
    await answer(agent.client, run, decided({"type": "respond"}, APPROVE))

    right = await answer(agent.client, run, decided(APPROVE))

    assert right.status_code == 400 if agent.kind == "aegra" else "__error__" in right.json()
    assert agent.ran() == []


async def test_a_spoiled_interrupt_is_repaired_by_forking_its_checkpoint(agent):
    run = await paused(agent.client, "one")
    await answer(agent.client, run, decided(APPROVE, APPROVE))
    at = (await look(agent.client, run["thread_id"]))["state"]["checkpoint_id"]
    fork = {"assistant_id": "ops", "input": None, "checkpoint": {"checkpoint_id": at, "checkpoint_ns": ""}}

    await agent.client.post(f"/threads/{run['thread_id']}/runs/wait", json=fork)

    seen = await look(agent.client, run["thread_id"])
    fresh = [interrupt["id"] for interrupt in seen["state"]["interrupts"]]
    assert seen["thread"]["status"] == "interrupted"
    assert fresh != run["interrupts"]
    await answer(agent.client, {**run, "interrupts": fresh}, decided(APPROVE))
    assert agent.ran() == ["disable_user"]


async def test_only_langgraph_mentions_the_interrupts_left_after_a_partial_answer(agent):
    run = await paused(agent.client, "parallel")

    answered = await answer(agent.client, run, decided(APPROVE))

    left = [interrupt["id"] for interrupt in answered.json().get("__interrupt__", [])]
    assert left == ([] if agent.kind == "aegra" else [run["interrupts"][1]])
    assert (await rested(agent.client, run["thread_id"]))["status"] == "interrupted"


async def test_a_cancelled_run_is_noted_and_its_thread_freed(agent):
    run = await pause_on(agent, [[{"name": "slow_op", "args": {"seconds": 60}}]])
    waiting = asyncio.create_task(answer(agent.client, run, decided(APPROVE)))
    await until_ran(agent, "slow_op.begin")
    (newest, *_) = (await agent.client.get(f"/threads/{run['thread_id']}/runs")).json()

    cancelled = await agent.client.post(f"/threads/{run['thread_id']}/runs/{newest['run_id']}/cancel")

    await waiting
    seen = await look(agent.client, run["thread_id"])
    assert cancelled.json()["status"] == "interrupted"
    assert seen["thread"]["status"] == ("idle" if agent.kind == "aegra" else "interrupted")
    assert (seen["state"]["next"], seen["state"]["interrupts"], agent.ran()) == (["tools"], [], ["slow_op.begin"])


async def test_a_queued_run_can_be_cancelled_before_it_starts(make_agent):
    agent = await make_agent("langgraph")
    run = await pause_on(agent, SLOW)
    waiting = asyncio.create_task(answer(agent.client, run, decided(APPROVE)))
    await until_ran(agent, "slow_op.begin")
    message = {"messages": [{"role": "user", "content": "read"}]}
    path = f"/threads/{run['thread_id']}/runs"
    queued = (await agent.client.post(path, json={"assistant_id": "ops", "input": message})).json()

    await agent.client.post(f"{path}/{queued['run_id']}/cancel")

    await waiting
    assert (await rested(agent.client, run["thread_id"]))["status"] == "idle"
    assert agent.ran() == ["slow_op.begin", "slow_op"]


async def test_cancelling_a_run_that_is_over_is_refused_by_langgraph_alone(agent):
    run = await paused(agent.client, "one")

    answered = await agent.client.post(f"/threads/{run['thread_id']}/runs/{run['run_id']}/cancel")

    assert answered.status_code == (200 if agent.kind == "aegra" else 404)


async def test_joining_a_run_gives_what_waiting_for_it_gave(agent):
    run = await paused(agent.client, "one")
    waited = await answer(agent.client, run, decided(APPROVE))

    joined = await agent.client.get(waited.headers["location"])

    assert joined.json() == waited.json()


async def test_a_new_message_drops_the_old_proposal_without_running_it(agent):
    run = await paused(agent.client, "one")
    message = {"messages": [{"role": "user", "content": "sql"}]}

    await agent.client.post(f"/threads/{run['thread_id']}/runs/wait", json={"assistant_id": "ops", "input": message})

    seen = await look(agent.client, run["thread_id"])
    assert [held["value"]["action_requests"][0]["name"] for held in seen["state"]["interrupts"]] == ["execute_sql"]
    assert agent.ran() == []


async def test_an_assistant_made_to_fence_a_dispatch_refuses_runs_once_deleted(agent):
    run = await paused(agent.client, "one")
    made = await agent.client.post("/assistants", json={"assistant_id": "fence-1", "graph_id": "ops"})
    deleted = await agent.client.delete("/assistants/fence-1")

    late = await answer(agent.client, {**run, "assistant": "fence-1"}, decided(APPROVE))

    assert (made.status_code, deleted.status_code, late.status_code) == (200, 200, 404)
    assert agent.ran() == []


async def test_an_assistants_id_is_taken_once_and_on_aegra_its_configuration_too(agent):
    made = {"assistant_id": "one", "graph_id": "ops", "config": {"tags": ["x"]}}
    same_config = {**made, "assistant_id": "two"}
    bodies = [made, made, {**made, "if_exists": "do_nothing"}, same_config, {**same_config, "config": {"tags": ["y"]}}]

    answers = [(await agent.client.post("/assistants", json=body)).status_code for body in bodies]

    assert answers == [200, 409, 200, 409 if agent.kind == "aegra" else 200, 200 if agent.kind == "aegra" else 409]


async def test_a_made_assistant_runs_its_graph(agent):
    run = await paused(agent.client, "one")
    made = (await agent.client.post("/assistants", json={"graph_id": "ops"})).json()

    await answer(agent.client, {**run, "assistant": made["assistant_id"]}, decided(APPROVE))

    assert agent.ran() == ["disable_user"]
    assert (await agent.client.get(f"/assistants/{made['assistant_id']}")).json()["graph_id"] == "ops"
