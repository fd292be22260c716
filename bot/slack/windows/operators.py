"""What operators ask for from Slack: a menu on the card, a window that asks whether it is meant, a request.

Carried out is nothing here: a confirmed wish becomes the same row that the command line leaves, and whoever serves it tells
the operator how it went. Everybody sees the menu; who may use it is asked of the policy at the press and at the submission.
This module must not know how a review is repaired, settled or reopened.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import structlog
from slack_bolt.async_app import AsyncAck, AsyncApp

from blocks import ids, words
from blocks.modals import operation_modal
from blocks.notices import refusal_text
from bot.access.context import ELSEWHERE, NoClickContext, load_context, untraced
from bot.access.deciding import facts_of
from bot.access.person import Actor
from bot.core.decide import Refusal, Refused
from bot.core.model import Review, Showing
from bot.core.states import maybe_twice, operations
from bot.errors import SlackError
from bot.loops import Tasks
from bot.metrics import REFUSALS
from bot.policy.model import TenantPolicy
from bot.policy.rules import may_operate
from bot.slack.client import web_api
from bot.slack.client.people import Clients, PeopleReader
from bot.slack.inbound.payloads import (
    ButtonClick,
    MalformedPayload,
    Submission,
    ViewPayload,
    parse_click,
    parse_submission,
)
from bot.slack.inbound.submissions import refusal_in_place
from bot.slack.outbound.notices import tell
from bot.store import decisions, messages, requests
from bot.store.audit import events
from bot.store.audit.refusals import PressRefused, record_refusal
from bot.store.engine import Store, Tx
from bot.store.policies import Policies

log = structlog.get_logger("placet")
CONFIRMED = re.compile(r"operate\.(repair|settle|cancel|reopen)")
FOUND = frozenset(value for value, _ in words.FOUND_OPTIONS_PLAIN)

Body = dict[str, Any]
Answer = dict[str, Any]


@dataclass(frozen=True, slots=True)
class OperatorContext:
    """What an operator's wish rests on, once it is theirs to make."""

    review: Review
    showing: Showing
    tenant: TenantPolicy
    actor: Actor


@dataclass(frozen=True, slots=True)
class OperatorWindows:
    """What answers operators. `asked` hurries the reader of people on, `requested` the taker of requests."""

    store: Store
    policies: Policies
    people: PeopleReader
    clients: Clients
    tasks: Tasks
    asked: Callable[[], None]
    requested: Callable[[], None]

    def register(self, app: AsyncApp) -> None:
        """Put the listeners on the app, before the ones that take anything."""
        app.action(ids.OPERATE)(self.open)
        app.view(CONFIRMED)(self.submit)

    async def open(self, ack: AsyncAck, body: Body) -> None:
        """Something was chosen in the menu: ask whether it is meant."""
        try:
            click = parse_click(body)
        except MalformedPayload as exc:
            log.warning("A malformed press was refused.", action="malformed", fault=str(exc))
        else:
            operation, showing = ids.decode_operation(click.chosen) or ("", "")
            try:
                async with self.store.read() as tx:
                    operator_context = await self._ground(tx, click.actor, operation, showing, click)
            except Exception:
                self.tasks.start(self._told(click, Refused(Refusal.INTERNAL)), "tell")
                raise
            work = (
                self._refused(click, operator_context)
                if isinstance(operator_context, Refused)
                else self._show(click, operation, operator_context)
            )
            self.tasks.start(work, "open operator's view")
        await ack()

    async def submit(self, ack: AsyncAck, body: Body) -> None:
        """It is meant: leave the request."""
        try:
            submission = parse_submission(body)
        except MalformedPayload as exc:
            log.warning("A malformed submission was refused.", action="malformed", fault=str(exc))
            await ack(**refusal_in_place(Refused(Refusal.MALFORMED)))
            return
        try:
            answer = await self._submitted(submission)
        except Exception:
            log.exception("A submission failed.", action="listener_failed")
            answer = refusal_in_place(Refused(Refusal.INTERNAL))
        await ack(**answer)

    async def _submitted(self, submission: Submission) -> Answer:
        operation = submission.view.callback_id.removeprefix("operate.")
        async with self.store.begin() as tx:
            if await decisions.earlier_answer(tx, submission.content_key) is not None:
                return {"response_action": "clear"}
            operator_context = await self._ground(tx, submission.actor, operation, submission.view.showing_id)
            if isinstance(operator_context, Refused):
                await self._record(tx, submission.actor, submission.view.showing_id, operator_context)
            else:
                wish = _wish(operation, submission.view, twice=maybe_twice(operator_context.review))
                if "errors" in wish:
                    return {"response_action": "errors", **wish}
                await self._ask(
                    tx, replace(submission, actor=operator_context.actor), operation, operator_context, wish
                )
        if isinstance(operator_context, Refused):
            return refusal_in_place(operator_context)
        self.requested()
        return {"response_action": "clear"}

    async def _ask(
        self, tx: Tx, submission: Submission, operation: str, operator_context: OperatorContext, wish: dict[str, Any]
    ) -> None:
        who = submission.actor.who
        card = await messages.load_message(tx, operator_context.showing.message_id or "")
        root = await messages.load_message(tx, card.parent_id) if card and card.parent_id else None
        user = submission.actor.user
        told = {"user": user, "channel": card.channel if card else user, "thread": root and root.ts}
        await decisions.remember_answer(tx, submission.content_key, "{}")
        await requests.ask(
            tx,
            kind=operation,
            by=events.slack_actor(who),
            tenant=operator_context.review.tenant,
            review_id=operator_context.review.id,
            content={**wish, "tell": told},
        )

    async def _ground(
        self, tx: Tx, actor: Actor, operation: str, showing_id: str, click: ButtonClick | None = None
    ) -> OperatorContext | Refused:
        """What is stored about it, or why this is not for this person to ask, or not now."""
        showing = ids.decode_showing(showing_id) or ""
        context = await load_context(tx, self.policies, actor, showing, operator=True)
        if isinstance(context, NoClickContext):
            if context.refused.reason is not Refusal.UNKNOWN_SHOWING:
                return context.refused
            place = (click.channel, click.message_ts) if click else (None, None)
            return await untraced(tx, showing_id, channel=place[0], ts=place[1])
        tenant, review = context.tenant_person.tenant, context.review
        verdict = may_operate(context.policy, tenant, context.tenant_person.person)
        if not verdict.allowed:
            return Refused(Refusal(verdict.why.value))
        operator_context = OperatorContext(review, context.showing, tenant, context.actor)
        return operator_context if operation in operations(review) else Refused(Refusal.STALE_SHOWING)

    async def _show(self, click: ButtonClick, operation: str, operator_context: OperatorContext) -> None:
        client = self.clients(operator_context.actor.team)
        if client is None:
            return
        review = operator_context.review
        tools = [action.tool for action in review.actions]
        view = operation_modal(operation, showing=operator_context.showing.id, tools=tools, twice=maybe_twice(review))
        try:
            await web_api.call(client.views_open(trigger_id=click.trigger_id, view=view))
        except SlackError as exc:
            log.warning("A view could not be shown.", action="view_fault", fault=str(exc))
            await self._told(click, Refused(Refusal.TOO_SLOW))

    async def _refused(self, click: ButtonClick, refused: Refused) -> None:
        """Nothing was asked for: into the record, and a private word."""
        async with self.store.begin() as tx:
            await self._record(tx, click.actor, (ids.decode_operation(click.chosen) or ("", ""))[1], refused)
        await self._told(click, refused)

    async def _told(self, click: ButtonClick, refused: Refused) -> None:
        client = self.clients(click.actor.team)
        if client is None:
            return
        try:
            text = refusal_text(refused.reason.value, **facts_of(refused))
            user = click.actor.user
            await tell(client, channel=click.channel, user=user, thread_ts=click.thread_ts, text=text)
        except SlackError as exc:
            log.warning("A private word could not be said.", action="slack_fault", fault=str(exc))

    async def _record(self, tx: Tx, actor: Actor, showing_id: str, refused: Refused) -> None:
        if refused.reason is Refusal.CANNOT_CONFIRM:
            self.people.want(actor.account)
            self.asked()
        REFUSALS.labels(reason=refused.reason.value).inc()
        context = await load_context(tx, self.policies, actor, ids.decode_showing(showing_id) or "", operator=True)
        review, who = context.review, context.actor.who
        tenant = review.tenant if review else events.EVERYONE
        content = {"showing": showing_id, "operation": True}
        content |= {name: True for name in (ELSEWHERE,) if name in refused.facts}
        review_id = review.id if review else None
        await record_refusal(tx, PressRefused(tenant, who, refused.reason.value, review_id, None, content))


def _wish(operation: str, view: ViewPayload, *, twice: bool) -> dict[str, Any]:
    """What was filled in, or the errors at what was not."""
    if operation != "settle":
        return {}
    found, note = view.values.get(ids.FOUND), view.values.get(ids.NOTE)
    errors = {}
    if not twice and found not in FOUND:
        errors[ids.FOUND] = words.SAY_WHAT_PLAIN
    if not isinstance(note, str) or not note.strip():
        errors[ids.NOTE] = words.SAY_HOW_PLAIN
    return {"errors": errors} if errors else {"as": "executed" if twice else found, "note": note}
