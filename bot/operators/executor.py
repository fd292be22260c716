"""What operators ask for on the command line or in Slack, carried out by whoever serves.

A request is a row; one replica takes it, does it and answers with one sentence. Doing it twice does no harm: each is
conditional on the state that it wants to change. Who may ask is not judged here: on the command line that is whoever
may read the database, in Slack whom the policy names. Who asked in Slack is told there how it went.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import structlog

from blocks.limits import NOTICE_MODAL
from blocks.words import quoted
from bot.core.model import DecisionType, Outcome, Review, ReviewState
from bot.core.states import maybe_twice
from bot.dispatch.follow_up import UnknownOutcomes
from bot.errors import PlacetError
from bot.operators.restore import Restorer
from bot.runtimes.langgraph.repair import Canceller, OperatorReply, Repairer
from bot.runtimes.langgraph.watch import Watcher
from bot.slack.outbound.drawing import decide_within
from bot.store import dispatches, notices, requests, reviews, tenants
from bot.store.engine import Store, Tx
from bot.store.policies import Policies, no_tenant
from bot.store.requests import Request
from bot.store.settling import Settlement, open_held, settle
from bot.store.transitions import ref_of, remark

log = structlog.get_logger("placet")
LEASE_MS = 120_000
EXECUTED = "executed"

# What an operator's "it was carried out" means for a call that was decided so.
CARRIED_OUT = {
    DecisionType.APPROVE: Outcome.EXECUTED,
    DecisionType.EDIT: Outcome.EXECUTED,
    DecisionType.REJECT: Outcome.REJECTED,
    DecisionType.RESPOND: Outcome.ANSWERED,
}


@dataclass(frozen=True, slots=True)
class OperatorServices:
    """What carries out the requests that need an agent server."""

    unknowns: UnknownOutcomes
    repairer: Repairer
    canceller: Canceller
    restorer: Restorer


@dataclass(frozen=True, slots=True)
class RequestExecutor:
    """One replica's taker of requests. `changed` hurries the other workers on."""

    store: Store
    policies: Policies
    owner: str
    services: OperatorServices
    changed: Callable[[], None]

    async def step(self) -> bool:
        """Carry out the oldest waiting request; answers whether there was one."""
        async with self.store.begin() as tx:
            request = await requests.take(tx, owner=self.owner, lease_ms=LEASE_MS)
        if request is None:
            return False
        told = await self._carried_out(request)
        async with self.store.begin() as tx:
            if await requests.answer(tx, request, answer=json.dumps({"ok": told.ok, "text": told.text})):
                await _tell(tx, request, told)
        log.info("An operator's request was carried out.", action="request_done", kind=request.kind, ok=told.ok)
        self.changed()
        return True

    async def _carried_out(self, request: Request) -> OperatorReply:
        kinds: dict[str, Callable[[Request], Awaitable[OperatorReply]]] = {
            "pause": self._pause,
            "resume": self._resume,
            "settle": self._settle,
            "reopen": self._reopen,
            "repair": self._repair,
            "cancel": self._cancel,
            "restore": self._restore,
        }
        carry_out = kinds.get(request.kind)
        if carry_out is None:
            return OperatorReply(False, f"This Placet does not know the request {request.kind}.")
        try:
            return await carry_out(request)
        except PlacetError as exc:
            return OperatorReply(False, f"{exc}.".replace("..", "."))

    # -- tenants

    async def _pause(self, request: Request) -> OperatorReply:
        name = request.tenant or tenants.ALL
        async with self.store.begin() as tx:
            in_force = await self.policies.in_force(tx)
            if name != tenants.ALL and in_force.tenant(name) is None:
                return OperatorReply(False, no_tenant(name, [tenant.name for tenant in in_force.tenants()]))
            done = await tenants.pause(tx, name, by=request.asked_by)
        kept = "Nothing is sent; decisions are kept."
        return OperatorReply(True, f"{_who(name)} paused. {kept}" if done else f"{_who(name)} paused already. {kept}")

    async def _resume(self, request: Request) -> OperatorReply:
        name = request.tenant or tenants.ALL
        async with self.store.begin() as tx:
            done = await tenants.resume(tx, name, by=request.asked_by)
            all_paused = tenants.ALL in await tenants.paused(tx)
        more = " All tenants are paused still: `placet resume --all`." if all_paused and name != tenants.ALL else ""
        return OperatorReply(True, f"{_who(name)} not paused{' any more' if done else ''}.{more}")

    # -- reviews

    async def _settle(self, request: Request) -> OperatorReply:
        review = await self._review(request)
        if isinstance(review, OperatorReply):
            return review
        asked = json.loads(request.content)
        if maybe_twice(review):
            return await self._looked(review, asked, actor=request.asked_by)
        if review.state is not ReviewState.UNKNOWN:
            return OperatorReply(
                False, f"{review.id} is {review.state.value}, not unknown: there is nothing to settle."
            )
        content = {"note": asked.get("note", ""), "as": asked.get("as")}
        made = await (self._executed(review) if asked.get("as") == EXECUTED else self._not_executed(review))
        made = Settlement(made.to, made.why, request.asked_by, made.outcomes, content)
        async with self.store.begin() as tx:
            settled = await settle(tx, review, made)
        if settled is None:
            return OperatorReply(
                False, f"{review.id} changed meanwhile: look at it again with `placet show {review.id}`."
            )
        # What the thread lists by now may be a new question.
        self.services.repairer.hint(review.tenant, review.target.identity, review.thread_id)
        return OperatorReply(True, _settled_as(settled))

    async def _looked(self, review: Review, asked: dict[str, Any], *, actor: str) -> OperatorReply:
        """The end of an alarm: what stands as the outcome is the agent server's word, what was found is the note."""
        if asked.get("as") != EXECUTED:
            return OperatorReply(
                False, f"The agent server shows what became of {review.id}: only --as {EXECUTED} is left to say."
            )
        content = {"note": asked.get("note", ""), "as": EXECUTED}
        async with self.store.begin() as tx:
            at = await remark(tx, ref_of(review), why="settled_twice", actor=actor, content=content)
        if at is None:
            return OperatorReply(
                False, f"{review.id} changed meanwhile: look at it again with `placet show {review.id}`."
            )
        return OperatorReply(True, f"What you found about {review.id} is in the record.")

    async def _executed(self, review: Review) -> Settlement:
        """What the agent server already told stays; the rest is the operator's word."""
        async with self.store.read() as tx:
            claim = await dispatches.load_claim(tx, review.id)
        open_ = [one for one in review.actions if one.outcome in (None, Outcome.UNKNOWN)]
        expired = claim is not None and claim.expiry
        outcomes: dict[int, tuple[Outcome, str | None]] = {
            one.position: (
                Outcome.EXPIRED if expired or one.decision is None else CARRIED_OUT[one.decision.type],
                None,
            )
            for one in open_
        }
        return Settlement(ReviewState.RESUMED, "settled_executed", outcomes=outcomes)

    async def _not_executed(self, review: Review) -> Settlement:
        """Decided again only while the thread still waits for the very same answer; else over, with nothing run."""
        async with self.store.read() as tx:
            tenant = (await self.policies.in_force(tx)).tenant(review.tenant)
            claim = await dispatches.load_claim(tx, review.id)
        why = "settled_not_executed"
        if tenant is not None and claim is not None and await self.services.unknowns.waits(review, claim, tenant):
            return Settlement(ReviewState.DECIDED, why)
        outcomes = {action.position: (Outcome.SUPERSEDED, None) for action in review.actions}
        return Settlement(ReviewState.SUPERSEDED, why, outcomes=outcomes)

    async def _reopen(self, request: Request) -> OperatorReply:
        review = await self._review(request)
        if isinstance(review, OperatorReply):
            return review
        if review.state is not ReviewState.HELD:
            return OperatorReply(
                False, f"{review.id} is {review.state.value}, not held: only a held review is opened again."
            )
        async with self.store.begin() as tx:
            tenant = (await self.policies.in_force(tx)).tenant(review.tenant)
            within = decide_within(review, tenant) if tenant else None
            opened = await open_held(tx, review, decide_within_ms=within, actor=request.asked_by)
        if opened is None:
            return OperatorReply(
                False, f"{review.id} changed meanwhile: look at it again with `placet show {review.id}`."
            )
        until = "" if within is None else f", for {within // 60_000} minutes"
        return OperatorReply(True, f"{review.id} is open again{until}.")

    async def _repair(self, request: Request) -> OperatorReply:
        review = await self._review(request)
        if isinstance(review, OperatorReply):
            return review
        async with self.store.read() as tx:
            tenant = (await self.policies.in_force(tx)).tenant(review.tenant)
        return await self.services.repairer.repair(review, tenant, actor=request.asked_by)

    async def _cancel(self, request: Request) -> OperatorReply:
        review = await self._review(request)
        if isinstance(review, OperatorReply):
            return review
        async with self.store.read() as tx:
            tenant = (await self.policies.in_force(tx)).tenant(review.tenant)
        return await self.services.canceller.cancel(review, tenant, actor=request.asked_by)

    async def _restore(self, request: Request) -> OperatorReply:
        return await self.services.restorer.run(actor=request.asked_by)

    async def _review(self, request: Request) -> Review | OperatorReply:
        async with self.store.read() as tx:
            review = await reviews.load_review(tx, request.review_id or "")
        return review or OperatorReply(
            False, f"There is no review {request.review_id}: `placet pending` lists what waits."
        )


async def _tell(tx: Tx, request: Request, told: OperatorReply) -> None:
    """The answer to who asked in Slack, where they asked; the command line reads the row."""
    where = json.loads(request.content).get("tell")
    if where is None or request.tenant is None:
        return
    await notices.add_notice(
        tx,
        tenant=request.tenant,
        channel=where["channel"],
        user=where["user"],
        thread_ts=where["thread"],
        text=quoted(told.text, NOTICE_MODAL),
        key=f"answer:{request.id}",
    )


def _who(name: str) -> str:
    return "All tenants are" if name == tenants.ALL else f"{name} is"


def _settled_as(review: Review) -> str:
    told: dict[ReviewState, Any] = {
        ReviewState.RESUMED: "settled as executed",
        ReviewState.DECIDED: "settled as not executed: it waits as it was shown, so its decision is sent again",
        ReviewState.SUPERSEDED: "settled as not executed: nothing waits for its answer any more",
    }
    return f"{review.id} is {told[review.state]}."


def make_requests(watcher: Watcher, *, owner: str, hint: Callable[[str, str, str], None]) -> RequestExecutor:
    """A taker of requests over a watcher's own store, policies and agent servers."""
    store, policies, agents, changed = watcher.store, watcher.policies, watcher.agents, watcher.changed
    services = OperatorServices(
        UnknownOutcomes(store, policies, agents, changed),
        Repairer(store, agents, hint),
        Canceller(store, agents),
        Restorer(store, policies, watcher),
    )
    return RequestExecutor(store, policies, owner, services, changed)
