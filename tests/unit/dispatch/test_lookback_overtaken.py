"""A correction that another change of the review overtook is made at the next look, not dropped."""

from __future__ import annotations

import pytest
from sqlalchemy import select, update

from bot.core.model import Outcome
from bot.runtimes.langgraph.client import ThreadSnapshot
from bot.runtimes.langgraph.wire import ThreadRow, ThreadState
from bot.store import reviews
from bot.store.tables import actions, dispatches
from bot.store.transitions import ref_of, remark
from tests.kit.made import loaded
from tests.unit.dispatch.test_lookback import closed_dispatch

pytestmark = pytest.mark.asyncio


async def test_a_correction_that_something_else_overtook_is_made_at_the_next_look(database, monkeypatch):
    async with closed_dispatch(database) as (store, worker):
        async with store.begin() as tx:
            row = (await tx.conn.execute(select(dispatches))).one()
            await tx.conn.execute(update(dispatches).values(alarm="possibly_twice"))
            await tx.conn.execute(update(actions).values(tool_call_id="c1", outcome="executed"))
        said = {
            "type": "tool",
            "tool_call_id": "c1",
            "content": "no",
            "status": "error",
            "additional_kwargs": {"lc_source": "hitl_interrupt_decision", "lc_data": {"decision": "reject"}},
        }
        shown = ThreadSnapshot(
            ThreadState((said,), (), (), None, {}, None),
            ThreadRow(row.thread_id, "idle", "2026-11-30T00:00:00Z", {}),
            (),
            0.0,
            0.0,
        )
        overtaken = [True]

        class Client:
            """An agent server on which somebody else's rejection counted; an operator's note comes while it answers."""

            async def look(self, _thread):
                if overtaken.pop() if overtaken else False:
                    async with store.begin() as tx:
                        now = await reviews.load_review(tx, row.review_id, lock=True)
                        assert await remark(tx, ref_of(now), why="settled_twice")
                return shown

            async def history(self, _thread):
                return ()

        monkeypatch.setattr(worker.agents, "client", lambda *_: Client())
        for _ in range(3):
            store.offset_ms += 61_000
            await worker.step()

        assert (await loaded(store, row.review_id)).actions[0].outcome is Outcome.REJECTED
