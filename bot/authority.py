"""From stored people and the policy in force to the core's question "may this person?".

The tables hold what Slack said and when. Facts that are too old make a person unconfirmed: a grant then waits instead of
resting on a guess. This module must not call Slack.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from bot.core.decide import Authority, Permission, Refusal
from bot.core.lossless import parse_kept
from bot.core.model import Action, DecisionType, Review, Who
from bot.core.policy import Call, Person, Requester, TenantPolicy, judge, tool_settings
from bot.store import people
from bot.store.bearings import Bearing
from bot.store.engine import Tx

FRESH_MS = 120_000


class Same:
    """The requester as the thread named them when it was last read: it was not read again for this."""


SAME = Same()


@dataclass(frozen=True, slots=True)
class Standing:
    """What a question of authority rests on: a tenant's policy in one version, and a person."""

    tenant: TenantPolicy
    policy_version: int
    person: Person


def groups_of_policy(tenant: TenantPolicy) -> frozenset[str]:
    """Every user group whose membership decides something in this tenant."""
    return frozenset(rule.group for rule in tenant.reviewers if rule.group)


def _denied(tenant: TenantPolicy) -> frozenset[str]:
    """Groups whose members may not do something."""
    return frozenset(rule.group for rule in tenant.reviewers if rule.group and rule.deny)


async def known_person(
    tx: Tx, tenant: TenantPolicy, who: Who, *, fresh_since: int, bearing: Bearing | None = None
) -> Person:
    """The person as stored. What was read before `fresh_since` (database ms) does not count as known.

    `bearing` saves two looks, if it has just been read.
    Somebody whom fresh group lists show in no group, and whom no rule names, needs no reading to be refused. Somebody
    whom a rule names is known without the lists of groups that we do not find them in and that nothing is denied to.
    """
    wanted = groups_of_policy(tenant)
    groups = bearing.groups if bearing else await people.groups_of(tx, who.team, who.user)
    member = {group: since for group, since in groups.items() if group in wanted}
    named = any(rule.user == who.user for rule in tenant.reviewers)
    matter = (wanted & member.keys()) | _denied(tenant) if named else wanted
    oldest = min([await people.group_as_of(tx, who.team, group) or 0 for group in sorted(matter)], default=tx.now)
    row = bearing.person if bearing else await people.person(tx, who.team, who.user)
    if oldest >= fresh_since and not member and not named:
        return _person(who, row, member, tenant=tenant, known_as_of=oldest)
    if row is not None and min(oldest, row.as_of) >= fresh_since:
        return _person(who, row, member, tenant=tenant, known_as_of=min(oldest, row.as_of))
    unreadable = oldest < fresh_since and bool(await people.group_faults(tx, who.team, matter))
    return replace(_person(who, row, member, tenant=tenant, known_as_of=None), unreadable=unreadable)


async def known_account(tx: Tx, tenant: TenantPolicy, who: Who, *, fresh_since: int) -> Person:
    """The account as stored, by a reading of its own: what an operator's rights rest on, whom no reviewer rule names."""
    row = await people.person(tx, who.team, who.user)
    known = row is not None and row.as_of >= fresh_since
    return _person(who, row, {}, tenant=tenant, known_as_of=row.as_of if known and row else None)


def _person(
    who: Who, row: people.Person | None, member: Mapping[str, int], *, tenant: TenantPolicy, known_as_of: int | None
) -> Person:
    if row is None:
        return Person(
            who.team, who.user, groups=member, outsider=None if known_as_of is None else False, known_as_of=known_as_of
        )
    same_enterprise = row.enterprise is not None and row.enterprise == tenant.slack_enterprise
    return Person(
        team=who.team,
        user=who.user,
        home_team=row.home_team,
        groups=member,
        deactivated=not row.active,
        bot=row.bot,
        guest=row.guest,
        outsider=row.external and not same_enterprise,
        known_as_of=known_as_of,
    )


def call_of(review: Review, action: Action, final_args: str | None, requester_now: str | None) -> Call:
    """The policy's view of one action and what would run."""
    proposed: Any = parse_kept(action.args) if action.args is not None else None
    return Call(
        tool=action.tool,
        allowed=tuple(kind.value for kind in action.allowed),
        proposed_args=proposed,
        final_args=proposed if final_args is None else parse_kept(final_args),
        requester=Requester(review.requester, requester_now),
        opened_at=review.opened_at,
    )


def authority_for(review: Review, standing: Standing, requester_now: str | Same | None = SAME) -> Authority:
    """The core's question, closed over what is known; `requester_now` is what the thread names now, if it was read."""
    now = review.requester_now if isinstance(requester_now, Same) else requester_now

    def ask(action: Action, decision: DecisionType, final_args: str | None) -> Permission:
        call = call_of(review, action, final_args, now)
        verdict = judge(standing.tenant, call, person=standing.person, decision=decision.value)
        refusal = None if verdict.allowed else Refusal(verdict.why.value)
        quorum = tool_settings(standing.tenant, action.tool).approvals
        return Permission(verdict.allowed, refusal, verdict.rule or "", standing.policy_version, quorum)

    return ask
