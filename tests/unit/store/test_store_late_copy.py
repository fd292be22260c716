"""A copy of ours that comes after its decision was taken back: what it did must not vanish behind "the thread moved on"."""

import pytest
from sqlalchemy import update

from bot.core.model import Outcome
from bot.store import decisions
from bot.store.engine import Store
from bot.store.tables import actions
from tests.kit.made import loaded
from tests.unit.store.test_store_sightings import given_tried, vanished

pytestmark = pytest.mark.asyncio


async def test_what_a_late_copy_did_after_its_decision_was_taken_back_is_told(store: Store) -> None:
    review_id = await given_tried(store)
    async with store.begin() as tx:
        await tx.conn.execute(update(actions).values(tool_call_id="c1"))
        review = await loaded(store, review_id)
        assert await decisions.void_decisions(tx, review, why="taken_back", actor="slack:T0ACME/U0ADA")
    ran = {"type": "tool", "tool_call_id": "c1", "content": "disabled", "status": "success"}

    await vanished(store, review.thread_id, messages=(ran,))

    now = await loaded(store, review_id)
    assert (now.state.value, now.actions[0].outcome) == ("superseded", Outcome.EXECUTED)
