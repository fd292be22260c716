"""What a new policy file would change, as a security reviewer asks: where decisions go, who gains, who loses.

Rights are compared by their effect on each group or user, not by lines: a rule that was split, moved or repeated is no
change. Tools are compared pattern by pattern, and a change that a wider pattern shows already is not repeated. This
module must not apply anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

from bot.core.policy_model import FrozenMap, Policy, TenantPolicy
from bot.core.policy_plan_rights import Shift, shifts
from bot.core.policy_plan_settings import setting_changes


class Kind(IntEnum):
    """What a change is about, in the order in which it is shown."""

    URL = 0  # decisions would be sent elsewhere: applying it needs consent of its own
    TARGET = 1  # the same server in another way: identity, key, route
    TENANT = 2
    PLACE = 3  # where cards are posted
    GAINS = 4
    LOOSENS = 5  # a setting that makes the gate weaker
    CHANGES = 6  # rights under other conditions
    LOSES = 7
    SETTING = 8


@dataclass(frozen=True, slots=True)
class Change:
    """One line of a plan. `tenant` is "" for the file itself."""

    kind: Kind
    tenant: str
    text: str

    def __str__(self) -> str:
        return f"{self.tenant}: {self.text}" if self.tenant else self.text


def plan(old: Policy | None, new: Policy) -> list[Change]:
    """Everything that applying `new` over `old` changes, the gravest first; empty if it changes nothing."""
    before = old or Policy(version=new.version, operators=(), tenants=FrozenMap())
    found = [*_operators(before, new)]
    for name in dict.fromkeys([*before.tenants, *new.tenants]):
        found += _tenant(name, before.tenants.get(name), new.tenants.get(name))
    return sorted(found, key=lambda change: change.kind)


def _operators(old: Policy, new: Policy) -> Iterator[Change]:
    for user in sorted({*new.operators} - {*old.operators}):
        yield Change(Kind.GAINS, "", f"user {user} becomes an operator: may repair, settle, reopen and pause")
    for user in sorted({*old.operators} - {*new.operators}):
        yield Change(Kind.LOSES, "", f"user {user} is no operator any more")


def _tenant(name: str, old: TenantPolicy | None, new: TenantPolicy | None) -> Iterator[Change]:
    if new is None:
        yield Change(Kind.TENANT, name, "the tenant is removed: its open reviews are superseded, nobody decides there")
    elif old is None:
        where = f"decisions go to {new.agent.url}, cards to {new.slack_channel} of {new.slack_team}"
        yield Change(Kind.TENANT, name, f"the tenant is new: {where}")
        yield from _rights(_without_rights(new), new)
    else:
        yield from _target(old, new)
        yield from _place(old, new)
        yield from _shown_context(old, new)
        yield from _rights(old, new)
        for looser, text in setting_changes(old, new):
            yield Change(Kind.LOOSENS if looser else Kind.SETTING, name, text)


def _without_rights(tenant: TenantPolicy) -> TenantPolicy:
    return TenantPolicy(tenant.name, tenant.slack_team, tenant.slack_channel, tenant.agent)


def _target(old: TenantPolicy, new: TenantPolicy) -> Iterator[Change]:
    parts = (
        (Kind.URL, "the agent URL", old.agent.url, new.agent.url),
        (Kind.TARGET, "the kind of agent server", old.agent.kind, new.agent.kind),
        (Kind.TARGET, "the list of identities", ", ".join(old.agent.users), ", ".join(new.agent.users)),
        (Kind.TARGET, "the assistant", old.agent.assistant, new.agent.assistant),
        (Kind.TARGET, "the route of resumes", old.agent.resume, new.agent.resume),
        (Kind.TARGET, "the agent key's variable", old.agent.api_key_env or "none", new.agent.api_key_env or "none"),
        (Kind.TARGET, "where cards link to", old.agent.thread_url or "nowhere", new.agent.thread_url or "nowhere"),
    )
    for kind, what, before, after in parts:
        if before != after:
            yield Change(kind, new.name, f"{what} changes from {before} to {after}{_consequence(what)}")


def _shown_context(old: TenantPolicy, new: TenantPolicy) -> Iterator[Change]:
    before, after = old.agent.show_context, new.agent.show_context
    if before != after:
        shown = [", ".join(names) or "nothing" for names in (before, after)]
        kind = Kind.SETTING if set(after) <= set(before) else Kind.LOOSENS
        yield Change(kind, new.name, f"what cards show of a run's context changes from {shown[0]} to {shown[1]}")


def _consequence(what: str) -> str:
    moved = what in ("the agent URL", "the kind of agent server", "the list of identities")
    return "; reviews of threads that lie elsewhere now are superseded" if moved else ""


def _place(old: TenantPolicy, new: TenantPolicy) -> Iterator[Change]:
    before = (old.slack_team, old.slack_channel, old.slack_enterprise)
    after = (new.slack_team, new.slack_channel, new.slack_enterprise)
    if before != after:
        shown = [" ".join(part for part in each if part) for each in (before, after)]
        yield Change(Kind.PLACE, new.name, f"the Slack place changes from {shown[0]} to {shown[1]}")


def _rights(old: TenantPolicy, new: TenantPolicy) -> Iterator[Change]:
    kinds = {Shift.GAINS: Kind.GAINS, Shift.LOSES: Kind.LOSES, Shift.CHANGES: Kind.CHANGES}
    for shift, text in shifts(old, new):
        yield Change(kinds[shift], new.name, text)
    visitors = (("guest", set(old.guests), set(new.guests)), ("outsider", _people(old), _people(new)))
    for kind, before, after in visitors:
        for user in sorted(after - before):
            yield Change(Kind.GAINS, new.name, f"the {kind} {user} is admitted")
        for user in sorted(before - after):
            yield Change(Kind.LOSES, new.name, f"the {kind} {user} is not admitted any more")


def _people(tenant: TenantPolicy) -> set[str]:
    return {f"{user} of {team}" for team, user in tenant.outsiders}
