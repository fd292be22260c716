"""What a shared card offers: the decisions that at least one reviewer could make on the call.

The people behind a group are not asked here, so a group counts as soon as a rule names it; only a denial of the very
same group or user takes away what its allowance gives. Whoever presses is judged by `may`. This module must not know
cards.
"""

from __future__ import annotations

from typing import TypeVar

from bot.core.policy_match import matches
from bot.core.policy_model import Call, ReviewerRule, TenantPolicy
from bot.core.policy_rules import covering, grants, refuses, requester_refusal, usable

D = TypeVar("D", bound=str)


def who_could(tenant: TenantPolicy, tool: str, decision: str) -> bool:
    """Whether anybody at all could make this decision on some call of this tool."""
    return any(True for _ in possible_rules(tenant, tool, decision))


def possible_rules(tenant: TenantPolicy, tool: str, decision: str) -> tuple[ReviewerRule, ...]:
    """The rules that could grant it, leaving out those that an unconditional denial of their subject cancels."""
    return tuple(
        rule
        for rule in tenant.reviewers
        if decision in rule.may and covering(rule, tool) and not cancelled(tenant, rule, tool=tool, decision=decision)
    )


def cancelled(tenant: TenantPolicy, rule: ReviewerRule, *, tool: str, decision: str) -> bool:
    """Whether the rule's own subject is denied this on every call of the tool (or of every tool of a pattern)."""
    return any(
        decision in other.deny and not other.when and any(matches(pattern, tool) for pattern in other.tools)
        for other in same_subject(tenant, rule)
    )


def same_subject(tenant: TenantPolicy, rule: ReviewerRule) -> tuple[ReviewerRule, ...]:
    """All rules about the same group or user, this one included."""
    return tuple(other for other in tenant.reviewers if other.subject == rule.subject)


def offered_to_channel(tenant: TenantPolicy, tool: str, allowed: tuple[D, ...]) -> tuple[D, ...]:
    """Allowed(call) ∩ the union of what any reviewer of that tool may do, in the order of `allowed`."""
    return tuple(
        decision for decision in allowed if decision in usable((decision,)) and who_could(tenant, tool, decision)
    )


def offered_on_call(tenant: TenantPolicy, call: Call) -> tuple[str, ...]:
    """As `offered_to_channel`, without what this call's arguments or its unknown requester close to everybody.

    Only the proposed arguments are judged for an edit: what it will change is not known yet.
    """
    offered = offered_to_channel(tenant, call.tool, call.allowed)
    return tuple(decision for decision in offered if _somebody_could(tenant, call, decision))


def _somebody_could(tenant: TenantPolicy, call: Call, decision: str) -> bool:
    # "" is nobody's id: only what the requester rule closes to everybody comes back.
    if requester_refusal(tenant, call, ids=frozenset(), decision=decision):
        return False
    return any(
        grants(rule, call) and not _refused_its_subject(tenant, rule, call, decision=decision)
        for rule in possible_rules(tenant, call.tool, decision)
    )


def _refused_its_subject(tenant: TenantPolicy, rule: ReviewerRule, call: Call, *, decision: str) -> bool:
    return any(
        decision in other.deny and covering(other, call.tool) and refuses(other, call)
        for other in same_subject(tenant, rule)
    )
