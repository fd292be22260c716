"""Setting a chaos run up: database, Slack, wires, people, and the processes that will be killed.

Slack stands in this process, and so do the wires; the replicas and the agent server are processes of their own, started
as an operator starts them. Nothing here kills or judges anything.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import httpx

from bot.sandbox.serving import serving
from bot.sandbox.slack.app import create_app as create_slack
from bot.sandbox.slack.rules import Rules
from bot.sandbox.slack.seed import make_world
from bot.store import policies
from bot.store.engine import Store
from bot.store.policies import text_digest
from bot.store.upgrade import migrate, open_store
from tests.chaos import odds, stored
from tests.chaos.agents import MANNERS, agent_program
from tests.chaos.people import REVIEWERS, Crowd, hire
from tests.chaos.plan import AGENT, REPLICAS, Plan
from tests.chaos.processes import Executioner, Process, python
from tests.chaos.wire import Wire
from tests.kit.engines import DRIVER
from tests.kit.office import CHANNEL
from tests.kit.postgres import Postgres, free_port

SECRET_KEY = "chaos-secret-key"


@dataclass(slots=True)
class Timeline:
    """What happened, in order, for whoever has to explain a failure."""

    began: float = field(default_factory=time.monotonic)
    lines: list[str] = field(default_factory=list)

    def tell(self, what: str) -> None:
        """Note it, with its time."""
        self.lines.append(f"{time.time():.3f} +{time.monotonic() - self.began:7.2f} {what}")


@dataclass(frozen=True, slots=True)
class Setting:
    """What a run is set up with: where its files go, which agent server (a key of `MANNERS`), what its wire is."""

    folder: Path
    postgres: Postgres
    server: str = "sandbox"
    to_agent: type[Wire] = Wire

    @property
    def kind(self) -> str:
        """What a policy calls the agent server."""
        return MANNERS[self.server]


@dataclass(slots=True)
class Stage:
    """What a run is made of."""

    plan: Plan
    setting: Setting
    database: str
    store: Store
    processes: dict[str, Process]
    crowd: Crowd
    wires: Sequence[Wire]
    executioner: Executioner
    timeline: Timeline
    counts: Counter[str]

    @property
    def effects_file(self) -> Path:
        """A line for each real execution of a tool."""
        return self.setting.folder / "effects.jsonl"


@contextlib.asynccontextmanager
async def staged(plan: Plan, setting: Setting) -> AsyncIterator[Stage]:
    """Everything started and answering."""
    async with contextlib.AsyncExitStack() as stack:
        timeline, counts = Timeline(), Counter[str]()
        ports = {name: free_port() for name in (*REPLICAS, AGENT)}
        world = make_world(rules=Rules(retry_delays=(0.0, 2.0, 5.0)))
        hire(world)
        slack = await stack.enter_async_context(serving(create_slack(world)))
        wires = _wires(plan, setting, ports, int(slack.rpartition(":")[2]), timeline)
        for wire in wires:
            await stack.enter_async_context(wire.listening())
        to_agent, to_slack, to_bot = wires
        world.listen_at(f"{to_bot.url}/slack/events")
        database, store = await _database(setting, to_agent.url)
        stack.push_async_callback(store.close)
        processes = _processes(setting, ports, _environment(database, to_slack.url), timeline, counts)
        agents = httpx.AsyncClient(base_url=f"http://127.0.0.1:{ports[AGENT]}", timeout=20, trust_env=False)
        stack.push_async_callback(agents.aclose)
        crowd = Crowd(world, agents, partial(stored.is_decided, store), timeline.tell)
        executioner = Executioner(processes, timeline.tell, counts)
        to_agent.passing = lambda _: executioner.resume_passes()
        for process in processes.values():
            await process.start()
            stack.push_async_callback(process.end)
        await asyncio.gather(*(process.answering() for process in processes.values()))
        timeline.began = time.monotonic()
        yield Stage(plan, setting, database, store, processes, crowd, wires, executioner, timeline, counts)


def _wires(
    plan: Plan, setting: Setting, ports: dict[str, int], slack: int, timeline: Timeline
) -> tuple[Wire, Wire, Wire]:
    turns = itertools.count()

    def in_turn() -> list[int]:
        first = next(turns) % len(REPLICAS)
        return [ports[REPLICAS[first]], ports[REPLICAS[1 - first]]]

    more = {"bound": odds.WITHIN_S, "told": timeline.tell}
    return (
        setting.to_agent("bot to agent", plan.seed, lambda: [ports[AGENT]], odds.at_agent, **more),
        Wire("bot to Slack", plan.seed, lambda: [slack], lambda _: odds.CALLS, **more),
        Wire("Slack to bot", plan.seed, in_turn, lambda _: odds.DELIVERIES, **more),
    )


async def _database(setting: Setting, agent: str) -> tuple[str, Store]:
    """A fresh database with the policy in force: its URL, and a store of our own for looking."""
    url = setting.postgres.url(setting.postgres.new_database("chaos"), driver=DRIVER)
    await migrate(url)
    store, text = await open_store(url), policy(agent, setting.kind)
    async with store.begin() as tx:
        await policies.apply(tx, text=text, digest=text_digest(text), by="test")
    return url, store


def policy(agent: str, kind: str) -> str:
    """One tenant whose reviewers may do everything."""
    reviewers = "\n".join(
        f'      - {{user: {user}, tools: ["*"], may: [approve, edit, reject, respond]}}' for user in REVIEWERS
    )
    return f"""\
version: 1
operators: [U0ADA]
tenants:
  demo:
    slack: {{team: T0DEMO, channel: {CHANNEL}}}
    agent: {{url: "{agent}", kind: {kind}, users: [approvals], assistant: agent_platform}}
    watch: {{every: 1s}}
    settle_for: {odds.SETTLE_S:.0f}s
    reviewers:
{reviewers}
    tools:
      "*": {{decisions: [approve, reject]}}
"""


def _environment(database: str, slack: str) -> dict[str, str]:
    return {
        "PLACET_DATABASE_URL": database,
        "PLACET_LOG": "json",
        "PLACET_SECRET_KEY": SECRET_KEY,
        "PLACET_SLACK_API_URL": f"{slack}/api/",
        "SLACK_BOT_TOKEN": "xoxb-demo",
        "SLACK_SIGNING_SECRET": "demo-signing-secret",
    }


def _processes(
    setting: Setting, ports: dict[str, int], served: dict[str, str], timeline: Timeline, counts: Counter[str]
) -> dict[str, Process]:
    folder, keep = setting.folder, partial(Process, told=timeline.tell, counts=counts)
    agent = agent_program(setting.server, ports[AGENT], folder=folder, postgres=setting.postgres)
    made = {AGENT: keep(AGENT, agent.command, agent.environment, folder / "agent.log", ports[AGENT], cwd=agent.cwd)}
    for name in REPLICAS:
        environment = served | {"PLACET_PORT": str(ports[name])}
        log = folder / f"{name.replace(' ', '-')}.log"
        made[name] = keep(name, python("-m", "bot", "serve"), environment, log, ports[name])
    return made
