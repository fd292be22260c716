"""What is known of one attempt is known of no other."""

import asyncio
import time
from dataclasses import replace

import pytest

from bot.store.dispatches import arm, claim_next, fence_of, first_alive, not_taken, note_dead, note_fence
from bot.store.engine import Store
from tests.kit.made import given_claim


@pytest.mark.asyncio
async def test_an_attempts_own_assistant_is_known_until_the_next_attempt(store: Store) -> None:
    claim = await given_claim(store)
    async with store.begin() as tx:
        armed = await arm(tx, claim, body_hash="b")
        await note_fence(tx, armed, assistant_id="a-1")
    async with store.read() as tx:
        assert (await fence_of(tx, claim), await fence_of(tx, armed)) == (None, "a-1")


@pytest.mark.asyncio
async def test_an_attempt_that_went_to_the_threads_own_assistant_has_none(store: Store) -> None:
    claim = await given_claim(store)
    async with store.begin() as tx:
        armed = await arm(tx, claim, body_hash="b")
        await note_fence(tx, armed, assistant_id="a-1")
        await not_taken(tx, armed, why="not_taken", retry_at=0)
    async with store.begin() as tx:
        again = await claim_next(tx, owner="w1", lease_ms=30_000)
        second = await arm(tx, again, body_hash="b")
    async with store.read() as tx:
        assert second.attempt == 2
        assert await fence_of(tx, second) is None


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("dead", "first"),
    [((), 1), ((1,), 2), ((1, 2, 3), 4), ((2, 3), 1), ((1, 3), 2)],
)
async def test_copies_may_still_come_of_every_attempt_since_the_first_that_is_not_dead(
    store: Store, dead, first
) -> None:
    claim = await given_claim(store)
    async with store.begin() as tx:
        for number in range(1, 4):
            attempt = replace(claim, attempt=number)
            if number == 2:
                await note_fence(tx, attempt, assistant_id="a-2")
            if number in dead:
                await note_dead(tx, attempt)
                await note_dead(tx, attempt)
        assert await first_alive(tx, claim) == first
        assert await fence_of(tx, replace(claim, attempt=2)) == "a-2"


@pytest.mark.asyncio
async def test_a_transaction_begins_when_its_clock_is_read_and_not_when_it_is_asked_for(store: Store) -> None:
    async with store.begin() as first:
        waiting = asyncio.create_task(began_after(store))
        await asyncio.sleep(0)
        held_until = time.monotonic()
        assert first.began <= held_until
    began, now = await waiting

    assert held_until <= began <= time.monotonic() if store.dialect == "sqlite" else began <= time.monotonic()
    assert now > 0


async def began_after(store: Store) -> tuple[float, int]:
    async with store.begin() as tx:
        return tx.began, tx.now
