"""A bot to be measured: one composed replica on a fresh database, behind it a local Slack, its workers at rest.

At rest because a figure of the click's way must not hold what the workers do meanwhile; figures of those start them.
"""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bot.app import Placet, compose
from bot.core.model import Target
from bot.demo import demo_settings
from bot.sandbox.serving import serving
from bot.sandbox.slack.app import create_app
from bot.sandbox.slack.rules import Rules
from bot.sandbox.slack.seed import make_world
from bot.sandbox.slack.world import World
from bot.store import policies
from bot.store.engine import Store
from bot.store.policies import text_digest
from bot.store.upgrade import migrate, open_store
from tests.bench.crowd import Waiting, know_people, store_waiting, thread_id, waiting
from tests.kit.office import policy_text
from tests.kit.postgres import Postgres

NOWHERE = "http://127.0.0.1:9"  # an agent server that is never asked


@dataclass(slots=True)
class Engine:
    """Where databases come from: `postgres` is None for SQLite."""

    name: str
    folder: Path
    postgres: Postgres | None = None
    template: str = ""
    made: int = 0

    async def prepare(self) -> None:
        """Make the schema once; every database is a copy."""
        if self.postgres is None:
            self.template = str(self.folder / "template.db")
            await migrate(f"sqlite+aiosqlite:///{self.template}")
        else:
            self.template = self.postgres.new_database("template")
            await migrate(self.postgres.url(self.template, driver="postgresql+asyncpg"))

    def fresh(self) -> str:
        """The URL of a database with the schema and no rows."""
        if self.postgres is not None:
            return self.postgres.url(self.postgres.new_database(like=self.template), driver="postgresql+asyncpg")
        self.made += 1
        path = self.folder / f"bench-{self.made}.db"
        shutil.copy(self.template, path)
        path.chmod(0o600)
        return f"sqlite+aiosqlite:///{path}"


@dataclass(slots=True)
class Heard:
    """An ASGI application around another that notes when each request arrived and when its answer began."""

    app: Any
    arrived: list[tuple[str, float]] = field(default_factory=list)
    answered: list[tuple[str, float]] = field(default_factory=list)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            self.arrived.append((scope["path"], time.perf_counter()))

        async def sending(message: Any) -> None:
            if message["type"] == "http.response.start":
                self.answered.append((scope["path"], time.perf_counter()))
            await send(message)

        await self.app(scope, receive, sending)

    def last(self, ending: str, *, answered: bool = False) -> float | None:
        """When the newest request whose path ends so arrived, or was answered."""
        kept = self.answered if answered else self.arrived
        return next((at for path, at in reversed(kept) if path.endswith(ending)), None)


@dataclass(slots=True)
class Room:
    """One replica and its store."""

    url: str
    store: Store
    placet: Placet
    world: World
    slack: Heard
    seeded: int = field(default=0)

    async def crowd(
        self, count: int, *, tenant: str = "demo", agent: str = NOWHERE, identity: str = "approvals"
    ) -> Sequence[Waiting]:
        """So many more open reviews, and people fresh enough to decide them."""
        now = await self.store.now()
        target = Target(agent, "langgraph", identity, "agent_platform")
        threads = [thread_id(self.seeded + number) for number in range(count)]
        self.seeded += count
        made = [waiting(thread, target=target, now=now, tenant=tenant) for thread in threads]
        await store_waiting(self.store, made)
        await know_people(self.store)
        return made


@contextlib.asynccontextmanager
async def room(engine: Engine, *, policy: str | None = None) -> AsyncIterator[Room]:
    """Compose one replica on a new database."""
    url, world = engine.fresh(), make_world(rules=Rules(strict_rates=False))
    heard = Heard(create_app(world))
    async with serving(heard) as slack:
        store = await open_store(url)
        text = policy or policy_text(NOWHERE)
        async with store.begin() as tx:
            await policies.apply(tx, text=text, digest=text_digest(text), by="bench")
        placet = await compose(demo_settings(slack), store)
        store.woken = None
        try:
            yield Room(url, store, placet, world, heard)
        finally:
            await placet.stop()


async def until(found: Callable[[], Any], what: str, *, patience: float = 30.0) -> Any:
    """Wait for a value that is not None, looking often enough not to be what is measured."""
    end = time.perf_counter() + patience
    while (value := found()) is None:
        if time.perf_counter() > end:
            raise AssertionError(f"waited in vain for {what}")
        await asyncio.sleep(0.001)
    return value
