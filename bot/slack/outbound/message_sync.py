"""Message sync: what Slack shows becomes what is stored.

Rows say which version of a message is wanted and which is shown; this closes the gap, at most once per version: a card is
drawn from the store at the moment of writing, so versions in between cost nothing. A post is announced in the row
before it leaves and carries the row's id as metadata, so that after an unknown outcome the channel's history tells
whether it arrived. Slack's trouble never touches a decision.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any

import structlog
from slack_sdk.web.async_client import AsyncWebClient

from blocks.models import Rendered
from bot.errors import InstallationRevoked, MessageGone, RateLimited, SlackError, SlackUnavailable
from bot.policy.matching import card_channel, channels_of
from bot.policy.model import TenantPolicy
from bot.slack.client import web_api
from bot.slack.client.people import Clients
from bot.slack.outbound.drawing import TOO_MUCH, DrawnMessage, decide_within, draw, quiet_until, reply_once
from bot.slack.outbound.history import copies, mark, remove_others
from bot.slack.outbound.projection import DrawingContext
from bot.store import messages, reviews, showings, tenants
from bot.store.engine import Store, Tx
from bot.store.messages import Message
from bot.store.policies import Policies

log = structlog.get_logger("placet")

LEASE_MS = 30_000
FAR_MS = 60_000
# Slack will never take the message as it is, whoever tries: the tenant's set-up or our blocks are at fault.
CHANNEL_SETUP = frozenset({"not_in_channel", "channel_not_found", "is_archived", "is_inactive"})
SETUP = (
    CHANNEL_SETUP
    | {"no_permission", "missing_scope", "messages_tab_disabled", "ekm_access_denied"}
    | {"team_access_not_granted", "app_access_restricted", "no_token"}
)
NO_THREAD = "cannot_reply_to_message"
COPIES_MS = 60_000  # how long after a post in doubt its history is looked at once more

Write = Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]
Written = tuple[DrawnMessage, dict[str, Any]]  # what stands in Slack now, and Slack's answer


class Pauses:
    """Until when a method rests in a workspace because Slack asked for it. Whoever waits for that keeps his turn."""

    def __init__(self) -> None:
        self._until: dict[tuple[str, str], int] = {}

    def begin(self, team: str, method: str, until: int) -> None:
        """Let nobody call before `until` (database ms)."""
        self._until[team, method] = max(until, self._until.get((team, method), 0))

    def turn(self, team: str, method: str, now: int) -> int | None:
        """When to come back, or None to go on."""
        until = self._until.get((team, method), 0)
        if until <= now:
            return None
        self._until[team, method] = until + 1
        return until


@dataclass(frozen=True, slots=True)
class MessageSync:
    """One replica's writer of messages."""

    store: Store
    policies: Policies
    clients: Clients
    owner: str
    known: Callable[[TenantPolicy], Awaitable[object]]  # makes the tenant's reviewers known
    batch: int = 10
    pauses: Pauses = field(default_factory=Pauses)

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
        if message.ts is None and parent is not None:
            message = replace(message, channel=parent.channel)
        elif message.state == "new":
            # Where the policy says now: a channel that was given up may be why nothing was delivered.
            message = replace(message, channel=card_channel(tenant, (action.tool for action in review.actions)))
        await self._write(message, draw(review, DrawingContext(tenant, now, None, paused), message), tenant, parent)

    async def _write(self, message: Message, draft: DrawnMessage, tenant: TenantPolicy, parent: Message | None) -> None:
        if message.ts is not None and draft.content_key == message.content_key and message.posting_since is None:
            await self._unchanged(message)
            return
        turn = self.pauses.turn(tenant.slack_team, _method(message), draft.showing.at)
        if turn is not None:
            await self._later(message, turn, "ratelimited")
            return
        client = self.clients(tenant.slack_team)
        try:
            if client is None:
                raise InstallationRevoked(f"no token for workspace {tenant.slack_team}", code="no_token")
            if message.ts is None:
                await self._post(client, message, draft, tenant=tenant, parent=parent)
            else:
                await self._update(client, message, draft, parent)
        except SlackError as exc:
            await self._failed(message, tenant, exc)

    # -- new messages

    async def _post(
        self,
        client: AsyncWebClient,
        message: Message,
        draft: DrawnMessage,
        *,
        tenant: TenantPolicy,
        parent: Message | None,
    ) -> None:
        thread = parent.ts if parent else None
        doubtful = message.state == "posting"
        if doubtful and (found := await copies(client, message, thread)):
            await self._posted(message, draft, message.channel, found[0], fresh=False, alone=len(found) == 1)
            return
        await self.known(tenant)
        async with self.store.begin() as tx:
            if not await messages.posting(tx, message):
                return
            await showings.insert_showing(tx, draft.showing)
        written, answer = await self._said(client, message, draft, thread)
        ts = answer.get("ts")
        if not isinstance(ts, str):
            raise SlackUnavailable("Slack took the message and did not say where it is", code="no_ts")
        await self._posted(message, written, str(answer.get("channel") or message.channel), ts, fresh=True)

    async def _said(self, client: AsyncWebClient, message: Message, draft: DrawnMessage, thread: str | None) -> Written:
        """Post; a plain no of Slack's leaves nothing to look for."""
        more: dict[str, Any] = {"metadata": mark(message.id), "unfurl_links": False, "unfurl_media": False}

        async def post(content: dict[str, Any]) -> dict[str, Any]:
            request = client.chat_postMessage(channel=message.channel, thread_ts=thread, **more, **content)
            return await web_api.counted("chat.postMessage", request)

        try:
            return await self._fitting(draft, post)
        except SlackUnavailable:
            raise
        except SlackError:
            async with self.store.begin() as tx:
                await messages.not_posted(tx, message)
            raise

    async def _fitting(self, draft: DrawnMessage, write: Write) -> Written:
        """Write the message, or a shorter one where Slack finds it too much: another showing, which offers less."""
        try:
            return draft, await write(_content(draft.rendered))
        except SlackError as exc:
            if exc.code not in TOO_MUCH:
                raise
            log.warning("Slack refused a message as it was.", action="shortened", fault=str(exc))
            shorter = draft.shorter(exc.code)
        async with self.store.begin() as tx:
            await showings.insert_showing(tx, shorter.showing)
        return shorter, await write(_content(shorter.rendered))

    async def _posted(  # noqa: PLR0913 - what is stored, each named by the caller
        self, message: Message, draft: DrawnMessage, channel: str, ts: str, *, fresh: bool, alone: bool = True
    ) -> None:
        """Store where it is. One found in history may show an older version, so it is drawn again.

        Unless it is known to stand `alone`, what is beside it is removed with the next drawing.
        """
        version = message.wanted if fresh else 0
        key = draft.content_key if fresh else ""
        async with self.store.begin() as tx:
            showing = draft.showing.id if fresh else message.showing_id
            late = tx.now + COPIES_MS if fresh and message.state == "posting" else None if alone else tx.now
            await messages.posted(
                tx, message, channel=channel, ts=ts, version=version, showing_id=showing, content_key=key, again_at=late
            )
            review = await reviews.load_review(tx, message.review_id)
            in_force = await self.policies.in_force(tx)
            tenant = in_force.tenant(message.tenant)
            if review is not None and tenant is not None and review.delivered_at is None:
                await reviews.set_delivered(tx, review.id, decide_within_ms=decide_within(review, tenant))
            await self._recovered(tx, message)

    # -- messages that are there

    async def _update(
        self, client: AsyncWebClient, message: Message, draft: DrawnMessage, parent: Message | None
    ) -> None:
        if message.posting_since is not None:
            await self._alone(client, message, parent.ts if parent else None)
        if draft.content_key == message.content_key:
            await self._unchanged(message)
            return
        async with self.store.begin() as tx:
            await showings.insert_showing(tx, draft.showing)

        async def update(content: dict[str, Any]) -> dict[str, Any]:
            request = client.chat_update(channel=message.channel, ts=message.ts or "", **content)
            return await web_api.counted("chat.update", request)

        written, _ = await self._fitting(draft, update)
        async with self.store.begin() as tx:
            await messages.shown(
                tx, message, version=message.wanted, showing_id=written.showing.id, content_key=written.content_key
            )
            await self._recovered(tx, message)
            await reply_once(tx, await reviews.load_review(tx, message.review_id), message)

    async def _alone(self, client: AsyncWebClient, message: Message, thread: str | None) -> None:
        """See to it that no copy is left; where Slack does not let us look or delete, the card matters more."""
        try:
            await remove_others(client, message, thread)
        except (RateLimited, SlackUnavailable):
            raise
        except SlackError as exc:
            log.warning("A card may stand there twice.", action="copy_left", message=message.id, fault=str(exc))
        async with self.store.begin() as tx:
            await messages.sole(tx, message)

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
            if isinstance(fault, InstallationRevoked) or _is_setup(fault.code):
                channel = message.channel if _is_channel_fault(fault.code) else None
                await tenants.set_fault(tx, tenant.name, code=fault.code, text=str(fault), channel=channel)
            if fault.code == NO_THREAD and message.parent_id is not None:
                await messages.doubt(tx, message.parent_id)
            at = tx.now + _delay_ms(message, fault)
            if isinstance(fault, RateLimited):
                self.pauses.begin(tenant.slack_team, _method(message), at + 1)
            await messages.retry_later(tx, message, at=at, error=fault.code)

    async def _recovered(self, tx: Tx, message: Message) -> None:
        """Slack took a message: the tenant's fault there is over, and what waited for that goes out now.

        A fault of one channel is not over because another channel works, unless the policy no longer names it.
        """
        fault = (await tenants.faults(tx)).get(message.tenant)
        if fault is None or not (_is_setup(fault.code) or fault.code in web_api.REVOKED | {"no_token"}):
            return
        if fault.channel not in (None, message.channel):
            tenant = (await self.policies.in_force(tx)).tenant(message.tenant)
            if tenant is not None and fault.channel in channels_of(tenant):
                return
        await tenants.clear_fault(tx, message.tenant, code=fault.code)
        await messages.hurry(tx, message.tenant)

    async def _later(self, message: Message, at: int, error: str) -> None:
        async with self.store.begin() as tx:
            await messages.retry_later(tx, message, at=at, error=error)


def _method(message: Message) -> str:
    return "chat.postMessage" if message.ts is None else "chat.update"


def _is_setup(code: str) -> bool:
    return code in SETUP or _is_channel_fault(code)


def _is_channel_fault(code: str) -> bool:
    return code in CHANNEL_SETUP or code.startswith("restricted_action")


def _delay_ms(message: Message, fault: SlackError) -> int:
    if isinstance(fault, RateLimited):
        return int(fault.retry_after * 1000) + 100
    if isinstance(fault, SlackUnavailable):
        return 1_000 << min(message.attempts, 6)
    return max(10_000, 1_000 << min(message.attempts, 9))


def _content(rendered: Rendered) -> dict[str, Any]:
    """Blocks and text together, always: text alone would delete the blocks. What the agent wrote is never parsed."""
    return {"blocks": rendered.blocks, "text": rendered.text, "parse": "none", "link_names": False}
