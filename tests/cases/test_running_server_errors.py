"""The agent server refuses, answers nonsense, or takes an answer and does nothing: no card says more than is so."""

from __future__ import annotations

import asyncio
import json

import pytest

from tests.kit.forging import forge
from tests.kit.office import ADA, BEN, WHO, local_agent, open_office, policy_text
from tests.kit.running import (
    PATIENT,
    approve,
    deciding,
    decisions,
    office_in,
    posted,
    press_of,
    relayed_office_in,
    rows_of,
)

pytestmark = pytest.mark.asyncio

CARD_DONE = "Ran"


def shown(message):
    """All that a message says."""
    return json.dumps([message["text"], message["blocks"]])


async def sent_times(relay, count):
    return len(relay.resumes) >= count


# -- 073: 200 and yet no

NO_ANSWERS = [
    {
        "type": "error",
        "id": 1,
        "error": "invalid_argument",
        "message": "Cannot resume: thread is not in interrupted state",
    },
    {"type": "success", "id": 7777, "result": {"run_id": "r1"}},
    [],
    b"<html>ok</html>",
]


async def test_case_073_a_200_that_does_not_say_success_is_not_an_answer_taken(tmp_path):
    async with relayed_office_in(tmp_path, kind="aegra", resume="commands") as (office, relay):
        held = asyncio.Event()
        threads = await refused_once(office, relay, held, [{"body": body} for body in NO_ANSWERS])
        await office.until(lambda: all_sent(relay, threads, 2), "an attempt after each refused one")
        between, ran = await office.messages(), office.ran()
        held.set()
        reviews = await office.settled()

        assert ran == []
        assert not [message for message in between if CARD_DONE in shown(message)]
        assert {review.state.value for review in reviews} == {"resumed"}
        assert sorted(effect["thread_id"] for effect in office.effects()) == sorted(threads)


async def refused_once(office, relay, held, replies):
    """Propose and approve a call for each reply that its first answer gets; the second answers wait for `held`."""
    threads = [await office.propose("one") for _ in replies]
    await office.until(lambda: all_open(office, len(replies)), "all reviews")
    cards = [await office.card_of(review, button="decide.approve") for review in await office.reviews()]
    for thread, reply in zip(threads, replies, strict=True):
        ends = (f"{thread}/commands", f"{thread}/runs/wait")
        relay.order(ends=ends, **reply)
        relay.order(ends=ends, until=held)
    await asyncio.gather(*(approve(office, ADA, card) for card in cards))
    return threads


async def all_open(office, count):
    return len(await office.reviews()) == count


async def all_sent(relay, threads, count):
    return all(relay.sent_to(thread) >= count for thread in threads)


async def test_case_073_a_success_that_started_nothing_is_not_shown_as_done(tmp_path):
    async with relayed_office_in(tmp_path, kind="aegra", resume="commands") as (office, relay):
        thread = await office.propose("one")
        card = await office.card("disable_user", button="decide.approve")

        relay.order(body=echo_success)
        await approve(office, ADA, card)
        await office.until(lambda: sent_times(relay, 1), "the answer to be sent")
        office.advance(20_000)
        await office.until(lambda: moved_on(office, thread), "what became of it to be looked for")

        assert office.ran(thread) == []
        assert CARD_DONE not in shown((await office.messages())[0])


def echo_success(sent):
    """What a server says that took a command."""
    return {"type": "success", "id": json.loads(sent)["id"], "result": {"run_id": "r-never"}, "meta": {}}


async def moved_on(office, thread):
    review = (await office.reviews(thread))[0]
    return review.state.value in ("sent", "unknown")


# -- 074: poisoned


async def poisoned(office, thread):
    """Another client gives the interrupt an answer that its middleware chokes on."""
    (waiting,) = [one for task in (await office.state(thread))["tasks"] for one in task["interrupts"]]
    body = {"assistant_id": "ops", "command": {"resume": {waiting["id"]: {"decisions": []}}}}
    await office.agents.post(f"/threads/{thread}/runs/wait", json=body, headers=WHO)
    await office.hint(thread)


@pytest.mark.parametrize("kind", ["langgraph", "aegra"])
async def test_case_074_an_interrupt_that_no_answer_can_mend_is_shown_broken_and_takes_none(tmp_path, kind):
    async with relayed_office_in(tmp_path, kind=kind) as (office, relay):
        thread = await office.propose("three")
        root = await office.card("wait together", button="review.open")
        await posted(office, thread)

        await poisoned(office, thread)
        (review,) = await office.settled(thread, states=["broken"])
        await office.until(lambda: undecidable(office), "every card to say so")
        relay.posted.clear()
        await approve_late(office, review)

        assert (await office.card_of(review, None))["ts"] == root["ts"]
        assert review.why == "poisoned"
        assert not [message for message in await office.messages() if CARD_DONE in shown(message)]
        assert relay.resumes == []
        assert "disable_user" not in office.ran(thread)


async def undecidable(office):
    """Whether no message in the channel leads to a decision."""
    return not [message for message in await office.messages() if deciding(message)]


async def approve_late(office, review):
    """A press on a card as it was, still on its way."""
    row = (await rows_of(office, review))[1]
    await forge(office, press_of({"ts": row.ts}, "decide.approve", value=row.showing_id))
    await office.told(ADA)


async def test_case_074_an_answer_under_way_to_a_poisoned_interrupt_ends_without_a_loop(tmp_path):
    async with relayed_office_in(tmp_path) as (office, relay):
        thread = await office.propose("one")
        card = await office.card("disable_user", button="decide.approve")

        held = asyncio.Event()
        relay.order(until=held)
        await approve(office, ADA, card)
        await office.until(lambda: sent_times(relay, 1), "the answer to leave")
        await poisoned(office, thread)
        held.set()
        (review,) = await office.settled(thread, states=["broken", "unknown", "superseded"])

        assert office.ran(thread) == []
        assert relay.sent_to(thread) == 1
        assert review.state.value in ("broken", "unknown", "superseded")


# -- 075: taken and ignored


async def test_case_075_an_answer_that_matched_nothing_is_not_shown_as_approved(tmp_path):
    async with relayed_office_in(tmp_path) as (office, relay):
        thread = await office.propose("one")
        card = await office.card("disable_user", button="decide.approve")

        relay.order(rewrite=under_another_key)
        await approve(office, ADA, card)
        await office.until(lambda: missed(office, thread), "the answer to be missed", patience=40)
        pending = (await office.state(thread))["tasks"][0]["interrupts"]
        review = (await office.reviews(thread))[0]

        assert len(pending) == 1
        assert office.ran(thread) == []
        assert CARD_DONE not in shown((await office.messages())[0])
        assert list(relay.resumes[0]["command"]["resume"]) == [review.interrupt_id] == [pending[0]["id"]]


def under_another_key(body):
    sent = json.loads(body)
    (answer,) = sent["command"]["resume"].values()
    sent["command"]["resume"] = {"0123456789abcdef0123456789abcdef": answer}
    return json.dumps(sent).encode()


async def missed(office, thread):
    return (await office.reviews(thread))[0].state.value == "unknown"


async def test_case_075_no_id_of_ours_could_be_taken_for_a_key(tmp_path):
    async with office_in(tmp_path) as office:
        thread = await office.propose("one")
        review = await office.review(thread)

        def is_hex(text):
            return len(text) == 32 and set(text) <= set("0123456789abcdef")

        assert is_hex(review.interrupt_id)
        assert not is_hex(review.id)
        assert not is_hex(review.id.removeprefix("r_"))


# -- 077: busy

BUSY = "Thread is already running a task. Wait for it to finish or choose a different multitask strategy."


async def test_case_077_a_refusal_of_a_busy_thread_is_tried_again_once_it_waits_and_never_forced(tmp_path):
    async with relayed_office_in(tmp_path) as (office, relay):
        free = asyncio.Event()
        free.set()
        refusals = [{"status": status, "body": {"detail": BUSY}} for status in (409, 422, 423)]
        threads = await refused_once(office, relay, free, refusals)
        reviews = await office.settled()

        assert {review.state.value for review in reviews} == {"resumed"}
        assert sorted(effect["thread_id"] for effect in office.effects()) == sorted(threads)
        assert [relay.sent_to(thread) for thread in threads] == [2] * len(threads)
        assert {body.get("multitask_strategy") for body in relay.resumes} <= {"reject", "enqueue", None}


async def test_case_077_a_thread_that_moved_while_it_was_busy_gets_no_second_attempt(tmp_path):
    async with relayed_office_in(tmp_path) as (office, relay):
        thread = await office.propose("one")
        card = await office.card("disable_user", button="decide.approve")

        moved = asyncio.Event()
        relay.order(status=409, body={"detail": BUSY}, until_answered=moved)
        body = {"assistant_id": "agent_platform", "input": {"messages": [{"role": "user", "content": "never mind"}]}}
        await approve(office, ADA, card)
        await office.until(lambda: sent_times(relay, 1), "the first attempt")
        (await office.agents.post(f"/threads/{thread}/runs/wait", json=body, headers=WHO)).raise_for_status()
        moved.set()
        await office.settled(thread, states=["superseded"])

        assert office.ran(thread) == []
        assert relay.sent_to(thread) == 1


# -- 081: everybody at once


async def test_case_081_twenty_people_pressing_at_once_get_twenty_answers_and_one_decision(tmp_path, database):
    async with local_agent(tmp_path) as agent:
        text = policy_text(agent.url)
        async with open_office(database, agent, replicas=2, policy=text, rules=PATIENT) as office:
            thread = await office.propose("one")
            card = await office.card("disable_user", button="decide.approve")

            people = [ADA, BEN] * 10
            answers = await asyncio.gather(*(approve(office, user, card) for user in people))
            await office.settled(thread)

            assert [answer["status"] for answer in answers] == [200] * 20
            assert await decisions(office) == 1
            assert office.ran(thread) == ["disable_user"]


# -- 082: the run that resumes has neither the context nor the configurable values of the run that paused


async def test_case_082_an_approved_call_acts_for_whom_its_run_was_started(tmp_path):
    started = {"context": {"org": "acme"}, "config": {"configurable": {"org": "acme"}, "tags": ["t1"]}}
    async with office_in(tmp_path, kind="aegra") as office:
        thread = await office.propose("one", started=started)
        await approve(office, ADA, await office.card(button="decide.approve"))
        await office.settled(thread)

        (body,) = [one.json for one in office.agent.heard if one.path == f"/threads/{thread}/runs/wait"]
        assert body["context"] == {"org": "acme"}
        assert (body["config"]["configurable"], body["config"]["tags"]) == ({"org": "acme"}, ["t1"])
        (effect,) = office.effects(thread)
        assert (effect["context"], effect["configurable"]) == ({"org": "acme"}, {"org": "acme"})
