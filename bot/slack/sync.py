"""Message sync: what Slack shows becomes what is stored.

Rows say which version of a message is wanted and which is shown; this closes the gap, at most once per version: a card is
drawn from the store at the moment of writing, so versions in between cost nothing. A post is announced in the row
before it leaves and carries the row's id as metadata, so that after an unknown outcome the channel's history tells
whether it arrived. Slack's trouble never touches a decision.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any

import structlog
from slack_sdk.web.async_client import AsyncWebClient

from blocks.cards import call_card
from blocks.models import Rendered
from blocks.roots import root_card
from bot.core.decide import review_digest
from bot.core.model import DecisionType, Offer, Review, ReviewState, Showing, ShowingKind
from bot.core.policy import TenantPolicy, tool_settings
from bot.errors import InstallationRevoked, MessageGone, RateLimited, SlackError, SlackUnavailable
from bot.metrics import SLACK_CALLS
from bot.policies import Policies
from bot.slack import api
from bot.slack.people import Clients
from bot.slack.projection import Stage, call_view, root_view
from bot.slack.views import new_showing_id
from bot.store import messages, reviews, showings, tenants
from bot.store.engine import Store
from bot.store.messages import Message

log = structlog.get_logger("placet")

LEASE_MS = 30_000
QUIET_MS = 3_000  # a state that passes sooner is not drawn
METADATA = "placet_message"
FAR_MS = 60_000
UNDER_WAY = frozenset({ReviewState.DECIDED, ReviewState.CLAIMED, ReviewState.ARMED, ReviewState.SENT})
# Slack will never take the message as it is, whoever tries: the tenant's set-up or our blocks are at fault.
SETUP = frozenset(
    {"not_in_channel", "channel_not_found", "is_archived", "restricted_action", "no_permission", "missing_scope"}
)


@dataclass(frozen=True, slots=True)
class Draft:
    """A message as it should be now, and the showing that it makes."""

    rendered: Rendered
    showing: Showing
    content_key: str


@dataclass(frozen=True, slots=True)
class MessageSync:
    """One replica's writer of messages."""

    store: Store
    policies: Policies
    clients: Clients
    owner: str
    known: Callable[[TenantPolicy], Awaitable[object]]  # makes the tenant's reviewers known
    batch: int = 10

    async def step(self) -> bool:
        """Bring some messages up to date; answers whether there may be more."""
        async with self.store.begin() as tx:
            claimed = await messages.claim_messages(tx, owner=self.owner, lease_ms=LEASE_MS, limit=self.batch)
        by_tenant: dict[str, list[Message]] = {}
        for message in claimed:
            by_tenant.setdefault(message.tenant, []).append(message)
        await asyncio.gather(*(self._in_order(mine) for mine in by_tenant.values()))
        return len(claimed) == self.batch

    async def _in_order(self, mine: list[Message]) -> None:
        """One tenant's messages after each other; another tenant's Slack that hangs does not hold them up."""
        for message in mine:
            await self._sync(message)

    async def _sync(self, message: Message) -> None:
        async with self.store.read() as tx:
            review = await reviews.load_review(tx, message.review_id)
            in_force = await self.policies.in_force(tx)
            paused = await tenants.is_paused(tx, message.tenant)
            parent = await messages.load_message(tx, message.parent_id) if message.parent_id else None
            now = tx.now
        tenant = in_force.tenant(message.tenant)
        if review is None or tenant is None:
            await self._later(message, now + FAR_MS, "the policy no longer has this tenant")
            return
        wait = quiet_until(review, message, now)
        if wait is not None:
            await self._later(message, wait, "")
            return
        await self._write(message, draw(review, Stage(tenant, now, None, paused), message), tenant, parent)

    async def _write(self, message: Message, draft: Draft, tenant: TenantPolicy, parent: Message | None) -> None:
        client = self.clients(tenant.slack_team)
        try:
            if client is None:
                raise InstallationRevoked(f"no token for workspace {tenant.slack_team}", code="no_token")
            if message.ts is None:
                await self._post(client, message, draft, tenant=tenant, parent=parent)
            elif draft.content_key == message.content_key:
                await self._unchanged(message)
            else:
                await self._update(client, message, draft)
        except SlackError as exc:
            await self._failed(message, tenant, exc)

    # -- new messages

    async def _post(
        self, client: AsyncWebClient, message: Message, draft: Draft, *, tenant: TenantPolicy, parent: Message | None
    ) -> None:
        thread = parent.ts if parent else None
        if message.state == "posting":
            found = await self._find(client, message, thread)
            if found is not None:
                await self._posted(message, draft, message.channel, found, fresh=False)
                return
        await self.known(tenant)
        async with self.store.begin() as tx:
            if not await messages.posting(tx, message):
                return
            await showings.insert_showing(tx, draft.showing)
        answer = await self._call(
            "chat.postMessage",
            client.chat_postMessage(
                channel=message.channel,
                thread_ts=thread,
                metadata={"event_type": METADATA, "event_payload": {"message_id": message.id}},
                unfurl_links=False,
                unfurl_media=False,
                **_content(draft.rendered),
            ),
        )
        ts, channel = answer.get("ts"), answer.get("channel") or message.channel
        if not isinstance(ts, str):
            raise SlackUnavailable("Slack took the message and did not say where it is", code="no_ts")
        await self._posted(message, draft, str(channel), ts, fresh=True)

    async def _posted(self, message: Message, draft: Draft, channel: str, ts: str, *, fresh: bool) -> None:
        """Store where it is. One found in history may show an older version, so it is drawn again."""
        version = message.wanted if fresh else 0
        key = draft.content_key if fresh else ""
        async with self.store.begin() as tx:
            showing = draft.showing.id if fresh else message.showing_id
            await messages.posted(
                tx, message, channel=channel, ts=ts, version=version, showing_id=showing, content_key=key
            )
            review = await reviews.load_review(tx, message.review_id)
            in_force = await self.policies.in_force(tx)
            tenant = in_force.tenant(message.tenant)
            if review is not None and tenant is not None and review.delivered_at is None:
                await reviews.set_delivered(tx, review.id, decide_within_ms=decide_within(review, tenant))

    async def _find(self, client: AsyncWebClient, message: Message, thread: str | None) -> str | None:
        """Look for a post whose outcome is unknown, by the metadata that it would carry."""
        oldest = f"{((message.posting_since or 0) / 1000) - 60:.6f}"
        if thread:
            reading = client.conversations_replies(
                channel=message.channel, ts=thread, oldest=oldest, inclusive=True, include_all_metadata=True, limit=200
            )
            method = "conversations.replies"
        else:
            reading = client.conversations_history(
                channel=message.channel, oldest=oldest, inclusive=True, include_all_metadata=True, limit=200
            )
            method = "conversations.history"
        answer = await self._call(method, reading)
        return next((one["ts"] for one in answer.get("messages") or [] if _is_ours(one, message.id)), None)

    # -- messages that are there

    async def _update(self, client: AsyncWebClient, message: Message, draft: Draft) -> None:
        async with self.store.begin() as tx:
            await showings.insert_showing(tx, draft.showing)
        await self._call(
            "chat.update",
            client.chat_update(channel=message.channel, ts=message.ts or "", **_content(draft.rendered)),
        )
        async with self.store.begin() as tx:
            await messages.shown(
                tx, message, version=message.wanted, showing_id=draft.showing.id, content_key=draft.content_key
            )

    async def _unchanged(self, message: Message) -> None:
        async with self.store.begin() as tx:
            await messages.shown(tx, message, version=message.wanted, showing_id=message.showing_id)

    # -- trouble

    async def _failed(self, message: Message, tenant: TenantPolicy, fault: SlackError) -> None:
        log.warning(
            "Slack did not take a message.", action="slack_fault", tenant=tenant.name, fault=str(fault), code=fault.code
        )
        async with self.store.begin() as tx:
            if isinstance(fault, MessageGone):
                review = await reviews.load_review(tx, message.review_id)
                await messages.gone(tx, message, repost=review is not None)
                return
            if isinstance(fault, InstallationRevoked) or fault.code in SETUP:
                await tenants.set_fault(tx, tenant.name, code=fault.code, text=str(fault))
            await messages.retry_later(tx, message, at=tx.now + _delay_ms(message, fault), error=fault.code)

    async def _later(self, message: Message, at: int, error: str) -> None:
        async with self.store.begin() as tx:
            await messages.retry_later(tx, message, at=at, error=error)

    async def _call(self, method: str, request: Any) -> dict[str, Any]:
        try:
            answer = await api.call(request)
        except SlackError as exc:
            SLACK_CALLS.labels(method=method, result=exc.code or "error").inc()
            raise
        SLACK_CALLS.labels(method=method, result="ok").inc()
        return answer


def _delay_ms(message: Message, fault: SlackError) -> int:
    if isinstance(fault, RateLimited):
        return int(fault.retry_after * 1000) + 100
    backoff: int = 1_000 << min(message.attempts, 6)
    return backoff if isinstance(fault, SlackUnavailable) else max(backoff, 10_000)


def _is_ours(one: dict[str, Any], message_id: str) -> bool:
    metadata = one.get("metadata") or {}
    payload = metadata.get("event_payload") or {}
    return (
        metadata.get("event_type") == METADATA and payload.get("message_id") == message_id and bool(one.get("bot_id"))
    )


def _content(rendered: Rendered) -> dict[str, Any]:
    """Blocks and text together, always: text alone would delete the blocks. What the agent wrote is never parsed."""
    return {"blocks": rendered.blocks, "text": rendered.text, "parse": "none", "link_names": False}


def decide_within(review: Review, tenant: TenantPolicy) -> int | None:
    """The shortest time to decide among the review's tools, in ms; None when none expires."""
    if review.problem:
        return None  # nobody could decide it in time, so its time does not run
    times = [tool_settings(tenant, action.tool).decide_within_ms for action in review.actions]
    return min((time for time in times if time is not None), default=None)


def quiet_until(review: Review, message: Message, now: int) -> int | None:
    """When to look again instead of drawing a state that will pass, or None to draw now."""
    if message.ts is None or review.state not in UNDER_WAY:
        return None
    last = max((action.decision.at for action in review.actions if action.decision), default=0)
    return last + QUIET_MS if now < last + QUIET_MS else None


def draw(review: Review, stage: Stage, message: Message) -> Draft:
    """Project one message; the showing is new, and is stored only if the content is."""
    if review.delivered_at is None:
        # The time to decide starts with this very post.
        within = decide_within(review, stage.tenant)
        review = replace(review, decide_by=None if within is None else stage.now + within)
    showing_id = new_showing_id()
    if message.position is None:
        rendered = root_card(root_view(review, stage, showing=showing_id))
        offers: tuple[Offer, ...] = ()
        kind, digest = ShowingKind.ROOT, review_digest(review)
    else:
        action = review.actions[message.position]
        rendered = call_card(call_view(review, action, stage, showing=showing_id))
        kinds = tuple(DecisionType(kind) for kind in rendered.offered)
        offers = (Offer(action.position, kinds, rendered.complete),)
        kind, digest = ShowingKind.CARD, action.standing_digest
    showing = Showing(
        showing_id, review.id, message.position, kind, digest, offers, message_id=message.id, at=stage.now
    )
    return Draft(rendered, showing, _key(rendered, showing_id, digest))


def _key(rendered: Rendered, showing_id: str, digest: str) -> str:
    """What a reader could tell apart, without the showing's own id."""
    content = json.dumps([rendered.blocks, rendered.text, rendered.complete, digest]).replace(showing_id, "s")
    return hashlib.sha256(content.encode()).hexdigest()
