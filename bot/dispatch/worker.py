"""The dispatch worker: decided reviews go out, one at a time per thread, by whichever replica claims them.

It claims, re-checks, and hands over to an `Attempt`; dispatches whose worker died are adopted from where they stand. The
database decides every race. This module must not know how an answer is sent.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import structlog

from bot.core.decision import UnsendableAnswer, rejections
from bot.core.model import Outcome, Review, ReviewState
from bot.dispatch.attempt import Attempt
from bot.dispatch.claim import DispatchServices, LeaseLost
from bot.dispatch.recheck import (
    AFTER_UNKNOWN_MS,
    ALLOWED_CHANGED,
    End,
    Holds,
    Rechecked,
    Sources,
    Void,
    Wait,
    held_back,
    moved,
    recheck,
)
from bot.errors import AgentUnreachable, StoreError
from bot.loops import Tasks
from bot.policy.model import TenantPolicy
from bot.store import decisions, dispatches, reviews, tenants
from bot.store.dispatches import Claim
from bot.store.engine import Tx
from bot.store.policies import InForce, Policies

log = structlog.get_logger("placet")
AT_ONCE = 16


@dataclass(frozen=True, slots=True)
class Dispatcher:
    """One replica's worker. `changed` is called after each stored change, to hurry the cards on."""

    services: DispatchServices
    policies: Policies
    sources: Sources
    owner: str
    tasks: Tasks
    changed: Callable[[], None]
    again: Callable[[], None]

    async def step(self) -> bool:
        """Claim what is due, up to the limit of what may run at once. Answers whether more may be due."""
        while len(self.tasks) < AT_ONCE:
            claim = await self._claim()
            if claim is None:
                return False
            self.tasks.start(self._carry(claim), f"dispatch {claim.dispatch_id}")
        return False

    async def _claim(self) -> Claim | None:
        store, lease = self.services.store, self.services.lease_ms
        async with store.begin() as tx:
            orphan = await dispatches.adopt_orphan(tx, owner=self.owner, lease_ms=lease)
            if orphan is not None:
                return orphan
            return await dispatches.claim_next(tx, owner=self.owner, lease_ms=lease)

    async def _carry(self, claim: Claim) -> None:
        try:
            await self._carried(claim)
        except LeaseLost:
            log.info("Another worker took this dispatch over.", action="lease_lost", dispatch=claim.dispatch_id)
        except StoreError as exc:
            log.warning(
                "The database failed under a dispatch; it is carried on later.", action="store_fault", fault=str(exc)
            )
        finally:
            self.changed()
            self.again()

    async def _carried(self, claim: Claim) -> None:
        async with self.services.store.read() as tx:
            review = await reviews.load_review(tx, claim.review_id)
            in_force = await self.policies.in_force(tx)
            paused = await tenants.is_paused(tx, claim.tenant)
            now = tx.now
        tenant = in_force.tenant(claim.tenant)
        if review is None:
            raise LeaseLost
        if claim.state == "claimed" and paused:
            # Claimed before the pause, maybe by a worker that died since.
            await self._put_back(claim, review, Wait("paused", 1_000))
        elif claim.state == "claimed":
            await self._start(claim, review, in_force, now)
        elif tenant is not None and moved(review, tenant):
            await self._left_behind(claim, review)
        elif tenant is not None:
            await self._resume(claim, review, tenant)
        # Without its tenant nobody can ask the server; the row waits, and the lease runs out, until an operator acts.

    async def _start(self, claim: Claim, review: Review, in_force: InForce, now: int) -> None:
        result = await recheck(review, in_force, self.sources, expired=claim.expiry, now=now)
        if not isinstance(result, Holds):
            await self._put_back(claim, review, result)
            return
        if await self._held_back(result.review, result.tenant):
            await self._put_back(claim, review, Wait("after_unknown", AFTER_UNKNOWN_MS))
            return
        try:
            attempt = Attempt(self.services, claim, result.review, result.tenant)
        except AgentUnreachable as exc:
            log.warning("A dispatch waits.", action="agent_fault", fault=str(exc))
            await self._put_back(claim, review, Wait("agent_unreachable"))
            return
        await attempt.start(result.answer)

    async def _held_back(self, review: Review, tenant: TenantPolicy) -> bool:
        if all(settings.after_unknown != "hold" for settings in tenant.tools.values()):
            return False
        async with self.services.store.read() as tx:
            unknown = await reviews.unknown_reviews(tx, tenant=tenant.name)
        return held_back(review, unknown, tenant)

    async def _resume(self, claim: Claim, review: Review, tenant: TenantPolicy) -> None:
        """Carry on what another worker began: its answer may have left."""
        try:
            seen = rejections(review) if claim.expiry else review
        except UnsendableAnswer:
            seen = review
        attempt = Attempt(self.services, claim, seen, tenant)
        await (attempt.settle() if claim.state == "armed" else attempt.follow())

    async def _left_behind(self, claim: Claim, review: Review) -> None:
        """The answer may have left for a server that the policy has left since: nobody may ask there what became of it."""
        outcomes: dict[int, tuple[Outcome, str | None]] = {
            one.position: (Outcome.UNKNOWN, None) for one in review.actions
        }
        async with self.services.store.begin() as tx:
            await dispatches.close(tx, claim, to=ReviewState.UNKNOWN, why="moved_server", outcomes=outcomes)

    async def _put_back(self, claim: Claim, review: Review, result: Rechecked) -> None:
        back = ReviewState.EXPIRED if claim.expiry else ReviewState.DECIDED
        async with self.services.store.begin() as tx:
            match result:
                case Wait(why=why, delay_ms=delay):
                    await dispatches.release(tx, claim, to=back, why=why, retry_at=tx.now + delay)
                case End(state=ReviewState.HELD, why=why):
                    await self._hold(tx, claim, why)
                case End(state=state, why=why):
                    await dispatches.release(tx, claim, to=state, why=why)
                    if why == ALLOWED_CHANGED:  # what still waits is asked anew
                        self.services.hint(review.tenant, review.target.identity, review.thread_id)
                case Void(positions=positions, why=why):
                    released = await dispatches.release(tx, claim, to=ReviewState.OPEN, why=why)
                    again = await reviews.load_review(tx, review.id, lock=True) if released else None
                    if again is not None:
                        await decisions.void_decisions(tx, again, why=why, actor="placet", positions=positions)

    async def _hold(self, tx: Tx, claim: Claim, why: str) -> None:
        """Only what has expired can be held, so the claim is given back first."""
        released = await dispatches.release(tx, claim, to=ReviewState.EXPIRED, why=why)
        review = await reviews.load_review(tx, claim.review_id, lock=True) if released else None
        if review is not None and review.state is ReviewState.EXPIRED:
            await reviews.move(tx, review, ReviewState.HELD, why=why)
