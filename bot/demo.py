"""`placet demo`: a local Slack, a local agent server and the bot, over their real protocols, on loopback.

Nothing to sign up for and nothing left behind: everything lives in a temporary folder. The only module outside the sandbox
that knows the sandbox; `placet serve` never loads it.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import tempfile
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path

import structlog

from bot.app import Placet, compose
from bot.errors import ConfigurationError
from bot.policies import text_digest
from bot.sandbox.agent.app import create_app as create_agent
from bot.sandbox.serving import listen, serving
from bot.sandbox.slack.app import create_app as create_slack
from bot.sandbox.slack.seed import make_world
from bot.settings import Settings, read
from bot.store import policies
from bot.store.opening import open_store

log = structlog.get_logger("placet")

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
        world = make_world(transport="socket" if transport == "socket" else "http")
        slack = await stack.enter_async_context(
            serving(create_slack(world, agent_url=agent, effects_file=effects), port)
        )
        store = await open_store(f"sqlite+aiosqlite:///{folder / 'placet.db'}", exclusive=True)
        async with store.begin() as tx:
            text = POLICY.format(agent=agent)
            await policies.apply(tx, text=text, digest=text_digest(text), by="demo")
        placet = await compose(demo_settings(slack, socket_mode=transport == "socket"), store)
        stack.push_async_callback(placet.stop)
        bot = await stack.enter_async_context(serving(placet.web, wanted))
        world.app = replace(world.app, bot_url=f"{bot}/slack/events")
        await placet.start()
        yield Demo(slack, bot, agent, effects, placet)


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


async def main(*, port: int, headless: bool) -> None:
    """Run until interrupted; print where to look."""
    async with running(port=port) as demo:
        if headless:
            print(json.dumps({"sandbox": demo.page, "bot": demo.bot, "agent": demo.agent}), flush=True)  # noqa: T201
        else:
            print(f"\n  Placet demo: open {demo.page} in a browser. Ctrl-C stops it.\n", flush=True)  # noqa: T201
        await asyncio.Event().wait()
