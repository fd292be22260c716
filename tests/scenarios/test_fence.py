"""`resend: fence`: whatever becomes of an attempt's request, one that was declared not taken never runs."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from bot.core.model import Outcome
from bot.dispatch import attempt
from tests.kit.office import ADA, WHO, policy_text
from tests.kit.running import approve, crashed, relayed_office_in, restarted

pytestmark = pytest.mark.asyncio

FENCE = "    resend: fence\n"
ROUNDS = 5
LOST = {"status": 503, "body": {"detail": "no upstream"}}


def hurried(office):
    """Give up soon on a server that does not answer; how long that takes is tested elsewhere."""
    agents = office.replicas[0].agents
    agents.send_settings = replace(agents.send_settings, headers=0.3)


def assistants(relay, thread):
    """Under which assistant each attempt of a thread was sent."""
    return [body["assistant_id"] for path, body in relay.answers if f"/{thread}/" in path]


def made(relay):
    """The assistants that were asked for, in order."""
    return [body["assistant_id"] for path, body in relay.posted if path.endswith("/assistants")]


async def decided(office, preset="one"):
    thread = await office.propose(preset)
    card = await office.card("disable_user", button="decide.approve")
    await approve(office, ADA, card)
    return thread


async def sent_times(relay, thread, count):
    return relay.sent_to(thread) >= count


async def known(office, assistant):
    """Whether the agent server has such an assistant."""
    return (await office.agents.get(f"/assistants/{assistant}", headers=WHO)).status_code == 200


async def released_together(office, relay):
    """Approve; hold the first request past its settling time and let it go together with the second."""
    hurried(office)
    gate = asyncio.Event()
    relay.order(until=gate)
    relay.order(until=gate)
    thread = await decided(office)
    await office.until(lambda: sent_times(relay, thread, 2), "a second attempt")
    gate.set()
    return thread, (await office.settled(thread))[0]


async def test_a_held_request_that_is_released_with_the_next_one_does_not_run(tmp_path):
    async with relayed_office_in(tmp_path, kind="aegra", more=FENCE) as (office, relay):
        thread, review = await released_together(office, relay)

        assert office.ran(thread) == ["disable_user"]
        assert (review.why, review.actions[0].outcome) == ("", Outcome.EXECUTED)
        first, second = assistants(relay, thread)
        assert first != second
        assert [await known(office, one) for one in (first, second)] == [False, True]


async def test_without_a_fence_the_same_two_requests_both_run_and_that_is_told(tmp_path):
    async with relayed_office_in(tmp_path, kind="aegra") as (office, relay):
        for _ in range(ROUNDS):
            thread, review = await released_together(office, relay)
            if len(office.ran(thread)) == 2:  # the server takes a second answer only before the first one's run
                break

        assert office.ran(thread) == ["disable_user", "disable_user"]
        assert review.why == "possibly_twice"


async def test_a_crash_between_the_assistant_and_the_answer_loses_nothing(tmp_path):
    async with relayed_office_in(tmp_path, lease_ms=1_000, more=FENCE) as (office, relay):
        never = asyncio.Event()
        relay.order(ends=("/assistants",), body={}, first=True, until_answered=never)
        thread = await decided(office)
        await office.until(lambda: _made(office, relay), "the assistant to be made")
        await crashed(office.replicas[0])
        assert relay.sent_to(thread) == 0

        async with restarted(office, tmp_path, crash=None, lease_ms=1_000):
            await office.settled(thread)

        never.set()
        assert office.ran(thread) == ["disable_user"]
        assert len(made(relay)) == 2
        assert {*made(relay)} == {*assistants(relay, thread)}


async def test_a_crash_between_the_deletion_and_its_record_loses_nothing(tmp_path):
    async with relayed_office_in(tmp_path, lease_ms=1_000, more=FENCE) as (office, relay):
        relay.order(**LOST)
        thread = await decided(office)
        await office.until(lambda: sent_times(relay, thread, 1), "an attempt")
        never, (lost,) = asyncio.Event(), assistants(relay, thread)
        relay.order(method="DELETE", ends=(lost,), body={}, first=True, until_answered=never)
        await office.until(lambda: _gone(office, lost), "its assistant to be gone")
        await crashed(office.replicas[0])
        async with restarted(office, tmp_path, crash=None, lease_ms=1_000):
            await office.settled(thread)

        never.set()
        assert [await known(office, one) for one in assistants(relay, thread)] == [False, True]
        assert office.ran(thread) == ["disable_user"]


async def _made(office, relay):
    return made(relay) and await known(office, made(relay)[0])


async def test_a_request_that_arrives_just_before_its_assistant_goes_counts_and_nothing_follows(tmp_path):
    async with relayed_office_in(tmp_path, kind="aegra", more=FENCE) as (office, relay):
        hurried(office)
        late, ran = asyncio.Event(), asyncio.Event()
        relay.order(until=late)
        thread = await decided(office)
        await office.until(lambda: sent_times(relay, thread, 1), "an attempt")
        relay.order(method="DELETE", ends=tuple(assistants(relay, thread)), until=ran)
        await office.until(lambda: _deleted(relay, 1), "its assistant to be about to go")
        late.set()
        await office.until(lambda: _effect(office, thread), "the late request to run")
        ran.set()
        (review,) = await office.settled(thread)

        # Its run's row went with the assistant; the mark in the thread's history still says whose it was.
        assert review.actions[0].outcome is Outcome.EXECUTED
        assert relay.sent_to(thread) == 1
        assert office.ran(thread) == ["disable_user"]


async def _effect(office, thread):
    return office.ran(thread)


async def test_while_its_assistant_cannot_be_deleted_an_attempt_is_not_repeated(tmp_path, monkeypatch):
    monkeypatch.setattr(attempt, "PAUSES_S", (0.01,))
    async with relayed_office_in(tmp_path, more=FENCE) as (office, relay):
        relay.order(**LOST)
        thread = await decided(office)
        await office.until(lambda: sent_times(relay, thread, 1), "an attempt")
        ends = tuple(assistants(relay, thread))
        held = asyncio.Event()
        relay.order(method="DELETE", ends=ends, **LOST)
        relay.order(method="DELETE", ends=ends, status=500, body={}, until=held)
        await office.until(lambda: _deleted(relay, 2), "a second try to delete it")
        before = relay.sent_to(thread)
        held.set()
        await office.settled(thread)

        assert before == 1
        assert len(relay.deleted) > 2
        assert office.ran(thread) == ["disable_user"]


async def _gone(office, assistant):
    return not await known(office, assistant)


async def _deleted(relay, count):
    return len(relay.deleted) >= count


async def test_an_attempt_whose_assistant_may_not_be_deleted_ends_as_unknown(tmp_path, monkeypatch):
    monkeypatch.setattr(attempt, "PAUSES_S", (0.01,))
    async with relayed_office_in(tmp_path, more=FENCE) as (office, relay):
        relay.order(**LOST)
        thread = await decided(office)
        await office.until(lambda: sent_times(relay, thread, 1), "an attempt")
        for _ in range(attempt.MOST_ATTEMPTS):
            relay.order(method="DELETE", ends=tuple(assistants(relay, thread)), status=403, body={})
        review = await office.review(thread, state="unknown")

        assert review.why == "not_resent"
        assert relay.sent_to(thread) == 1
        assert office.ran(thread) == []


async def test_a_refused_attempts_assistant_goes_before_the_next_attempt(tmp_path):
    async with relayed_office_in(tmp_path, kind="aegra", more=FENCE) as (office, relay):
        relay.order(status=400, body={"detail": "Cannot resume: thread is not in interrupted state"})
        thread = await decided(office)
        await office.settled(thread)

        marks = [body["config"]["metadata"] for body in relay.resumes]
        assert [mark.get("placet_since", 1) for mark in marks] == [1, 2]
        refused, used = assistants(relay, thread)
        assert [await known(office, one) for one in (refused, used)] == [False, True]
        assert office.ran(thread) == ["disable_user"]


async def test_an_attempt_that_a_proxy_refused_after_the_server_took_it_keeps_its_assistant(tmp_path):
    async with relayed_office_in(tmp_path, kind="aegra", more=FENCE) as (office, relay):
        relay.order(first=True, status=400, body={"detail": "twice"})
        thread = await decided(office)
        (review,) = await office.settled(thread)

        (used,) = assistants(relay, thread)
        assert await known(office, used)
        assert review.actions[0].outcome is Outcome.EXECUTED
        assert office.ran(thread) == ["disable_user"]


async def test_the_next_interrupt_of_a_fenced_thread_is_answered_by_the_same_agent(tmp_path):
    async with relayed_office_in(tmp_path, kind="aegra", more=FENCE) as (office, relay):
        relay.order(**LOST)
        thread = await decided(office, "twice")
        first = await office.review(thread, state="resumed")
        await office.hint(thread)
        second = await office.review(thread, state="open")
        await approve(office, ADA, await office.card_of(second, button="decide.approve"))
        await office.settled(thread)

        marks = [body["config"]["metadata"] for body in relay.resumes]
        assert [mark.get("placet_since", 1) for mark in marks] == [1, 1, 1]
        lost, used, last = assistants(relay, thread)
        assert second.target.assistant == used
        assert len({first.target.assistant, lost, used, last}) == 4
        assert office.ran(thread) == ["disable_user", "disable_user"]
        graphs = [
            (await office.agents.get(f"/assistants/{one}", headers=WHO)).json()["graph_id"] for one in (used, last)
        ]
        assert graphs == [(await office.thread(thread))["metadata"]["graph_id"]] * 2


async def test_an_attempt_from_before_the_fence_is_not_repeated_under_it(tmp_path):
    async with relayed_office_in(tmp_path, lease_ms=1_000) as (office, relay):
        relay.order(**LOST)
        thread = await decided(office)
        await office.until(lambda: sent_times(relay, thread, 1), "an attempt")
        await office.apply_policy(policy_text(relay.url, more=FENCE))
        await crashed(office.replicas[0])
        async with restarted(office, tmp_path, crash=None, lease_ms=1_000):
            review = await office.review(thread, state="unknown")

        assert review.why == "not_resent"
        assert relay.sent_to(thread) == 1
        assert made(relay) == []
