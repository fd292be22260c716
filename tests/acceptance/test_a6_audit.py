"""A6 audit: from an effect back to who saw and decided what, and nothing of it can be changed unseen."""

from __future__ import annotations

import asyncio
import json

import pytest
from sqlalchemy import delete, select, text, update
from typer.testing import CliRunner

from bot.cli.main import app
from bot.core.model import Outcome, ReviewState
from bot.store import dispatches, policies
from bot.store.audit.seal import head_of, unsealed_tenants
from bot.store.audit.verify import VerifyRequest, verify
from bot.store.rows import metadata
from bot.store.tables import audit_events
from tests.kit.office import ADA
from tests.kit.operating import ask
from tests.kit.steps import blindfold, heard, opened, pause, redrawn, says, stands

pytestmark = pytest.mark.asyncio

DAY_MS = 24 * 3_600_000


async def an_effect(office):
    thread = await office.propose("one")
    (review,) = await opened(office, thread)
    await office.click(ADA, await office.card_of(review, button="decide.approve"), "decide.approve")
    return await stands(office, review, "resumed")


async def sealed(office):
    async def all_sealed():
        async with office.stores[0].read() as tx:
            return not await unsealed_tenants(tx)

    await office.until(all_sealed, "every event to be sealed")


async def placet(database, monkeypatch, *arguments):
    """Run the command line on this office's database."""
    monkeypatch.setenv("PLACET_DATABASE_URL", database)
    return await asyncio.to_thread(CliRunner().invoke, app, list(arguments))


async def test_a6_audit_leads_from_an_effect_back_to_everything_that_led_to_it(office_of):
    async with office_of() as office:
        review = await an_effect(office)
        events = {event.kind: event for event in await office.events(review.id)}
        made, armed = json.loads(events["decision.made"].content), json.loads(events["review.armed"].content)
        (body,) = heard(office, review.thread_id)
        async with office.stores[0].read() as tx:
            policy = await policies.current_version(tx)

        shown = [json.loads(one.content) for one in await office.events(review.id) if one.kind.startswith("showing")]
        assert made["showing"] in [one["showing"] for one in shown]
        assert made["proposed"] == made["shown"] == made["decided"] == review.actions[0].digest
        assert made["person"] == {"team": "T0DEMO", "user": ADA}
        assert made["policy_version"] == policy
        assert made["rule"]
        assert armed["dispatch"] == body.json["config"]["metadata"]["placet_dispatch"]
        assert json.loads(events["review.resumed"].content)["outcomes"] == {"0": "executed"}
        assert [one["tool"] for one in office.effects()] == ["disable_user"]
        assert "u_4821" not in "".join(one.content for one in await office.events(review.id))


async def test_a6_audit_verify_finds_what_was_changed_removed_and_cut(office_of, database, monkeypatch):
    async with office_of() as office:
        await an_effect(office)
        await sealed(office)
        async with office.stores[0].read() as tx:
            kept = await head_of(tx, "demo")

        whole = await placet(database, monkeypatch, "audit", "verify", "--tenant", "demo", "--head", str(kept))
        exported = await placet(database, monkeypatch, "audit", "export")
        async with office.stores[0].begin() as tx:
            await tx.conn.execute(update(audit_events).where(audit_events.c.seq == 3).values(actor="slack:T0/U0EVE"))
        changed = await placet(database, monkeypatch, "audit", "verify", "--json")
        async with office.stores[0].begin() as tx:
            await tx.conn.execute(delete(audit_events).where(audit_events.c.tenant == "demo", audit_events.c.seq > 2))
        cut = await placet(database, monkeypatch, "audit", "verify", "--tenant", "demo", "--head", str(kept))

        assert (whole.exit_code, changed.exit_code, cut.exit_code) == (0, 1, 1), whole.output
        assert {json.loads(line)["tenant"] for line in exported.stdout.splitlines()} >= {"demo", "*"}
        assert "changed" in {one["kind"] for one in json.loads(changed.stdout)["findings"]}
        assert "cut off" in cut.stdout
        assert "has no event" in cut.stdout


async def test_a6_erasure_takes_the_arguments_from_store_cards_and_export_and_the_chain_still_verifies(office_of):
    async with office_of(more="    retain: {arguments: 90d, audit: 7y}\n") as office:
        review = await an_effect(office)
        await sealed(office)
        async with office.stores[0].read() as tx:
            assert "u_4821" in str((await tx.conn.execute(text("SELECT args FROM actions"))).all())

        office.advance(91 * DAY_MS)
        card = await redrawn(office, review, "were erased")
        await sealed(office)

        assert "u_4821" not in says(card)
        async with office.stores[0].read() as tx:
            stored = [str((await tx.conn.execute(select(table))).all()) for table in metadata.tables.values()]
            report = await verify(tx, VerifyRequest())
        assert "u_4821" not in "".join(stored)
        assert report.findings == ()


async def an_unknown_outcome(office):
    """A decision whose dispatch ended without anybody being able to tell; the call still waits."""
    thread = await office.propose("one")
    (review,) = await opened(office, thread)
    await pause(office)
    await office.click(ADA, await office.card_of(review, button="decide.approve"), "decide.approve")
    await stands(office, review, "decided")
    blindfold(office)
    async with office.stores[0].begin() as tx:
        await tx.conn.execute(text("UPDATE tenants SET paused_at = NULL"))
        claim = await dispatches.claim_next(tx, owner="lost", lease_ms=60_000)
        armed = await dispatches.arm(tx, claim, body_hash="b")
        outcomes = {0: (Outcome.UNKNOWN, None)}
        await dispatches.close(tx, armed, to=ReviewState.UNKNOWN, why="not_resent", outcomes=outcomes)
    return await stands(office, review, "unknown")


async def test_a6_unknown_says_so_alarms_once_and_is_never_sent_again_by_itself(office_of):
    async with office_of() as office:
        review = await an_unknown_outcome(office)

        for _ in range(3):
            office.advance(61_000)
            await redrawn(office, review, "Unknown")

        async def alarms():
            return [one for one in await office.messages() if "Nobody can tell" in one["text"]]

        assert len(await office.until(alarms, "the alarm")) == 1
        assert heard(office, review.thread_id) == []
        assert [one.kind for one in await office.events(review.id)].count("dispatch.alarm") == 1


async def test_a6_unknown_is_settled_by_what_the_thread_shows(office_of):
    async with office_of() as office:
        review = await an_unknown_outcome(office)
        mark = {"metadata": {"placet_dispatch": await dispatch_of(office, review)}}
        answer = {"command": {"resume": {review.interrupt_id: {"decisions": [{"type": "approve"}]}}}, "config": mark}
        body = {"assistant_id": "agent_platform", **answer}
        await office.agents.post(
            f"/threads/{review.thread_id}/runs/wait", json=body, headers={"X-User-Id": "approvals"}
        )

        office.advance(61_000)
        settled = await stands(office, review, "resumed")

        assert settled.actions[0].outcome is Outcome.EXECUTED
        assert office.ran() == ["disable_user"]


async def dispatch_of(office, review):
    async with office.stores[0].read() as tx:
        return (await dispatches.load_claim(tx, review.id)).dispatch_id


async def test_a6_unknown_is_settled_as_executed_by_an_operator_with_a_note(office_of):
    async with office_of() as office:
        review = await an_unknown_outcome(office)

        told = await ask(office, "settle", review=review, **{"as": "executed", "note": "seen in the log"})
        settled = await stands(office, review, "resumed", why="settled_executed")
        twice = await ask(office, "settle", review=review, **{"as": "executed", "note": "again"})

        assert told["ok"], told
        assert not twice["ok"]
        assert settled.actions[0].outcome is Outcome.EXECUTED
        event = next(one for one in await office.events(review.id) if one.kind == "review.resumed")
        assert event.actor == "operator:ops"
        assert json.loads(event.content)["note"] == "seen in the log"
        assert office.ran() == []


async def test_a6_unknown_settled_as_not_executed_goes_out_once_while_the_call_still_waits(office_of):
    async with office_of() as office:
        review = await an_unknown_outcome(office)

        told = await ask(office, "settle", review=review, **{"as": "not-executed", "note": "nothing there"})
        office.advance(1_000)
        settled = await stands(office, review, "resumed")

        assert told["ok"], told
        assert settled.actions[0].outcome is Outcome.EXECUTED
        assert office.ran() == ["disable_user"]
        assert len(heard(office, review.thread_id)) == 1
