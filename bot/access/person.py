"""Who acts, and with what authority: from Slack's words and stored rows to one person of a tenant.

Who acts: from Slack's words and what is stored of the account to one person of a tenant. The tables hold what Slack
said and when. Facts that are too old make a person unconfirmed: a grant then waits instead of resting on a guess.
What the payload says of the person's own workspace is signed by Slack and enough to refuse, before any reading; only
a reading of that same account outweighs it.

From a person and the policy in force to the core's question "may this person?".
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from bot.core.argument_schema import argument_fault
from bot.core.decide import Authority, Permission, Refusal
from bot.core.json import parse_kept
from bot.core.model import Action, DecisionType, PersonId, Review
from bot.policy.matching import tool_settings
from bot.policy.model import Person, PolicyCall, Requester, TenantPolicy, person_key, touches
from bot.policy.rules import judge_right
from bot.store import people
from bot.store.engine import Tx
from bot.store.people import Account


@dataclass(frozen=True, slots=True)
class Actor:
    """Who pressed, in Slack's words: through which installation, a workspace's or an organisation's; `home_team` is their own.

    `key` is who they are inside the tenant, once that is known.
    """

    team: str
    user: str
    home_team: str | None
    key: PersonId | None = None

    @property
    def account(self) -> PersonId:
        """The account as Slack named it: what Slack is asked about."""
        return PersonId(self.team, self.user)

    @property
    def who(self) -> PersonId:
        """The person: by the key inside the tenant, and before that is known as Slack named them."""
        return self.key or self.account


def presser_of(tenant: TenantPolicy, who: PersonId) -> Actor:
    """Whom a stored key means, as if they pressed now."""
    home = None if touches(tenant, who.team) else who.team
    return Actor(tenant.slack_team, who.user, home)


def groups_of_policy(tenant: TenantPolicy) -> frozenset[str]:
    """Every user group whose membership decides something in this tenant."""
    return frozenset(rule.group for rule in tenant.reviewers if rule.group)


async def known_person(
    tx: Tx, tenant: TenantPolicy, actor: Actor, *, fresh_since: int, account: Account | None = None
) -> Person:
    """The actor as a reviewer. What was read before `fresh_since` (database ms) does not count as known.

    `account` saves a look, if it has just been read. Somebody whom fresh group lists show in no group, and whom no rule names,
    needs no reading to be refused, unless the organisation may know them by another id. Somebody whom a rule names is known
    without the lists of groups that we do not find them in and that nothing is denied to.
    """
    found = account or await people.account(tx, tenant.slack_team, actor.user)
    wanted = groups_of_policy(tenant)
    member = wanted & found.groups.keys()
    named = any(rule.user in found.ids for rule in tenant.reviewers)
    denied = {rule.group for rule in tenant.reviewers if rule.group and rule.deny}
    matter = member | denied if named else wanted
    oldest = min(
        [await people.group_as_of(tx, tenant.slack_team, group) or 0 for group in sorted(matter)], default=tx.now
    )
    row = found.person
    if row is not None and min(oldest, row.as_of) >= fresh_since:
        return _person(tenant, actor, found, known_as_of=min(oldest, row.as_of))
    one_id = row is not None or tenant.slack_enterprise is None
    if one_id and not member and not named and oldest >= fresh_since:
        return _person(tenant, actor, found, known_as_of=oldest)
    unreadable = oldest < fresh_since and bool(await people.group_faults(tx, tenant.slack_team, matter))
    return replace(_person(tenant, actor, found, known_as_of=None), unreadable=unreadable)


def known_account(tenant: TenantPolicy, actor: Actor, found: Account, *, fresh_since: int) -> Person:
    """The actor by a reading of their own account: what an operator's rights rest on, whom no reviewer rule names."""
    row = found.person
    known = row is not None and row.as_of >= fresh_since
    return _person(tenant, actor, found, known_as_of=row.as_of if known and row else None)


def _person(tenant: TenantPolicy, actor: Actor, found: Account, *, known_as_of: int | None) -> Person:
    row, home = found.person, actor.home_team
    if home is not None and not touches(tenant, home) and (row is None or home not in row.homes):
        # Another account than the one that we read by this id: nothing is known of it, but that it is from outside.
        return Person(actor.team, actor.user, home_team=home, outsider=True)
    if row is None:
        outsider = None if known_as_of is None else False
        return Person(actor.team, actor.user, groups=_wanted(tenant, found), outsider=outsider, known_as_of=known_as_of)
    outsider = row.external and not (row.enterprise is not None and row.enterprise == tenant.slack_enterprise)
    user = actor.user if outsider else row.person_id or actor.user
    return Person(
        team=actor.team,
        user=user,
        home_team=row.home_team,
        groups=_wanted(tenant, found),
        deactivated=not row.active,
        bot=row.bot,
        guest=row.guest,
        outsider=outsider,
        known_as_of=known_as_of,
        also=frozenset() if outsider else found.ids - {user},
    )


def _wanted(tenant: TenantPolicy, found: Account) -> dict[str, int]:
    wanted = groups_of_policy(tenant)
    return {group: since for group, since in found.groups.items() if group in wanted}


class UnchangedRequester:
    """The requester as the thread named them when it was last read: it was not read again for this."""


SAME = UnchangedRequester()


@dataclass(frozen=True, slots=True)
class TenantPerson:
    """What a question of authority rests on: a tenant's policy in one version, and a person."""

    tenant: TenantPolicy
    policy_version: int
    person: Person

    @property
    def who(self) -> PersonId:
        """The person's one key in this tenant."""
        return person_key(self.tenant, self.person)


def call_of(review: Review, action: Action, final_args: str | None, requester_now: str | None) -> PolicyCall:
    """The policy's view of one action and what would run."""
    proposed: Any = parse_kept(action.args) if action.args is not None else None
    return PolicyCall(
        tool=action.tool,
        allowed=tuple(kind.value for kind in action.allowed),
        proposed_args=proposed,
        final_args=proposed if final_args is None else parse_kept(final_args),
        requester=Requester(review.requester, requester_now),
        opened_at=review.opened_at,
    )


def authority_for(
    review: Review, tenant_person: TenantPerson, requester_now: str | UnchangedRequester | None = SAME
) -> Authority:
    """The core's question, closed over what is known; `requester_now` is what the thread names now, if it was read."""
    now = review.requester_now if isinstance(requester_now, UnchangedRequester) else requester_now

    def ask(action: Action, decision: DecisionType, final_args: str | None) -> Permission:
        call = call_of(review, action, final_args, now)
        verdict = judge_right(tenant_person.tenant, call, person=tenant_person.person, decision=decision.value)
        settings = tool_settings(tenant_person.tenant, action.tool)
        rest = (verdict.rule or "", tenant_person.policy_version, settings.approvals)
        if not verdict.allowed:
            return Permission(False, Refusal(verdict.why.value), *rest)
        fault = argument_fault(final_args, settings.schema) if final_args is not None and settings.schema else None
        if fault is not None:
            return Permission(False, Refusal.INVALID_EDIT, *rest, problem=fault.sentence)
        return Permission(True, None, *rest)

    return ask
