"""A4 shutdown: told to end, a process of the bot claims nothing more, leaves clean rows within ten seconds, and says 0.

What it was in the middle of is carried on by the next process, once. That a killed one costs nothing either stands in
`tests.acceptance.test_a4_restart`.
"""

from __future__ import annotations

import signal
import time

import httpx
import pytest

from tests.kit.office import ADA
from tests.kit.steps import opened, pause, resume, stands
from tests.kit.wiretap import resumes

pytestmark = pytest.mark.asyncio

WITHIN_S = 10.0


async def two_waiting(house):
    """Two threads with a card each."""
    threads = [await house.office.propose("one") for _ in range(2)]
    return [(await opened(house.office, thread))[0] for thread in threads]


async def approve(house, review):
    answer = await house.office.click(
        ADA, await house.office.card_of(review, button="decide.approve"), "decide.approve"
    )
    assert answer["acked"]


async def deaf(process):
    """Wait until it takes no more requests."""

    async def refuses():
        async with httpx.AsyncClient(verify=False, trust_env=False) as client:
            try:
                await client.get(f"{process.url}/healthz")
            except httpx.HTTPError:
                return True
        return False

    return refuses


async def ended_well(process, asked_at):
    """Its exit code within the time, and no word of a fault in its log."""
    assert await process.ended(patience=WITHIN_S) == 0
    assert time.monotonic() - asked_at < WITHIN_S
    said = process.said()
    assert '"action": "stopped"' in said
    assert "Traceback" not in said


async def test_a4_shutdown_with_nothing_under_way_is_prompt_and_says_so(house_of):
    async with house_of() as house:
        process = await house.start()
        await two_waiting(house)

        asked_at = time.monotonic()
        process.signal(signal.SIGTERM)
        await ended_well(process, asked_at)

        assert [one.state.value for one in await house.office.reviews()] == ["open", "open"]


async def test_a4_shutdown_claims_nothing_more_and_the_next_process_sends_everything_once(house_of):
    async with house_of() as house:
        office = house.office
        first = await house.start()
        ours, later = await two_waiting(house)
        sent = house.agent.hold("/runs/wait", answer=True)
        await approve(house, ours)
        await sent.reached.wait()
        await pause(office)
        await approve(house, later)

        asked_at = time.monotonic()
        first.signal(signal.SIGTERM)
        await office.until(await deaf(first), "it to take no more requests")
        await resume(office)  # from now on there is something to claim
        await ended_well(first, asked_at)
        left = {one.id: one for one in await office.reviews()}
        sent.lose()
        await house.start()
        for review in (ours, later):
            await stands(office, review, "resumed")

        assert left[ours.id].state.value in ("armed", "sent")
        assert left[later.id].state.value == "decided"
        assert sorted(one["thread_id"] for one in office.effects()) == sorted(one.thread_id for one in (ours, later))
        assert [len(resumes(office.agent.heard, one.thread_id)) for one in (ours, later)] == [1, 1]


async def test_a4_shutdown_before_anything_was_sent_sends_nothing_itself(house_of):
    async with house_of() as house:
        office = house.office
        first = await house.start()
        ours, _ = await two_waiting(house)
        reading = house.agent.hold(f"/{ours.thread_id}/state", method="GET", every=True)
        await approve(house, ours)
        await reading.reached.wait()

        asked_at = time.monotonic()
        first.signal(signal.SIGTERM)
        await ended_well(first, asked_at)
        (left,) = await office.reviews(ours.thread_id)
        reading.let_go()
        before = resumes(office.agent.heard, ours.thread_id)
        await house.start()
        await stands(office, ours, "resumed")

        assert left.state.value in ("claimed", "decided")
        assert before == []
        assert office.ran() == ["disable_user"]
