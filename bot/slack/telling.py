"""The worker that brings stored notices to people."""

from __future__ import annotations

from dataclasses import dataclass

import structlog

from bot.errors import InstallationRevoked, RateLimited, SlackError, SlackUnavailable
from bot.policies import Policies
from bot.slack import api
from bot.slack.people import Clients
from bot.slack.private import tell
from bot.store import notices
from bot.store.engine import Store
from bot.store.notices import Notice

log = structlog.get_logger("placet")
LEASE_MS = 30_000
BATCH = 10
MOST_ATTEMPTS = 5
LONGEST_S = 60.0
AWAY = (RateLimited, SlackUnavailable, InstallationRevoked)
NOT_INSTALLED = "no_token"


@dataclass(frozen=True, slots=True)
class Telling:
    """One replica's teller."""

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
                await api.call(
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
