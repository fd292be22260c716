"""The state of the local Slack: several workspaces in memory, one app, one clock.

It holds and finds; it decides nothing, speaks to nobody and knows neither HTTP nor Block Kit. Everything that changes it
rings its bell.
"""

import asyncio
import time
from collections import Counter, deque
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import replace
from typing import Any

from bot.sandbox.slack.bell import Bell
from bot.sandbox.slack.faults import FaultBook
from bot.sandbox.slack.parcels import Courier
from bot.sandbox.slack.rates import Rates
from bot.sandbox.slack.records import (
    App,
    AppInstallation,
    Channel,
    Delivery,
    Ephemeral,
    Group,
    Hook,
    Member,
    PostedMessage,
    RecordedCall,
    Spelling,
    StoredView,
    Team,
    Trigger,
)
from bot.sandbox.slack.rules import Rules

KEPT_LOG = 20_000
"""How many calls and deliveries are remembered; far more than any test makes."""


class World:
    """Everything that exists. Ids of people and channels are unique over all of its workspaces, as in practice at Slack."""

    def __init__(self, app: App, *, clock: Callable[[], float] = time.time, rules: Rules | None = None) -> None:
        self.app = app
        self.clock = clock
        self.rules = rules or Rules()
        self.spelling = Spelling()
        self.base_url = "http://127.0.0.1"
        self.teams: dict[str, Team] = {}
        self.people: dict[str, Member] = {}
        self.groups: dict[str, Group] = {}
        self.channels: dict[str, Channel] = {}
        self.installations: dict[str, AppInstallation] = {}
        self.messages: dict[str, dict[str, PostedMessage]] = {}
        self.ephemerals: list[Ephemeral] = []
        self.views: dict[str, StoredView] = {}
        self.stacks: dict[str, tuple[str, ...]] = {}
        self.homes: dict[tuple[str, str], str] = {}
        self.triggers: dict[str, Trigger] = {}
        self.hooks: dict[str, Hook] = {}
        self.in_flight: Counter[str] = Counter()
        self.faults = FaultBook()
        self.rates = Rates()
        self.tickets: set[str] = set()
        self.calls: deque[RecordedCall] = deque(maxlen=KEPT_LOG)
        self.deliveries: deque[Delivery] = deque(maxlen=KEPT_LOG)
        self.couriers: dict[str, Courier] = {}
        self.bell = Bell()
        self._ids = 0
        self._last_ts = 0
        self._tasks: set[asyncio.Task[None]] = set()

    def add(self, *things: Team | Member | Group | Channel | AppInstallation) -> None:
        """Put things there, or replace those with the same id."""
        for thing in things:
            self._shelf(thing)[thing.team_id if isinstance(thing, AppInstallation) else thing.id] = thing
        self.bell.ring()

    def _shelf(self, thing: object) -> dict[str, Any]:
        shelves: dict[type, dict[str, Any]] = {
            Team: self.teams,
            Member: self.people,
            Group: self.groups,
            Channel: self.channels,
            AppInstallation: self.installations,
        }
        return shelves[type(thing)]

    def listen_at(self, bot_url: str) -> None:
        """Deliver to this address over HTTP from now on."""
        self.app = replace(self.app, bot_url=bot_url, transport="http")

    def next_id(self, prefix: str) -> str:
        self._ids += 1
        return f"{prefix}{self._ids:08X}"

    def next_ts(self) -> str:
        """Return a message's time: unique and rising, whatever the clock does."""
        self._last_ts = max(int(self.clock() * 1_000_000), self._last_ts + 1)
        return f"{self._last_ts // 1_000_000}.{self._last_ts % 1_000_000:06d}"

    def put(self, message: PostedMessage) -> None:
        self.messages.setdefault(message.channel, {})[message.ts] = message
        self.bell.ring()

    def message(self, channel: str, ts: str) -> PostedMessage | None:
        """Find a message that is there to be read: a tombstone is none."""
        found = self.messages.get(channel, {}).get(ts)
        return None if found is None or found.tombstone else found

    def replies(self, channel: str, thread_ts: str) -> list[PostedMessage]:
        """Return a thread's replies without its parent, oldest first."""
        return sorted(
            (m for m in self.messages.get(channel, {}).values() if m.thread_ts == thread_ts and m.ts != thread_ts),
            key=lambda m: m.ts,
        )

    def put_view(self, view: StoredView) -> None:
        self.views[view.id] = view
        self.bell.ring()

    def modals(self, user: str) -> tuple[StoredView, ...]:
        """Return the person's modals, the first opened first."""
        return tuple(self.views[view_id] for view_id in self.stacks.get(user, ()))

    def set_modals(self, user: str, view_ids: Iterable[str]) -> None:
        """Leave exactly these open; views that are no longer in the stack are gone for good."""
        kept = tuple(view_ids)
        for view_id in self.stacks.get(user, ()):
            if view_id not in kept:
                del self.views[view_id]
        self.stacks[user] = kept
        self.bell.ring()

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Let something go on in the background until the world is closed."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def aclose(self) -> None:
        """End what still goes on in the background."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for courier in self.couriers.values():
            await courier.aclose()
