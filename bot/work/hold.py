"""A claim as its worker holds it: every step is one conditional write that proves the worker still does.

A write that changes no row means that the lease was lost, and nothing more may be done: `LeaseLost` unwinds the attempt.
This module must not know agent servers.
"""

from __future__ import annotations

import asyncio
import hashlib
import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from bot.agent.pool import Agents
from bot.core.model import Outcome, ReviewState
from bot.metrics import DISPATCHES
from bot.store import dispatches
from bot.store.dispatches import Claim
from bot.store.engine import Store

Outcomes = Mapping[int, tuple[Outcome, str | None]]


class LeaseLost(Exception):
    """Another worker holds this dispatch now."""


@dataclass(frozen=True, slots=True)
class Bench:
    """What every attempt works with. `sleep` is injected so that tests need not wait."""

    store: Store
    agents: Agents
    lease_ms: int = 15_000
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    jitter: Callable[[], float] = random.random


@dataclass(slots=True)
class Hold:
    """The claim, renewed by each write."""

    bench: Bench
    claim: Claim

    def _kept(self, claim: Claim | None) -> None:
        if claim is None:
            raise LeaseLost
        self.claim = claim

    async def arm(self, body: bytes) -> float:
        """Store that the first byte may leave: after this commit nobody believes "not sent" without proof.

        Answers when the transaction began, which is what `armed_at` says: waiting for a free connection is before it.
        """
        async with self.bench.store.begin() as tx:
            began = self.bench.agents.doorway.clock()
            self._kept(await dispatches.arm(tx, self.claim, body_hash=hashlib.sha256(body).hexdigest()))
        return began

    async def accept(self, run_id: str | None) -> None:
        """The server took it: from here nothing is sent again."""
        async with self.bench.store.begin() as tx:
            self._kept(await dispatches.accept(tx, self.claim, run_id=run_id))

    async def renew(self) -> None:
        """Keep it for longer."""
        async with self.bench.store.begin() as tx:
            self._kept(await dispatches.renew(tx, self.claim, lease_ms=self.bench.lease_ms))

    async def start_settling(self) -> None:
        """A quick look found no trace: the settling time runs from now."""
        async with self.bench.store.begin() as tx:
            self._kept(await dispatches.set_alive(tx, self.claim))

    async def put_back(self, why: str, delay_ms: int) -> None:
        """Nothing was sent: the review waits to be claimed again."""
        back = ReviewState.EXPIRED if self.claim.expiry else ReviewState.DECIDED
        async with self.bench.store.begin() as tx:
            await dispatches.release(tx, self.claim, to=back, why=why, retry_at=tx.now + delay_ms)

    async def end_unsent(self, state: ReviewState, why: str) -> None:
        """Nothing was sent, and nothing will be."""
        async with self.bench.store.begin() as tx:
            await dispatches.release(tx, self.claim, to=state, why=why)
        DISPATCHES.labels(result=why).inc()

    async def again(self, why: str, delay_ms: int) -> None:
        """The attempt is dead for certain: the next one looks before anything else."""
        async with self.bench.store.begin() as tx:
            await dispatches.not_taken(tx, self.claim, why=why, retry_at=tx.now + delay_ms)

    async def close(self, state: ReviewState, why: str, outcomes: Outcomes) -> None:
        """The end, with what became of each call."""
        async with self.bench.store.begin() as tx:
            closed = await dispatches.close(tx, self.claim, to=state, why=why, outcomes=outcomes)
        if closed:
            DISPATCHES.labels(result=why or state.value).inc()
