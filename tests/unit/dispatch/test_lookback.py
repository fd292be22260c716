"""Looking back while the agent server is away: later again, for a day, and then no more."""

from __future__ import annotations

import contextlib

import pytest
from sqlalchemy import select

from bot.core.model import ReviewState, Target
from bot.dispatch.follow_up import AGAIN_MS, GIVE_UP_MS, Lookback
from bot.runtimes.langgraph.client import Agents
from bot.store import policies
from bot.store.dispatches import accept, arm, close
from bot.store.policies import Policies, text_digest
from bot.store.tables import lookbacks
from bot.store.upgrade import open_store
from tests.kit.made import given_claim
from tests.kit.policy_factories import make_text
from tests.kit.postgres import free_port

pytestmark = pytest.mark.asyncio


def no_secret(_name):
    return None


@contextlib.asynccontextmanager
async def closed_dispatch(database, *, tenants=True):
    """A store with one closed dispatch whose agent server does not answer, and the worker that looks back."""
    url = f"http://127.0.0.1:{free_port()}"
    store, agents = await open_store(database), Agents(no_secret)
    text = make_text(url=f'"{url}"') if tenants else make_text(name="globex")
    async with store.begin() as tx:
        await policies.apply(tx, text=text, digest=text_digest(text), by="test")
    claim = await given_claim(store, target=target(url))
    async with store.begin() as tx:
        armed = await arm(tx, claim, body_hash="b")
        sent = await accept(tx, armed, run_id="run-1")
        assert await close(tx, sent, to=ReviewState.RESUMED, why="")
    try:
        yield store, Lookback(store, Policies(), agents, lambda: None)
    finally:
        await agents.close()
        await store.close()


def target(url):
    return Target(url, "aegra", "approvals", "agent_platform")


async def left(store):
    async with store.read() as tx:
        return [row.look_at - tx.now for row in await tx.conn.execute(select(lookbacks))]


async def test_a_server_that_is_away_is_looked_at_later(database):
    async with closed_dispatch(database) as (store, worker):
        store.offset_ms = 1_000
        await worker.step()

        (again,) = await left(store)

    assert AGAIN_MS - 10_000 < again <= AGAIN_MS


async def test_after_a_day_nobody_looks_back_any_more(database):
    async with closed_dispatch(database) as (store, worker):
        store.offset_ms = GIVE_UP_MS + 1_000
        await worker.step()

        assert await left(store) == []


async def test_a_tenant_that_the_policy_no_longer_has_is_not_looked_back_at(database):
    async with closed_dispatch(database, tenants=False) as (store, worker):
        store.offset_ms = 1_000
        await worker.step()

        assert await left(store) == []
