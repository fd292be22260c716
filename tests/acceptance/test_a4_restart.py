"""A4 restart: a process of the bot is killed at every step of the way of one call, and another one takes its place.

Killed is a real process, by SIGKILL, while the very request or row that it wants is held back from it. Then the same
action waits, or its decision lands once; the thread beside it, of which nobody decided anything, is never resumed. Presses,
windows and cards over a restart in general stand in `tests.cases.test_running_restarts`.
"""

from __future__ import annotations

import asyncio
import contextlib
import json

import pytest

from bot.store import reviews
from tests.kit.office import ADA, BEN, buttons
from tests.kit.steps import opened, stands
from tests.kit.wiretap import resumes

pytestmark = pytest.mark.asyncio


async def waiting(house, process):
    """Two threads that wait, each with its card; the second is the one that nobody decides."""
    office = house.office
    ours, other = await office.propose("one"), await office.propose("one")
    (review,) = await opened(office, ours)
    await opened(office, other)
    assert not process.over()
    return review, other


async def landed_once(house, review, other):
    """The decision had one effect, was asked for once, and the other thread still waits untouched."""
    office = house.office
    ended = await stands(office, review, "resumed")
    card = await settled_card(office, review)

    assert office.ran() == ["disable_user"]
    assert office.effects()[0]["thread_id"] == review.thread_id
    assert len([event for event in await office.events(review.id) if event.kind == "decision.made"]) == 1
    assert resumes(office.agent.heard, other) == []
    (untouched,) = await office.reviews(other)
    assert untouched.state.value == "open"
    assert len(await office.messages()) == 2, "a card for each call, and none twice"
    return ended, card


async def settled_card(office, review):
    """The review's card, once it says what became of the call."""

    async def there():
        card = await office.card_of(review)
        return card if "Ran" in json.dumps(card["blocks"]) and "decide.approve" not in buttons(card) else None

    return await office.until(there, "the card to say that it ran")


async def approve(house, review, user=ADA):
    """Press Approve on the card as it stands."""
    return await house.office.click(user, await house.office.card_of(review, button="decide.approve"), "decide.approve")


def held_reading(house, review):
    """Whoever wants to see the review's thread waits."""
    return house.agent.hold(f"/{review.thread_id}/state", method="GET", every=True)


# -- before anybody decided


@pytest.mark.parametrize("arrives", [False, True], ids=["lost", "arrives_late"])
@pytest.mark.parametrize("answer", [False, True], ids=["before_post", "after_post"])
async def test_a4_restart_killed_around_the_post_leaves_one_card_that_can_be_decided(house_of, answer, arrives):
    async with house_of() as house:
        office = house.office
        held = house.slack.hold("/chat.postMessage", answer=answer)
        first = await house.start()
        thread = await office.propose("one")
        await held.reached.wait()

        await first.killed()
        held.let_go() if arrives else held.lose()
        second = await house.start()
        (review,) = await opened(office, thread)
        answered = await approve(house, review)
        await stands(office, review, "resumed")
        await settled_card(office, review)

        assert answered["acked"]
        assert not second.over()
        assert len(await office.messages()) == 1
        assert posts(office) == 1, "one that is there is found, not posted again and cleared away"
        assert office.ran() == ["disable_user"]


def posts(office):
    """How many posts Slack has carried out."""
    return sum(call.method == "chat.postMessage" and call.error is None for call in office.world.calls)


# -- around the ack


@contextlib.asynccontextmanager
async def review_locked(office, review):
    """Nobody else may change this review's row; on SQLite nobody may write at all."""
    async with office.stores[0].begin() as tx:
        await reviews.load_review(tx, review.id, lock=True)
        yield


async def test_a4_restart_killed_before_the_commit_has_decided_nothing_and_the_next_press_counts(house_of):
    async with house_of() as house:
        office = house.office
        first = await house.start()
        review, other = await waiting(house, first)

        press = house.front.hold("/slack/events")
        pressing = asyncio.create_task(approve(house, review))
        await press.reached.wait()
        async with review_locked(office, review):
            press.let_go()
            # One loop serves both: when this is answered, the press has come as far as it can.
            await office.bots[0].get("/healthz")
            await first.killed()
            lost = await pressing
        await house.start()
        still = await stands(office, review, "open")
        await approve(house, review, BEN)
        ended, _ = await landed_once(house, review, other)

        assert not lost["acked"]
        assert still.actions[0].decision is None
        assert ended.actions[0].decision.by.user == BEN


async def test_a4_restart_killed_before_the_ack_left_has_decided_all_the_same(house_of):
    async with house_of() as house:
        first = await house.start()
        review, other = await waiting(house, first)

        reading = held_reading(house, review)  # what is decided gets no further
        ack = house.front.hold("/slack/events", answer=True)
        pressing = asyncio.create_task(approve(house, review))
        await ack.reached.wait()
        await reading.reached.wait()
        await first.killed()
        ack.lose()
        reading.lose()
        lost = await pressing
        await house.start()
        ended, _ = await landed_once(house, review, other)

        assert not lost["acked"]
        assert ended.actions[0].decision.by.user == ADA


# -- between the ack and the outcome


async def test_a4_restart_killed_before_anything_was_sent_sends_it_once(house_of):
    async with house_of() as house:
        first = await house.start()
        review, other = await waiting(house, first)

        reading = held_reading(house, review)
        answered = await approve(house, review)
        await reading.reached.wait()
        claimed = await stands(house.office, review, "claimed")
        await first.killed()
        reading.lose()
        await house.start()
        await landed_once(house, review, other)

        assert answered["acked"]
        assert claimed.actions[0].decision.by.user == ADA


@pytest.mark.parametrize("kind", ["langgraph", "aegra"])
async def test_a4_restart_killed_while_its_request_never_arrives_sends_it_again(house_of, kind):
    async with house_of(kind=kind) as house:
        first = await house.start()
        review, other = await waiting(house, first)

        sending = house.agent.hold("/runs/wait")
        await approve(house, review)
        await sending.reached.wait()
        await first.killed()
        sending.lose()
        await house.start()
        await landed_once(house, review, other)

        assert len(resumes(house.office.agent.heard, review.thread_id)) == 1


@pytest.mark.parametrize("kind", ["langgraph", "aegra"])
async def test_a4_restart_killed_after_sending_finds_what_became_of_it_and_sends_nothing(house_of, kind):
    async with house_of(kind=kind) as house:
        first = await house.start()
        review, other = await waiting(house, first)

        sent = house.agent.hold("/runs/wait", answer=True)
        await approve(house, review)
        await sent.reached.wait()
        await stands(house.office, review, "armed")
        await first.killed()
        sent.lose()
        await house.start()
        await landed_once(house, review, other)

        assert len(resumes(house.office.agent.heard, review.thread_id)) == 1


async def test_a4_restart_killed_before_it_reads_the_outcome_reads_it_later(house_of):
    async with house_of() as house:
        first = await house.start()
        review, other = await waiting(house, first)

        sending = house.agent.hold("/runs/wait")
        await approve(house, review)
        await sending.reached.wait()
        reading = held_reading(house, review)
        sending.let_go()
        await stands(house.office, review, "sent")
        await reading.reached.wait()
        await first.killed()
        reading.lose()
        await house.start()
        await landed_once(house, review, other)

        assert len(resumes(house.office.agent.heard, review.thread_id)) == 1


async def test_a4_restart_killed_while_the_card_is_updated_shows_the_outcome_later(house_of):
    async with house_of() as house:
        first = await house.start()
        review, other = await waiting(house, first)

        drawing = house.slack.hold("/chat.update")
        await approve(house, review)
        await stands(house.office, review, "resumed")
        await drawing.reached.wait()
        await first.killed()
        drawing.lose()
        await house.start()
        await landed_once(house, review, other)
