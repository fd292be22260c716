"""Dispatches looked at again: unknown outcomes, and ends that somebody may have raced.

Unknown outcomes, looked at again on a schedule: sent once, never sent again, settled by what the thread shows. The
first look at each also raises its alarm, once. What a look proves is judged where every look is; here only a verdict
that ends the matter moves the review.

Looking back at what is over: did somebody else answer in the same moment? The quick end of a dispatch reads the state
once and is done: three calls of the agent server between a click and its outcome. Who raced it shows only in the list
of runs, and reading that first would make every outcome later for the sake of a rare one. So the outcome is stored
and shown at once, and about a second later the runs are read: a race turns the record into "possibly twice" and
raises the alarm. A raced thread is looked at again until nothing runs there any more, because what the last run
writes is what counts.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

import structlog

from bot.core.model import Outcome, Review, ReviewState
from bot.dispatch.alarms import Alarm, raise_once
from bot.dispatch.attempt import ENDINGS, alarm_why, as_sent, outcomes_of, why_of
from bot.dispatch.recheck import moved
from bot.errors import AgentError
from bot.policy.model import TenantPolicy
from bot.runtimes.langgraph.client import Agents
from bot.runtimes.langgraph.probe import ProbeReading, gone_for_good, is_missing, observe_state, see
from bot.runtimes.langgraph.verdict import POSSIBLY_TWICE, RACED_ALARM, SECOND_LOOK, Verdict, VerdictKind, judge
from bot.store import dispatches, reviews
from bot.store.dispatches import Claim, LookbackDue, look_back
from bot.store.engine import Store, Tx
from bot.store.policies import InForce, Policies
from bot.store.settling import Settlement, settle
from bot.store.transitions import ref_of, remark

log = structlog.get_logger("placet")
EVERY_MS = 60_000
BATCH = 20
ALARM = Alarm(dispatches.UNKNOWN_ALARM)


@dataclass(frozen=True, slots=True)
class UnknownOutcomes:
    """One replica's re-checker; the store lets each review be looked at by one of them."""

    store: Store
    policies: Policies
    agents: Agents
    changed: Callable[[], None]
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    async def step(self) -> bool:
        """Look at what is due; answers whether there may be more."""
        async with self.store.begin() as tx:
            due = await dispatches.unknown_due(tx, every_ms=EVERY_MS, limit=BATCH)
            in_force = await self.policies.in_force(tx)
        for claim in due:
            await self._one(claim, in_force)
        return len(due) == BATCH

    async def _one(self, claim: Claim, in_force: InForce) -> None:
        tenant = in_force.tenant(claim.tenant)
        async with self.store.begin() as tx:
            review = await reviews.load_review(tx, claim.review_id)
            if review is not None:
                await raise_once(tx, claim, ALARM, in_force)
        if review is None or tenant is None:
            return
        try:
            found = await self.look(review, claim, tenant)
        except AgentError as exc:
            log.warning("An unknown outcome stays so.", action="agent_fault", review=review.id, fault=str(exc))
            return
        if found is not None and await self._settled(review, found, claim):
            self.changed()

    async def look(self, review: Review, claim: Claim, tenant: TenantPolicy) -> Settlement | None:
        """What the thread shows now, where a second look bears it out; None: still unknown. Raises `AgentError`."""
        first = await self._glance(review, claim, tenant)
        ending = ENDINGS.get(first[0].kind)
        if ending is None or ending[0] is ReviewState.UNKNOWN:
            return None
        if first[0].kind in SECOND_LOOK:
            await self.sleep(SECOND_LOOK[first[0].kind])
            if (await self._glance(review, claim, tenant))[0].kind is not first[0].kind:
                return None
        if first[0].kind is VerdictKind.MOVED_ON and not await self._gone(review, tenant):
            return None
        outcomes = _outcomes(*first, expiry=claim.expiry)
        state, why = ending
        content = {"verdict": first[0].kind.value}
        return Settlement(state, why_of(first[0], why), outcomes=outcomes, content=content)

    async def _gone(self, review: Review, tenant: TenantPolicy) -> bool:
        client = self.agents.client(review.target, tenant)
        look = await client.look(review.thread_id)
        if not is_missing(review, look):
            async with self.store.begin() as tx:
                await reviews.note_listed(tx, review.id)
            return False
        return await gone_for_good(self.store, client, review, look, every_ms=tenant.watch_every_ms)

    async def waits(self, review: Review, claim: Claim, tenant: TenantPolicy) -> bool:
        """Whether the call still waits as it was shown, with no trace of an answer. Raises `AgentError`."""
        return (await self._glance(review, claim, tenant))[0].kind is VerdictKind.ABSENT

    async def _glance(
        self, review: Review, claim: Claim, tenant: TenantPolicy
    ) -> tuple[Verdict, tuple[str | None, ...]]:
        # The dispatch is closed; what matters here is whether the server ever named a run of ours.
        taken = replace(claim, state="accepted") if claim.run_id else claim
        seen = await see(self.store, self.agents.client(review.target, tenant), as_sent(review, claim), taken)
        return seen.verdict, tuple(result.text if result else None for result in seen.results)

    async def _settled(self, review: Review, made: Settlement, claim: Claim) -> bool:
        async with self.store.begin() as tx:
            current = await reviews.load_review(tx, review.id, lock=True)
            if current is None or current.state is not ReviewState.UNKNOWN:
                return False
            await look_back(tx, claim.dispatch_id)
            return await settle(tx, current, made) is not None


def _outcomes(
    verdict: Verdict, texts: tuple[str | None, ...], *, expiry: bool
) -> dict[int, tuple[Outcome, str | None]]:
    known = {position: outcome for position, outcome in enumerate(verdict.outcomes) if outcome is not None}
    return {position: (_named(outcome, expiry=expiry), texts[position]) for position, outcome in known.items()}


def _named(outcome: Outcome, *, expiry: bool) -> Outcome:
    return Outcome.EXPIRED if expiry and outcome is Outcome.REJECTED else outcome


LEASE_MS = 60_000
AGAIN_MS = 60_000  # a server that cannot be read, or a raced thread on which something still runs
GIVE_UP_MS = 86_400_000
LOOKBACKS_AT_ONCE = 50
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
            if not await dispatches.any_due(tx):
                return False
        async with self.store.begin() as tx:
            due = await dispatches.take_due(tx, lease_ms=LEASE_MS, limit=LOOKBACKS_AT_ONCE)
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
            await dispatches.put_off(tx, kept, [one for one in ids if one not in kept])
        return len(due) == LOOKBACKS_AT_ONCE

    async def _one(self, due: LookbackDue, in_force: InForce, gate: asyncio.Semaphore, now: int) -> int | None:
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
            ours = await dispatches.known_dispatches(tx, {run.dispatch for run in runs if run.dispatch})
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
            await remark(tx, ref_of(current), why=alarm_why(verdict), content={"runs": list(verdict.raced_by)})

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

    async def _see(
        self, review: Review, claim: Claim, tenant: TenantPolicy, *, raced_before: bool = False
    ) -> ProbeReading:
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
