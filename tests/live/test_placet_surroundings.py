"""What a run was started with, on real servers: the approved tool sees the same, whatever way the answer takes."""

import pytest

from tests.kit.office import ADA, CLEO, WHO
from tests.kit.operating import ask
from tests.kit.steps import opened, run_on, stands

pytestmark = [pytest.mark.live, pytest.mark.asyncio]

ROUTES = pytest.mark.parametrize("route", ["runs", "commands"])
CONTEXT = {"org": "acme", "limits": {"größe": [1, None, 2.5, True]}}
CONFIGURABLE = {"org": "acme", "seat": 7}


async def started(office, preset="one", *, assistant="ops", **more):
    """Start a run, wait until it waits, tell the bot."""
    made = await office.agents.post("/threads", json={"metadata": {"slack_user": CLEO}}, headers=WHO)
    thread = made.raise_for_status().json()["thread_id"]
    said = {"messages": [{"role": "user", "content": preset}]}
    await run_on(office, thread, {"assistant_id": assistant, "input": said, **more})

    async def pending():
        return (await office.state(thread))["tasks"] and (await office.thread(thread))["status"] == "interrupted"

    await office.until(pending, "the run to pause")
    await office.hint(thread)
    return thread


async def approve(office, thread):
    """Approve what waits, and wait for its end."""
    (review,) = await opened(office, thread)
    await office.click(ADA, await office.card_of(review, button="decide.approve"), "decide.approve")
    await stands(office, review, "resumed")
    await office.hint(thread)


@ROUTES
async def test_a_tool_that_reads_the_context_sees_that_of_the_run_that_asked(live_office, route):
    async with live_office(resume=route) as office:
        thread = await started(office, context=CONTEXT)
        await approve(office, thread)

        (effect,) = office.effects(thread)
        assert {key: effect["context"][key] for key in CONTEXT} == CONTEXT
        assert set(effect["context"]) - set(CONTEXT) <= {"thread_id"}  # which commands of langgraph dev add


@ROUTES
async def test_a_tool_that_reads_configurable_values_sees_those_and_the_tags(live_office, route):
    config = {"configurable": CONFIGURABLE, "tags": ["t1"], "recursion_limit": 44}
    async with live_office(resume=route) as office:
        thread = await started(office, config=config)
        await approve(office, thread)

        (effect,) = office.effects(thread)
        assert {key: effect["configurable"][key] for key in CONFIGURABLE} == CONFIGURABLE
        assert effect["tags"] == ["t1"]


@ROUTES
@pytest.mark.parametrize(
    "more", [{"context": {"org": "acme"}}, {"config": {"configurable": {"org": "acme", "seat": 7}}}], ids=["ctx", "cfg"]
)
async def test_a_typed_context_is_filled_as_it_was(live_office, route, more):
    async with live_office(resume=route) as office:
        # On Aegra a dataclass takes no name that it does not know, in the first run as in the last.
        if office.agent.kind == "aegra" and "config" in more:
            more = {"config": {"configurable": {"org": "acme"}}}
        thread = await started(office, assistant="ops_account", **more)
        await approve(office, thread)

        (effect,) = office.effects(thread)
        assert effect["context"] == {"org": "acme", "user_id": "nobody"}
        if office.agent.kind == "langgraph" and "config" in more:
            assert effect["configurable"]["seat"] == 7


async def test_a_user_of_the_context_is_the_same_user(live_office):
    async with live_office() as office:
        thread = await started(office, assistant="ops_account", context={"org": "acme", "user_id": "u-17"})
        await approve(office, thread)

        (effect,) = office.effects(thread)
        assert effect["context"] == {"org": "acme", "user_id": "u-17"}


@ROUTES
async def test_every_question_of_a_chain_is_answered_with_it(live_office, route):
    async with live_office(resume=route) as office:
        thread = await started(office, "two-turns", context={"org": "acme"})
        await approve(office, thread)
        await approve(office, thread)

        assert [effect["context"]["org"] for effect in office.effects(thread)] == ["acme", "acme"]


async def test_a_fenced_answer_carries_it(live_office):
    async with live_office(more="    resend: fence\n") as office:
        thread = await started(office, "two-turns", context={"org": "acme"})
        await approve(office, thread)
        await approve(office, thread)

        assert [effect["context"] for effect in office.effects(thread)] == [{"org": "acme"}] * 2


async def test_branches_answered_one_after_the_other_carry_it(live_office):
    async with live_office() as office:
        made = await office.agents.post("/threads", json={"metadata": {"slack_user": CLEO}}, headers=WHO)
        thread = made.json()["thread_id"]
        body = {"assistant_id": "fanout", "input": {"scripts": ["one", "email"]}, "context": {"org": "acme"}}
        await run_on(office, thread, body)

        async def both():
            await office.hint(thread)
            found = [one for one in await office.reviews(thread) if one.state.value == "open"]
            return found if len(found) == 2 else None

        for review in await office.until(both, "two reviews"):
            await office.click(ADA, await office.card_of(review, button="decide.approve"), "decide.approve")
        await office.settled(thread)

        assert [effect["context"] for effect in office.effects(thread)] == [{"org": "acme"}] * 2


async def test_a_fork_that_repairs_a_thread_carries_it(live_office):
    async with live_office() as office:
        thread = await started(office, context={"org": "acme"})
        (review,) = await opened(office, thread)
        state = await office.state(thread)
        bad = {"resume": {state["interrupts"][0]["id"]: {"decisions": []}}}
        body = {"assistant_id": "ops", "command": bad}
        (await office.agents.post(f"/threads/{thread}/runs/wait", headers=WHO, json=body)).raise_for_status()
        await office.hint(thread)
        await office.review(thread, state="broken")

        told = await ask(office, "repair", review=review)
        assert told["ok"]
        await office.until(lambda: _open(office, thread), "the repaired question")
        await approve(office, thread)
        assert [effect["context"] for effect in office.effects(thread)] == [{"org": "acme"}]


async def _open(office, thread):
    await office.hint(thread)
    return [one for one in await office.reviews(thread) if one.state.value == "open"]
