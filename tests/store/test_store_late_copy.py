"""A copy of ours that comes after its decision was taken back: what it did must not vanish behind "the thread moved on"."""

import pytest
from sqlalchemy import update

from bot.agent.sync import Sighting, record_sighting
from bot.agent.wire import ThreadRow, ThreadState
from bot.core.model import Outcome, Target
from bot.core.policyfile import parse
from bot.store import Store, decisions
from bot.store.tables import actions
from tests.factories import started_bare
from tests.office import policy_text
from tests.store.made import URL, loaded
from tests.store.test_store_sightings import given_tried

pytestmark = pytest.mark.asyncio


async def test_what_a_late_copy_did_after_its_decision_was_taken_back_is_told(store: Store) -> None:
    review_id = await given_tried(store)
    async with store.begin() as tx:
        await tx.conn.execute(update(actions).values(tool_call_id="c1"))
        review = await loaded(store, review_id)
        assert await decisions.void_decisions(tx, review, why="taken_back", actor="slack:T0ACME/U0ADA")
    ran = {"type": "tool", "tool_call_id": "c1", "content": "disabled", "status": "success"}
    tenant = parse(policy_text(URL, kind="aegra")).tenants["demo"]
    state = ThreadState((ran,), ("tools",), (), None, {}, None)
    row = ThreadRow(review.thread_id, "idle", "2026-11-30T00:00:00Z", {})
    seen = Sighting(Target(URL, "aegra", "approvals", "agent"), row, state, await store.now() + 1, started_bare)

    await record_sighting(store, tenant, seen, policy_version=1, settled=True)

    now = await loaded(store, review_id)
    assert (now.state.value, now.actions[0].outcome) == ("superseded", Outcome.EXECUTED)
