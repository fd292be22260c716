"""A real `placet serve` on a store with ten thousand open reviews: how soon it dispatches, and how much memory it takes.

Its Slack and its agent server stand in this process. The same start beside no other review is the floor.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import sys
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

from bot.core.model import Decision, DecisionType, PersonId, Target
from bot.sandbox.serving import serving
from bot.sandbox.slack.app import create_app
from bot.sandbox.slack.seed import make_world
from bot.store import policies
from bot.store.decisions import insert_decisions
from bot.store.engine import Store, new_id
from bot.store.policies import text_digest
from bot.store.upgrade import open_store
from tests.bench.crowd import Waiting, interrupt_id, know_people, store_waiting, thread_id, waiting
from tests.bench.rooms import Engine, until
from tests.bench.standin import Standin
from tests.bench.table import Line
from tests.kit.office import policy_text

ROOT = Path(__file__).parents[2]
OPEN = 10_000
MOST_MB = 150
SETTLING_S = 8.0
PATIENCE_S = 60.0


@dataclass(frozen=True, slots=True)
class Served:
    """Seconds until the first dispatch, and megabytes some seconds later: now, and at most since the start."""

    dispatched: float
    resident: float
    peak: float


async def restarts(engine: Engine) -> list[Line]:
    """Restart to first correct dispatch, and memory."""
    alone, crowded = await _served(engine, 0), await _served(engine, OPEN)
    ratio = crowded.dispatched / alone.dispatched
    met = crowded.resident < MOST_MB
    among = f"{OPEN:,} open reviews"
    return [
        Line(
            f"restart → first dispatch among {among}",
            engine.name,
            f"{crowded.dispatched:.1f} s",
            f"with no other {alone.dispatched:.1f} s",
            ratio,
        ),
        Line(
            f"memory of `serve` with {among}",
            engine.name,
            f"{crowded.resident:.0f} MB (peak {crowded.peak:.0f})",
            f"with none {alone.resident:.0f} MB",
            crowded.resident / alone.resident,
            f"< {MOST_MB} MB",
            met,
        ),
    ]


async def _served(engine: Engine, count: int) -> Served:
    url, standin = engine.fresh(), Standin({"approvals": range(count + 1)})
    async with serving(standin) as agent, serving(create_app(make_world())) as slack:
        store = await open_store(url)
        await _seed(store, agent, count)
        await store.close()
        began = time.perf_counter()
        async with _process(url, slack) as pid:
            at, thread, answer = await until(
                lambda: next(iter(standin.resumes), None), "a dispatch", patience=PATIENCE_S
            )
            expected = {interrupt_id(thread_id(0)): {"decisions": [{"type": "approve"}]}}
            assert (thread, answer) == (thread_id(0), expected), "something else was dispatched"
            await asyncio.sleep(SETTLING_S if count else 1)  # as long as it is looked at: nothing ends then
            return Served(at - began, _megabytes(pid, "VmRSS"), _megabytes(pid, "VmHWM"))


async def _seed(store: Store, agent: str, count: int) -> None:
    """One decided review, and so many open ones."""
    text = policy_text(agent)
    async with store.begin() as tx:
        await policies.apply(tx, text=text, digest=text_digest(text), by="bench")
        now = tx.now
    target = Target(agent, "langgraph", "approvals", "agent_platform")
    found = [waiting(thread_id(number), target=target, now=now) for number in range(count + 1)]
    await store_waiting(store, found)
    await know_people(store)
    async with store.begin() as tx:
        assert await insert_decisions(tx, found[0].review, [_approval(found[0], now)], delivery_key="bench")


def _approval(one: Waiting, now: int) -> Decision:
    digest = one.review.actions[0].digest
    by = PersonId("T0DEMO", "U0ADA")
    return Decision(
        new_id("dec"), 0, DecisionType.APPROVE, by, now, one.showing.id, digest, rule="bench", policy_version=1
    )


@contextlib.asynccontextmanager
async def _process(url: str, slack: str) -> AsyncIterator[int]:
    """`placet serve` as an operator starts it; yields its process id."""
    environment = {
        **{name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ},
        "SLACK_BOT_TOKEN": "xoxb-demo",
        "SLACK_SIGNING_SECRET": "demo-signing-secret",
        "PLACET_SLACK_API_URL": f"{slack}/api/",
        "PLACET_DATABASE_URL": url,
        "PLACET_PORT": "0",
        "PLACET_INTAKE_DEMO": "demo-intake-token-for-loopback-only",
    }
    quiet = asyncio.subprocess.DEVNULL
    command = (sys.executable, "-m", "bot", "serve")
    child = await asyncio.create_subprocess_exec(*command, cwd=ROOT, env=environment, stdout=quiet, stderr=quiet)
    try:
        yield child.pid
    finally:
        child.terminate()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(child.wait(), 15)
        if child.returncode is None:
            child.kill()
            await child.wait()


def _megabytes(pid: int, name: str) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(rf"^{name}:\s+(\d+) kB", status, re.MULTILINE)
    assert found is not None
    return int(found[1]) / 1024
