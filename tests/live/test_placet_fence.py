"""The worst case on Aegra: a held first request reaches it within milliseconds of the next one.

A proxy keeps the first request while Placet hangs up, looks, finds no trace and sends again; then it lets both go. Aegra
runs both. With a fence, or with the auth guard in the server, only one of them may run; without either the case must be
a real one and be told.
"""

import asyncio
import itertools
import json
from collections import Counter
from dataclasses import replace

import httpx
import pytest
from sqlalchemy import select

from bot.core.model import Outcome
from bot.store.tables import messages, reviews
from tests.kit.office import ADA, WHO, policy_text
from tests.live.scenarios import answer, decided, paused, rested
from tests.live.test_placet_races import found, settled

pytestmark = [pytest.mark.live, pytest.mark.asyncio, pytest.mark.timeout(600)]

CASES, AT_ONCE, CONTROL = 50, 10, 10
APART_MS = (0, 1, 2, 4, 6, 8)
FENCE = "    resend: fence\n"


async def worst_cases(office, relay, count, *, more=""):
    """So many calls whose first two requests reach the server together; what became of each, and how often it ran."""
    for placet in office.replicas:
        placet.agents.send_settings = replace(placet.agents.send_settings, headers=1.0)
    # Threads are found by hints: polling all that wait each second is most of what a small machine would do here.
    policy = policy_text(relay.url, kind="aegra", more=more)
    await office.apply_policy(policy.replace("every: 1s", "every: 60s"))
    apart, actions = itertools.cycle(APART_MS), []
    for _ in range(count // AT_ONCE):
        threads = await asyncio.gather(*(office.propose("one") for _ in range(AT_ONCE)))
        cards = await carded(office, threads)
        for thread in threads:
            meeting = asyncio.Event()
            relay.order(ends=(f"/{thread}/runs/wait",), until=meeting, late_s=next(apart) / 1000)
            relay.order(ends=(f"/{thread}/runs/wait",), sets=meeting, late_s=next(apart) / 1000)
        await asyncio.gather(*(office.click(ADA, card, "decide.approve", wait_s=0) for card in cards.values()))
        actions += await settled(office, cards)
    assert not relay.orders, "a case in which no second request was sent"
    ran = Counter(effect["tool_call_id"] for effect in office.effects())
    return actions, {action.tool_call_id: ran[action.tool_call_id] for action in actions}


async def carded(office, threads):
    """The card of each thread's one review, by the review's id."""
    posted = select(messages.c.review_id, messages.c.ts).join(reviews, reviews.c.id == messages.c.review_id)

    async def there():
        rows = await found(office, posted.where(reviews.c.thread_id.in_(threads), messages.c.ts.is_not(None)))
        return {review: {"ts": ts} for review, ts in rows} if len(rows) == len(threads) else None

    return await office.until(there, f"{len(threads)} cards", patience=120, every=0.2)


async def test_with_a_fence_none_of_fifty_runs_twice(aegra, relayed_office):
    async with relayed_office(aegra) as (office, relay):
        actions, ran = await worst_cases(office, relay, CASES, more=FENCE)

        assert Counter(ran.values()) == {1: CASES}
        assert {action.outcome for action in actions} == {Outcome.EXECUTED}


async def test_with_the_auth_guard_none_of_fifty_runs_twice(guarded_aegra, relayed_office):
    async with relayed_office(guarded_aegra) as (office, relay):
        actions, ran = await worst_cases(office, relay, CASES)

        assert Counter(ran.values()) == {1: CASES}
        assert {action.outcome for action in actions} == {Outcome.EXECUTED}


async def test_with_neither_the_case_is_a_real_one_and_each_double_is_told(aegra, relayed_office):
    async with relayed_office(aegra) as (office, relay):
        _, ran = await worst_cases(office, relay, CONTROL)
        told = {review.actions[0].tool_call_id for review in await office.reviews() if review.why == "possibly_twice"}
        doubled = {call for call, times in ran.items() if times > 1}

        assert doubled
        assert doubled <= told


async def test_a_fenced_thread_goes_on_to_its_next_interrupt(live_office):
    async with live_office(more=FENCE) as office:
        thread = await office.propose("twice")
        first = await office.review(thread, state="open")
        await office.click(ADA, await office.card_of(first, button="decide.approve"), "decide.approve")
        await office.review(thread, state="resumed")
        await office.hint(thread)
        second = await office.review(thread, state="open")
        await office.click(ADA, await office.card_of(second, button="decide.approve"), "decide.approve")
        reviews = await office.settled(thread)

        assert first.target.assistant != second.target.assistant
        assert [review.actions[0].outcome for review in reviews] == [Outcome.EXECUTED] * 2
        assert office.ran(thread) == ["disable_user", "disable_user"]


@pytest.mark.parametrize("server", ["guarded_aegra", "guarded_langgraph"])
async def test_of_four_copies_at_once_the_guard_lets_one_through(server, request):
    server = request.getfixturevalue(server)
    async with httpx.AsyncClient(base_url=server.url, headers=WHO, timeout=60) as client:
        run = await paused(client, "one")
        answers = await asyncio.gather(*(answer(client, run, decided({"type": "approve"})) for _ in range(4)))
        await rested(client, run["thread_id"])

    ran = [json.loads(line) for line in server.effects_file.read_text().splitlines()]
    assert sorted(one.status_code for one in answers) == [200, 409, 409, 409]
    assert [one["tool"] for one in ran if one["thread_id"] == run["thread_id"]] == ["disable_user"]
