"""What tools and people send arrives as it was sent, and nothing that JSON can carry ends the server."""

import json

import pytest

from bot.sandbox.agents import effects
from bot.sandbox.agents.presets import HOSTILE_TOOL, PRESETS
from bot.sandbox.agents.propose import propose, what_to_run
from tests.live.scenarios import APPROVE, answer, decided, look, paused, rested

pytestmark = pytest.mark.asyncio
MAIL = {"to": "a\u0000b\u202e", "subject": "<!channel> \U0001f600", "body": "```\r\n\t"}
PAUSES = {"read": [], "parallel": [1, 1], "parallel-three": [1, 1, 1], "thirty": [30], "three": [3], "hostile": [2]}


async def action_requests(agent, thread_id):
    state = (await agent.client.get(f"/threads/{thread_id}/state")).json()
    return [request for held in state["interrupts"] for request in held["value"]["action_requests"]]


async def proposed(agent, name, args):
    started = await propose(agent.client, turns=[[{"name": name, "args": args}]], user="U0CLEO")
    await rested(agent.client, started["thread_id"])
    return started["thread_id"]


@pytest.mark.parametrize("preset", PRESETS)
async def test_every_preset_pauses_as_it_says(make_agent, preset):
    agent = await make_agent()

    run = await paused(agent.client, preset)

    seen = await look(agent.client, run["thread_id"])
    values = [held["value"] for held in seen["state"]["interrupts"]]
    if preset == "per-call":
        assert [value["name"] for value in values] == ["disable_user", "execute_sql"]
    else:
        assert [len(value["action_requests"]) for value in values] == PAUSES.get(preset, [1])
    assert agent.ran() == (["read_data"] if preset == "read" else [])


async def test_three_mixes_allowed_decisions_in_one_interrupt_and_leaves_the_ungated_call_out(make_agent):
    agent = await make_agent()
    run = await paused(agent.client, "three")

    (held,) = (await agent.client.get(f"/threads/{run['thread_id']}/state")).json()["interrupts"]

    assert {config["action_name"]: config["allowed_decisions"] for config in held["value"]["review_configs"]} == {
        "disable_user": ["approve", "edit", "reject", "respond"],
        "execute_sql": ["approve", "reject"],
        "ask_user": ["respond"],
    }


async def test_state_shows_hostile_text_exactly_as_proposed(agent):
    thread_id = await proposed(agent, "send_email", MAIL)

    (request,) = await action_requests(agent, thread_id)

    assert request["args"] == MAIL


async def test_a_tool_gets_hostile_text_exactly_as_proposed(agent):
    thread_id = await proposed(agent, "send_email", MAIL)
    state = (await agent.client.get(f"/threads/{thread_id}/state")).json()
    run = {"thread_id": thread_id, "assistant": "ops", "interrupts": [state["interrupts"][0]["id"]]}

    await answer(agent.client, run, decided(APPROVE))

    assert [line["args"] for line in effects.read(agent.effects_file)] == [MAIL]


async def test_a_tool_with_a_hostile_name_is_gated_and_runs(agent):
    run = await paused(agent.client, "hostile")

    await answer(agent.client, run, decided(APPROVE, {"type": "reject"}))

    assert agent.ran() == [HOSTILE_TOOL]


async def test_numbers_keep_their_kinds_in_state_and_in_the_tool(agent):
    args = {"order_id": 2**53 + 1, "amount": 12.5, "currency": "", "notify": False, "labels": [1, 1.5, None, {"a": []}]}
    thread_id = await proposed(agent, "refund", args)
    (request,) = await action_requests(agent, thread_id)
    interrupts = (await agent.client.get(f"/threads/{thread_id}/state")).json()["interrupts"]

    run = {"thread_id": thread_id, "assistant": "ops", "interrupts": [interrupts[0]["id"]]}
    await answer(agent.client, run, decided(APPROVE))

    (line,) = effects.read(agent.effects_file)
    assert json.dumps(request["args"]) == json.dumps(line["args"]) == json.dumps(args)


async def test_an_integer_that_a_checkpoint_cannot_hold_fails_the_run_and_not_the_server(agent):
    thread_id = await proposed(agent, "disable_user", {"user_id": "u_1", "reason": 2**64})

    thread = (await agent.client.get(f"/threads/{thread_id}")).json()

    assert thread["status"] == "error"
    assert (await agent.client.get("/ok")).status_code == 200


async def test_the_runtime_itself_replaces_a_lone_surrogate_when_it_stores_it(agent):
    thread_id = await proposed(agent, "disable_user", {"user_id": "u_1", "reason": "\ud800"})

    (request,) = await action_requests(agent, thread_id)

    assert request["args"]["reason"] == "?"


@pytest.mark.parametrize("message", ["\ud800", float("inf")])
async def test_an_answer_that_cannot_be_stored_does_not_end_the_server(agent, message):
    run = await paused(agent.client, "ask")
    value = decided({"type": "respond", "message": message})
    body = json.dumps({"assistant_id": "ops", "command": {"resume": {run["interrupts"][0]: value}}})

    await agent.client.post(f"/threads/{run['thread_id']}/runs/wait", content=body)

    state = await agent.client.get(f"/threads/{run['thread_id']}/state")
    assert state.status_code == 200
    assert "ask_user" not in agent.ran()


@pytest.mark.parametrize("value", ["go on?", {"question": 1}, ["a", {"b": 1}], 7, None, True])
async def test_a_plain_interrupt_shows_any_value_and_takes_any_answer(agent, value):
    thread = (await agent.client.post("/threads", json={})).json()["thread_id"]
    body = {"assistant_id": "freeform", "input": {"kind": "value", "value": value}}
    await agent.client.post(f"/threads/{thread}/runs/wait", json=body)
    (held,) = (await agent.client.get(f"/threads/{thread}/state")).json()["interrupts"]

    await answer(agent.client, {"thread_id": thread, "assistant": "freeform", "interrupts": [held["id"]]}, {"any": [1]})

    assert held["value"] == value
    assert [line["args"] for line in effects.read(agent.effects_file)] == [{"answers": [{"any": [1]}]}]


@pytest.mark.parametrize("kind", ["string", "dict", "list", "number", "null", "looks-like", "two", "schema"])
async def test_every_kind_of_plain_interrupt_pauses(make_agent, kind):
    agent = await make_agent()
    thread = (await agent.client.post("/threads", json={})).json()["thread_id"]

    await agent.client.post(f"/threads/{thread}/runs/wait", json={"assistant_id": "freeform", "input": {"kind": kind}})

    (held,) = (await agent.client.get(f"/threads/{thread}/state")).json()["interrupts"]
    assert ("response_schema" in held) == (kind == "schema")


async def test_two_interrupts_in_one_node_come_one_after_the_other(agent):
    thread = (await agent.client.post("/threads", json={})).json()["thread_id"]
    run = {"thread_id": thread, "assistant": "freeform"}
    body = {"assistant_id": "freeform", "input": {"kind": "two"}}
    await agent.client.post(f"/threads/{thread}/runs/wait", json=body)

    for said in ("a", "b"):
        (held,) = (await agent.client.get(f"/threads/{thread}/state")).json()["interrupts"]
        await answer(agent.client, {**run, "interrupts": [held["id"]]}, said)

    assert [line["args"] for line in effects.read(agent.effects_file)] == [{"answers": ["a", "b"]}]


async def test_the_answer_schema_of_a_call_is_shown_by_langgraph_and_dropped_by_aegra(agent):
    run = await paused(agent.client, "per-call")

    shown = (await agent.client.get(f"/threads/{run['thread_id']}/state")).json()["interrupts"]

    assert [("response_schema" in held) for held in shown] == [agent.kind == "langgraph"] * 2


async def test_a_predicate_lets_some_calls_through_and_a_description_is_its_own(make_agent):
    agent = await make_agent()
    thread = (await agent.client.post("/threads", json={})).json()["thread_id"]
    calls = [
        {"name": "execute_sql", "args": {"query": "SELECT 1"}},
        {"name": "execute_sql", "args": {"query": "DELETE FROM t"}},
        {"name": "send_email", "args": {"to": "x@example.com", "subject": "", "body": ""}},
    ]
    message = {"messages": [{"role": "user", "content": json.dumps({"turns": [calls]})}]}

    await agent.client.post(f"/threads/{thread}/runs/wait", json={"assistant_id": "ops_when", "input": message})

    requests = await action_requests(agent, thread)
    assert [request["args"].get("query") for request in requests] == ["DELETE FROM t", None]
    assert requests[1]["description"] == "Mail to x@example.com, after 2 messages"


async def test_an_unknown_tool_is_answered_by_the_runtime(make_agent):
    agent = await make_agent()

    thread_id = await proposed(agent, "no_such_tool", {})

    messages = (await agent.client.get(f"/threads/{thread_id}/state")).json()["values"]["messages"]
    assert (messages[2]["type"], messages[2]["status"]) == ("tool", "error")


async def test_an_unknown_preset_is_refused_with_the_list_of_presets():
    with pytest.raises(ValueError, match=r"no preset 'nope'; there are: .*\bone\b.*\bthree\b"):
        what_to_run("nope", None)


@pytest.mark.parametrize(("preset", "turns"), [(None, None), ("one", [])])
async def test_a_proposal_is_a_preset_or_turns_and_not_both(preset, turns):
    with pytest.raises(ValueError, match="either a preset or turns"):
        what_to_run(preset, turns)


async def test_a_message_that_is_no_script_is_echoed(make_agent):
    agent = await make_agent()
    thread = (await agent.client.post("/threads", json={})).json()["thread_id"]
    message = {"messages": [{"role": "user", "content": "{hello"}]}

    answered = await agent.client.post(f"/threads/{thread}/runs/wait", json={"assistant_id": "ops", "input": message})

    assert answered.json()["messages"][-1]["content"].startswith("this script is not JSON")
