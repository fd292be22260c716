"""The bot as real processes, before a Slack and an agent server that stand in the test: to be killed, stopped, started.

Nothing of the bot is reached into. Where a process stands is known from outside: a request that it sent is held at a gate
(`tests.kit.gate`), or a row that it wants is locked in its database. `Office` gives everything that people and agents do.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from bot.app import LEASE_MS
from bot.demo import demo_settings
from bot.sandbox.agents.app import create_app as create_agent
from bot.sandbox.serving import serving
from bot.sandbox.slack.app import create_app as create_slack
from bot.sandbox.slack.seed import make_world
from bot.store.upgrade import open_store
from tests.kit.gate import Forward, Gate
from tests.kit.office import AgentServer, Office, policy_text
from tests.kit.office_fixtures import PATIENT
from tests.kit.wiretap import Wiretap

LATER_MS = 60_000  # longer than any lease
HOME = Path(__file__).parents[2]


@dataclass(slots=True)
class Warm:
    """The warm interpreter; one for each worker of the test run."""

    process: subprocess.Popen[str]

    def ask(self, **order: Any) -> Any:
        """Give one order and read its answer, which comes at once."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


@pytest.fixture(scope="session")
def warm() -> Iterator[Warm]:
    """Starts processes of the bot in a moment."""
    command = [sys.executable, "-m", "tests.kit.warm"]
    with subprocess.Popen(command, cwd=HOME, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield Warm(process)
        assert process.stdin is not None
        process.stdin.close()


@dataclass(slots=True)
class Running:
    """One process of the bot."""

    warm: Warm
    pid: int
    log: Path
    url: str = ""
    code: int | None = None

    def signal(self, number: signal.Signals) -> None:
        """Send it a signal: SIGKILL, SIGTERM, SIGSTOP, SIGCONT."""
        os.kill(self.pid, number)

    def over(self) -> bool:
        """Whether it has ended; `code` then says how."""
        if self.code is None:
            self.code = self.warm.ask(do="look", pid=self.pid)
        return self.code is not None

    async def ended(self, *, patience: float = 20.0) -> int:
        """Wait for its end; its exit code, or the negative number of the signal."""
        end = asyncio.get_running_loop().time() + patience
        while not self.over():
            assert asyncio.get_running_loop().time() < end, f"the process goes on:\n{self.said()}"
            await asyncio.sleep(0.02)
        assert self.code is not None
        return self.code

    async def asleep(self) -> None:
        """Stop it where it is, as a host does that freezes, and see it standing."""
        self.signal(signal.SIGSTOP)
        await asyncio.to_thread(self._standing)

    def _standing(self) -> None:
        while Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()[0] != "T":
            time.sleep(0.01)

    async def killed(self) -> None:
        """End it as a power cut would, and see it gone."""
        self.signal(signal.SIGKILL)
        assert await self.ended() == -signal.SIGKILL

    def said(self) -> str:
        """Its log, standard output included."""
        return self.log.read_text() if self.log.exists() else ""

    def started(self) -> dict[str, Any] | None:
        """The line of the log that says where it listens."""
        lines = (json.loads(line) for line in self.said().splitlines() if line.startswith("{"))
        return next((line for line in lines if line.get("action") == "started"), None)


@dataclass(slots=True)
class House:
    """An office whose bot runs elsewhere."""

    office: Office
    agent: Gate
    slack: Gate
    front: Gate  # before the bot, for what Slack delivers
    target: Forward
    warm: Warm
    environ: dict[str, str]
    folder: Path
    running: list[Running] = field(default_factory=list)
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    async def start(self, *, lease_ms: int = LEASE_MS, later_ms: int = LATER_MS) -> Running:
        """Start a process on the house's database; people and hints reach this one from now on.

        Each lives `later_ms` after the one before, so that it need not wait for the leases of the dead.
        """
        store = self.office.stores[0]
        store.offset_ms += later_ms if self.running else 0
        process = self.launch(serve={"lease_ms": lease_ms, "offset_ms": store.offset_ms})

        async def up() -> bool:
            assert not process.over(), process.said()
            return process.started() is not None

        await self.office.until(up, "the bot to run")
        process.url = self.target.target = f"http://127.0.0.1:{(process.started() or {})['port']}"
        bot = httpx.AsyncClient(base_url=process.url, timeout=60, verify=False)
        old, self.office.bots[:] = list(self.office.bots), [bot]
        for one in old:
            await one.aclose()
        return process

    def launch(self, *arguments: str, serve: dict[str, int] | None = None, **environ: str) -> Running:
        """Start `placet` with these arguments or, with `serve`, a bot as `bot.serve.serve` is given it."""
        log = self.folder / f"process-{next(self._numbers)}.log"
        order = {"arguments": arguments, "serve": serve, "environ": {**self.environ, **environ}}
        process = Running(self.warm, self.warm.ask(do="start", log=str(log), **order), log)
        self.running.append(process)
        return process

    async def close(self) -> None:
        """End every process that still runs, and close what looks into the database."""
        for process in self.running:
            if not process.over():
                process.signal(signal.SIGKILL)
                await process.ended()
        for bot in self.office.bots:
            await bot.aclose()
        for store in self.office.stores:
            await store.close()


@contextlib.asynccontextmanager
async def house_on(
    database: str, warm: Warm, folder: Path, *, kind: str = "langgraph", **lines: Any
) -> AsyncIterator[House]:
    """Slack, an agent server and a policy; no process of the bot yet. Policy lines go to `policy_text`."""
    effects = folder / "effects.jsonl"
    tapped = Wiretap(create_agent(database=folder / "agent.sqlite", effects_file=effects, kind=kind))
    agent, world = Gate(tapped), make_world(rules=PATIENT)
    async with contextlib.AsyncExitStack() as stack:
        agent_url = await stack.enter_async_context(serving(agent))
        slack = Gate(create_slack(world, agent_url=agent_url, effects_file=effects))
        slack_url = await stack.enter_async_context(serving(slack))
        target = Forward()
        front = Gate(target.app())
        world.listen_at(f"{await stack.enter_async_context(serving(front))}/slack/events")
        policy = folder / "policy.yaml"
        policy.write_text(policy_text(agent_url, kind=kind, **lines))
        store = await open_store(database)
        stack.push_async_callback(store.close)
        clients = [httpx.AsyncClient(base_url=url, timeout=60, verify=False) for url in (slack_url, agent_url)]
        clients[0].headers["Content-Type"] = "application/json"
        for client in clients:
            stack.push_async_callback(client.aclose)
        settings = demo_settings(slack_url)
        office = Office(world, AgentServer(agent_url, effects, kind, tapped.heard), *clients, [], [], [store], settings)
        house = House(office, agent, slack, front, target, warm, _environ(database, slack_url, policy), folder)
        stack.push_async_callback(house.close)
        yield house


def _environ(database: str, slack_url: str, policy: Path) -> dict[str, str]:
    return {
        "SLACK_BOT_TOKEN": "xoxb-demo",
        "SLACK_SIGNING_SECRET": "demo-signing-secret",
        "PLACET_SLACK_API_URL": f"{slack_url}/api/",
        "PLACET_INTAKE_DEMO": "demo-intake-token-for-loopback-only",
        "PLACET_DATABASE_URL": database,
        "PLACET_POLICY": str(policy),
        "PLACET_PORT": "0",
        "PLACET_LOG": "json",
    }


@pytest.fixture
def house_of(database, warm, tmp_path):
    """A factory: `async with house_of(kind=…) as house`, on each engine."""

    def make(**lines: Any) -> contextlib.AbstractAsyncContextManager[House]:
        return house_on(database, warm, tmp_path, **lines)

    return make
