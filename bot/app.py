"""The composition root: every part is made and wired here, and nowhere else.

`Placet` is one replica: a store, its workers, and an HTTP application. Two of them on one database are the normal case in
the tests. Nothing here decides, draws or sends.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import structlog
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_sdk.web.async_client import AsyncWebClient
from starlette.applications import Starlette

from bot.agent.pool import Agents
from bot.agent.sync import requester_of
from bot.core.model import Review, Who
from bot.core.policy import Person, TenantPolicy
from bot.policies import Policies
from bot.settings import Settings
from bot.slack import api
from bot.slack.clicks import Clicks
from bot.slack.commands import Commands
from bot.slack.deciding import Desk
from bot.slack.entrance import Entrance
from bot.slack.events import Events
from bot.slack.groups import announcing
from bot.slack.home import Home
from bot.slack.installations import Installations, identify, install
from bot.slack.listeners import Listeners
from bot.slack.people import PeopleReader
from bot.slack.submits import Submits
from bot.slack.sync import MessageSync
from bot.slack.telling import Telling
from bot.store.engine import Store
from bot.web.app import Endpoints, create_web
from bot.web.intake import Intake
from bot.work.attempt import Bench
from bot.work.dispatch import Dispatcher
from bot.work.keep import Keeper
from bot.work.loops import Loop, Tasks
from bot.work.recheck import Sources
from bot.work.requests import make_requests
from bot.work.retention import Retention
from bot.work.seal import Sealer
from bot.work.sweep import Sweeper
from bot.work.unknown import Unknowns
from bot.work.watch import Watcher

log = structlog.get_logger("placet")

# A socket that dropped is noticed within this, one that went silent within four times as much; presses fail until then.
PING_S = 5.0
POLL_S = 1.0
WATCH_S = 0.5
KEEP_S = 5.0
HOME_S = 3.0
SEAL_S = 0.5  # every event is sealed within a second
UNKNOWN_S = 5.0
RETENTION_S = 60.0
STOP_S = 1.0  # for a step or a reading that is under way
GRACE_S = 6.0  # for a dispatch that is under way; with the two before it, below ten seconds


@dataclass(slots=True)
class Placet:
    """One running replica. `start` begins the workers; `stop` ends them within ten seconds."""

    store: Store
    web: Starlette
    agents: Agents
    watcher: Watcher
    loops: dict[str, Loop]
    tasks: Tasks
    dispatches: Tasks
    socket: AsyncSocketModeHandler | None = None
    _running: list[asyncio.Task[None]] = field(default_factory=list)

    async def start(self) -> None:
        """Begin all loops, and connect the socket where there is one."""
        self._running = [asyncio.create_task(loop.run(), name=f"loop {name}") for name, loop in self.loops.items()]
        if self.socket is not None:
            await self.socket.connect_async()  # type: ignore[no-untyped-call]

    async def stop(self) -> None:
        """Stop claiming, let what runs come to a clean row, close everything."""
        if self.socket is not None:
            await self.socket.close_async()  # type: ignore[no-untyped-call]
        for loop in self.loops.values():
            loop.stop()
        if self._running:
            await asyncio.wait(self._running, timeout=STOP_S)
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)
        await self.tasks.stop(STOP_S)
        await self.dispatches.stop(GRACE_S)
        await self.agents.close()
        await self.store.close()


async def compose(
    settings: Settings, store: Store, *, client: AsyncWebClient | None = None, lease_ms: int = 15_000
) -> Placet:
    """Make one replica on an open store. Raises `ConfigurationError` for a token that Slack refuses."""
    installations = await _installed(settings, client)

    owner = f"{secrets.token_hex(4)}"
    policies, agents = Policies(), Agents(settings.secret)
    tasks, dispatches = Tasks(), Tasks()
    people = PeopleReader(store, installations.client, time.monotonic)
    loops: dict[str, Loop] = {}

    def wake(*names: str) -> Callable[[], None]:
        def woken() -> None:
            for name in names:
                loops[name].wake()

        return woken

    def hint(tenant: str, identity: str, thread: str) -> None:
        watcher.hint(tenant, identity, thread)
        loops["watch"].wake()

    changed = wake("dispatch", "messages", "notices")
    drawn = wake("messages", "notices")
    watcher = Watcher(store, policies, agents, time.monotonic, wake("messages", "people"), tasks)
    dispatcher = Dispatcher(
        Bench(store, agents, lease_ms),
        policies,
        _sources(people, agents),
        owner,
        dispatches,
        drawn,
        wake("dispatch", "watch"),
    )
    people.group_changed = announcing(policies)
    home = Home(store, policies, installations.client, people)
    keeper = Keeper(store, policies, people)
    messages = MessageSync(store, policies, installations.client, owner, keeper.refresh)
    steps: dict[str, tuple[Callable[[], Awaitable[bool]], float]] = {
        "watch": (watcher.step, WATCH_S),
        "dispatch": (dispatcher.step, POLL_S),
        "messages": (messages.step, POLL_S),
        "notices": (Telling(store, policies, installations.client, owner).step, POLL_S),
        "people": (keeper.step, KEEP_S),
        "home": (home.step, HOME_S),
        "sweep": (Sweeper(store, changed).step, POLL_S),
        "seal": (Sealer(store, settings.secret_key).step, SEAL_S),
        "requests": (make_requests(watcher, owner=owner, hint=hint).step, POLL_S),
        "unknown": (Unknowns(store, policies, agents, drawn).step, UNKNOWN_S),
        "retention": (Retention(store, policies, drawn).step, RETENTION_S),
    }
    loops.update({name: Loop(name, step, every=every) for name, (step, every) in steps.items()})

    bolt = make_bolt(settings, installations)
    desk = Desk(store, policies)
    clicks = Clicks(store, policies, desk, people, installations.client, tasks, changed, wake("people"))
    Events(people, wake("people"), changed, home.opened).register(bolt)
    home.wake, home.asked = wake("home"), wake("people")
    home.register(bolt)
    Commands(store, policies, people, wake("people")).register(bolt)
    Listeners(clicks, Submits(store, policies, desk, people, changed, wake("people"))).register(bolt)

    intake = Intake(store, policies, settings.secret, hint, time.monotonic)
    web = create_web(Endpoints(None if settings.socket_mode else bolt, intake, _ready(store, policies)))
    return Placet(store, web, agents, watcher, loops, tasks, dispatches, _socket(settings, bolt))


async def _installed(settings: Settings, client: AsyncWebClient | None) -> Installations:
    if settings.slack_tokens:
        clients = {
            team: api.make_client(token, settings.slack_api_url) for team, token in settings.slack_tokens.items()
        }
        return await install(clients)
    found = await identify(client or api.make_client(settings.slack_bot_token, settings.slack_api_url))
    return Installations({found.team: found})


def make_bolt(settings: Settings, installations: Installations) -> AsyncApp:
    """Bolt with our own answers to whom a request belongs: its own asks Slack at every request."""

    async def authorize(team_id: str | None) -> AuthorizeResult:
        return installations.authorize(team_id)

    app = AsyncApp(
        signing_secret=settings.slack_signing_secret or secrets.token_hex(16),
        client=AsyncWebClient(base_url=settings.slack_api_url, retry_handlers=[]),
        authorize=authorize,
        process_before_response=True,
        request_verification_enabled=not settings.socket_mode,
    )
    app.use(Entrance())
    return app


def _socket(settings: Settings, bolt: AsyncApp) -> AsyncSocketModeHandler | None:
    if not settings.socket_mode:
        return None
    client = AsyncWebClient(token=settings.slack_app_token, base_url=settings.slack_api_url)
    return AsyncSocketModeHandler(bolt, settings.slack_app_token, web_client=client, ping_interval=PING_S)


def _sources(people: PeopleReader, agents: Agents) -> Sources:
    async def confirm(tenant: TenantPolicy, who: Who, since: int) -> Person:
        return await people.confirm(tenant, who, since=since)

    async def requester(review: Review, tenant: TenantPolicy) -> str | None:
        thread = await agents.client(review.target, tenant).thread(review.thread_id)
        named = requester_of(tenant, thread.metadata) if thread else None
        if named is None or not await people.is_local(Who(tenant.slack_team, named), since=review.opened_at):
            return None
        return named

    return Sources(confirm, requester)


def _ready(store: Store, policies: Policies) -> Callable[[], Awaitable[str | None]]:
    async def ready() -> str | None:
        async with store.read() as tx:
            in_force = await policies.in_force(tx)
        return None if in_force.policy else "no policy is stored: run `placet policy apply FILE`"

    return ready
