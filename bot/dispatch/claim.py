"""A claim as its worker holds it: every step is one conditional write that proves the worker still does.

A write that changes no row means that the lease was lost, and nothing more may be done: `LeaseLost` unwinds the attempt.
This module must not know agent servers.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from bot.core.digest import salted
from bot.core.model import Outcome, ReviewState
from bot.dispatch.alarms import Alarm, raise_once
from bot.metrics import DISPATCHES
from bot.runtimes.langgraph.client import Agents
from bot.store import dispatches
from bot.store.dispatches import Claim
from bot.store.engine import Store
from bot.store.policies import Policies

Outcomes = Mapping[int, tuple[Outcome, str | None]]
LONG_MS = 30 * 60_000  # longer than an agent's tool is worth waiting for without a person's looking


class LeaseLost(Exception):
    """Another worker holds this dispatch now."""


@dataclass(frozen=True, slots=True)
class DispatchServices:
    """What every attempt works with. `sleep` is injected so that tests need not wait."""

    store: Store
    agents: Agents
    lease_ms: int = 15_000
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    jitter: Callable[[], float] = random.random
    policies: Policies = field(default_factory=Policies)
    hint: Callable[[str, str, str], None] = lambda *_: None  # have a thread read: tenant, identity, thread


@dataclass(slots=True)
class HeldClaim:
    """The claim, renewed by each write."""

    services: DispatchServices
    claim: Claim
    salt: bytes = b""  # the review's, under which the record names what was sent
    now: int = 0  # the database's time (ms) at the last renewal

    def _kept(self, claim: Claim | None) -> None:
        if claim is None:
            raise LeaseLost
        self.claim = claim

    async def arm(self, body: bytes, *, fence: str | None = None) -> float:
        """Store that the first byte may leave: after this commit nobody believes "not sent" without proof.

        `fence` is the assistant of this attempt's own that `body` names. Answers when the transaction began, which is
        no later than what `armed_at` says: waiting for a connection or another writer is before it.
        """
        async with self.services.store.begin() as tx:
            self._kept(await dispatches.arm(tx, self.claim, body_hash=salted(self.salt, body)))
            if fence is not None:
                await dispatches.note_fence(tx, self.claim, assistant_id=fence)
        return tx.began

    async def fence(self) -> str | None:
        """The assistant that the last attempt was sent under, where it had one of its own."""
        async with self.services.store.read() as tx:
            return await dispatches.fence_of(tx, self.claim)

    async def since(self) -> int:
        """The first attempt of which a copy may still arrive, or the next one."""
        if self.claim.attempt == 0:
            return 1
        async with self.services.store.read() as tx:
            return await dispatches.first_alive(tx, self.claim)

    async def accept(self, run_id: str | None) -> None:
        """The server took it: from here nothing is sent again."""
        async with self.services.store.begin() as tx:
            self._kept(await dispatches.accept(tx, self.claim, run_id=run_id))

    async def renew(self) -> None:
        """Keep it for longer."""
        async with self.services.store.begin() as tx:
            self._kept(await dispatches.renew(tx, self.claim, lease_ms=self.services.lease_ms))
            self.now = tx.now

    async def alarm(self, alarm: Alarm) -> None:
        """Tell those who must know; only the first time of each kind does anything."""
        async with self.services.store.begin() as tx:
            await raise_once(tx, self.claim, alarm, await self.services.policies.in_force(tx))

    @property
    def overlong(self) -> bool:
        """Whether our run goes on for so long that a person must look: a crashed server says "running" for ever."""
        since = self.claim.accepted_at
        return since is not None and self.now - since >= LONG_MS

    async def start_settling(self) -> None:
        """A quick look found no trace: the settling time runs from now."""
        async with self.services.store.begin() as tx:
            self._kept(await dispatches.set_alive(tx, self.claim))

    async def put_back(self, why: str, delay_ms: int) -> None:
        """Nothing was sent: the review waits to be claimed again."""
        back = ReviewState.EXPIRED if self.claim.expiry else ReviewState.DECIDED
        async with self.services.store.begin() as tx:
            await dispatches.release(tx, self.claim, to=back, why=why, retry_at=tx.now + delay_ms)

    async def end_unsent(self, state: ReviewState, why: str, outcomes: Outcomes) -> None:
        """Nothing was sent, and nothing will be; somebody else's answer may have had outcomes."""
        async with self.services.store.begin() as tx:
            await dispatches.release(tx, self.claim, to=state, why=why, outcomes=outcomes)
        DISPATCHES.labels(result=why).inc()

    async def bury(self) -> None:
        """No copy of the last attempt can run: it never left, or the server itself refused it."""
        async with self.services.store.begin() as tx:
            await dispatches.note_dead(tx, self.claim)

    async def refused(self, *, dead: bool) -> dispatches.AttemptTally:
        """The server refused the last attempt; `dead` where no other copy of it can have been let through."""
        async with self.services.store.begin() as tx:
            await dispatches.note_refused(tx, self.claim)
            if dead:
                await dispatches.note_dead(tx, self.claim)
            return await dispatches.tally(tx, self.claim)

    async def tally(self) -> dispatches.AttemptTally:
        """How the attempts so far ended."""
        async with self.services.store.read() as tx:
            return await dispatches.tally(tx, self.claim)

    async def again(self, why: str, delay_ms: int) -> None:
        """The attempt was not taken: the next one looks before anything else."""
        async with self.services.store.begin() as tx:
            await dispatches.not_taken(tx, self.claim, why=why, retry_at=tx.now + delay_ms)

    async def close(self, state: ReviewState, why: str, outcomes: Outcomes) -> None:
        """The end, with what became of each call."""
        async with self.services.store.begin() as tx:
            closed = await dispatches.close(tx, self.claim, to=state, why=why, outcomes=outcomes)
        if closed:
            DISPATCHES.labels(result=why or state.value).inc()
