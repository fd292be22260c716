"""Whole approvals in a running office: real graphs pause, a card appears, somebody presses, the graph goes on.

The office's Slack and agent server share this process with the bot, as the floors do: what they take themselves is on both
sides of a ratio.
"""

from __future__ import annotations

import contextlib
import json
import tempfile
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import httpx
from sqlalchemy import exists, select, text

from blocks.cards import call_card
from blocks.models import CallView
from bot.core.model import Review
from bot.sandbox.agents.app import create_app
from bot.sandbox.agents.propose import propose
from bot.sandbox.serving import serving
from bot.sandbox.slack.seed import BOT_TOKEN
from bot.store import messages
from bot.store.tables import UNSEALED, audit_events
from tests.bench.presses import ARGS, deliver, press
from tests.bench.rooms import Engine, Heard, until
from tests.bench.table import Line, held, p50, spread
from tests.kit.office import CHANNEL, CLEO, AgentServer, Office, open_office

APPROVALS = 12
WRITES = frozenset({"chat.postMessage", "chat.update", "chat.postEphemeral", "chat.delete"})
WRITES_MOST = 2
SEALED_MS = 1_000
BENCH = {"X-User-Id": "bench"}  # an identity that the bot does not watch


@dataclass(slots=True)
class Taken:
    """Milliseconds of every approval, and the writes to Slack of each."""

    card: list[float] = field(default_factory=list)
    resume: list[float] = field(default_factory=list)
    seal: list[float] = field(default_factory=list)
    bare_card: list[float] = field(default_factory=list)
    bare_resume: list[float] = field(default_factory=list)
    writes: list[int] = field(default_factory=list)


@dataclass(slots=True)
class Scene:
    """An office and the ear at its agent server."""

    office: Office
    heard: Heard


async def approvals(engine: Engine) -> list[Line]:
    """Interrupt to card, click to accepted resume, writes per approval, seal lag."""
    taken = Taken()
    async with _context(engine) as context:
        await _approve(context, Taken())  # the first one also fills caches
        for _ in range(APPROVALS):
            await _bare(context, taken)
            await _approve(context, taken)
    return _lines(engine.name, taken)


@contextlib.asynccontextmanager
async def _context(engine: Engine) -> AsyncIterator[Scene]:
    with tempfile.TemporaryDirectory(prefix="placet-bench-") as folder:
        effects = Path(folder) / "effects.jsonl"
        heard = Heard(create_app(database=Path(folder) / "agent.sqlite", effects_file=effects))
        async with serving(heard) as url, open_office(engine.fresh(), AgentServer(url, effects)) as office:
            yield Scene(office, heard)


async def _approve(context: Scene, taken: Taken) -> None:
    office = context.office
    thread = await _paused(context, "approvals")
    seen, began = len(office.world.calls), time.time()
    await office.hint(thread)
    posted = await until(lambda: _called(office, seen), "the card")
    taken.card.append((posted - began) * 1000)
    showing = await office.until(lambda: _showing(office, thread), "the card's showing", every=0.005)
    pressed = time.perf_counter()
    await deliver(office.replicas[0].web, press(showing))
    accepted = await until(lambda: context.heard.last(f"{thread}/runs/wait", answered=True), "the resume")
    taken.resume.append((accepted - pressed) * 1000)
    await office.until(lambda: _sealed(office), "all to be sealed", every=0.02)
    taken.seal.append((time.perf_counter() - accepted) * 1000)
    [review] = await office.settled(thread)
    await office.until(lambda: _drawn(office, review), "the card to show the outcome")
    taken.writes.append(sum(1 for call in list(office.world.calls)[seen:] if call.method in WRITES))


async def _paused(context: Scene, identity: str) -> str:
    """A thread that waits, of which the bot was not told."""
    office, who = context.office, {"X-User-Id": identity}
    started = await propose(office.agents, preset="one", user=CLEO, identity=identity)
    thread = started["thread_id"]

    async def waits() -> bool:
        row = (await office.agents.get(f"/threads/{thread}", headers=who)).json()
        return bool(row["status"] == "interrupted")

    await office.until(waits, "a pause", every=0.005)
    return thread


def _called(office: Office, seen: int) -> float | None:
    return next((call.at for call in list(office.world.calls)[seen:] if call.method == "chat.postMessage"), None)


async def _showing(office: Office, thread: str) -> str | None:
    found = await office.reviews(thread)
    async with office.stores[0].read() as tx:
        rows = await messages.messages_of(tx, found[0].id) if found else []
    return next((row.showing_id for row in rows if row.state == "posted"), None)


async def _sealed(office: Office) -> bool:
    async with office.stores[0].read() as tx:
        return not await tx.conn.scalar(select(exists().where(text(UNSEALED)).select_from(audit_events)))


async def _drawn(office: Office, review: Review) -> bool:
    async with office.stores[0].read() as tx:
        return all(row.shown == row.wanted for row in await messages.messages_of(tx, review.id))


async def _bare(context: Scene, taken: Taken) -> None:
    """The same answer posted by hand, and a state read and a card posted by hand."""
    office, thread = context.office, await _paused(context, "bench")
    began = time.perf_counter()
    state = (await office.agents.get(f"/threads/{thread}/state", headers=BENCH)).json()
    card = call_card(CallView("s_" + "a" * 26, "disable_user", ARGS, ("approve", "edit", "reject")))
    body = {"channel": CHANNEL, "text": card.text, "blocks": json.dumps(card.blocks)}
    await office.slack.post("/api/chat.postMessage", json=body, headers={"Authorization": f"Bearer {BOT_TOKEN}"})
    taken.bare_card.append((time.perf_counter() - began) * 1000)
    resume = {state["interrupts"][0]["id"]: {"decisions": [{"type": "approve"}]}}
    answer = {"assistant_id": "ops", "command": {"resume": resume}}
    async with httpx.AsyncClient(base_url=office.agent.url, timeout=60, verify=False) as fresh:
        began = time.perf_counter()
        await fresh.post(f"/threads/{thread}/runs/wait", json=answer, headers=BENCH)
    accepted = context.heard.last(f"{thread}/runs/wait", answered=True)
    assert accepted is not None
    taken.bare_resume.append((accepted - began) * 1000)


def _lines(engine: str, taken: Taken) -> list[Line]:
    most = max(taken.writes)
    lag = p50(taken.seal)
    average = sum(taken.writes) / len(taken.writes)
    return [
        held("interrupt → card in Slack", engine, taken.card, taken.bare_card, of="bare read and post"),
        held("click → resume accepted", engine, taken.resume, taken.bare_resume, of="bare resume"),
        Line(
            "writes to Slack for a single approval",
            engine,
            f"{average:.1f} (at most {most})",
            "",
            None,
            f"≤ {WRITES_MOST}",
            most <= WRITES_MOST,
        ),
        Line("seal lag", engine, spread(taken.seal), "", None, f"≤ {SEALED_MS} ms", lag <= SEALED_MS),
    ]
