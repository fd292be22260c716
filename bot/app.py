"""The composition root: every part is made and wired here, and nowhere else.

`Placet` is one replica: a store, its workers, and an HTTP application. Two of them on one database are the normal case in
the tests. Nothing here decides, draws or sends.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import structlog
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.adapter.starlette.async_handler import AsyncSlackRequestHandler
from slack_bolt.async_app import AsyncApp
from slack_bolt.authorization import AuthorizeResult
from slack_sdk.signature import SignatureVerifier
from slack_sdk.web.async_client import AsyncWebClient
from starlette.applications import Starlette

from bot.access.deciding import DecisionService
from bot.core.model import PersonId, Review
from bot.dispatch.claim import DispatchServices
from bot.dispatch.follow_up import Lookback, UnknownOutcomes
from bot.dispatch.housekeeping import PeopleRefresher, Retention, Sealer, Sweeper
from bot.dispatch.recheck import Sources
from bot.dispatch.worker import Dispatcher
from bot.errors import AgentUnreachable
from bot.loops import Loop, Tasks
from bot.operators.executor import make_requests
from bot.policy.model import Person, TenantPolicy, touches
from bot.runtimes.langgraph.client import Agents
from bot.runtimes.langgraph.thread_sync import requester_of
from bot.runtimes.langgraph.watch import Watcher
from bot.settings import Settings
from bot.slack.client import web_api
from bot.slack.client.installations import Installations, identify, install
from bot.slack.client.people import PeopleReader, Workspaces
from bot.slack.client.socket_mode import make_socket, require_socket
from bot.slack.inbound.buttons import Buttons
from bot.slack.inbound.commands import SlashCommands
from bot.slack.inbound.events import Events, Revocation
from bot.slack.inbound.listeners import Listeners
from bot.slack.inbound.shape_guard import PayloadGuard
from bot.slack.inbound.submissions import Submissions
from bot.slack.outbound.home import Home
from bot.slack.outbound.message_sync import MessageSync
from bot.slack.outbound.notices import NoticeSender, announcing
from bot.slack.windows.open import ViewOpener
from bot.slack.windows.operators import OperatorWindows
from bot.slack.windows.results import ResultWindows
from bot.store.engine import Store
from bot.store.policies import Policies
from bot.store.wakes import Wakes, wakes_of
from bot.web.app import HttpEndpoints, create_web
from bot.web.hints import Hints
from bot.web.slack import SlackEndpoint

log = structlog.get_logger("placet")

POLL_S = 1.0
WATCH_S = 0.5
KEEP_S = 5.0
HOME_S = 3.0
SEAL_S = 0.5  # every event is sealed within a second
UNKNOWN_S = 5.0
RETENTION_S = 60.0
LEASE_MS = 15_000  # for so long a dead worker's dispatch waits until another takes it
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
    bolt: AsyncApp
    socket: AsyncSocketModeHandler | None = None
    wakes: Wakes | None = None
    _running: list[asyncio.Task[None]] = field(default_factory=list)

    async def start(self) -> None:
        """Begin all loops, and connect the socket where there is one."""
        self._running = [asyncio.create_task(loop.run(), name=f"loop {name}") for name, loop in self.loops.items()]
        if self.wakes is not None:
            self._running.append(asyncio.create_task(self.wakes.run(), name="wakes"))
        if self.socket is not None:
            await self.socket.connect_async()  # type: ignore[no-untyped-call]

    async def stop(self) -> None:
        """Stop claiming, let what runs come to a clean row, close everything."""
        if self.socket is not None:
            await self.socket.close_async()  # type: ignore[no-untyped-call]
        for loop in self.loops.values():
            loop.stop()
        loops = [task for task in self._running if task.get_name() != "wakes"]
        if loops:
            await asyncio.wait(loops, timeout=STOP_S)
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)
        await self.tasks.stop(STOP_S)
        await self.dispatches.stop(GRACE_S)
        await self.agents.close()
        await self.store.close()


async def compose(
    settings: Settings, store: Store, *, client: AsyncWebClient | None = None, lease_ms: int = LEASE_MS
) -> Placet:
    """Make one replica on an open store. Raises `ConfigurationError` for a token that Slack refuses."""
    installations = await _installed(settings, client)
    if settings.socket_mode:
        await require_socket(settings)

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
        DispatchServices(store, agents, lease_ms, hint=hint),
        policies,
        _sources(people, agents),
        owner,
        dispatches,
        drawn,
        wake("dispatch", "watch"),
    )
    people.group_changed = announcing(policies)
    people.workspaces = _workspaces(store, policies)
    home = Home(store, policies, installations.client, people)
    keeper = PeopleRefresher(store, policies, people)
    messages = MessageSync(store, policies, installations.client, owner, keeper.refresh)
    steps: dict[str, tuple[Callable[[], Awaitable[bool]], float]] = {
        "watch": (watcher.step, WATCH_S),
        "dispatch": (dispatcher.step, POLL_S),
        "messages": (messages.step, POLL_S),
        "notices": (NoticeSender(store, policies, installations.client, owner).step, POLL_S),
        "people": (keeper.step, KEEP_S),
        "home": (home.step, HOME_S),
        "sweep": (Sweeper(store, changed).step, POLL_S),
        "seal": (Sealer(store, settings.secret_key).step, SEAL_S),
        "requests": (make_requests(watcher, owner=owner, hint=hint).step, POLL_S),
        "lookback": (Lookback(store, policies, agents, drawn).step, POLL_S),
        "unknown": (UnknownOutcomes(store, policies, agents, drawn).step, UNKNOWN_S),
        "retention": (Retention(store, policies, drawn).step, RETENTION_S),
    }
    loops.update({name: Loop(name, step, every=every) for name, (step, every) in steps.items()})

    bolt = make_bolt(settings, installations)
    decision_service = DecisionService(store, policies)
    view_opener = ViewOpener(store, installations.client, tasks)
    results = ResultWindows(agents, view_opener)
    clicks = Buttons(store, policies, decision_service, people, view_opener, results, tasks, changed, wake("people"))
    listeners = Listeners(
        clicks, Submissions(store, policies, decision_service, people, view_opener, changed, wake("people"))
    )
    listeners.register(bolt)
    Events(people, wake("people"), changed, home.opened, Revocation(store, policies).note).register(bolt)
    home.wake, home.asked = wake("home"), wake("people")
    home.register(bolt)
    OperatorWindows(store, policies, people, installations.client, tasks, wake("people"), wake("requests")).register(
        bolt
    )
    SlashCommands(store, policies, people, wake("people")).register(bolt)
    listeners.register_rest(bolt)

    intake = Hints(store, policies, settings.secret, hint, time.monotonic)
    socket, wakes = make_socket(settings, bolt) if settings.socket_mode else None, _wakes(store, loops)
    web = create_web(HttpEndpoints(_over_http(settings, bolt), intake, _ready(store, policies, socket)))
    return Placet(store, web, agents, watcher, loops, tasks, dispatches, bolt, socket, wakes)


def _wakes(store: Store, loops: dict[str, Loop]) -> Wakes | None:
    """Hints from and to other replicas; workers of this one are woken where the work is made."""

    def heard(worker: str) -> None:
        for name in (worker,) if worker else tuple(loops):
            if name in loops:
                loops[name].wake()

    wakes = wakes_of(store.address, heard)
    store.woken = wakes.send if wakes else None
    return wakes


async def _installed(settings: Settings, client: AsyncWebClient | None) -> Installations:
    if settings.slack_tokens:
        clients = {
            team: web_api.make_client(token, settings.slack_api_url) for team, token in settings.slack_tokens.items()
        }
        return await install(clients)
    found = await identify(client or web_api.make_client(settings.slack_bot_token, settings.slack_api_url))
    return Installations({found.team: found})


def make_bolt(settings: Settings, installations: Installations) -> AsyncApp:
    """Bolt with our own answers to whom a request belongs: its own asks Slack at every request."""

    async def authorize(team_id: str | None) -> AuthorizeResult:
        return installations.authorize(team_id)

    with _without_a_warning():
        app = _bolt(settings, authorize)
    app.use(PayloadGuard())
    return app


@contextmanager
def _without_a_warning() -> Iterator[None]:
    """Bolt reads SLACK_BOT_TOKEN by itself, and then warns that it uses our client instead."""
    logger = logging.getLogger("slack_bolt")
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(before)


def _bolt(settings: Settings, authorize: Callable[[str | None], Awaitable[AuthorizeResult]]) -> AsyncApp:
    return AsyncApp(
        # Without this, Bolt gives every logger of its own the root's level, and at DEBUG prints what it answers.
        logger=logging.getLogger("slack_bolt"),
        signing_secret=settings.slack_signing_secret or secrets.token_hex(16),
        client=AsyncWebClient(base_url=settings.slack_api_url, retry_handlers=[]),
        authorize=authorize,
        process_before_response=True,
        request_verification_enabled=not settings.socket_mode,
    )


def _over_http(settings: Settings, bolt: AsyncApp) -> SlackEndpoint | None:
    if settings.socket_mode:
        return None
    return SlackEndpoint(AsyncSlackRequestHandler(bolt), SignatureVerifier(settings.slack_signing_secret))


def _workspaces(store: Store, policies: Policies) -> Workspaces:
    async def of(place: str) -> Sequence[str]:
        async with store.read() as tx:
            in_force = await policies.in_force(tx)
        return sorted({tenant.slack_team for tenant in in_force.tenants() if touches(tenant, place)}) or (place,)

    return of


def _sources(people: PeopleReader, agents: Agents) -> Sources:
    async def confirm(tenant: TenantPolicy, who: PersonId, since: int) -> Person:
        return await people.confirm(tenant, who, since=since)

    async def requester(review: Review, tenant: TenantPolicy) -> str | None:
        thread = await agents.client(review.target, tenant).thread(review.thread_id)
        if thread is None:  # a 404 does not say that it names nobody
            raise AgentUnreachable("read thread: HTTP 404")
        named = requester_of(tenant, thread.metadata)
        if named is None or not await people.is_local(PersonId(tenant.slack_team, named), since=review.opened_at):
            return None
        return named

    return Sources(confirm, requester)


def _ready(
    store: Store, policies: Policies, socket: AsyncSocketModeHandler | None
) -> Callable[[], Awaitable[str | None]]:
    async def ready() -> str | None:
        async with store.read() as tx:
            in_force = await policies.in_force(tx)
        if not in_force.policy:
            return "no policy is stored: run `placet policy apply FILE`"
        if socket is not None and not await socket.client.is_connected():
            return "the socket to Slack is not connected: it is tried again"
        return None

    return ready
