"""`placet demo`: a local Slack, a local agent server and the bot, over their real protocols, on loopback.

Nothing to sign up for and nothing left behind: everything lives in a temporary folder. The only module outside the sandbox
that knows the sandbox; `placet serve` never loads it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import signal
import tempfile
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path

import httpx
import structlog
from sqlalchemy import select

from bot.app import Placet, compose
from bot.errors import ConfigurationError
from bot.sandbox.agents.app import create_app as create_agent
from bot.sandbox.agents.propose import propose
from bot.sandbox.page.panel import PanelRecord
from bot.sandbox.page.routes import ASKER, pages
from bot.sandbox.serving import listen, serving
from bot.sandbox.slack.app import create_app as create_slack
from bot.sandbox.slack.seed import APPROVALS, make_world
from bot.sandbox.slack.world import World
from bot.settings import Settings, read
from bot.store import policies
from bot.store.engine import Store
from bot.store.policies import text_digest
from bot.store.tables import audit_events
from bot.store.upgrade import open_store

log = structlog.get_logger("placet")

TELLING = ("high-risk", "ask", "three", "email")  # a long one of high risk, a question, a batch, a harmless one
CARD_WAIT_S = 5.0
RECORDED = 20

POLICY = """\
version: 1
operators: [U0ADA]
tenants:
  demo:
    slack: {{team: T0DEMO, channel: C0APPROVALS}}
    agent:
      url: {agent}
      kind: langgraph
      users: [approvals]
      assistant: agent_platform
    intake_token_env: PLACET_INTAKE_DEMO
    watch: {{every: 1s}}
    settle_for: 5s
    decide_within: 24h
    requester: metadata.slack_user
    reviewers:
      - {{user: U0ADA, tools: ["*"], may: [approve, edit, reject, respond, reveal]}}
      - {{group: S0SUPPORT, tools: [disable_user, "send_*", "ask_*", refund], may: [approve, edit, reject, respond]}}
      - {{user: U0BEN, tools: ["*"], may: [reject]}}
    tools:
      disable_user: {{title: Disable user}}
      send_email: {{title: Send an email}}
      execute_sql: {{title: Run SQL, risk: high}}
      refund: {{title: Refund an order, result: first_lines}}
      ask_user: {{title: A question to a person}}
"""


@dataclass(frozen=True, slots=True)
class Demo:
    """What runs."""

    page: str
    bot: str
    agent: str
    effects: Path
    placet: Placet
    world: World


class Record:
    """The newest of what the bot has put on record, for the page to show; nothing until there is a store."""

    store: Store | None = None

    async def newest(self) -> list[PanelRecord]:
        """The newest events first."""
        if self.store is None:
            return []
        columns = audit_events.c
        newest = select(columns.at, columns.actor, columns.kind, columns.position).order_by(columns.id.desc())
        async with self.store.read() as tx:
            found = await tx.conn.execute(newest.limit(RECORDED))
            return [
                PanelRecord(
                    at // 1000, actor.rpartition("/")[2], kind if position is None else f"{kind}, call {position + 1}"
                )
                for at, actor, kind, position in found
            ]


@contextlib.asynccontextmanager
async def running(*, port: int, bot_port: int | None = None, transport: str = "http") -> AsyncIterator[Demo]:
    """Run the three of them until the block ends.

    The page and the sandbox's control stand on `port`, the bot's own HTTP on `bot_port` (0: any free port; default the
    one after `port`). Raises `ConfigurationError` for a port that is taken.
    """
    wanted = bot_port if bot_port is not None else port + 1 if port else 0
    for one in (port, wanted):
        _require_free(one)
    async with contextlib.AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="placet-demo-")))
        effects = folder / "effects.jsonl"
        effects.touch()
        agent = await stack.enter_async_context(
            serving(create_agent(database=folder / "agent.sqlite", effects_file=effects))
        )
        world, record = make_world(transport="socket" if transport == "socket" else "http"), Record()
        workspace = create_slack(world, agent_url=agent, effects_file=effects, pages=pages(record.newest))
        slack = await stack.enter_async_context(serving(workspace, port))
        record.store = store = await open_store(f"sqlite+aiosqlite:///{folder / 'placet.db'}", exclusive=True)
        async with store.begin() as tx:
            text = POLICY.format(agent=agent)
            await policies.apply(tx, text=text, digest=text_digest(text), by="demo")
        placet = await compose(demo_settings(slack, socket_mode=transport == "socket"), store)
        stack.push_async_callback(placet.stop)
        bot = await stack.enter_async_context(serving(placet.web, wanted))
        world.app = replace(world.app, bot_url=f"{bot}/slack/events")
        await placet.start()
        yield Demo(slack, bot, agent, effects, placet, world)


def demo_settings(slack: str, *, socket_mode: bool = False) -> Settings:
    """Settings of the local workspace: its tokens are well known and open nothing else."""
    environ = {
        "SLACK_BOT_TOKEN": "xoxb-demo",
        "SLACK_SIGNING_SECRET": "demo-signing-secret",
        "PLACET_SLACK_API_URL": f"{slack}/api/",
        "PLACET_INTAKE_DEMO": "demo-intake-token-for-loopback-only",
    }
    if socket_mode:
        environ["SLACK_APP_TOKEN"] = "xapp-demo"  # noqa: S105 - opens the sandbox only
    return read(environ)


def _require_free(port: int) -> None:
    try:
        listen(port).close()
    except OSError as exc:
        raise ConfigurationError(
            f"port {port} on 127.0.0.1 is taken: stop what uses it, or choose another with --port."
        ) from exc


async def propose_telling(demo: Demo) -> None:
    """Let the agent propose a few calls that show what there is, one after the other, so that cards keep this order."""
    async with httpx.AsyncClient(base_url=demo.agent, trust_env=False) as client:
        for preset in TELLING:
            before = _cards(demo.world)
            await propose(client, preset=preset, user=ASKER)
            await demo.world.bell.until(lambda before=before: _cards(demo.world) > before, CARD_WAIT_S)  # type: ignore[misc]


def _cards(world: World) -> int:
    return sum(message.thread_ts is None for message in world.messages.get(APPROVALS, {}).values())


async def main(*, port: int, headless: bool) -> None:
    """Run until interrupted; print where to look. Raises `ConfigurationError` where a port is taken."""
    logging.getLogger("uvicorn").setLevel(logging.WARNING)  # three servers would greet
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with running(port=port) as demo:
        telling = asyncio.create_task(_greet(demo, headless=headless))
        await stop.wait()
        logging.getLogger("uvicorn").setLevel(logging.CRITICAL)  # that it cuts off a browser's open request is no fault
        telling.cancel()
        await asyncio.gather(telling, return_exceptions=True)


async def _greet(demo: Demo, *, headless: bool) -> None:
    if headless:
        print(json.dumps({"sandbox": demo.page, "bot": demo.bot, "agent": demo.agent}), flush=True)  # noqa: T201
        return
    print(f"\n  Placet demo: open {demo.page} in a browser. Ctrl-C stops it.\n", flush=True)  # noqa: T201
    try:
        await propose_telling(demo)
    except httpx.HTTPError:
        log.exception("The first calls could not be proposed.", action="not_proposed")
