"""What the cases that need the running bot share: an office on SQLite, people at their clients, and forged requests.

A forged request is signed with the workspace's own secret and could not come from Slack all the same: it is what a
button looks like that is no longer on the screen, or what an attacker with the secret's rights in another workspace has.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
from sqlalchemy import func, select

from bot.app import Placet, compose
from bot.sandbox.serving import serving
from bot.sandbox.slack.rules import Rules
from bot.store import messages, tenants
from bot.store.tables import audit_events
from bot.store.upgrade import open_store
from tests.kit.agent_relay import Relay, relaying
from tests.kit.office import ADA, CHANNEL, FROZEN_S, AgentServer, Office, buttons, local_agent, open_office, policy_text

TEAM = "T0DEMO"
# Patient people: on a busy machine nothing of Slack's three seconds is what a case is about, unless it says so.
PATIENT = Rules(ack_seconds=20.0, trigger_seconds=60.0, quiet_seconds=1.0, opening_seconds=20.0)


@contextlib.asynccontextmanager
async def office_in(
    folder: Path,
    *,
    kind: str = "langgraph",
    transport: str = "http",
    replicas: int = 1,
    lease_ms: int = 15_000,
    rules: Rules = PATIENT,
    **lines: Any,
) -> AsyncIterator[Office]:
    """An office on SQLite with a local agent server; policy lines go to `policy_text`."""
    async with local_agent(folder, kind=kind) as agent:
        policy = policy_text(agent.url, kind=kind, **lines)
        opened = open_office(
            database_in(folder),
            agent,
            transport=transport,
            replicas=replicas,
            policy=policy,
            lease_ms=lease_ms,
            rules=rules,
        )
        async with opened as office:
            yield office


@contextlib.asynccontextmanager
async def relayed_office_in(
    folder: Path, *, kind: str = "langgraph", lease_ms: int = 15_000, **lines: Any
) -> AsyncIterator[tuple[Office, Relay]]:
    """As `office_in`, with a relay between the bot and the agent server."""
    async with local_agent(folder, kind=kind) as server, relaying(server.url) as relay:
        agent = AgentServer(relay.url, server.effects_file, kind)
        policy = policy_text(relay.url, kind=kind, **lines)
        opened = open_office(database_in(folder), agent, policy=policy, lease_ms=lease_ms, rules=PATIENT)
        async with opened as office:
            yield office, relay


def database_in(folder: Path) -> str:
    """The office's database."""
    return f"sqlite+aiosqlite:///{folder / 'placet.db'}"


# -- stopping and starting


async def crashed(placet: Placet) -> None:
    """End a replica as a kill would: nothing is finished, nothing is written any more.

    A killed process lets go of the file; a cancelled task would leave its half transaction behind in this one. So the
    blow falls between two transactions.
    """
    if placet.socket is not None:
        await placet.socket.close_async()
    tasks = [*placet._running, *placet.dispatches._running, *placet.tasks._running]
    async with placet.store._gate:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    await placet.store.close()


@contextlib.asynccontextmanager
async def restarted(
    office: Office, folder: Path, *, crash: bool | None = False, lease_ms: int = 15_000
) -> AsyncIterator[Placet]:
    """End the office's only replica and start another on the same database; Slack speaks to that one.

    `crash=None`: it has ended already.
    """
    if crash is not None:
        await (crashed(office.replicas[0]) if crash else office.replicas[0].stop())
    placet = await compose(office.settings, await open_store(database_in(folder)), lease_ms=lease_ms)
    placet.agents.send_settings = replace(placet.agents.send_settings, frozen=FROZEN_S)
    async with serving(placet.web) as url, httpx.AsyncClient(base_url=url, timeout=30) as bot:
        if office.world.app.transport == "http":
            office.world.listen_at(f"{url}/slack/events")
        office.replicas[:], office.stores[:], office.bots[:] = [placet], [placet.store], [bot]
        await placet.start()
        try:
            yield placet
        finally:
            await placet.stop()


# -- people


async def approve(office: Office, user: str, card: dict[str, Any]) -> dict[str, Any]:
    """Press Approve; nothing opens."""
    return await office.click(user, card, "decide.approve", wait_s=0)


async def opened(office: Office, user: str, card: dict[str, Any], action_id: str, **more: Any) -> dict[str, Any]:
    """Press a button that opens a modal, and wait for it."""
    answer = await office.click(user, card, action_id, **{"wait_s": 20, **more})
    assert answer["view"] is not None, answer
    return dict(answer["view"])


async def edited(office: Office, user: str, card: dict[str, Any], arguments: str) -> dict[str, Any]:
    """Press Edit, type all arguments as JSON, submit; the window then shows the difference and waits for its approval."""
    view = await as_json(office, user, await opened(office, user, card, "decide.edit"))
    answer = await office.submit(user, {fields(view, "e")[0]: arguments})
    assert answer["view"]["callback_id"] == "edit.confirm", answer
    return dict(answer["view"])


async def as_json(office: Office, user: str, view: dict[str, Any]) -> dict[str, Any]:
    """The form of an edit with all arguments in one input."""
    if fields(view, "e"):
        return view
    button_block = next(block["block_id"] for block in view["blocks"] if "edit.json" in json.dumps(block))
    return dict((await office.press(user, view, "edit.json", button_block, wait_s=20))["view"])


def fields(view: dict[str, Any], kind: str) -> list[str]:
    """The block ids of a modal's inputs of one kind: `d` a decision, `m` a message, `e` JSON text."""
    inputs = [block["block_id"] for block in view["blocks"] if block["type"] == "input"]
    return [block_id for block_id in inputs if block_id.startswith(f"{kind}.")]


async def said(office: Office, user: str, card: dict[str, Any], kind: str, text: str) -> dict[str, Any]:
    """Press Reject or Respond and say this."""
    view = await opened(office, user, card, f"decide.{kind}")
    return await office.submit(user, {fields(view, "m")[0]: text})


async def modal(office: Office, user: str) -> dict[str, Any]:
    """The modal in front of somebody: `view`, `stack`, `state`, `errors`, `notice`."""
    return dict((await office.slack.get("/sandbox/modal", params={"user": user})).raise_for_status().json())


async def change(office: Office, what: str, **body: Any) -> dict[str, Any]:
    """One of the workspace's control endpoints."""
    return dict((await office.slack.post(f"/sandbox/{what}", json=body)).raise_for_status().json())


async def calls(office: Office, method: str, *, well: bool | None = None) -> list[dict[str, Any]]:
    """The Web API calls of one method so far; `well` picks those that went well, or did not."""
    told = (await office.slack.get("/sandbox/calls", params={"method": method})).raise_for_status().json()
    return [call for call in told if well is None or (call["error"] is None) is well]


async def deliveries(office: Office, kind: str) -> list[dict[str, Any]]:
    """What was sent to the bot, of one kind."""
    return list((await office.slack.get("/sandbox/deliveries", params={"kind": kind})).raise_for_status().json())


async def replay(office: Office, delivery: dict[str, Any]) -> dict[str, Any]:
    """Send a delivery again, signed now."""
    return await change(office, "replay", number=delivery["number"], fresh=True)


def deciding(message: dict[str, Any]) -> list[str]:
    """The buttons of a message that lead to a decision."""
    return [action_id for action_id in buttons(message) if action_id.startswith(("decide.", "review."))]


# -- forged requests


def button(card: dict[str, Any], action_id: str | None = None) -> dict[str, Any]:
    """A button of a message, by its action id or the first there is, with its block's id."""
    found = [
        {**element, "block_id": block["block_id"]}
        for block in card["blocks"]
        if block["type"] == "actions"
        for element in block["elements"]
    ]
    return next(one for one in found if action_id in (None, one["action_id"]))


def press_of(
    card: dict[str, Any],
    action_id: str,
    *,
    user: str = ADA,
    team: str | None = TEAM,
    home: str | None = TEAM,
    value: str | None = None,
    **more: Any,
) -> dict[str, Any]:
    """A block_actions payload as it would come from a message, whether or not it holds such a button now."""
    pressed = {
        "type": "button",
        "action_id": action_id,
        "block_id": "act",
        "value": button(card)["value"] if value is None else value,
        "action_ts": f"{card['ts']}9",
    }
    return {
        "type": "block_actions",
        "team": {"id": team, "domain": "x"} if team else None,
        "user": {"id": user, "username": "x", "name": "x", **({"team_id": home} if home else {})},
        "api_app_id": "A0PLACET",
        "container": {"type": "message", "message_ts": card["ts"], "channel_id": CHANNEL, "is_ephemeral": False},
        "channel": {"id": CHANNEL, "name": "approvals"},
        "message": {"type": "message", "ts": card["ts"], "text": "x"},
        "trigger_id": "1.2.x",
        "response_url": "http://127.0.0.1:9/none",
        "actions": [pressed],
        **more,
    }


# -- what is stored


async def events(office: Office, *kinds: str) -> list[Any]:
    """The record's events of these kinds, oldest first."""
    columns = select(audit_events).where(audit_events.c.kind.in_(kinds)).order_by(audit_events.c.id)
    async with office.stores[0].read() as tx:
        return list((await tx.conn.execute(columns)).all())


async def recorded(office: Office) -> int:
    """How many events the record holds."""
    async with office.stores[0].read() as tx:
        return int(await tx.conn.scalar(select(func.count()).select_from(audit_events)) or 0)


async def decisions(office: Office) -> int:
    """How many decisions were recorded."""
    return len(await events(office, "decision.made"))


async def rows_of(office: Office, review: Any) -> list[messages.Message]:
    """The outbox's rows of a review."""
    async with office.stores[0].read() as tx:
        return await messages.messages_of(tx, review.id)


async def posted(office: Office, thread: str) -> list[messages.Message]:
    """Wait until every message of a thread's reviews is known to stand in Slack."""

    async def there() -> list[messages.Message]:
        rows = [row for review in await office.reviews(thread) for row in await rows_of(office, review)]
        return rows if all(row.ts and row.state == "posted" for row in rows) else []

    return list(await office.until(there, f"the cards of {thread} to be known"))


async def fault_of(office: Office, tenant: str = "demo") -> str | None:
    """What ails a tenant, as an operator is told."""
    async with office.stores[0].read() as tx:
        found = (await tenants.faults(tx)).get(tenant)
    return found.code if found else None
