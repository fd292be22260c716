"""Watching agent servers: which threads to read, and when.

Each watched identity's waiting threads are listed; a thread's state is read when it is new or its `updated_at` moved,
again on a slower, spread schedule while we hold it open, and when one that we hold open is missing from the list. Hints
from outside only say "read this one now". A thread that cannot be read is left alone for ever longer, and operators
are told. This module must not know what a reading changes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

import structlog

from bot.core.model import ReviewState, Target
from bot.dispatch.alarms import tell_unreadable
from bot.dispatch.recheck import moved
from bot.errors import AgentError, StoreError
from bot.loops import Tasks
from bot.metrics import AGENT_READ_FAILURES, AGENT_READS, UNREADABLE_THREADS
from bot.policy.model import TenantPolicy
from bot.runtimes.langgraph.client import AgentClient, Agents, target_of
from bot.runtimes.langgraph.run_context import StartedRun
from bot.runtimes.langgraph.thread_sync import (
    LEAST_APART_MS,
    NOT_IDLE,
    SyncResult,
    ThreadReading,
    list_agrees,
    record_absence,
    record_sighting,
    supersede_gone,
)
from bot.runtimes.langgraph.wire import ThreadRow, ThreadState
from bot.store import reviews, threads
from bot.store.engine import Store
from bot.store.policies import InForce, Policies
from bot.store.reviews import UnsettledReview
from bot.store.threads import Unreadable

log = structlog.get_logger("placet")

LISTED = ("interrupted", "error")
OPEN_AGAIN_S = 60.0
AT_ONCE = 8
SOON_S = 0.25
SETTLED_S = 2.0
# After so many failed readings in a row a thread is left alone for 2, 4, 8 … seconds.
BACK_OFF_S, LONGEST_BACK_OFF_S = 2.0, 300.0
TOLD_AFTER = 3  # failed readings
LISTED_AND_GONE = "the list of threads names it, and reading it answers HTTP 404"

Key = tuple[str, str, str]  # url, identity, thread


@dataclass(slots=True)
class ThreadMemory:
    """What this process knows of one thread; losing it costs one reading."""

    updated_at: str = ""
    next_read: float = 0.0
    doubtful_since: float | None = None  # it was in between at the last look
    missing: bool = False  # an interrupt that waits was not listed at the last look
    failures: int = 0  # readings in a row


@dataclass(frozen=True, slots=True)
class WatchedIdentity:
    """Where threads are read: a tenant under one policy version, as one identity."""

    tenant: TenantPolicy
    target: Target
    client: AgentClient
    version: int


@dataclass(frozen=True, slots=True)
class _Gone:
    """What the second reading of a thread found missing, with the thread's status; None: it answered 404."""

    thread_id: str
    status: str | None
    state: ThreadState | None
    reviews: tuple[str, ...]


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
    _seen: dict[Key, ThreadMemory] = field(default_factory=dict)
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
        await self._read(WatchedIdentity(tenant, target, self.agents.client(target, tenant), version), thread_id)

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
        mine = [hint for hint in mine if not self._backs_off(tenant, *hint[1:])]
        for hint in mine:
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
            except AgentError as exc:
                self._tell_once(tenant.name, identity, str(exc))
        for identity, others in _of_others(tenant, held).items():
            due = [thread for thread in others if self._due((tenant.agent.url, identity, thread))]
            await self._guarded(tenant, identity, due, version)

    async def _poll_identity(
        self, tenant: TenantPolicy, identity: str, held: Sequence[UnsettledReview], version: int
    ) -> None:
        target = target_of(tenant, identity)
        client = self.agents.client(target, tenant)
        listed: dict[str, str] = {}  # when each was updated: of ten thousand, their metadata is not kept
        for status in LISTED:
            async for page in client.search_threads(status=status):
                listed.update((row.thread_id, _last_change(row)) for row in page)
        if self._ailing.pop((tenant.name, identity), None):
            for (url, whose, _), seen in self._seen.items():
                seen.next_read = 0.0 if seen.failures and (url, whose) == (target.url, identity) else seen.next_read
        mine = {review.thread_id for review in held if review.target.identity == identity}
        await self._forget_unreadable(tenant, identity, {*mine, *listed})
        due = {
            thread: listed.get(thread)
            for thread in {**dict.fromkeys(mine), **listed}
            if self._wanted((target.url, identity, thread), listed.get(thread), held=thread in mine)
        }
        await self._read_all(WatchedIdentity(tenant, target, client, version), due)

    async def _read_all(self, post: WatchedIdentity, due: Mapping[str, str | None]) -> None:
        """Several at once, so that a thousand waiting threads are not read one by one."""
        left = iter(due.items())
        gone: list[_Gone] = []

        async def reader() -> None:
            for thread, listed_at in left:
                try:
                    gone.extend(await self._read(post, thread, listed_at=listed_at))
                except StoreError:
                    raise
                except AgentError as exc:
                    await self._failed(post, thread, listed_at, str(exc))
                except Exception as exc:  # one thread's answers must not keep the others from being read
                    log.exception("A thread's answers broke a reading.", action="thread_failed", thread=thread)
                    await self._failed(post, thread, listed_at, f"its answers cannot be used ({type(exc).__name__})")

        await asyncio.gather(*(reader() for _ in range(min(AT_ONCE, len(due)))))
        if gone:
            await self._close_gone(post, gone)

    async def _close_gone(self, post: WatchedIdentity, gone: Sequence[_Gone]) -> None:
        """Close what two readings did not list, where the list of threads tells the same of the thread."""
        try:
            listed = await post.client.statuses(NOT_IDLE)
        except AgentError as exc:
            self._tell_once(post.tenant.name, post.target.identity, str(exc))
            return
        self._ailing.pop((post.tenant.name, post.target.identity), None)
        for one in gone:
            if list_agrees(one.status, listed.get(one.thread_id)):
                if await supersede_gone(self.store, one.reviews, one.state):
                    self._seen.pop((post.target.url, post.target.identity, one.thread_id), None)
                    self.changed()
            elif one.status is None:
                await self._failed(post, one.thread_id, None, LISTED_AND_GONE)

    def _wanted(self, key: Key, listed_at: str | None, *, held: bool) -> bool:
        """New, moved, missing while held open, or due for its slower re-reading."""
        seen = self._seen.get(key)
        if seen is None:
            return True
        moved = listed_at is not None and listed_at != seen.updated_at
        if seen.failures or (seen.missing and not moved):
            return self.clock() >= seen.next_read
        return moved or listed_at is None or (held and self.clock() >= seen.next_read)

    def _due(self, key: Key) -> bool:
        seen = self._seen.get(key)
        return seen is None or self.clock() >= seen.next_read

    async def _read_soon(self, tenant: TenantPolicy, version: int) -> None:
        """Threads that were in between at the last look, missed an interrupt, or could not be read."""
        due: dict[str, list[str]] = {}
        for (url, identity, thread), seen in self._seen.items():
            soon = seen.doubtful_since is not None or seen.missing or seen.failures
            if soon and url == tenant.agent.url and self.clock() >= seen.next_read:
                due.setdefault(identity, []).append(thread)
        for identity, found in due.items():
            await self._guarded(tenant, identity, found, version)

    def _backs_off(self, tenant: TenantPolicy, identity: str, thread_id: str) -> bool:
        """Whether a hint must wait, since the thread cannot be read: it then comes up a little sooner."""
        seen = self._seen.get((tenant.agent.url, identity, thread_id))
        if seen is None or not seen.failures:
            return False
        seen.next_read = min(seen.next_read, self.clock() + BACK_OFF_S)
        return True

    def _tell_once(self, tenant: str, identity: str, fault: str) -> None:
        """A server that stays away for an hour is one line, not one for each poll."""
        if self._ailing.get((tenant, identity)) != fault:
            self._ailing[tenant, identity] = fault
            log.warning("An agent server could not be read.", action="agent_fault", tenant=tenant, fault=fault)

    async def _guarded(self, tenant: TenantPolicy, identity: str, threads: Sequence[str], version: int) -> None:
        target = target_of(tenant, identity)
        try:
            post = WatchedIdentity(tenant, target, self.agents.client(target, tenant), version)
        except AgentError as exc:
            log.warning("A tenant's threads cannot be read.", action="agent_fault", tenant=tenant.name, fault=str(exc))
            return
        await self._read_all(post, dict.fromkeys(threads))

    async def _read(self, post: WatchedIdentity, thread_id: str, *, listed_at: str | None = None) -> Sequence[_Gone]:
        """Read state, then the thread's row, and record what they show; answers which reviews may have lost theirs."""
        began = await self.store.now()
        tenant, target, client = post.tenant, post.target, post.client
        AGENT_READS.labels(tenant=tenant.name).inc()
        state = await client.state(thread_id)
        fresh = await client.thread(thread_id)
        seen = self._seen.setdefault((target.url, target.identity, thread_id), ThreadMemory())
        settled = seen.doubtful_since is not None and self.clock() - seen.doubtful_since >= SETTLED_S
        if state is None or fresh is None:
            synced = await record_absence(self.store, tenant, target, thread_id, began=began)
            status, updated_at = None, ""
        else:
            run_id = state.run_id

            async def started() -> StartedRun:
                return await client.started(thread_id, run_id)

            sighting = ThreadReading(target, fresh, state, began, started)
            synced = await record_sighting(self.store, tenant, sighting, policy_version=post.version, settled=settled)
            # The listed time is remembered only if the row had not moved meanwhile: a moved one is read again.
            changed = _last_change(fresh)
            status, updated_at = fresh.status, changed if listed_at in (None, changed) else ""
        if status is not None:
            await self._readable(post, thread_id, seen)
        self._schedule(seen, synced, tenant, thread_id, updated_at)
        if synced.opened or synced.closed:
            self.changed()
        if status is None and listed_at is not None:
            await self._failed(post, thread_id, listed_at, LISTED_AND_GONE)
        elif status is None and not synced.missing:
            self._seen.pop((target.url, target.identity, thread_id), None)  # nothing is held open there
        return [_Gone(thread_id, status, state, synced.gone)] if synced.gone else []

    def _schedule(
        self, seen: ThreadMemory, synced: SyncResult, tenant: TenantPolicy, thread_id: str, updated_at: str
    ) -> None:
        """When the thread is read again though nobody says that it moved."""
        now = self.clock()
        seen.updated_at, seen.missing = updated_at, synced.missing
        if synced.again:
            seen.doubtful_since = now if seen.doubtful_since is None else seen.doubtful_since
            # Soon, and less often the longer it stays in between.
            waited = (now - seen.doubtful_since) / 4
            seen.next_read = now + min(max(SOON_S, waited), max(SOON_S, tenant.watch_every_ms / 1000))
            return
        seen.doubtful_since = None
        if synced.missing:
            seen.next_read = now + max(LEAST_APART_MS, tenant.watch_every_ms) / 1000 + SOON_S
            return
        spread = hash(thread_id) % 1000 / 1000 * OPEN_AGAIN_S / 2
        seen.next_read = now + OPEN_AGAIN_S + spread

    async def _failed(self, post: WatchedIdentity, thread_id: str, listed_at: str | None, fault: str) -> None:
        """One thread could not be read: leave it alone for a while, and have operators told if that lasts.

        While the whole server is away no single thread is to blame.
        """
        tenant, identity = post.tenant.name, post.target.identity
        AGENT_READ_FAILURES.labels(tenant=tenant).inc()
        seen = self._seen.setdefault((post.target.url, identity, thread_id), ThreadMemory())
        if any(ailing == tenant for ailing, _ in self._ailing):
            seen.failures = max(seen.failures, 1)
        else:
            seen.failures += 1
            async with self.store.begin() as tx:
                noted = await threads.note_unreadable(
                    tx, tenant=tenant, identity=identity, thread_id=thread_id, fault=fault
                )
                seen.failures = max(seen.failures, noted.failures)
                if noted.failures >= TOLD_AFTER and noted.told_at is None:
                    await tell_unreadable(tx, noted, await self.policies.in_force(tx))
            if noted.failures == 1:
                about = {"tenant": tenant, "identity": identity, "thread": ascii(thread_id)[1:-1], "fault": fault}
                log.warning("A thread could not be read; it is tried again.", action="thread_unreadable", **about)
        seen.updated_at = seen.updated_at if listed_at is None else listed_at
        seen.next_read = self.clock() + min(BACK_OFF_S * 2 ** min(seen.failures - 1, 16), LONGEST_BACK_OFF_S)

    async def _readable(self, post: WatchedIdentity, thread_id: str, seen: ThreadMemory) -> None:
        if not seen.failures:
            return
        seen.failures = 0
        async with self.store.begin() as tx:
            await threads.forget(tx, tenant=post.tenant.name, identity=post.target.identity, thread_ids=[thread_id])
        log.info("A thread can be read again.", action="thread_readable", tenant=post.tenant.name)

    async def _forget_unreadable(self, tenant: TenantPolicy, identity: str, waiting: Collection[str]) -> None:
        """Threads that could not be read, and for which nothing waits any more."""
        async with self.store.read() as tx:
            known = await threads.unreadable(tx, tenant=tenant.name)
        UNREADABLE_THREADS.labels(tenant=tenant.name).set(len(known))
        here = (tenant.agent.url, identity)
        for key in [key for key, seen in self._seen.items() if seen.failures and key[:2] == here]:
            if key[2] not in waiting:
                del self._seen[key]
        over = [
            one.thread_id
            for one in known
            if one.identity == identity and not self._still_unreadable(one, tenant, waiting)
        ]
        if over:
            async with self.store.begin() as tx:
                await threads.forget(tx, tenant=tenant.name, identity=identity, thread_ids=over)

    def _still_unreadable(self, one: Unreadable, tenant: TenantPolicy, waiting: Collection[str]) -> bool:
        """Not where nothing waits for it any more, or where it was read since, maybe before a restart."""
        seen = self._seen.get((tenant.agent.url, one.identity, one.thread_id))
        return one.thread_id in waiting and (seen is None or seen.failures > 0)

    async def _supersede_moved(self, tenant: TenantPolicy, held: Sequence[UnsettledReview]) -> None:
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

    async def _supersede(self, stale: Sequence[UnsettledReview]) -> None:
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


def _last_change(row: ThreadRow) -> str:
    """What tells two listings of a thread apart: not every server calls a change of status an update."""
    return f"{row.status} {row.updated_at}"


def _of_others(tenant: TenantPolicy, held: Sequence[UnsettledReview]) -> dict[str, list[str]]:
    """Threads held open for identities that are not polled: they came by hints and are read on our own schedule."""
    found: dict[str, list[str]] = {}
    for review in held:
        if review.target.identity not in tenant.agent.polled and review.target.url == tenant.agent.url:
            found.setdefault(review.target.identity, []).append(review.thread_id)
    return found
