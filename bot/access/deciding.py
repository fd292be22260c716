"""One press becomes one stored decision, in one transaction, or one refusal.

What is read, judged and written here happens under the review's lock, so a second replica's press waits for the first and
then sees it. A redelivered press is answered as the first was. Nothing after the commit may raise: what follows is a row
for a worker. This module must not draw anything.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace

from blocks.notices import refusal_text
from bot.access.context import ELSEWHERE, ClickContext, NoClickContext, load_context, untraced
from bot.access.person import Actor, authority_for
from bot.core.decide import Accepted, Click, Intent, Refusal, Refused, decide
from bot.core.model import Decision, Review, Showing
from bot.core.take_back import take_back_refusal, without_stopped
from bot.metrics import DECIDE_SECONDS, DECISIONS, REFUSALS
from bot.store import decisions, notices, reviews
from bot.store.audit import events
from bot.store.audit.refusals import PressRefused, record_refusal
from bot.store.engine import Store, Tx, new_id
from bot.store.policies import Policies

# Refusals that mean: what is on the screen is no longer right.
OUTDATED = frozenset(
    {Refusal.STALE_SHOWING, Refusal.NOT_FULLY_SHOWN, Refusal.LAST_MINUTE, Refusal.DECISION_NOT_ALLOWED}
)

TAKEN_BACK = "taken_back"

# What the press asks for, once the review that its showing names is known.
Intents = Callable[[Review, Showing], tuple[Intent, ...]]


@dataclass(frozen=True, slots=True)
class ReplyTo:
    """The place of a private word: a channel, and the thread of the card."""

    channel: str
    thread_ts: str | None = None


@dataclass(frozen=True, slots=True)
class DecisionRequest:
    """A parsed press: by whom, on which showing, under which delivery."""

    actor: Actor
    showing_id: str
    delivery_key: str
    intents: Intents
    tell: ReplyTo | None = None  # where to say why not; None where the listener answers in the view
    message_ts: str | None = None  # the message that was pressed
    taken_key: str | None = None  # under which a decision is remembered, where that is not the delivery's own


@dataclass(frozen=True, slots=True)
class DecisionResult:
    """What was answered. `review` is None where the showing led to none."""

    refused: Refused | None
    review: Review | None = None
    recorded: tuple[Decision, ...] = ()

    @property
    def unsure(self) -> bool:
        """Whether the person must be read before the press can be judged."""
        return self.refused is not None and self.refused.reason is Refusal.CANNOT_CONFIRM


class DecisionService:
    """Where presses are judged and recorded."""

    def __init__(self, store: Store, policies: Policies) -> None:
        self._store, self._policies = store, policies

    async def rule(self, asked: DecisionRequest) -> DecisionResult:
        """Judge and record one press; the commit is done when this returns."""
        with DECIDE_SECONDS.time():
            async with self._store.begin() as tx:
                result = await self._ruled(tx, asked)
        if result.refused:
            REFUSALS.labels(reason=result.refused.reason.value).inc()
        for decision in result.recorded:
            DECISIONS.labels(type=decision.type.value).inc()
        return result

    async def foresee(self, asked: DecisionRequest) -> Refused | None:
        """Why a press like this would be refused now; nothing is recorded."""
        async with self._store.read() as tx:
            context = await load_context(tx, self._policies, asked.actor, asked.showing_id)
        result = _judged(asked, context, tx.now) if isinstance(context, ClickContext) else context.refused
        return result if isinstance(result, Refused) else None

    async def take_back(self, asked: DecisionRequest) -> DecisionResult:
        """Void the decision or the approval that a showing names, for its author; the commit is done when this returns."""
        async with self._store.begin() as tx:
            result = await self._ruled(tx, asked, undo=True)
        if result.refused:
            REFUSALS.labels(reason=result.refused.reason.value).inc()
        return result

    async def note(self, actor: Actor, showing_id: str, refused: Refused) -> None:
        """Record a refusal that came before anything could be judged: a window that was not opened, or is too old."""
        REFUSALS.labels(reason=refused.reason.value).inc()
        async with self._store.begin() as tx:
            context = await load_context(tx, self._policies, actor, showing_id)
            await self._record_refusal(tx, context.actor, showing_id, review=context.review, refused=refused)

    async def _ruled(self, tx: Tx, asked: DecisionRequest, *, undo: bool = False) -> DecisionResult:
        context = await load_context(
            tx, self._policies, asked.actor, asked.showing_id, delivery_key=asked.delivery_key, lock=True
        )
        asked = replace(asked, actor=context.actor)
        earlier = context.answer
        if earlier is None and asked.taken_key is not None:
            earlier = await decisions.earlier_answer(tx, asked.taken_key)
        if earlier is not None:
            return DecisionResult(_refused_from(earlier))
        if isinstance(context, NoClickContext):
            refused = context.refused
            if context.review is None:
                channel = asked.tell.channel if asked.tell else None
                refused = await untraced(tx, asked.showing_id, channel=channel, ts=asked.message_ts)
            return await self._refuse(tx, asked, context.review, refused)
        if undo:
            return await self._undone(tx, asked, context.review, context.showing)
        result = _judged(asked, context, tx.now)
        if isinstance(result, Accepted):
            return await self._record(tx, asked, context.review, result, showing=context.showing)
        return await self._refuse(tx, asked, context.review, result)

    async def _undone(self, tx: Tx, asked: DecisionRequest, review: Review, showing: Showing) -> DecisionResult:
        who = asked.actor.who
        refused = take_back_refusal(review, showing.position, who)
        if refused is not None:
            return await self._refuse(tx, asked, review, refused)
        position = showing.position or 0
        if review.actions[position].decision is None:
            stored = await decisions.withdraw_approval(tx, review, position, who, why=TAKEN_BACK)
        else:
            actor = events.slack_actor(who)
            stored = await decisions.void_decisions(tx, review, why=TAKEN_BACK, actor=actor, positions=(position,))
        if stored is None:
            return DecisionResult(Refused(Refusal.TOO_LATE_TO_CHANGE, showing.position), review)
        await decisions.remember_answer(tx, asked.delivery_key, "{}")
        return DecisionResult(None, stored)

    async def _stopped(self, tx: Tx, asked: DecisionRequest, review: Review, accepted: Accepted) -> Review | None:
        """Void what the accepted decisions stand against: an approval that a reviewer stops in time."""
        positions = [made.position for made in accepted.decisions if review.actions[made.position].decision]
        if not positions:
            return review
        actor = events.slack_actor(asked.actor.who)
        return await decisions.void_decisions(tx, review, why="stopped", actor=actor, positions=positions)

    async def _record(
        self, tx: Tx, asked: DecisionRequest, before: Review, accepted: Accepted, *, showing: Showing
    ) -> DecisionResult:
        review = await self._stopped(tx, asked, before, accepted)
        if review is None:
            return DecisionResult(Refused(Refusal.ALREADY_DECIDED), before)
        named = tuple(replace(decision, id=new_id("dec")) for decision in accepted.decisions)
        approved = tuple(replace(approval, id=new_id("apr")) for approval in accepted.approvals)
        stored = await decisions.record_approvals(tx, review, approved, voided=accepted.voided)
        if stored is not None and named:
            stored = await decisions.insert_decisions(
                tx, stored, named, delivery_key=asked.delivery_key, shown=_shown(showing, named)
            )
        if stored is None:
            return DecisionResult(Refused(Refusal.ALREADY_DECIDED), review)
        await decisions.remember_answer(tx, asked.taken_key or asked.delivery_key, "{}")
        return DecisionResult(None, stored, named)

    async def _refuse(self, tx: Tx, asked: DecisionRequest, review: Review | None, refused: Refused) -> DecisionResult:
        """Audit the refusal; a press on something outdated also asks for the card to be drawn anew."""
        if review is not None and refused.reason in OUTDATED:
            await reviews.touch(tx, review.id)
        await decisions.remember_answer(tx, asked.delivery_key, _refused_text(refused))
        if asked.tell is not None:
            await self._tell(tx, asked, asked.tell, review=review, refused=refused)
        await self._record_refusal(tx, asked.actor, asked.showing_id, review=review, refused=refused)
        return DecisionResult(refused, review)

    @staticmethod
    async def _record_refusal(
        tx: Tx, actor: Actor, showing_id: str, *, review: Review | None, refused: Refused
    ) -> None:
        tenant, review_id = (review.tenant, review.id) if review else (events.EVERYONE, None)
        content = {"showing": showing_id} | {name: True for name in (ELSEWHERE,) if name in refused.facts}
        made = PressRefused(tenant, actor.who, refused.reason.value, review_id, refused.position, content)
        await record_refusal(tx, made)

    @staticmethod
    async def _tell(tx: Tx, asked: DecisionRequest, tell: ReplyTo, *, review: Review | None, refused: Refused) -> None:
        """Say why in private, once for each delivery; somebody of another workspace hears it from the app there."""
        ours = review is not None and refused.reason is not Refusal.OTHER_WORKSPACE
        await notices.add_notice(
            tx,
            tenant=review.tenant if review and ours else events.EVERYONE,
            channel=tell.channel,
            user=asked.actor.user,
            thread_ts=tell.thread_ts,
            text=refusal_text(refused.reason.value, **facts_of(refused, review)),
            key=f"{asked.actor.team}:{asked.delivery_key}",
        )


def _judged(asked: DecisionRequest, context: ClickContext, now: int) -> Accepted | Refused:
    review = context.review
    press = Click(context.tenant_person.who, context.showing, asked.intents(review, context.showing), now)
    return decide(without_stopped(review, press) or review, press, authority_for(review, context.tenant_person))


def facts_of(refused: Refused, review: Review | None = None) -> dict[str, object]:
    """What a refusal's sentence may mention; the call's number only where there are several."""
    facts: dict[str, object] = dict(refused.facts)
    if refused.position is not None and review is not None and len(review.actions) > 1:
        facts["position"] = refused.position
    return facts


def _shown(showing: Showing, made: tuple[Decision, ...]) -> dict[str, str] | None:
    """The digest that these decisions saw, where all of them name the one showing that is at hand."""
    return {showing.id: showing.digest} if all(one.showing_id == showing.id for one in made) else None


def _refused_text(refused: Refused) -> str:
    return json.dumps({"reason": refused.reason.value, "position": refused.position, "facts": dict(refused.facts)})


def _refused_from(answer: str) -> Refused | None:
    """The first answer to a delivery, read back: `{}` was a decision."""
    held = json.loads(answer)
    return Refused(Refusal(held["reason"]), held["position"], held["facts"]) if held else None
