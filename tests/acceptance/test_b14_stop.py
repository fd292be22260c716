"""B14 stop: a paused tenant sends nothing, loses nothing, and says so."""

from __future__ import annotations

import pytest

from bot.errors import ConfigurationError
from bot.store import dispatches, tenants
from bot.store.audit import seal
from tests.kit.office import ADA, policy_text
from tests.kit.operating import ask, command
from tests.kit.steps import heard, opened, redrawn, stands

pytestmark = pytest.mark.asyncio


@pytest.mark.parametrize("name", ["demo", "*"])
async def test_b14_stop_a_paused_tenant_sends_nothing_and_keeps_what_was_decided(office_of, name):
    async with office_of() as office:
        told = await ask(office, "pause", tenant=name)
        thread = await office.propose("one")
        (review,) = await opened(office, thread)
        card = await redrawn(office, review, "Sending is paused")

        await office.click(ADA, card, "decide.approve")
        await stands(office, review, "decided")
        office.advance(60_000)
        await stands(office, review, "decided")
        assert heard(office, thread) == []

        again = await ask(office, "resume", tenant=name)
        office.wake()
        await stands(office, review, "resumed")
        assert office.ran() == ["disable_user"]
        assert (told["ok"], again["ok"]) == (True, True)


async def test_b14_stop_a_claim_from_before_the_pause_is_given_back(office_of):
    async with office_of() as office:
        thread = await office.propose("one")
        (review,) = await opened(office, thread)
        await ask(office, "pause", tenant="demo")
        await office.click(ADA, await office.card_of(review, button="decide.approve"), "decide.approve")
        await stands(office, review, "decided")
        # A worker that claimed just before the pause, and died.
        async with office.stores[0].begin() as tx:
            await tenants.resume(tx, "demo", by="test")
            claim = await dispatches.claim_next(tx, owner="dead", lease_ms=1)
            await tenants.pause(tx, "demo", by="test")
        assert claim is not None

        office.advance(5_000)
        await stands(office, review, "decided", why="paused")
        async with office.stores[0].begin() as tx:
            assert await dispatches.arm(tx, claim, body_hash="b") is None

        assert heard(office, thread) == []
        await ask(office, "resume", tenant="demo")
        office.advance(5_000)
        await stands(office, review, "resumed")
        assert office.ran() == ["disable_user"]


async def test_b14_stop_an_unknown_tenant_is_named_and_nothing_is_paused(office_of, database):
    async with office_of() as office:
        with pytest.raises(ConfigurationError, match=r"The policy has no tenant nobody: it has demo\."):
            await command(office, database, "pause", tenant="nobody")

        async with office.stores[0].read() as tx:
            assert await tenants.paused(tx) == {}
            assert "nobody" not in await seal.chains(tx)


async def test_b14_stop_after_a_restore_decisions_are_asked_anew_before_anything_is_sent(office_of):
    async with office_of() as office:
        thread = await office.propose("one")
        (review,) = await opened(office, thread)
        await ask(office, "pause", tenant="demo")
        await office.click(ADA, await office.card_of(review, button="decide.approve"), "decide.approve")
        await stands(office, review, "decided")

        told = await ask(office, "restore")
        await ask(office, "resume", tenant="demo")
        await stands(office, review, "open", why="voided_restore")

        assert told == {"ok": True, "text": "1 unsettled reviews were looked at again."}
        assert heard(office, thread) == []


async def test_b14_stop_after_a_restore_everything_stays_paused_while_a_thread_cannot_be_read(office_of):
    async with office_of() as office:
        thread = await office.propose("one")
        await opened(office, thread)
        good = policy_text(office.agent.url, kind=office.agent.kind)
        await office.apply_policy(good.replace("agent_platform,", "agent_platform, api_key_env: PLACET_AGENT_KEY_X,"))

        told = await ask(office, "restore")
        async with office.stores[0].read() as tx:
            held = await tenants.paused(tx)
        await office.apply_policy(f"# mended\n{good}")
        again = await ask(office, "restore")
        async with office.stores[0].read() as tx:
            free = await tenants.paused(tx)

        assert not told["ok"]
        assert "PLACET_AGENT_KEY_X" in told["text"]
        assert held["*"].by == "restore"
        assert again["ok"]
        assert free == {}
