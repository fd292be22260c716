"""Watching agent servers: which threads to read, and when.

Each watched identity's waiting threads are listed; a thread's state is read when it is new or its `updated_at` moved,
again on a slower, spread schedule while we hold it open, and at once when one that we hold open is missing from the
list. Hints from outside only say "read this one now". This module must not know what a reading changes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import structlog

from bot.agent.client import AgentClient
from bot.agent.pool import Agents, target_of
from bot.agent.surroundings import Started
from bot.agent.sync import Sighting, Synced, record_sighting
from bot.agent.wire import ThreadRow
from bot.core.model import ReviewState, Target
from bot.core.policy import TenantPolicy
from bot.errors import AgentError
from bot.metrics import AGENT_READS
from bot.policies import InForce, Policies
from bot.store import reviews
from bot.store.engine import Store
from bot.store.reviews import Held
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
    _version: int = 0  # of the policy
    _next_strays: float = 0.0
    _ailing: dict[tuple[str, str], str] = field(default_factory=dict)  # tenant, identity: the fault that was told
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
        if in_force.version != self._version:
            self._version, self._next_strays = in_force.version, 0.0
            self._seen.clear()  # what an older policy had closed may be this one's to ask anew
        await self._close_strays(in_force)
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
            seen = self._seen.get((tenant.agent.url, *hint[1:]))
            if seen is not None:
                seen.updated_at = ""  # should this reading fail, the next poll reads it
        for identity in dict.fromkeys(identity for _, identity, _ in mine):
            await self._guarded(tenant, identity, [thread for _, one, thread in mine if one == identity], version)

    async def _poll(self, tenant: TenantPolicy, version: int) -> None:
        async with self.store.read() as tx:
            held = await reviews.held_reviews(tx, tenant=tenant.name)
        await self._supersede_moved(tenant, held)
        for identity in tenant.agent.polled:
            try:
                await self._poll_identity(tenant, identity, held, version)
                self._ailing.pop((tenant.name, identity), None)
            except AgentError as exc:
                self._tell_once(tenant.name, identity, str(exc))
        for identity, threads in _of_others(tenant, held).items():
            due = [thread for thread in threads if self._due((tenant.agent.url, identity, thread))]
            await self._guarded(tenant, identity, due, version)

    async def _poll_identity(self, tenant: TenantPolicy, identity: str, held: Sequence[Held], version: int) -> None:
        target = target_of(tenant, identity)
        client = self.agents.client(target, tenant)
        listed: dict[str, str] = {}  # when each was updated: of ten thousand, their metadata is not kept
        for status in LISTED:
            async for page in client.search_threads(status=status):
                listed.update((row.thread_id, row.updated_at) for row in page)
        mine = {review.thread_id for review in held if review.target.identity == identity}
        due = {
            thread: listed.get(thread)
            for thread in {**dict.fromkeys(mine), **listed}
            if self._wanted((target.url, identity, thread), listed.get(thread), held=thread in mine)
        }
        await self._read_all(Post(tenant, target, client, version), due)

    async def _read_all(self, post: Post, due: Mapping[str, str | None]) -> None:
        """Several at once, so that a thousand waiting threads are not read one by one."""
        left, tenant = iter(due.items()), post.tenant.name

        async def reader() -> None:
            for thread, listed_at in left:
                try:
                    await self._read(post, thread, listed_at=listed_at)
                except AgentError as exc:
                    log.warning("A thread could not be read.", action="agent_fault", tenant=tenant, fault=str(exc))

        await asyncio.gather(*(reader() for _ in range(min(AT_ONCE, len(due)))))

    def _wanted(self, key: Key, listed_at: str | None, *, held: bool) -> bool:
        """New, moved, missing while held open, or due for its slower re-reading."""
        seen = self._seen.get(key)
        if seen is None or listed_at is None or listed_at != seen.updated_at:
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

    def _tell_once(self, tenant: str, identity: str, fault: str) -> None:
        """A server that stays away for an hour is one line, not one for each poll."""
        if self._ailing.get((tenant, identity)) != fault:
            self._ailing[tenant, identity] = fault
            log.warning("An agent server could not be read.", action="agent_fault", tenant=tenant, fault=fault)

    async def _guarded(self, tenant: TenantPolicy, identity: str, threads: Sequence[str], version: int) -> None:
        target = target_of(tenant, identity)
        try:
            post = Post(tenant, target, self.agents.client(target, tenant), version)
        except AgentError as exc:
            log.warning("A tenant's threads cannot be read.", action="agent_fault", tenant=tenant.name, fault=str(exc))
            return
        await self._read_all(post, dict.fromkeys(threads))

    async def _read(self, post: Post, thread_id: str, *, listed_at: str | None = None) -> None:
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

        async def started() -> Started:
            return await client.started(thread_id, state.run_id)

        sighting = Sighting(target, fresh, state, began, started)
        synced = await record_sighting(self.store, tenant, sighting, policy_version=post.version, settled=settled)
        self._note(seen, synced, fresh, listed_at=fresh.updated_at if listed_at is None else listed_at)
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

    async def _supersede_moved(self, tenant: TenantPolicy, held: Sequence[Held]) -> None:
        """Reviews whose answers would go elsewhere than the policy now says."""
        await self._supersede([review for review in held if moved(review, tenant)])

    async def _close_strays(self, in_force: InForce) -> None:
        """Reviews of tenants that the policy no longer has: nobody may decide them and nothing is sent for them."""
        now = self.clock()
        if in_force.policy is None or now < self._next_strays:
            return
        self._next_strays = now + OPEN_AGAIN_S
        async with self.store.read() as tx:
            strays = await reviews.stray_reviews(tx, tenants=[tenant.name for tenant in in_force.tenants()])
        await self._supersede(strays)

    async def _supersede(self, stale: Sequence[Held]) -> None:
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


def _of_others(tenant: TenantPolicy, held: Sequence[Held]) -> dict[str, list[str]]:
    """Threads held open for identities that are not polled: they came by hints and are read on our own schedule."""
    found: dict[str, list[str]] = {}
    for review in held:
        if review.target.identity not in tenant.agent.polled and review.target.url == tenant.agent.url:
            found.setdefault(review.target.identity, []).append(review.thread_id)
    return found
