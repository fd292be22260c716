"""Watching agent servers: which threads to read, and when.

Each watched identity's waiting threads are listed; a thread's state is read when it is new or its `updated_at` moved,
again on a slower, spread schedule while we hold it open, and at once when one that we hold open is missing from the
list. Hints from outside only say "read this one now". This module must not know what a reading changes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any

import structlog

from bot.agent.client import AgentClient
from bot.agent.pool import Agents, target_of
from bot.agent.sync import Sighting, Synced, record_sighting
from bot.agent.wire import ThreadRow
from bot.core.model import Review, ReviewState, Target
from bot.core.policy import TenantPolicy
from bot.errors import AgentError
from bot.metrics import AGENT_READS
from bot.policies import Policies
from bot.store import reviews
from bot.store.engine import Store
from bot.work.loops import Tasks
from bot.work.recheck import moved

log = structlog.get_logger("placet")

LISTED = ("interrupted", "error")
OPEN_AGAIN_S = 60.0
AT_ONCE = 8
SOON_S = 0.25
SETTLED_S = 2.0

Key = tuple[str, str, str]  # url, identity, thread


@dataclass(slots=True)
class Seen:
    """What this process knows of one thread; losing it costs one reading."""

    updated_at: str = ""
    next_read: float = 0.0
    doubtful_since: float | None = None


@dataclass(frozen=True, slots=True)
class Post:
    """Where threads are read: a tenant under one policy version, as one identity."""

    tenant: TenantPolicy
    target: Target
    client: AgentClient
    version: int


@dataclass(slots=True)
class Watcher:
    """Reads the threads of all tenants. `clock` is monotonic seconds; `changed` hurries the workers on."""

    store: Store
    policies: Policies
    agents: Agents
    clock: Callable[[], float]
    changed: Callable[[], None]
    tasks: Tasks
    _rounds: dict[str, asyncio.Task[None]] = field(default_factory=dict)
    _seen: dict[Key, Seen] = field(default_factory=dict)
    _next_poll: dict[str, float] = field(default_factory=dict)
    _hints: dict[tuple[str, str, str], None] = field(default_factory=dict)  # tenant, identity, thread

    def hint(self, tenant: str, identity: str, thread_id: str) -> None:
        """Ask for one thread to be read at the next step."""
        self._hints[(tenant, identity, thread_id)] = None

    async def read(self, tenant: TenantPolicy, identity: str, thread_id: str, *, version: int) -> None:
        """Read one thread now, whatever is known of it. Raises `AgentError`."""
        target = target_of(tenant, identity)
        await self._read(Post(tenant, target, self.agents.client(target, tenant), version), thread_id)

    async def step(self) -> bool:
        """Start a round for every tenant that is not in one: a server that hangs delays nobody else's."""
        async with self.store.read() as tx:
            in_force = await self.policies.in_force(tx)
        for tenant in in_force.tenants():
            round_ = self._rounds.get(tenant.name)
            if round_ is None or round_.done():
                work = self._round(tenant, in_force.version)
                self._rounds[tenant.name] = self.tasks.start(work, f"watch {tenant.name}")
        return False

    async def _round(self, tenant: TenantPolicy, version: int) -> None:
        """Read what hints name and what was in between; poll when the tenant's time has come."""
        await self._take_hints(tenant, version)
        if self.clock() >= self._next_poll.get(tenant.name, 0.0):
            self._next_poll[tenant.name] = self.clock() + tenant.watch_every_ms / 1000
            await self._poll(tenant, version)
        await self._read_soon(tenant, version)

    async def _take_hints(self, tenant: TenantPolicy, version: int) -> None:
        mine = [hint for hint in self._hints if hint[0] == tenant.name]
        for hint in mine:
            self._hints.pop(hint, None)
        for identity in dict.fromkeys(identity for _, identity, _ in mine):
            await self._guarded(tenant, identity, [thread for _, one, thread in mine if one == identity], version)

    async def _poll(self, tenant: TenantPolicy, version: int) -> None:
        async with self.store.read() as tx:
            held = await reviews.live_reviews(tx, tenant=tenant.name)
        await self._supersede_moved(tenant, held)
        for identity in tenant.agent.polled:
            try:
                await self._poll_identity(tenant, identity, held, version)
            except AgentError as exc:
                log.warning(
                    "An agent server could not be read.", action="agent_fault", tenant=tenant.name, fault=str(exc)
                )
        for identity, threads in _of_others(tenant, held).items():
            due = [thread for thread in threads if self._due((tenant.agent.url, identity, thread))]
            await self._guarded(tenant, identity, due, version)

    async def _poll_identity(self, tenant: TenantPolicy, identity: str, held: list[Review], version: int) -> None:
        target = target_of(tenant, identity)
        client = self.agents.client(target, tenant)
        listed: dict[str, ThreadRow] = {}
        for status in LISTED:
            async for page in client.search_threads(status=status):
                listed.update((row.thread_id, row) for row in page)
        mine = {review.thread_id for review in held if review.target.identity == identity}
        due = [
            thread
            for thread in {**dict.fromkeys(mine), **dict.fromkeys(listed)}
            if self._wanted((target.url, identity, thread), listed.get(thread), held=thread in mine)
        ]
        post = Post(tenant, target, client, version)
        await self._read_all([self._read(post, thread, row=listed.get(thread)) for thread in due], tenant)

    async def _read_all(self, readings: Sequence[Coroutine[Any, Any, None]], tenant: TenantPolicy) -> None:
        """Several at once, so that a thousand waiting threads are not read one by one."""
        gate = asyncio.Semaphore(AT_ONCE)

        async def one(reading: Coroutine[Any, Any, None]) -> None:
            async with gate:
                try:
                    await reading
                except AgentError as exc:
                    log.warning("A thread could not be read.", action="agent_fault", tenant=tenant.name, fault=str(exc))

        await asyncio.gather(*(one(reading) for reading in readings))

    def _wanted(self, key: Key, row: ThreadRow | None, *, held: bool) -> bool:
        """New, moved, missing while held open, or due for its slower re-reading."""
        seen = self._seen.get(key)
        if seen is None or row is None or row.updated_at != seen.updated_at:
            return True
        return held and self.clock() >= seen.next_read

    def _due(self, key: Key) -> bool:
        seen = self._seen.get(key)
        return seen is None or self.clock() >= seen.next_read

    async def _read_soon(self, tenant: TenantPolicy, version: int) -> None:
        """Threads that were in between at the last look."""
        for (url, identity, thread), seen in list(self._seen.items()):
            if url == tenant.agent.url and seen.doubtful_since is not None and self._due((url, identity, thread)):
                await self._guarded(tenant, identity, [thread], version)

    async def _guarded(self, tenant: TenantPolicy, identity: str, threads: Sequence[str], version: int) -> None:
        target = target_of(tenant, identity)
        try:
            post = Post(tenant, target, self.agents.client(target, tenant), version)
        except AgentError as exc:
            log.warning("A tenant's threads cannot be read.", action="agent_fault", tenant=tenant.name, fault=str(exc))
            return
        await self._read_all([self._read(post, thread) for thread in threads], tenant)

    async def _read(self, post: Post, thread_id: str, *, row: ThreadRow | None = None) -> None:
        """Read state, then the thread's row, and record what they show."""
        began = await self.store.now()
        tenant, target, client = post.tenant, post.target, post.client
        AGENT_READS.labels(tenant=tenant.name).inc()
        state = await client.state(thread_id)
        fresh = await client.thread(thread_id)
        if state is None or fresh is None:
            await self._gone(tenant, target, thread_id, began)
            return
        key = (target.url, target.identity, thread_id)
        seen = self._seen.setdefault(key, Seen())
        settled = seen.doubtful_since is not None and self.clock() - seen.doubtful_since >= SETTLED_S
        sighting = Sighting(target, fresh, state, began)
        synced = await record_sighting(self.store, tenant, sighting, policy_version=post.version, settled=settled)
        self._note(seen, synced, fresh, listed_at=row.updated_at if row else fresh.updated_at)
        if synced.opened or synced.closed:
            self.changed()

    def _note(self, seen: Seen, synced: Synced, row: ThreadRow, *, listed_at: str) -> None:
        """Remember the listed `updated_at` only if the row had not moved meanwhile: a moved one is read again."""
        now = self.clock()
        seen.updated_at = row.updated_at if row.updated_at == listed_at else ""
        if synced.again:
            seen.doubtful_since = now if seen.doubtful_since is None else seen.doubtful_since
            seen.next_read = now + SOON_S
        else:
            seen.doubtful_since = None
            spread = hash(row.thread_id) % 1000 / 1000 * OPEN_AGAIN_S / 2
            seen.next_read = now + OPEN_AGAIN_S + spread

    async def _gone(self, tenant: TenantPolicy, target: Target, thread_id: str, began: int) -> None:
        """The thread was deleted, or is another identity's: nothing can be answered there any more."""
        async with self.store.begin() as tx:
            known = await reviews.reviews_on_thread(tx, url=target.url, thread_id=thread_id)
            for review in known:
                waiting = review.state in (ReviewState.OPEN, ReviewState.DECIDED, ReviewState.EXPIRED, ReviewState.HELD)
                if review.tenant == tenant.name and review.opened_at < began and waiting:
                    await reviews.move(tx, review, ReviewState.SUPERSEDED, why="thread_moved_on")
        self._seen.pop((target.url, target.identity, thread_id), None)
        self.changed()

    async def _supersede_moved(self, tenant: TenantPolicy, held: list[Review]) -> None:
        """Reviews whose answers would go elsewhere than the policy now says."""
        stale = [review for review in held if moved(review, tenant)]
        for review in stale:
            async with self.store.begin() as tx:
                current = await reviews.load_review(tx, review.id, lock=True)
                if current and current.state in (
                    ReviewState.OPEN,
                    ReviewState.DECIDED,
                    ReviewState.EXPIRED,
                    ReviewState.HELD,
                ):
                    await reviews.move(tx, current, ReviewState.SUPERSEDED, why="moved_server")
        if stale:
            self.changed()


def _of_others(tenant: TenantPolicy, held: list[Review]) -> dict[str, list[str]]:
    """Threads held open for identities that are not polled: they came by hints and are read on our own schedule."""
    found: dict[str, list[str]] = {}
    for review in held:
        if review.target.identity not in tenant.agent.polled and review.target.url == tenant.agent.url:
            found.setdefault(review.target.identity, []).append(review.thread_id)
    return found
