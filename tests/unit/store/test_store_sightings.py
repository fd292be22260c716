"""What a reading of a thread may settle by itself, and what only a dispatch can tell."""

from typing import Any

import pytest

from bot.core.model import ReviewState, Target
from bot.policy.source import parse
from bot.runtimes.langgraph.thread_sync import LEAST_APART_MS, ThreadReading, record_sighting, supersede_gone
from bot.runtimes.langgraph.wire import ThreadRow, ThreadState
from bot.store import dispatches
from bot.store.engine import Store
from tests.kit.factories import started_bare
from tests.kit.made import URL, given_claim, loaded
from tests.kit.office import policy_text

pytestmark = pytest.mark.asyncio


async def vanished(store: Store, thread: str, *, messages: tuple[Any, ...] = ()) -> None:
    """Read the thread twice, far enough apart, and find nothing pending; the list of threads tells the same."""
    tenant = parse(policy_text(URL, kind="aegra")).tenants["demo"]
    state = ThreadState(messages, ("tools",), (), None, {}, None)
    row = ThreadRow(thread, "error", "2026-11-30T00:00:00Z", {})
    for _ in range(2):
        seen = ThreadReading(
            Target(URL, "aegra", "approvals", "agent"), row, state, await store.now() + 1, started_bare
        )
        synced = await record_sighting(store, tenant, seen, policy_version=1, settled=True)
        store.offset_ms += LEAST_APART_MS
    await supersede_gone(store, synced.gone, state)


async def given_tried(store: Store) -> str:
    """A decided review whose first attempt was called not taken; the id of the review."""
    claim = await given_claim(store, tenant="demo")
    async with store.begin() as tx:
        armed = await dispatches.arm(tx, claim, body_hash="h")
        assert armed is not None
        assert await dispatches.not_taken(tx, armed, why="not_taken", retry_at=0)
    return claim.review_id


async def test_an_interrupt_that_vanished_after_an_attempt_is_left_to_the_dispatch(store: Store) -> None:
    review = await loaded(store, await given_tried(store))

    await vanished(store, review.thread_id)

    assert (await loaded(store, review.id)).state is ReviewState.DECIDED


async def test_an_interrupt_that_vanished_before_any_attempt_is_superseded(store: Store) -> None:
    claim = await given_claim(store, tenant="demo")
    async with store.begin() as tx:
        assert await dispatches.release(tx, claim, to=ReviewState.DECIDED, why="thread_busy", retry_at=0)

    await vanished(store, claim.thread_id)

    assert (await loaded(store, claim.review_id)).state is ReviewState.SUPERSEDED
