"""May this person make this decision on this call, and what does a shared card offer.

Rules are a union: any matching allow grants, any matching deny refuses, whatever their order. Arguments are judged as
proposed and as they would run, and the stricter answer counts. What cannot be judged refuses; what cannot be told of
a person is its own answer, given only where a refusal is not certain already.

What a shared card offers: the decisions that at least one reviewer could make on the call. The people behind a group
are not asked here, so a group counts as soon as a rule names it; only a denial of the very same group or user takes
away what its allowance gives. Whoever presses is judged by `may`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NotRequired, TypedDict, TypeVar, Unpack

from bot.policy.conditions import all_hold
from bot.policy.matching import matches, specificity, tool_settings
from bot.policy.model import (
    DECISIONS,
    REVEAL,
    Person,
    Policy,
    PolicyCall,
    Requester,
    ReviewerRule,
    RightsVerdict,
    TenantPolicy,
    Why,
    touches,
)

# Slack's own helper: its profile says is_bot false.
SLACKBOT = "USLACKBOT"
# A refusal names the best reason among the person's rules: the one nearest to a grant.
NEARNESS = (Why.NOT_A_REVIEWER, Why.DECISION_NOT_PERMITTED, Why.JOINED_TOO_LATE, Why.CONDITION_NOT_MET)


class RightsQuestion(TypedDict):
    """What `may` is asked about.

    Arguments are parsed trees; `final_args` left out means that nobody edits. `requester` is an id, None for unknown,
    or a `Requester` where the metadata may have changed. `opened_at` left out: the review is not open yet.
    """

    person: Person
    tool: str
    decision: str
    proposed_args: Any
    final_args: NotRequired[Any]
    requester: str | Requester | None
    allowed: tuple[str, ...]
    opened_at: NotRequired[int | None]


def may(tenant: TenantPolicy, **asked: Unpack[RightsQuestion]) -> RightsVerdict:
    """Judge one decision of one person; `reveal` is judged by the rules alone, whatever the call allows."""
    requester = asked["requester"]
    call = PolicyCall(
        tool=asked["tool"],
        allowed=tuple(asked["allowed"]),
        proposed_args=asked["proposed_args"],
        final_args=asked.get("final_args", asked["proposed_args"]),
        requester=requester if isinstance(requester, Requester) else Requester(requester, requester),
        opened_at=asked.get("opened_at"),
    )
    return judge_right(tenant, call, person=asked["person"], decision=asked["decision"])


def judge_right(tenant: TenantPolicy, call: PolicyCall, *, person: Person, decision: str) -> RightsVerdict:
    """As `may`, for a call that is already put together."""
    plain = _unfit(tenant, person)
    if plain is None and decision != REVEAL and decision not in usable(call.allowed):
        plain = Why.DECISION_NOT_ALLOWED
    if plain is not None:
        return RightsVerdict(allowed=False, why=plain)
    ruled = _by_rules(tenant, call, person=person, decision=decision)
    if ruled.allowed and decision != REVEAL:
        ruled = requester_refusal(tenant, call, ids=person.ids, decision=decision) or ruled
    if ruled.allowed and person.unconfirmed:
        return RightsVerdict(allowed=False, why=Why.GROUP_UNREADABLE if person.unreadable else Why.CANNOT_CONFIRM)
    return ruled


def may_operate(policy: Policy, tenant: TenantPolicy, person: Person) -> RightsVerdict:
    """Whether this person may repair, settle, reopen and pause here; accounts unfit for deciding are unfit for this."""
    why = _unfit(tenant, person)
    if why is None and (person.outsider is True or person.ids.isdisjoint(policy.operators)):
        why = Why.NOT_AN_OPERATOR
    if why is None and person.unconfirmed:
        why = Why.CANNOT_CONFIRM
    return (
        RightsVerdict(allowed=True, why=Why.ALLOWED, rule="operators")
        if why is None
        else RightsVerdict(allowed=False, why=why)
    )


def usable(allowed: tuple[str, ...]) -> tuple[str, ...]:
    """The decisions among what an interrupt lists; servers pass on words that nobody knows."""
    return tuple(decision for decision in allowed if decision in DECISIONS)


def _unfit(tenant: TenantPolicy, person: Person) -> Why | None:
    """What is wrong with the account itself. Only definite facts count here."""
    facts = (
        (not touches(tenant, person.team), Why.OTHER_WORKSPACE),
        (person.deactivated, Why.DEACTIVATED),
        (person.bot or SLACKBOT in person.ids, Why.BOT_USER),
        (person.outsider is True and (person.home_team, person.user) not in tenant.outsiders, Why.OUTSIDER),
        (person.guest and person.ids.isdisjoint(tenant.guests), Why.GUEST),
    )
    return next((why for holds, why in facts if holds), None)


def _by_rules(tenant: TenantPolicy, call: PolicyCall, *, person: Person, decision: str) -> RightsVerdict:
    for rule in tenant.reviewers:
        if decision in rule.deny and covering(rule, call.tool) and _denied_to(rule, person) and refuses(rule, call):
            return RightsVerdict(allowed=False, why=Why.DENIED, rule=evidence(rule, "denies", decision, tool=call.tool))
    nearest = Why.NOT_A_REVIEWER
    for rule in _allows(tenant, call, person):
        why = _standing(tenant, rule, call, person=person) if decision in rule.may else Why.DECISION_NOT_PERMITTED
        if why is Why.ALLOWED:
            return RightsVerdict(allowed=True, why=why, rule=evidence(rule, "allows", decision, tool=call.tool))
        nearest = max(nearest, why, key=NEARNESS.index)
    return RightsVerdict(allowed=False, why=nearest)


def _allows(tenant: TenantPolicy, call: PolicyCall, person: Person) -> Iterator[ReviewerRule]:
    for rule in tenant.reviewers:
        if rule.may and covering(rule, call.tool) and _allowed_to(tenant, rule, person):
            yield rule


def _standing(tenant: TenantPolicy, rule: ReviewerRule, call: PolicyCall, *, person: Person) -> Why:
    late = rule.group is not None and call.opened_at is not None and person.groups.get(rule.group, 0) > call.opened_at
    if late and tool_settings(tenant, call.tool).risk == "high":
        return Why.JOINED_TOO_LATE
    return Why.ALLOWED if grants(rule, call) else Why.CONDITION_NOT_MET


def _denied_to(rule: ReviewerRule, person: Person) -> bool:
    # By the bare id, though ids of two workspaces may coincide: a denial is read as widely as it can be.
    return rule.group in person.groups if rule.group else rule.user in person.ids


def _allowed_to(tenant: TenantPolicy, rule: ReviewerRule, person: Person) -> bool:
    """Whether the rule is about this person; of somebody unconfirmed, whether it may turn out to be."""
    if rule.group:
        return rule.group in person.groups or person.unconfirmed
    if rule.user not in person.ids:
        return False
    # An id that the tenant lists as an outsider's means that outsider, not a local person of the same id.
    return person.outsider is not False or all(user != rule.user for _, user in tenant.outsiders)


def covering(rule: ReviewerRule, tool: str) -> str | None:
    """The most specific of the rule's patterns that the tool fits."""
    return max((pattern for pattern in rule.tools if matches(pattern, tool)), key=specificity, default=None)


def grants(rule: ReviewerRule, call: PolicyCall) -> bool:
    """Whether an allow's conditions hold on both sets of arguments."""
    return all(all_hold(rule.when, args) is True for args in (call.proposed_args, call.final_args))


def refuses(rule: ReviewerRule, call: PolicyCall) -> bool:
    """Whether a deny's conditions hold, or cannot be judged, on either set of arguments."""
    return any(all_hold(rule.when, args) is not False for args in (call.proposed_args, call.final_args))


def requester_refusal(
    tenant: TenantPolicy, call: PolicyCall, *, ids: frozenset[str], decision: str
) -> RightsVerdict | None:
    """What the requester rule has against it, or None.

    Where a tool sets the rule, an unknown or changed requester leaves only reject open, to anybody: whoever presses
    may be the one who asked. Elsewhere the default binds everybody whom the thread ever named.
    """
    explicit = tool_settings(tenant, call.tool).requester_may
    limit = default_requester_may(call.allowed) if explicit is None else explicit
    rule = f"requester_may: [{', '.join(limit)}]"
    if explicit is not None and not call.requester.certain:
        return None if decision == "reject" else RightsVerdict(allowed=False, why=Why.REQUESTER_UNKNOWN, rule=rule)
    if ids & call.requester.names and decision not in limit:
        return RightsVerdict(allowed=False, why=Why.OWN_REQUEST, rule=rule)
    return None


def default_requester_may(allowed: tuple[str, ...]) -> tuple[str, ...]:
    """A requester may stop their own call; a question that only takes an answer or a no, they may answer too."""
    return ("reject", "respond") if {"reject", "respond"}.issuperset(usable(allowed)) else ("reject",)


def evidence(rule: ReviewerRule, verb: str, decision: str, *, tool: str) -> str:
    """The rule in one line, as it is stored with a decision and shown to an auditor."""
    head = f"reviewers[{rule.index}] {rule.subject} {verb} {decision} on {covering(rule, tool)}"
    return head + (f" when {' and '.join(map(str, rule.when))}" if rule.when else "")


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


def offered_on_call(tenant: TenantPolicy, call: PolicyCall) -> tuple[str, ...]:
    """As `offered_to_channel`, without what this call's arguments or its unknown requester close to everybody.

    Only the proposed arguments are judged for an edit: what it will change is not known yet.
    """
    offered = offered_to_channel(tenant, call.tool, call.allowed)
    return tuple(decision for decision in offered if _somebody_could(tenant, call, decision))


def _somebody_could(tenant: TenantPolicy, call: PolicyCall, decision: str) -> bool:
    # "" is nobody's id: only what the requester rule closes to everybody comes back.
    if requester_refusal(tenant, call, ids=frozenset(), decision=decision):
        return False
    return any(
        grants(rule, call) and not _refused_its_subject(tenant, rule, call, decision=decision)
        for rule in possible_rules(tenant, call.tool, decision)
    )


def _refused_its_subject(tenant: TenantPolicy, rule: ReviewerRule, call: PolicyCall, *, decision: str) -> bool:
    return any(
        decision in other.deny and covering(other, call.tool) and refuses(other, call)
        for other in same_subject(tenant, rule)
    )
