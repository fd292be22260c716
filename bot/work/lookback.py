"""Looking back at what is over: did somebody else answer in the same moment?

The quick end of a dispatch reads the state once and is done: three calls of the agent server between a click and its
outcome. Who raced it shows only in the list of runs, and reading that first would make every outcome later for the sake
of a rare one. So the outcome is stored and shown at once, and about a second later the runs are read: a race turns the
record into "possibly twice" and raises the alarm. A raced thread is looked at again until nothing runs there any more,
because what the last run writes is what counts. This module must not send anything, nor move a review.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace

import structlog

from bot.agent.pool import Agents
from bot.core.judge import POSSIBLY_TWICE, Verdict, VerdictKind, judge
from bot.core.model import Outcome, Review, ReviewState
from bot.core.policy import TenantPolicy
from bot.errors import AgentError
from bot.policies import InForce, Policies
from bot.store import lookbacks, reviews
from bot.store.claims import Claim
from bot.store.engine import Store, Tx
from bot.store.lookbacks import Due
from bot.store.transitions import remark, standing_of
from bot.work.alarms import Alarm, raise_once
from bot.work.endings import alarm_why, outcomes_of
from bot.work.looking import observe, observe_state, results_of
from bot.work.recheck import moved
from bot.work.sent import as_sent

log = structlog.get_logger("placet")
LEASE_MS = 60_000
AGAIN_MS = 60_000  # a server that cannot be read, or a raced thread on which something still runs
GIVE_UP_MS = 86_400_000
BATCH = 50
AT_ONCE = 8
OVER = frozenset({ReviewState.RESUMED, ReviewState.SUPERSEDED})
# What a raced thread shows as a call's end, whoever's answer it was.
TOLD = frozenset({VerdictKind.DONE, VerdictKind.LOST_RACE, VerdictKind.ELSEWHERE})


@dataclass(frozen=True, slots=True)
class Lookback:
    """One replica's worker; the store lets each dispatch be looked at by one of them."""

    store: Store
    policies: Policies
    agents: Agents
    changed: Callable[[], None]

    async def step(self) -> bool:
        """Look back at what is due; answers whether there may be more."""
        async with self.store.read() as tx:
            if not await lookbacks.any_due(tx):
                return False
        async with self.store.begin() as tx:
            due = await lookbacks.take_due(tx, lease_ms=LEASE_MS, limit=BATCH)
            in_force, now = await self.policies.in_force(tx), tx.now
        gate = asyncio.Semaphore(AT_ONCE)
        again = await asyncio.gather(*(self._one(one, in_force, gate) for one in due))
        ids = [one.claim.dispatch_id for one in due]
        kept = {
            one.claim.dispatch_id: _again_ms(one, now)
            for one, wanted in zip(due, again, strict=True)
            if wanted and now < one.closed_at + GIVE_UP_MS
        }
        async with self.store.begin() as tx:
            await lookbacks.put_off(tx, kept, [one for one in ids if one not in kept])
        return len(due) == BATCH

    async def _one(self, due: Due, in_force: InForce, gate: asyncio.Semaphore) -> bool:
        """Look back at one; answers whether to look again."""
        claim, tenant = due.claim, in_force.tenant(due.claim.tenant)
        async with gate:
            async with self.store.read() as tx:
                review = await reviews.load_review(tx, claim.review_id)
            if review is None or tenant is None or review.state not in OVER or moved(review, tenant):
                return False
            try:
                if due.alarm not in (None, "unknown"):
                    return await self._look_again(as_sent(review, claim), claim, tenant)
                return await self._race(as_sent(review, claim), claim, tenant, in_force)
            except AgentError as exc:
                log.info(
                    "A thread could not be looked back at.", action="agent_fault", review=review.id, fault=str(exc)
                )
                return True

    async def _race(self, review: Review, claim: Claim, tenant: TenantPolicy, in_force: InForce) -> bool:
        """Read the runs: an answer of somebody else's beside ours is told now.

        Once is enough, unless an earlier copy of ours was called not taken: it may come at any time all the same.
        """
        runs = await self.agents.client(review.target, tenant).runs(review.thread_id)
        async with self.store.read() as tx:
            ours = await lookbacks.known_dispatches(tx, {run.dispatch for run in runs if run.dispatch})
        matter = tuple(run for run in runs if run.dispatch in (None, claim.dispatch_id) or run.dispatch not in ours)
        verdict = judge(replace(observe_state(review, claim, None), runs=matter))
        # A server that runs one answer at a time, and refuses the other, raced nobody.
        if POSSIBLY_TWICE not in verdict.alarms:
            return claim.attempt > 1
        async with self.store.begin() as tx:
            if await raise_once(tx, claim, Alarm.of(verdict), in_force):
                await self._flag(tx, claim, verdict)
        self.changed()
        return True

    @staticmethod
    async def _flag(tx: Tx, claim: Claim, verdict: Verdict) -> None:
        current = await reviews.load_review(tx, claim.review_id, lock=True)
        if current is not None and current.state in OVER:
            await remark(tx, standing_of(current), why=alarm_why(verdict), content={"runs": list(verdict.raced_by)})

    async def _look_again(self, review: Review, claim: Claim, tenant: TenantPolicy) -> bool:
        """What a raced thread shows by now; what the agent server says last is the outcome."""
        look = await self.agents.client(review.target, tenant).look(review.thread_id)
        if any(run.active for run in look.runs):
            return True
        verdict = judge(observe(review, claim, look))
        if verdict.kind in TOLD:
            told = outcomes_of(verdict, results_of(review, look.state), expiry=claim.expiry)
            return not await self._corrected(review, told)
        return False

    async def _corrected(self, review: Review, told: dict[int, tuple[Outcome, str | None]]) -> bool:
        """Store what is to be told instead; False where the review changed while the thread was read: look again."""
        changed = {at: held for at, held in told.items() if held[0] is not review.actions[at].outcome}
        if not changed:
            return True
        async with self.store.begin() as tx:
            current = await reviews.load_review(tx, review.id, lock=True)
            if current is None or current.version != review.version:
                return current is None
            await reviews.set_outcomes(tx, current, changed)
        self.changed()
        return True


def _again_ms(due: Due, now: int) -> int:
    """In a minute; for a copy of ours that may yet come, after as long again as has passed, so that few looks last a day."""
    late_copy = due.claim.attempt > 1 and due.alarm is None
    return max(1_000, now - due.closed_at) if late_copy else AGAIN_MS
