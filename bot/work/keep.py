"""Keeping people known: whoever may decide a waiting review was read from Slack lately.

Clicks read the tables only, and what is older than two minutes does not count there. While something waits, the reviewers
and operators named by the policy and the members of its groups are read about once a minute, oldest first, within a budget.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection
from dataclasses import dataclass

from bot.access.person import groups_of_policy
from bot.core.model import Who
from bot.core.policy import TenantPolicy
from bot.errors import SlackError
from bot.policies import Policies
from bot.slack.people import PeopleReader
from bot.store import people, reviews
from bot.store.engine import Store, Tx

REFRESH_MS = 60_000
PEOPLE_A_ROUND = 30


@dataclass(frozen=True, slots=True)
class Keeper:
    """One replica's keeper."""

    store: Store
    policies: Policies
    reader: PeopleReader

    async def step(self) -> bool:
        """Read whoever was asked for, then whoever is due in tenants where something waits."""
        await self.reader.refresh_wanted()
        async with self.store.read() as tx:
            in_force = await self.policies.in_force(tx)
            waiting = [
                tenant for tenant in in_force.tenants() if await reviews.list_pending(tx, tenant=tenant.name, limit=1)
            ]
            operators = in_force.policy.operators if in_force.policy else ()
        return any([await self.refresh(tenant, operators) for tenant in waiting])

    async def refresh(self, tenant: TenantPolicy, operators: Collection[str] = ()) -> bool:
        """Read the tenant's groups and then its reviewers, as far as they are due. Answers whether some are left.

        Also asked before a card is posted: nobody should press a button and hear that they are not known yet.
        """
        async with self.store.read() as tx:
            groups = await _due_groups(tx, tenant)
        for group in groups:
            await self._quietly_group(group)
        async with self.store.read() as tx:
            due = await _due_people(tx, tenant, operators)
        for who in due[:PEOPLE_A_ROUND]:
            await self._quietly_user(who)
        return len(due) > PEOPLE_A_ROUND

    async def _quietly_group(self, group: Who) -> None:
        """A reading that fails leaves its row old, and old rows grant nothing."""
        with contextlib.suppress(SlackError):
            await self.reader.read_group(group.team, group.user)

    async def _quietly_user(self, who: Who) -> None:
        with contextlib.suppress(SlackError):
            await self.reader.read_user(who)


async def _due_groups(tx: Tx, tenant: TenantPolicy) -> list[Who]:
    team = tenant.slack_team
    groups = groups_of_policy(tenant)
    refused = await people.group_faults(tx, team, groups)
    ages = {group: max(await people.group_as_of(tx, team, group) or 0, refused.get(group, 0)) for group in groups}
    return [Who(team, group) for group, as_of in sorted(ages.items()) if as_of < tx.now - REFRESH_MS]


async def _due_people(tx: Tx, tenant: TenantPolicy, operators: Collection[str]) -> list[Who]:
    team = tenant.slack_team
    users = {*operators, *(rule.user for rule in tenant.reviewers if rule.user)}
    for group in groups_of_policy(tenant):
        users |= await people.members_of(tx, team, group)
    ages: list[tuple[int, str]] = []
    for user in users:
        row = await people.person(tx, team, user)
        ages.append((row.as_of if row else 0, user))
    return [Who(team, user) for as_of, user in sorted(ages) if as_of < tx.now - REFRESH_MS]
