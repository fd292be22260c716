"""Reviewer rules that can have no effect: contradictory, cancelled, repeated, or about nobody.

Only what is certain is reported: a rule counts as cancelled or repeated only by a rule about the very same group or
user. This module must not know settings of tools.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from bot.core.policy_finding import Finding, note, warning
from bot.core.policy_match import covers, overlap
from bot.core.policy_model import ReviewerRule, TenantPolicy
from bot.core.policy_offer import cancelled, same_subject
from bot.core.policy_when import satisfiable


def rule_findings(tenant: TenantPolicy, members: Mapping[str, Collection[str]]) -> Iterator[Finding]:
    """At most one finding for each rule: the gravest."""
    for rule in tenant.reviewers:
        at = f"tenants.{tenant.name}.reviewers[{rule.index}]"
        found = (
            _contradiction(tenant, rule, at)
            or _nobody(tenant, rule, at, members=members)
            or _cancellation(tenant, rule, at)
            or _repetition(tenant, rule, at)
            or _idle_denial(tenant, rule, at)
        )
        if found:
            yield found


def _contradiction(tenant: TenantPolicy, rule: ReviewerRule, at: str) -> Finding | None:
    if satisfiable(rule.when):
        return None
    shown = " and ".join(map(str, rule.when))
    return warning(tenant.name, f"{at}.when", f"no arguments can meet {shown}", "Mend the bounds, or remove the rule")


def _nobody(
    tenant: TenantPolicy, rule: ReviewerRule, at: str, *, members: Mapping[str, Collection[str]]
) -> Finding | None:
    if rule.group is None or rule.group not in members or members[rule.group]:
        return None
    return warning(tenant.name, at, f"group {rule.group} has no members", "Fill the group, or name a user")


def _cancellation(tenant: TenantPolicy, rule: ReviewerRule, at: str) -> Finding | None:
    void = [(tool, power) for tool in rule.tools for power in rule.may if _void(tenant, rule, tool=tool, power=power)]
    if not void or rule.deny:
        return None
    if len(void) == len(rule.tools) * len(rule.may):
        return warning(
            tenant.name, at, "every decision that it allows is denied to them", "Remove this rule or the deny"
        )
    shown = ", ".join(f"{power} on {tool}" for tool, power in void)
    return note(tenant.name, at, f"some of what it allows is denied to them: {shown}", "Fine, if that is meant")


def _void(tenant: TenantPolicy, rule: ReviewerRule, *, tool: str, power: str) -> bool:
    return cancelled(tenant, rule, tool=tool, decision=power)


def _repetition(tenant: TenantPolicy, rule: ReviewerRule, at: str) -> Finding | None:
    for other in same_subject(tenant, rule):
        if other is not rule and _says_all(other, rule) and (other.index < rule.index or not _says_all(rule, other)):
            fault = f"it adds nothing to reviewers[{other.index}]"
            return note(tenant.name, at, fault, "Remove it, unless it stands for later")
    return None


def _says_all(wide: ReviewerRule, narrow: ReviewerRule) -> bool:
    return (
        set(narrow.may) <= set(wide.may)
        and set(narrow.deny) <= set(wide.deny)
        and (not wide.when or wide.when == narrow.when)
        and all(any(covers(pattern, tool) for pattern in wide.tools) for tool in narrow.tools)
    )


def _idle_denial(tenant: TenantPolicy, rule: ReviewerRule, at: str) -> Finding | None:
    if rule.may or any(_bites(rule, other) for other in tenant.reviewers):
        return None
    return note(tenant.name, at, "it denies what no rule allows anybody", "Remove it, unless it stands for later")


def _bites(deny: ReviewerRule, allow: ReviewerRule) -> bool:
    return bool(set(deny.deny) & set(allow.may)) and any(overlap(a, b) for a in deny.tools for b in allow.tools)
