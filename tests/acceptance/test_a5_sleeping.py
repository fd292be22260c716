"""A5 sleeping owner: a process that stands still for longer than its lease, between claim and send, sends nothing twice.

Standing still is SIGSTOP, as a frozen host or a paused machine would have it: the process notices nothing. On one
machine nobody else may take over, so it meets its own expired claim; with PostgreSQL another process has long sent the
answer when it goes on.
"""

from __future__ import annotations

import signal

import pytest
from sqlalchemy import select, text

from bot.store.reviews import load_review
from bot.store.tables import dispatches
from tests.kit.office import ADA
from tests.kit.steps import opened, stands
from tests.kit.wiretap import resumes

pytestmark = pytest.mark.asyncio

SHORT_MS = 1_000
STILL_MS = 800  # longer than may pass between arming and the first byte


async def asleep_before_sending(house, process):
    """A decision is claimed, its last reading is answered and not yet delivered, and the process stands still."""
    thread = await house.office.propose("one")
    (review,) = await opened(house.office, thread)
    reading = house.agent.hold(f"/{thread}/state", method="GET", answer=True, every=True)
    await house.office.click(ADA, await house.office.card_of(review, button="decide.approve"), "decide.approve")
    await reading.reached.wait()
    await stands(house.office, review, "claimed")
    await process.asleep()
    return review, reading


async def lease_over(house):
    """Whether the one live claim has run out."""
    async with house.office.stores[0].read() as tx:
        until = await tx.conn.scalar(select(dispatches.c.lease_until).where(dispatches.c.live))
        return tx.now > until


async def once(house, review):
    """One effect, and one answer that reached the agent server."""
    await stands(house.office, review, "resumed")
    assert house.office.ran() == ["disable_user"]
    assert len(resumes(house.office.agent.heard, review.thread_id)) == 1


@pytest.mark.parametrize("kind", ["langgraph", "aegra"])
async def test_a5_sleeping_owner_that_wakes_after_its_lease_sends_once(house_of, kind):
    async with house_of(kind=kind) as house:
        process = await house.start(lease_ms=SHORT_MS)
        review, reading = await asleep_before_sending(house, process)

        await house.office.until(lambda: lease_over(house), "the lease to run out")
        process.signal(signal.SIGCONT)
        reading.let_go()

        await once(house, review)


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
@pytest.mark.parametrize("kind", ["langgraph", "aegra"])
async def test_a5_sleeping_owner_finds_that_another_process_has_sent_it(house_of, kind):
    async with house_of(kind=kind) as house:
        sleeper = await house.start()
        review, reading = await asleep_before_sending(house, sleeper)

        await house.start()
        await house.office.until(lambda: taken_over(house, review), "another process to read the thread")
        reading.let_go()
        await once(house, review)
        sleeper.signal(signal.SIGCONT)
        await house.office.until(lambda: gave_up(sleeper), "the sleeper to see that it lost its claim")

        await once(house, review)


async def gave_up(process):
    return '"action": "lease_lost"' in process.said()


async def taken_over(house, review):
    async with house.office.stores[0].read() as tx:
        token = await tx.conn.scalar(select(dispatches.c.token).where(dispatches.c.review_id == review.id))
    return token > 1


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
async def test_a5_sleeping_owner_that_stood_still_while_it_armed_lets_that_attempt_go(house_of):
    """What it may send was true when it asked; so long after, it asks again. The first byte of that attempt never left."""
    async with house_of(kind="aegra") as house:
        office = house.office
        process = await house.start()
        thread = await office.propose("one")
        (review,) = await opened(office, thread)
        reading = house.agent.hold(f"/{thread}/state", method="GET", every=True)
        await office.click(ADA, await office.card_of(review, button="decide.approve"), "decide.approve")
        await stands(office, review, "claimed")
        async with office.stores[0].begin() as tx:
            await load_review(tx, review.id, lock=True)
            reading.let_go()
            await office.until(lambda: waits_for_a_lock(office), "it to arm")
            await process.asleep()
            began = await office.stores[0].now()
            await office.until(lambda: passed(office, began + STILL_MS), "it to have stood still")
        process.signal(signal.SIGCONT)

        await once(house, review)
        assert "stood still" in process.said()
        (answer,) = resumes(office.agent.heard, thread)
        assert answer.json["config"]["metadata"]["placet_attempt"] == 2


async def waits_for_a_lock(office):
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    async with office.stores[0].read() as tx:
        return await tx.conn.scalar(text(waiting))


async def passed(office, moment):
    return await office.stores[0].now() > moment
