"""What time alone does: expiry, people read anew, retention, sealing.

The sweeper: what time alone does. Reviews that nobody decided in time expire by the database's clock, and cards lose
Approve in their last minute. What happens to an expired review is the dispatcher's work.

Keeping people known: whoever may decide a waiting review was read from Slack lately. Clicks read the tables only, and
what is older than two minutes does not count there. While something waits, the reviewers and operators named by the
policy and the members of its groups are read about once a minute, oldest first, within a budget.

The worker of retention: once a minute, each tenant's own times. A tenant that sets no time keeps everything, and so
does one that the policy no longer has. What is erased is decided in `bot.store.retention`.

The sealer: within a second every event stands in its tenant's chain, and every hour the heads are logged. Any number
of replicas may run one; the database lets one at a time seal a tenant. The logged heads are what an auditor compares
with, so they belong where whoever can write the database cannot write.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection
from dataclasses import dataclass, field

import structlog

from bot.access.person import groups_of_policy
from bot.core.decide import LAST_MINUTE_MS
from bot.core.model import PersonId, ReviewState
from bot.errors import SlackError
from bot.metrics import OPEN_REVIEWS
from bot.policy.model import TenantPolicy
from bot.slack.client.people import PeopleReader
from bot.store import decisions, people, reviews
from bot.store.audit.chain import Head, head_mac
from bot.store.audit.refusals import any_over, close_refusals
from bot.store.audit.seal import SEALED_AT_ONCE, heads, seal_tenant, unsealed_tenants
from bot.store.engine import Store, Tx
from bot.store.policies import Policies
from bot.store.retention import erase_notices, erase_settled, prune_audit
from bot.store.reviews import near_expiry

EXPIRED_AT_ONCE = 100


@dataclass(slots=True)
class Sweeper:
    """One replica's sweeper; several may run."""

    store: Store
    changed: Callable[[], None]
    _redrawn: set[str] = field(default_factory=set)

    async def step(self) -> bool:
        """Expire what is due. Answers whether there may be more."""
        expired = await self._expire()
        redrawn = await self._redraw()
        if expired or redrawn:
            self.changed()
        return expired == EXPIRED_AT_ONCE

    async def _expire(self) -> int:
        async with self.store.begin() as tx:
            due = await reviews.due_to_expire(tx, limit=EXPIRED_AT_ONCE)
            for review_id in due:
                review = await reviews.load_review(tx, review_id, lock=True)
                if review is not None and review.state in (ReviewState.OPEN, ReviewState.DECIDED):
                    await reviews.move(tx, review, ReviewState.EXPIRED)
            await decisions.purge_answers(tx)
            if await any_over(tx):
                await close_refusals(tx, limit=EXPIRED_AT_ONCE)
        return len(due)

    async def _redraw(self) -> int:
        """Each process asks once for each card; an unchanged card costs no call."""
        async with self.store.read() as tx:
            near = set(await near_expiry(tx, within_ms=LAST_MINUTE_MS, limit=EXPIRED_AT_ONCE))
        new = near - self._redrawn
        if new:
            async with self.store.begin() as tx:
                for review_id in new:
                    await reviews.touch(tx, review_id)
        self._redrawn = near
        return len(new)


REFRESH_MS = 60_000
PEOPLE_A_ROUND = 30


@dataclass(frozen=True, slots=True)
class PeopleRefresher:
    """One replica's reader of whoever is due."""

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

    async def _quietly_group(self, group: PersonId) -> None:
        """A reading that fails leaves its row old, and old rows grant nothing."""
        with contextlib.suppress(SlackError):
            await self.reader.read_group(group.team, group.user)

    async def _quietly_user(self, who: PersonId) -> None:
        with contextlib.suppress(SlackError):
            await self.reader.read_user(who)


async def _due_groups(tx: Tx, tenant: TenantPolicy) -> list[PersonId]:
    team = tenant.slack_team
    groups = groups_of_policy(tenant)
    refused = await people.group_faults(tx, team, groups)
    ages = {group: max(await people.group_as_of(tx, team, group) or 0, refused.get(group, 0)) for group in groups}
    return [PersonId(team, group) for group, as_of in sorted(ages.items()) if as_of < tx.now - REFRESH_MS]


async def _due_people(tx: Tx, tenant: TenantPolicy, operators: Collection[str]) -> list[PersonId]:
    team = tenant.slack_team
    users = {*operators, *(rule.user for rule in tenant.reviewers if rule.user)}
    for group in groups_of_policy(tenant):
        users |= await people.members_of(tx, team, group)
    ages: list[tuple[int, str]] = []
    for user in users:
        row = await people.person(tx, team, user)
        ages.append((row.as_of if row else 0, user))
    return [PersonId(team, user) for as_of, user in sorted(ages) if as_of < tx.now - REFRESH_MS]


ERASED_AT_ONCE = 50


@dataclass(frozen=True, slots=True)
class Retention:
    """One replica's eraser; several may run. `changed` wakes message sync. It also counts what waits, for the metrics."""

    store: Store
    policies: Policies
    changed: Callable[[], None]

    async def step(self) -> bool:
        """Erase some of what is due; answers whether there may be more."""
        async with self.store.read() as tx:
            tenants = (await self.policies.in_force(tx)).tenants()
            waiting = await reviews.count_open(tx)
        for tenant in tenants:
            OPEN_REVIEWS.labels(tenant=tenant.name).set(waiting.get(tenant.name, 0))
        erased = [await self._tenant(tenant) for tenant in tenants]
        if any(erased):
            self.changed()
        return ERASED_AT_ONCE in erased

    async def _tenant(self, tenant: TenantPolicy) -> int:
        arguments, record = tenant.retain_arguments_ms, tenant.retain_audit_ms
        erased = 0
        if arguments is not None:
            async with self.store.begin() as tx:
                erased = await erase_settled(tx, tenant=tenant.name, older_than_ms=arguments, limit=ERASED_AT_ONCE)
                await erase_notices(tx, tenant=tenant.name, older_than_ms=arguments)
        if record is not None:
            async with self.store.begin() as tx:
                await prune_audit(tx, tenant=tenant.name, older_than_ms=record)
        return erased


log = structlog.get_logger("placet")
LOG_EVERY_MS = 3_600_000


@dataclass(slots=True)
class Sealer:
    """One replica's sealer. Without a secret key heads are logged without a MAC."""

    store: Store
    secret: str = ""
    _logged: dict[str, Head] = field(default_factory=dict)
    _logged_at: int | None = None

    async def step(self) -> bool:
        """Seal what waits, one tenant in one transaction; answers whether there is more."""
        async with self.store.read() as tx:
            waiting, now = await unsealed_tenants(tx), tx.now
        more = False
        for tenant in waiting:
            async with self.store.begin() as tx:
                more = await seal_tenant(tx, tenant) == SEALED_AT_ONCE or more
        if not more and (self._logged_at is None or now >= self._logged_at + LOG_EVERY_MS):
            self._logged_at = now
            await self._log_heads()
        return more

    async def _log_heads(self) -> None:
        async with self.store.read() as tx:
            found = await heads(tx)
        for tenant, head in found.items():
            if self._logged.get(tenant) != head:
                mac = head_mac(self.secret, tenant, head) if self.secret else None
                log.info("The audit's head.", action="audit_head", tenant=tenant, head=str(head), mac=mac)
        self._logged = found
