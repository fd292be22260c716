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
from bot.core.judge import POSSIBLY_TWICE, RACED_ALARM, Verdict, VerdictKind, judge
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
from bot.work.looking import Seen, observe_state, see
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
TOLD_OURS = frozenset({VerdictKind.DONE, VerdictKind.UNOPPOSED})
TOLD = TOLD_OURS | {VerdictKind.LOST_RACE, VerdictKind.ELSEWHERE}
RACES = frozenset({POSSIBLY_TWICE, RACED_ALARM})


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
        again = await asyncio.gather(*(self._one(one, in_force, gate, now) for one in due))
        ids = [one.claim.dispatch_id for one in due]
        kept = {
            one.claim.dispatch_id: after_ms
            for one, after_ms in zip(due, again, strict=True)
            if after_ms is not None and now < one.closed_at + GIVE_UP_MS
        }
        async with self.store.begin() as tx:
            await lookbacks.put_off(tx, kept, [one for one in ids if one not in kept])
        return len(due) == BATCH

    async def _one(self, due: Due, in_force: InForce, gate: asyncio.Semaphore, now: int) -> int | None:
        """Look back at one; answers in how many ms to look again, if at all."""
        claim, tenant = due.claim, in_force.tenant(due.claim.tenant)
        async with gate:
            async with self.store.read() as tx:
                review = await reviews.load_review(tx, claim.review_id)
            if review is None or tenant is None or review.state not in OVER or moved(review, tenant):
                return None
            try:
                if due.alarm in RACES:
                    return AGAIN_MS if await self._look_again(as_sent(review, claim), claim, tenant) else None
                # Later copies and later words are awaited ever less often, so that few looks last a day.
                later = await self._race(as_sent(review, claim), claim, tenant, in_force)
                later = await self._later_word(as_sent(review, claim), claim, tenant) or later
                return max(1_000, now - due.closed_at) if later else None
            except AgentError as exc:
                log.info(
                    "A thread could not be looked back at.", action="agent_fault", review=review.id, fault=str(exc)
                )
                return AGAIN_MS

    async def _race(self, review: Review, claim: Claim, tenant: TenantPolicy, in_force: InForce) -> bool:
        """Read the runs: an answer of somebody else's beside ours is told now.

        Once is enough, unless an earlier copy of ours was called not taken: it may come at any time all the same.
        """
        runs = await self.agents.client(review.target, tenant).runs(review.thread_id)
        async with self.store.read() as tx:
            ours = await lookbacks.known_dispatches(tx, {run.dispatch for run in runs if run.dispatch})
        siblings = ours - {claim.dispatch_id}
        verdict = judge(replace(observe_state(review, claim, None), runs=runs, siblings=siblings))
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
        seen = await self._see(review, claim, tenant, raced_before=True)
        if any(run.active for run in seen.look.runs):
            return True
        if seen.verdict.kind in TOLD:
            told = outcomes_of(seen.verdict, seen.results, expiry=claim.expiry)
            return not await self._corrected(review, told)
        return False

    async def _later_word(self, review: Review, claim: Claim, tenant: TenantPolicy) -> bool:
        """What became of a call that was taken and showed no result, while its thread has not come to its end."""
        taken = [action.position for action in review.actions if action.outcome is Outcome.TAKEN]
        if not taken or review.state is not ReviewState.RESUMED:
            return False
        seen = await self._see(review, claim, tenant)
        told = outcomes_of(seen.verdict, seen.results, expiry=claim.expiry) if seen.verdict.kind in TOLD_OURS else {}
        news = {at: told[at] for at in taken if at in told and told[at][0] is not Outcome.TAKEN}
        if news:
            return not await self._corrected(review, news)
        state = seen.look.state
        return state is not None and bool(state.next)

    async def _see(self, review: Review, claim: Claim, tenant: TenantPolicy, *, raced_before: bool = False) -> Seen:
        # The dispatch is closed; what matters here is whether the server ever named a run of ours.
        taken = replace(claim, state="accepted") if claim.run_id else claim
        client = self.agents.client(review.target, tenant)
        return await see(self.store, client, review, taken, raced_before=raced_before)

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
