"""The agent server refuses, answers nonsense, or takes an answer and does nothing: no card says more than is so."""

from __future__ import annotations

import asyncio
import json

import pytest

from tests.cases.running import (
    PATIENT,
    approve,
    deciding,
    decisions,
    forge,
    office_in,
    press_of,
    relayed_office_in,
    rows_of,
)
from tests.office import ADA, BEN, WHO, local_agent, open_office, policy_text

pytestmark = pytest.mark.asyncio

CARD_DONE = "Ran"


def shown(message):
    """All that a message says."""
    return json.dumps([message["text"], message["blocks"]])


async def sent_times(relay, count):
    return len(relay.resumes) >= count


# -- 073: 200 and yet no

NO_ANSWERS = [
    {"type": "error", "id": 1, "error": "invalid_argument", "message": "Cannot resume: thread is not in interrupted state"},
    {"type": "error", "id": None, "error": "unknown_error", "message": "x"},
    {"type": "success", "id": 7777, "result": {"run_id": "r1"}},
    {"id": 1, "result": {}},
    [],
    b"<html>ok</html>",
    b"",
]


@pytest.mark.parametrize("body", NO_ANSWERS, ids=["error", "no id", "other id", "no type", "list", "html", "empty"])
async def test_case_073_a_200_that_does_not_say_success_is_not_an_answer_taken(tmp_path, body):
    async with relayed_office_in(tmp_path, kind="aegra", resume="commands") as (office, relay):
        thread = await office.propose("one")
        card = await office.card("disable_user", button="decide.approve")

        relay.order(body=body)
        held = asyncio.Event()
        relay.order(until=held)
        await approve(office, ADA, card)
        await office.until(lambda: sent_times(relay, 2), "an attempt after the refused one")
        between, ran = (await office.messages())[0], office.ran(thread)
        held.set()
        (review,) = await office.settled(thread)

        assert ran == []
        assert CARD_DONE not in shown(between)
        assert review.state.value == "resumed"
        assert office.ran(thread) == ["disable_user"]


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

        await poisoned(office, thread)
        (review,) = await office.settled(thread, states=["broken"])
        broken = await office.card("wait together", without="review.open")
        relay.posted.clear()
        await approve_late(office, review)

        assert broken["ts"] == root["ts"]
        assert review.why == "poisoned"
        for message in await office.messages():
            assert deciding(message) == []
            assert CARD_DONE not in shown(message)
        assert relay.resumes == []
        assert office.ran(thread) == ["read_data"] or office.ran(thread) == []


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
        assert len([body for body in relay.resumes if "placet_dispatch" in json.dumps(body)]) == 1
        assert review.state.value in ("broken", "unknown", "superseded")


# -- 075: taken and ignored


async def test_case_075_an_answer_that_matched_nothing_is_not_shown_as_approved(tmp_path):
    async with relayed_office_in(tmp_path) as (office, relay):
        thread = await office.propose("one")
        card = await office.card("disable_user", button="decide.approve")

        relay.order(rewrite=under_another_key)
        await approve(office, ADA, card)
        await office.until(lambda: noticed(office, thread), "the answer to be missed", patience=40)
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


async def noticed(office, thread):
    return (await office.reviews(thread))[0].state.value in ("unknown", "decided", "open")


async def test_case_075_no_id_of_ours_could_be_taken_for_a_key(tmp_path):
    async with office_in(tmp_path) as office:
        thread = await office.propose("one")
        review = await office.review(thread)

        def is_hex(text):
            return len(text) == 32 and set(text) <= set("0123456789abcdef")

        assert is_hex(review.interrupt_id)
        assert not any(is_hex(own) for own in (review.id, review.actions[0].digest[:32] + "g"))
        assert review.id.startswith("r_")


# -- 077: busy

BUSY = "Thread is already running a task. Wait for it to finish or choose a different multitask strategy."


@pytest.mark.parametrize("status", [409, 422, 423, 429, 503])
async def test_case_077_a_refusal_of_a_busy_thread_is_tried_again_once_it_waits_and_never_forced(tmp_path, status):
    async with relayed_office_in(tmp_path) as (office, relay):
        thread = await office.propose("one")
        card = await office.card("disable_user", button="decide.approve")

        relay.order(status=status, body={"detail": BUSY})
        await approve(office, ADA, card)
        (review,) = await office.settled(thread)

        assert review.state.value == "resumed"
        assert office.ran(thread) == ["disable_user"]
        assert len(relay.resumes) == 2
        assert {body.get("multitask_strategy") for body in relay.resumes} <= {"reject", "enqueue", None}


async def test_case_077_a_thread_that_moved_while_it_was_busy_gets_no_second_attempt(tmp_path):
    async with relayed_office_in(tmp_path) as (office, relay):
        thread = await office.propose("one")
        card = await office.card("disable_user", button="decide.approve")

        relay.order(status=409, body={"detail": BUSY})
        held = asyncio.Event()
        relay.order(until=held)
        body = {"assistant_id": "agent_platform", "input": {"messages": [{"role": "user", "content": "never mind"}]}}
        await approve(office, ADA, card)
        await office.until(lambda: sent_times(relay, 1), "the first attempt")
        (await office.agents.post(f"/threads/{thread}/runs", json=body, headers=WHO)).raise_for_status()
        held.set()
        await office.settled(thread, states=["superseded", "resumed", "broken", "unknown"])

        assert office.ran(thread) == []


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
