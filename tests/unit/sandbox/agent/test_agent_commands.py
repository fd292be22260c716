"""The envelope endpoint: what it takes, what it refuses, and how little its `success` means."""

import pytest

from tests.live.scenarios import APPROVE, MARK, decided, look, paused, rested

pytestmark = pytest.mark.asyncio


async def send(agent, run, method, **params):
    body = {"id": 1, "method": method, "params": params}
    return (await agent.client.post(f"/threads/{run['thread_id']}/commands", json=body)).json()


async def test_an_interrupt_is_answered_by_its_id(agent):
    run = await paused(agent.client, "one")

    told = await send(
        agent, run, "input.respond", interrupt_id=run["interrupts"][0], response=decided(APPROVE), config=MARK
    )

    seen = await look(agent.client, run["thread_id"])
    assert told["type"] == "success"
    assert set(told["result"]) == ({"run_id"} if agent.kind == "aegra" else set())
    assert (seen["thread"]["status"], agent.ran()) == ("idle", ["disable_user"])
    assert seen["state"]["metadata"]["placet_dispatch"] == "d_example"


async def test_several_interrupts_are_answered_together(agent):
    run = await paused(agent.client, "parallel")
    values = [decided(APPROVE), decided({"type": "reject", "message": "no"})]
    responses = [
        {"interrupt_id": interrupt, "response": value}
        for interrupt, value in zip(run["interrupts"], values, strict=True)
    ]

    await send(agent, run, "input.respond", responses=responses)

    assert (await rested(agent.client, run["thread_id"]))["status"] == "idle"
    assert agent.ran() == ["disable_user"]


async def test_success_is_said_of_a_forbidden_answer_too(agent):
    run = await paused(agent.client, "ask")

    told = await send(agent, run, "input.respond", interrupt_id=run["interrupts"][0], response=decided(APPROVE))

    assert told["type"] == "success"
    assert (await rested(agent.client, run["thread_id"]))["status"] == "error"
    assert agent.ran() == []


@pytest.mark.parametrize(
    ("method", "params", "codes"),
    [
        ("input.respond", {"interrupt_id": "0" * 32, "response": 1}, {"langgraph": "no_such_interrupt", "aegra": None}),
        ("input.respond", {"interrupt_id": "nope", "response": 1}, {"langgraph": "no_such_interrupt"}),
        ("no.such", {}, {"langgraph": "unknown_command"}),
    ],
)
async def test_a_command_that_makes_no_sense_is_answered_with_a_code(agent, method, params, codes):
    run = await paused(agent.client, "one")

    told = await send(agent, run, method, **params)

    assert told.get("error") == codes.get(agent.kind, codes["langgraph"])
    assert (await rested(agent.client, run["thread_id"]))["status"] == "interrupted"


async def test_an_answer_without_a_value_is_refused_by_aegra_and_spoils_the_interrupt_on_langgraph(agent):
    run = await paused(agent.client, "one")

    told = await send(agent, run, "input.respond", interrupt_id=run["interrupts"][0])

    status = (await rested(agent.client, run["thread_id"]))["status"]
    assert (told["type"], status) == (("error", "interrupted") if agent.kind == "aegra" else ("success", "error"))


async def test_an_answer_without_an_id_goes_to_whatever_waits_on_aegra_alone(agent):
    run = await paused(agent.client, "one")

    told = await send(agent, run, "input.respond", response=decided(APPROVE))
    await rested(agent.client, run["thread_id"])

    assert told["type"] == ("success" if agent.kind == "aegra" else "error")
    assert agent.ran() == (["disable_user"] if agent.kind == "aegra" else [])


async def test_a_message_sent_to_a_waiting_thread_is_taken_for_the_answer(agent):
    run = await paused(agent.client, "one")

    await send(agent, run, "run.start", assistant_id="ops", input={"messages": [{"role": "user", "content": "read"}]})

    seen = await look(agent.client, run["thread_id"])
    assert seen["thread"]["status"] == "error"
    assert "KeyError" in seen["state"]["tasks"][0]["error"]


async def test_a_run_is_started_on_a_thread_at_rest(agent):
    thread = (await agent.client.post("/threads", json={})).json()

    message = {"messages": [{"role": "user", "content": "one"}]}
    told = await send(agent, thread, "run.start", assistant_id="ops", input=message)

    assert (await rested(agent.client, thread["thread_id"]))["status"] == "interrupted"
    assert told["result"]["run_id"]


async def test_a_thread_that_is_not_there_is_no_such_run(agent):
    told = await send(agent, {"thread_id": "nowhere"}, "run.start", assistant_id="ops", input={})

    assert told["error"] == "no_such_run"


async def test_an_envelope_without_an_id_is_malformed(agent):
    thread = (await agent.client.post("/threads", json={})).json()

    refused = await agent.client.post(f"/threads/{thread['thread_id']}/commands", json={"method": "run.start"})

    assert refused.status_code == (422 if agent.kind == "aegra" else 400)
