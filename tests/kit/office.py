"""A whole office for a test: local Slack, an agent server, one or more replicas of the bot, over their real protocols.

The bot is the real composition; nothing of ours is replaced. Slack's deliveries go to the replicas in turn, so that two
of them share the work as they would behind a balancer. What ran is read from the agent server's effects file.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import httpx

from bot.app import Placet, compose
from bot.demo import demo_settings
from bot.errors import StoreError
from bot.sandbox.agents.app import create_app as create_agent
from bot.sandbox.agents.propose import propose
from bot.sandbox.serving import serving
from bot.sandbox.slack.app import create_app as create_slack
from bot.sandbox.slack.seed import make_world
from bot.sandbox.slack.world import World
from bot.store import messages, policies, reviews
from bot.store.audit import events
from bot.store.engine import Store
from bot.store.policies import text_digest
from bot.store.upgrade import migrate, open_store
from tests.kit.wiretap import Heard, Wiretap

CHANNEL = "C0APPROVALS"
ADA, BEN, CLEO, DAN, GUS = "U0ADA", "U0BEN", "U0CLEO", "U0DAN", "U0GUS"
PATIENCE_S = 20.0
# On a machine that runs several test processes a commit may take as long as a frozen process's; nothing is frozen here.
FROZEN_S = 10.0

REVIEWERS = """\
      - {user: U0ADA, tools: ["*"], may: [approve, edit, reject, respond]}
      - {group: S0SUPPORT, tools: [disable_user, "send_*", refund], may: [approve, edit, reject]}
"""


def policy_text(
    agent: str,
    *,
    kind: str = "langgraph",
    resume: str = "runs",
    reviewers: str = REVIEWERS,
    tools: str = "",
    more: str = "",
    users: str = "[approvals]",
    shows: str = "[]",
) -> str:
    """A policy with one tenant; `tools` and `more` are YAML lines of their own level, `shows` is `show_context`."""
    return f"""\
version: 1
operators: [U0ADA]
tenants:
  demo:
    slack: {{team: T0DEMO, channel: {CHANNEL}}}
    agent: {{url: "{agent}", kind: {kind}, resume: {resume}, users: {users}, assistant: agent_platform, show_context: {shows}}}
    intake_token_env: PLACET_INTAKE_DEMO
    watch: {{every: 1s}}
    settle_for: 1s
{more}    reviewers:
{reviewers}    tools:
      disable_user: {{title: Disable user}}
{tools}"""


@dataclass(slots=True)
class AgentServer:
    """Where runs happen, and what they did."""

    url: str
    effects_file: Path
    kind: str = "langgraph"
    heard: list[Heard] = field(default_factory=list)  # every POST, where the server is the sandbox's


@dataclass(slots=True)
class Office:
    """The running parts, and what a person or an application would do with them."""

    world: World
    agent: AgentServer
    slack: httpx.AsyncClient
    agents: httpx.AsyncClient
    bots: list[httpx.AsyncClient]
    replicas: list[Placet]
    stores: list[Store]
    settings: Any = None
    threads: list[str] = field(default_factory=list)

    # -- the agent's side

    async def propose(
        self,
        preset: str | None = None,
        *,
        turns: Any = None,
        user: str = CLEO,
        pause: bool = True,
        started: dict[str, Any] | None = None,
    ) -> str:
        """Start a run and, with `pause`, wait until it waits for people; tell the bot. Returns the thread's id.

        `started` is what the run is started with beside its input.
        """
        made = await propose(self.agents, preset=preset, turns=turns, user=user, started=started)
        thread = made["thread_id"]
        self.threads.append(thread)
        if pause:
            await self.until(lambda: self._paused(thread), f"thread {thread} to pause")
        await self.hint(thread)
        return thread

    async def _paused(self, thread: str) -> bool:
        return bool((await self.thread(thread))["status"] not in ("busy", "idle"))

    async def thread(self, thread: str) -> dict[str, Any]:
        """The thread as the agent server lists it."""
        return dict((await self.agents.get(f"/threads/{thread}", headers=WHO)).raise_for_status().json())

    async def state(self, thread: str) -> dict[str, Any]:
        """The thread's state."""
        return dict((await self.agents.get(f"/threads/{thread}/state", headers=WHO)).raise_for_status().json())

    async def tool_messages(self, thread: str) -> list[dict[str, Any]]:
        """What the agent read as results, in order."""
        messages = (await self.state(thread))["values"].get("messages") or []
        return [message for message in messages if message["type"] == "tool"]

    def effects(self, thread: str | None = None) -> list[dict[str, Any]]:
        """Every real execution of a tool, of one thread or of all."""
        lines = self.agent.effects_file.read_text().splitlines() if self.agent.effects_file.exists() else []
        ran = [json.loads(line) for line in lines]
        return [one for one in ran if thread in (None, one["thread_id"])]

    def ran(self, thread: str | None = None) -> list[str]:
        """The names of what ran."""
        return [one["tool"] for one in self.effects(thread)]

    async def hint(self, thread: str, *, user: str = "approvals") -> None:
        """Tell every replica to read a thread now."""
        for bot in self.bots:
            headers = {"Authorization": "Bearer demo-intake-token-for-loopback-only"}
            await bot.post(f"/v1/tenants/demo/threads/{thread}/sync", json={"user_id": user}, headers=headers)

    # -- Slack's side

    async def messages(self) -> list[dict[str, Any]]:
        """The approvals channel, oldest first, replies included."""
        answer = await self.slack.get("/sandbox/messages", params={"channel": CHANNEL})
        return list(answer.raise_for_status().json())

    async def cards(self, count: int = 1) -> list[dict[str, Any]]:
        """Wait for so many messages of the bot."""

        async def there() -> list[dict[str, Any]] | None:
            found = await self.messages()
            return found if len(found) >= count else None

        return list(await self.until(there, f"{count} messages"))

    async def card(
        self, containing: str = "", *, button: str | None = None, without: str | None = None
    ) -> dict[str, Any]:
        """Wait for the newest message that says this and has (or lacks) such a button."""

        async def there() -> dict[str, Any] | None:
            for message in reversed(await self.messages()):
                ids = buttons(message)
                if (
                    containing in json.dumps(message)
                    and (not button or button in ids)
                    and (not without or without not in ids)
                ):
                    return message
            return None

        return dict(await self.until(there, f"a message with {containing!r} and {button}"))

    async def card_of(self, review: Any, position: int | None = 0, *, button: str | None = None) -> dict[str, Any]:
        """Wait for the message of one review's position (None: its root), with such a button."""

        async def there() -> dict[str, Any] | None:
            async with self.stores[0].read() as tx:
                rows = await messages.messages_of(tx, review.id)
            ts = next((row.ts for row in rows if row.position == position), None)
            found = next((one for one in await self.messages() if ts and one["ts"] == ts), None)
            return found if found and (not button or button in buttons(found)) else None

        return dict(await self.until(there, f"the card of {review.id} {position} with {button}"))

    async def click(self, user: str, message: dict[str, Any], action_id: str, **more: Any) -> dict[str, Any]:
        """Press a button of a message; the answer is what the person sees, who looks on longer for a view to open."""
        look_on = 0 if action_id in ("decide.approve", "decision.take_back") else 2.5
        body = {
            "user": user,
            "channel": CHANNEL,
            "ts": message["ts"],
            "action_id": action_id,
            "wait_s": look_on,
            **more,
        }
        return dict((await self.slack.post("/sandbox/click", json=body)).raise_for_status().json())

    async def press(
        self, user: str, view: dict[str, Any], action_id: str, block_id: str, **more: Any
    ) -> dict[str, Any]:
        """Press a button or choose an option inside a modal."""
        body = {
            "user": user,
            "view_id": view["id"],
            "action_id": action_id,
            "block_id": block_id,
            "wait_s": 2.5,
            **more,
        }
        return dict((await self.slack.post("/sandbox/click", json=body)).raise_for_status().json())

    async def submit(self, user: str, values: dict[str, Any] | None = None) -> dict[str, Any]:
        """Fill in and submit the top modal."""
        answer = await self.slack.post("/sandbox/submit", json={"user": user, "values": values or {}})
        return dict(answer.raise_for_status().json())

    async def ephemerals(self, user: str) -> list[str]:
        """What only this person was told."""
        answer = await self.slack.get("/sandbox/ephemerals", params={"user": user})
        return [one["text"] for one in answer.raise_for_status().json()]

    async def told(self, user: str, containing: str = "") -> str:
        """Wait for a private word."""

        async def there() -> str | None:
            return next((text for text in await self.ephemerals(user) if containing in text), None)

        return str(await self.until(there, f"{user} to be told {containing!r}"))

    async def fault(self, method: str, **fault: Any) -> None:
        """Make the next calls of a method fail."""
        (await self.slack.post("/sandbox/faults", json={"method": method, **fault})).raise_for_status()

    # -- the store's side

    async def review(self, thread: str | None = None, *, state: str | None = None) -> Any:
        """Wait for the newest review of a thread, in a state."""

        async def there() -> Any:
            found = [one for one in await self.reviews(thread) if state in (None, one.state.value)]
            return found[-1] if found else None

        return await self.until(there, f"a review of {thread} to be {state}")

    async def reviews(self, thread: str | None = None) -> list[Any]:
        """All stored reviews, of one thread or of all, oldest first."""
        from sqlalchemy import select

        from bot.store.tables import reviews as table

        async with self.stores[0].read() as tx:
            ids = list(await tx.conn.scalars(select(table.c.id).order_by(table.c.opened_at, table.c.id)))
            found = [await reviews.load_review(tx, one) for one in ids]
        return [one for one in found if one and thread in (None, one.thread_id)]

    async def events(self, review_id: str) -> list[Any]:
        """A review's audit events."""
        async with self.stores[0].read() as tx:
            return await events.events_of(tx, review_id)

    async def apply_policy(self, text: str) -> None:
        """Put another policy in force."""
        async with self.stores[0].begin() as tx:
            await policies.apply(tx, text=text, digest=text_digest(text), by="test")
        self.wake()

    def wake(self) -> None:
        """Hurry every worker on."""
        for placet in self.replicas:
            for loop in placet.loops.values():
                loop.wake()

    def advance(self, ms: int) -> None:
        """Move the bot's clock (the database's time) forward."""
        for store in self.stores:
            store.offset_ms += ms
        self.wake()

    async def until(
        self, found: Callable[[], Awaitable[Any]], what: str, *, patience: float = PATIENCE_S, every: float = 0.03
    ) -> Any:
        """Wait for a condition, asking often and then less often; fail with what was waited for."""
        clock = asyncio.get_running_loop().time
        end = clock() + patience
        while True:
            result = await found()
            if result:
                return result
            if clock() > end:
                raise AssertionError(f"waited in vain for {what}")
            await asyncio.sleep(every)
            # Each question costs what the bot then lacks, on a machine that runs several tests at once.
            every = max(every, min(every * 1.25, 0.15))

    async def settled(
        self, thread: str | None = None, *, states: Sequence[str] = ("resumed", "superseded", "broken")
    ) -> list[Any]:
        """Wait until every review of a thread has ended."""

        async def there() -> list[Any] | None:
            found = await self.reviews(thread)
            return found if found and all(one.state.value in states for one in found) else None

        return list(await self.until(there, f"reviews of {thread} to settle"))


WHO = {"X-User-Id": "approvals"}


def buttons(message: dict[str, Any]) -> list[str]:
    """The action ids of a message's buttons."""
    return [
        element["action_id"]
        for block in message.get("blocks") or []
        if block["type"] == "actions"
        for element in block["elements"]
    ]


def in_turn(apps: Sequence[Any]) -> Any:
    """An ASGI application that gives each request to the next of several."""
    turns = itertools.cycle(apps)

    async def balancer(scope: Any, receive: Any, send: Any) -> None:
        await next(turns)(scope, receive, send) if scope["type"] == "http" else await apps[0](scope, receive, send)

    return balancer


@contextlib.asynccontextmanager
async def local_agent(folder: Path, *, kind: str = "langgraph") -> AsyncIterator[AgentServer]:
    """The sandbox's agent server."""
    effects = folder / "effects.jsonl"
    app = Wiretap(create_agent(database=folder / "agent.sqlite", effects_file=effects, kind=kind))
    async with serving(app) as url:
        yield AgentServer(url, effects, kind, app.heard)


async def _ready(database: str) -> None:
    """Migrate a database that has no schema yet."""
    try:
        store = await open_store(database)
    except StoreError:
        await migrate(database)
    else:
        await store.close()


@contextlib.asynccontextmanager
async def open_office(
    database: str,
    agent: AgentServer,
    *,
    replicas: int = 1,
    transport: str = "http",
    policy: str | None = None,
    lease_ms: int = 15_000,
    rules: Any = None,
    prepare: Any = None,
) -> AsyncIterator[Office]:
    """Start everything but the agent server, on a database that need not exist yet."""
    async with contextlib.AsyncExitStack() as stack:
        world = make_world(transport="socket" if transport == "socket" else "http", rules=rules)
        slack = await stack.enter_async_context(
            serving(create_slack(world, agent_url=agent.url, effects_file=agent.effects_file))
        )
        await _ready(database)
        settings = demo_settings(slack, socket_mode=transport == "socket")
        settings = prepare(world, settings) if prepare else settings
        stores = [await open_store(database) for _ in range(replicas)]
        text = policy or policy_text(agent.url, kind=agent.kind)
        async with stores[0].begin() as tx:
            await policies.apply(tx, text=text, digest=text_digest(text), by="test")
        running = []
        for store in stores:
            placet = await compose(settings, store, lease_ms=lease_ms)
            placet.agents.send_settings = replace(placet.agents.send_settings, frozen=FROZEN_S)
            stack.push_async_callback(placet.stop)
            running.append(placet)
        urls = [await stack.enter_async_context(serving(placet.web)) for placet in running]
        front = await stack.enter_async_context(serving(in_turn([placet.web for placet in running])))
        world.app = replace(world.app, bot_url=f"{front}/slack/events")
        for placet in running:
            await placet.start()
        headers = {"Content-Type": "application/json"}
        # Servers close what idles for 5 seconds; a client that lets go later may write into a closing connection.
        limits = httpx.Limits(keepalive_expiry=2)
        client = httpx.AsyncClient(base_url=slack, headers=headers, timeout=60, limits=limits, verify=False)
        agents = httpx.AsyncClient(base_url=agent.url, timeout=60, limits=limits, verify=False)
        bots = [httpx.AsyncClient(base_url=url, timeout=60, limits=limits, verify=False) for url in urls]
        for one in (client, agents, *bots):
            stack.push_async_callback(one.aclose)
        yield Office(world, agent, client, agents, bots, running, stores, settings)
