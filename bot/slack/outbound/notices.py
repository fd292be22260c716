"""Private words to one person, and notices to people and channels.

A private word to one person: ephemeral where they are, else a direct message. Delivery of ephemerals is not
guaranteed by Slack and they are never stored, so nothing may depend on one.

The worker that brings stored notices to people.

One line to the channel when the members of a reviewers' group change: authority moved, and people should see it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import structlog
from slack_sdk.web.async_client import AsyncWebClient

from blocks.home import group_line
from blocks.notices import private_notice
from bot.access.person import groups_of_policy
from bot.core.model import PersonId
from bot.errors import InstallationRevoked, RateLimited, SlackError, SlackUnavailable
from bot.slack.client import web_api
from bot.slack.client.people import Clients, GroupChanged
from bot.store import notices
from bot.store.engine import Store, Tx
from bot.store.notices import Notice
from bot.store.people import Membership
from bot.store.policies import Policies

log = structlog.get_logger("placet")

# The person or the bot cannot be met in that channel; a direct message needs neither to be there.
ELSEWHERE = frozenset(
    {"user_not_in_channel", "not_in_channel", "channel_not_found", "is_archived", "cannot_reply_to_message"}
)


async def tell(client: AsyncWebClient, *, channel: str | None, user: str, thread_ts: str | None, text: str) -> None:
    """Say it once; without a channel by direct message. Raises `SlackError` when neither way is open."""
    rendered = private_notice(text)
    content: dict[str, Any] = {"blocks": rendered.blocks, "text": rendered.text}
    if channel is not None:
        try:
            await web_api.call(client.chat_postEphemeral(channel=channel, user=user, thread_ts=thread_ts, **content))
        except SlackError as exc:
            if exc.code not in ELSEWHERE:
                raise
        else:
            return
    await web_api.call(client.chat_postMessage(channel=user, **content))


async def try_to_tell(
    client: AsyncWebClient, *, channel: str | None, user: str, thread_ts: str | None, text: str
) -> None:
    """As `tell`, for a word on which nothing depends: that it could not be said is only logged."""
    try:
        await tell(client, channel=channel, user=user, thread_ts=thread_ts, text=text)
    except SlackError as exc:
        log.warning("Somebody could not be told.", action="slack_fault", code=exc.code)


LEASE_MS = 30_000
BATCH = 10
MOST_ATTEMPTS = 5
LONGEST_S = 60.0
AWAY = (RateLimited, SlackUnavailable, InstallationRevoked)
NOT_INSTALLED = "no_token"


@dataclass(frozen=True, slots=True)
class NoticeSender:
    """One replica's sender of notices."""

    store: Store
    policies: Policies
    clients: Clients
    owner: str

    async def step(self) -> bool:
        """Send some notices; answers whether there may be more."""
        async with self.store.begin() as tx:
            claimed = await notices.claim_notices(tx, owner=self.owner, lease_ms=LEASE_MS, limit=BATCH)
            in_force = await self.policies.in_force(tx)
        for notice in claimed:
            tenant = in_force.tenant(notice.tenant)
            await self._send(notice, tenant.slack_team if tenant else team_of(notice))
        return len(claimed) == BATCH

    async def _send(self, notice: Notice, team: str) -> None:
        client = self.clients(team)
        if client is None:
            await self._failed(notice, SlackError(f"no token for workspace {team}", code=NOT_INSTALLED))
            return
        try:
            if notice.user_id:
                channel, thread_ts = notice.channel, notice.thread_ts
                await tell(client, channel=channel, user=notice.user_id, thread_ts=thread_ts, text=notice.text)
            else:
                await web_api.call(
                    client.chat_postMessage(
                        channel=notice.channel, thread_ts=notice.thread_ts, text=notice.text, unfurl_links=False
                    )
                )
        except SlackError as exc:
            await self._failed(notice, exc)
            return
        async with self.store.begin() as tx:
            await notices.notice_sent(tx, notice)

    async def _failed(self, notice: Notice, fault: SlackError) -> None:
        log.warning("A notice could not be sent.", action="slack_fault", tenant=notice.tenant, code=fault.code)
        wait = fault.retry_after if isinstance(fault, RateLimited) else min(2.0 ** (notice.attempts + 1), LONGEST_S)
        async with self.store.begin() as tx:
            late = notice.attempts + 1 >= MOST_ATTEMPTS and not _outlives(notice, fault)
            retry_at = None if late else tx.now + int(wait * 1000)
            await notices.notice_failed(tx, notice, error=fault.code, retry_at=retry_at)


def _outlives(notice: Notice, fault: SlackError) -> bool:
    """Whether it waits for as long as Slack is away: an alarm must come through, a word on a press is stale by then."""
    return notice.user_id is None and (isinstance(fault, AWAY) or fault.code == NOT_INSTALLED)


def team_of(notice: Notice) -> str:
    """The workspace of a notice whose tenant the policy does not have, or that belongs to none.

    The key of a word on a press begins with it. Others have none, and no client stands for what theirs begin with.
    """
    return notice.key.partition(":")[0]


def announcing(policies: Policies) -> GroupChanged:
    """What to store with a group's change: a notice for the channel of every tenant whose reviewers it names."""

    async def changed(tx: Tx, group: PersonId, change: Membership) -> None:
        in_force = await policies.in_force(tx)
        for tenant in in_force.tenants():
            if tenant.slack_team == group.team and group.user in groups_of_policy(tenant):
                await notices.add_notice(
                    tx,
                    tenant=tenant.name,
                    channel=tenant.slack_channel,
                    user=None,
                    thread_ts=None,
                    text=group_line(group.user, sorted(change.added), sorted(change.removed)),
                    key=f"group:{tenant.name}:{group.team}:{group.user}:{tx.now}",
                )

    return changed
