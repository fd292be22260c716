"""C5 never lost: whatever single readings of a thread say, what waits there has a card or a told reason.

Nothing that was approved for an interrupt which went away counts for the same interrupt pending again.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import httpx
import pytest

from blocks.reasons import why_text
from bot.app import compose
from bot.doctor.finding import Grade
from bot.doctor.report import examine
from bot.runtimes.langgraph.thread_sync import LEAST_APART_MS
from bot.sandbox.serving import serving
from bot.store.threads import unreadable
from bot.store.upgrade import open_store
from tests.kit.misreadings import NOT_FOUND, misread_office, with_status, without_interrupts
from tests.kit.office import ADA, FROZEN_S
from tests.kit.steps import deciding, opened, pause, redrawn, resume, sent, stands

pytestmark = pytest.mark.asyncio

BATCH = [{"name": "disable_user", "args": {"user_id": f"u_{n}", "reason": "left"}} for n in range(2)]


async def read_again(office, misreading, thread, count=2):
    """Wait until the bot has read the thread so many times more."""
    before = reads(misreading, thread)

    async def more():
        return reads(misreading, thread) >= before + count

    await office.until(more, f"thread {thread} to be read {count} times")


def reads(misreading, thread):
    return misreading.read.count(f"GET /threads/{thread}/state")


async def approve(office, review):
    await office.click(ADA, await office.card_of(review, button="decide.approve"), "decide.approve")


async def states(office, thread):
    return [one.state.value for one in await office.reviews(thread)]


@pytest.mark.parametrize("part", ["(/state)?$", "/state$", "$"])
async def test_c5_one_404_closes_no_open_review_and_a_press_afterwards_counts(database, tmp_path, part):
    async with misread_office(database, tmp_path) as (office, misreading):
        thread = await office.propose("one")
        (review,) = await opened(office, thread)

        misreading.make(f"GET /threads/{thread}{part}", NOT_FOUND, times=1)
        await office.hint(thread)
        await read_again(office, misreading, thread)
        await approve(office, review)
        await stands(office, review, "resumed")

        assert await states(office, thread) == ["resumed"]
        assert office.ran(thread) == ["disable_user"]


async def test_c5_a_404_for_long_closes_nothing_while_the_list_names_the_thread(database, tmp_path):
    async with misread_office(database, tmp_path) as (office, misreading):
        thread = await office.propose("one")
        (review,) = await opened(office, thread)

        lie = misreading.make(f"GET /threads/{thread}(/state)?$", NOT_FOUND)
        await office.hint(thread)

        async def enough():
            return lie.asked >= 3

        await office.until(enough, "three answers of 404")
        await asyncio.sleep(LEAST_APART_MS / 1000)
        before = await states(office, thread)
        misreading.truthful()
        await approve(office, review)
        await stands(office, review, "resumed")

        assert before == ["open"]
        assert office.ran(thread) == ["disable_user"]


async def test_c5_one_404_at_the_dispatch_sends_the_stored_approval_when_the_thread_is_there_again(database, tmp_path):
    async with misread_office(database, tmp_path) as (office, misreading):
        thread = await office.propose("one")
        (review,) = await opened(office, thread)

        # Four readings of one look and its second, and whatever watching asks meanwhile.
        misreading.make(f"GET /threads/{thread}(/state|/runs)?$", NOT_FOUND, times=6)
        await approve(office, review)
        await stands(office, review, "resumed")

        assert await states(office, thread) == ["resumed"]
        assert office.ran(thread) == ["disable_user"]
        assert len(sent(office, thread)) == 1


@pytest.mark.parametrize("how", ["404", "not listed"])
async def test_c5_gone_and_pending_again_is_a_new_review_and_no_approval_carries_over(database, tmp_path, how):
    async with misread_office(database, tmp_path) as (office, misreading):
        thread = await office.propose("one")
        (review,) = await opened(office, thread)
        await pause(office)
        await approve(office, review)
        await stands(office, review, "decided")

        if how == "404":
            misreading.gone(thread)
        else:
            misreading.make(f"GET /threads/{thread}/state$", without_interrupts)
        await resume(office)
        await office.hint(thread)
        closed = await stands(office, review, "superseded", why="thread_moved_on")
        misreading.truthful()
        await office.hint(thread)
        (again,) = await opened(office, thread)
        before = office.ran(thread)
        card = await office.card_of(again, button="decide.approve")
        await redrawn(office, closed, why_text("thread_moved_on"))
        await approve(office, again)
        await stands(office, again, "resumed")

        assert closed.settled_at - closed.missing_since >= LEAST_APART_MS
        assert again.interrupt_id == review.interrupt_id
        assert again.actions[0].decision is None
        assert (before, office.ran(thread)) == ([], ["disable_user"])
        assert len(sent(office, thread)) == 1
        assert "decide.approve" in deciding(card)


async def test_c5_a_press_between_two_readings_is_stored_waits_and_is_told(database, tmp_path):
    async with misread_office(database, tmp_path, replicas=2) as (office, misreading):
        thread = await office.propose("one")
        (review,) = await opened(office, thread)
        card = await office.card_of(review, button="decide.approve")

        lie = misreading.make(f"GET /threads/{thread}/state$", without_interrupts)
        await office.hint(thread)

        async def missed():
            return lie.asked > 0

        await office.until(missed, "a reading that misses it")
        await office.click(ADA, card, "decide.approve")
        await stands(office, review, "decided", why="not_listed")
        misreading.truthful()
        await stands(office, review, "resumed")

        assert await office.ephemerals(ADA) == []
        assert office.ran(thread) == ["disable_user"]
        assert await states(office, thread) == ["resumed"]


async def test_c5_what_came_and_what_vanished_while_the_bot_was_away_is_known_after_it_starts(database, tmp_path):
    async with misread_office(database, tmp_path) as (office, _):
        kept, lost = await office.propose("one"), await office.propose("email")
        (stays,), (goes,) = await opened(office, kept), await opened(office, lost)
        await office.replicas[0].stop()

        came = (await office.agents.post("/threads", json={}, headers={"X-User-Id": "approvals"})).json()["thread_id"]
        body = {
            "assistant_id": "ops",
            "input": {"messages": [{"role": "user", "content": json.dumps({"turns": [[BATCH[0]]]})}]},
        }
        for thread, given in (
            (came, body),
            (lost, {**body, "input": {"messages": [{"role": "user", "content": "bye"}]}}),
        ):
            answer = await office.agents.post(
                f"/threads/{thread}/runs/wait", json=given, headers={"X-User-Id": "approvals"}
            )
            answer.raise_for_status()
        placet = await compose(office.settings, await open_store(database))
        placet.agents.send_settings = replace(placet.agents.send_settings, frozen=FROZEN_S)
        async with serving(placet.web) as url, httpx.AsyncClient(base_url=url, timeout=30) as bot:
            office.world.listen_at(f"{url}/slack/events")
            office.replicas[:], office.stores[:], office.bots[:] = [placet], [placet.store], [bot]
            await placet.start()
            try:
                (fresh,) = await opened(office, came)
                await stands(office, goes, "superseded", why="thread_moved_on")
                await approve(office, fresh)
                await stands(office, fresh, "resumed")
                left = await states(office, kept)
            finally:
                await placet.stop()

        assert left == ["open"]
        assert stays.interrupt_id
        assert office.ran() == ["disable_user"]


UNREADABLE = {
    "500": lambda true: (500, b"Internal Server Error"),
    "no JSON": lambda true: (200, b"<html>busy</html>"),
    "not a state": lambda true: (200, b"[]"),
    "raw bytes": lambda true: (200, b'{"values": {"a": "\xff\xfe"}}'),
}


@pytest.mark.parametrize("how", UNREADABLE)
async def test_c5_a_state_that_cannot_be_read_is_told_once_left_alone_and_read_when_it_can_be(database, tmp_path, how):
    async with misread_office(database, tmp_path) as (office, misreading):
        lie = misreading.make("GET /threads/[^/]+/state$", UNREADABLE[how])
        bad = await office.propose("one")

        async def told():
            async with office.stores[0].read() as tx:
                found = await unreadable(tx, tenant="demo")
            return [one for one in found if one.told_at]

        (named,) = await office.until(told, "operators to be told")
        tried = lie.asked
        examined = await examine(replace(office.settings, database_url=database))
        counted = (await office.bots[0].get("/metrics")).text
        misreading.truthful()
        misreading.make(f"GET /threads/{bad}/state$", UNREADABLE[how])
        good = await office.propose("email")
        (other,) = await opened(office, good)
        await approve(office, other)
        await stands(office, other, "resumed")
        direct = await said_to(office, ADA, bad)
        misreading.truthful()
        await office.hint(bad)
        (review,) = await opened(office, bad)
        await approve(office, review)
        await stands(office, review, "resumed")

        assert named.thread_id == bad
        assert [one.grade for one in examined if bad in one.what] == [Grade.WARN]
        assert 'placet_agent_read_failures_total{tenant="demo"}' in counted
        assert 'placet_unreadable_threads{tenant="demo"} 1.0' in counted
        assert tried <= 4
        assert len(direct) == 1
        assert "cannot be read" in direct[0]
        assert await told() == []
        assert sorted(office.ran()) == ["disable_user", "send_email"]


async def said_to(office, user, containing):
    """What the bot sent to a person directly, once it has come."""

    async def there():
        direct = [one for one in office.world.channels.values() if one.kind == "im" and user in one.members]
        found: list[str] = []
        for channel in direct:
            answer = await office.slack.get("/sandbox/messages", params={"channel": channel.id})
            found += [one["text"] for one in answer.raise_for_status().json() if containing in one["text"]]
        return found

    return await office.until(there, f"{user} to be told of {containing}")


async def test_c5_lone_surrogates_and_nul_in_metadata_keep_no_card_back(database, tmp_path):
    async with misread_office(database, tmp_path) as (office, misreading):

        def odd(true):
            told = json.loads(true[1])
            for row in told if isinstance(told, list) else [told]:
                row["metadata"] = {"\ud800": "\udfff\x00", "slack_user": "U\ud800", "note": "\x00"}
            return true[0], json.dumps(told).encode()

        misreading.make("GET /threads/[^/]+$", odd)
        misreading.make("POST /threads/search$", odd)
        thread = await office.propose("one")
        (review,) = await opened(office, thread)
        await approve(office, review)
        await stands(office, review, "resumed")

        assert review.requester is None
        assert office.ran(thread) == ["disable_user"]


@pytest.mark.parametrize("by", ["hint", "polling"])
@pytest.mark.parametrize("status", ["idle", "error"])
async def test_c5_an_interrupt_on_a_thread_that_takes_no_answer_has_no_live_card(database, tmp_path, status, by):
    async with misread_office(database, tmp_path) as (office, misreading):
        # Listed as it says of itself: in the list of failed threads, and idle in none.
        misreading.make("GET /threads/[^/]+$", lambda true: with_status(true, status))
        misreading.make("POST /threads/search$", (200, b"[]") if status == "idle" else with_error)
        thread = await office.propose("one", pause=False)
        await office.until(lambda: office._paused(thread), "the thread to pause")
        for _ in range(4):
            if by == "hint":
                await office.hint(thread)
            await asyncio.sleep(0.9)
        live = [one for one in await office.messages() if deciding(one)]
        misreading.truthful()
        (review,) = await opened(office, thread)
        await approve(office, review)
        await stands(office, review, "resumed")

        assert live == []
        assert office.ran(thread) == ["disable_user"]
        assert (await states(office, thread))[:-1] == ([] if status == "idle" else ["broken"])


def with_error(true):
    """Every thread that waits is listed as failed."""
    return with_status(true, "error")


async def test_c5_a_batch_says_at_its_root_too_that_the_agent_is_away(database, tmp_path):
    async with misread_office(database, tmp_path) as (office, misreading):
        thread = await office.propose(turns=[BATCH])
        (review,) = await opened(office, thread)
        away = misreading.make("^(GET|POST) /threads", lambda true: (503, b"{}"))
        for position in range(2):
            card = await office.card_of(review, position, button="decide.approve")
            await office.click(ADA, card, "decide.approve")
        await stands(office, review, "decided", why="agent_unreachable")
        office.advance(5_000)  # what lasts longer than a moment is drawn
        root = await redrawn(office, review, why_text("agent_unreachable"), position=None)
        misreading.truthful()
        office.advance(60_000)
        await stands(office, review, "resumed")

        assert away.asked > 0
        assert not deciding(root)
        assert office.ran(thread) == ["disable_user", "disable_user"]
