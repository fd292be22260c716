"""Unknown outcomes, looked at again on a schedule: sent once, never sent again, settled by what the thread shows.

The first look at each also raises its alarm, once. What a look proves is judged where every look is; here only a verdict
that ends the matter moves the review.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

import structlog

from bot.agent.pool import Agents
from bot.core.judge import SECOND_LOOK, Verdict, VerdictKind
from bot.core.model import Outcome, Review, ReviewState
from bot.core.policy import TenantPolicy
from bot.errors import AgentError
from bot.policies import InForce, Policies
from bot.store import dispatches, reviews
from bot.store.dispatches import Claim
from bot.store.engine import Store
from bot.store.lookbacks import look_back
from bot.store.settling import Settlement, settle
from bot.work.absent import gone_for_good, is_missing
from bot.work.alarms import Alarm, raise_once
from bot.work.endings import ENDINGS, why_of
from bot.work.looking import see
from bot.work.sent import as_sent

log = structlog.get_logger("placet")
EVERY_MS = 60_000
BATCH = 20
ALARM = Alarm(dispatches.UNKNOWN_ALARM)


@dataclass(frozen=True, slots=True)
class Unknowns:
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
