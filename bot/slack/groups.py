"""One line to the channel when the members of a reviewers' group change: authority moved, and people should see it."""

from __future__ import annotations

from blocks.queue import group_line
from bot.access.person import groups_of_policy
from bot.core.model import Who
from bot.policies import Policies
from bot.slack.people import GroupChanged
from bot.store import notices
from bot.store.engine import Tx
from bot.store.people import Membership


def announcing(policies: Policies) -> GroupChanged:
    """What to store with a group's change: a notice for the channel of every tenant whose reviewers it names."""

    async def changed(tx: Tx, group: Who, change: Membership) -> None:
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
