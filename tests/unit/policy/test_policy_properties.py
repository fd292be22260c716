"""What must hold for every policy, however its rules are put together."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

from hypothesis import HealthCheck, given
from hypothesis import settings as configure
from hypothesis import strategies as st

from bot.core.json import Number
from bot.policy.conditions import Condition, all_hold
from bot.policy.diff import plan
from bot.policy.explain import explain
from bot.policy.lint import check
from bot.policy.matching import covers, matches
from bot.policy.model import (
    DECISIONS,
    POWERS,
    FrozenMap,
    Person,
    Policy,
    PolicyCall,
    Requester,
    ReviewerRule,
    RightsVerdict,
    TenantPolicy,
    ToolSettings,
    Why,
)
from bot.policy.rules import may, offered_on_call, offered_to_channel
from tests.kit.policy_factories import make_tenant

TOOLS = ("send_mail", "send_sms", "drop_db", "x")
PATTERNS = (*TOOLS, "send_*", "*_db", "*", "d*b", "send_m*l")
LIKELY = (*PATTERNS, "*", "*", "*", "*")
PEOPLE = ("U0A", "U0B")
GROUPS = ("S0A", "S0B")
BASE = make_tenant()
# A busy machine is no failure.
FEW = configure(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow])
PATIENT = configure(deadline=None, suppress_health_check=[HealthCheck.too_slow])

numbers = st.sampled_from(["1", "5", "5.0", "9e0", "NaN"])
leaves = st.one_of(numbers.map(Number), st.sampled_from(["5", "x", None, True]))
arguments = st.one_of(st.none(), st.dictionaries(st.sampled_from(["n", "m"]), leaves, max_size=2))
conditions = st.builds(
    Condition,
    path=st.sampled_from([("n",), ("m",)]),
    compare=st.sampled_from(["eq", "lt", "le", "gt", "ge"]),
    value=st.sampled_from([Decimal(5), Decimal(1)]),
)
# Weighted towards grants: a property that only ever sees refusals proves nothing.
SOME = (("approve",), ("edit", "reject"), ("respond", "reveal"), ("approve", "reject", "edit"))
powers = st.sampled_from([*[POWERS] * 4, *SOME])
denials = st.sampled_from([*[()] * 12, *SOME, POWERS])
whens = st.sampled_from([0, 0, 0, 1, 2]).flatmap(
    lambda most: st.lists(conditions, min_size=most, max_size=most).map(tuple)
)


@st.composite
def rules(draw: st.DrawFn, *, may_only: bool = False, deny_only: bool = False) -> ReviewerRule:
    group = draw(st.sampled_from([*GROUPS, None]))
    return ReviewerRule(
        index=0,
        group=group,
        user=draw(st.sampled_from(PEOPLE)) if group is None else None,
        tools=tuple(draw(st.lists(st.sampled_from(LIKELY), min_size=1, max_size=2, unique=True))),
        may=() if deny_only else draw(powers),
        deny=() if may_only else draw(powers if deny_only else denials),
        when=draw(whens),
    )


def numbered(found: list[ReviewerRule]) -> tuple[ReviewerRule, ...]:
    return tuple(replace(rule, index=index) for index, rule in enumerate(found))


settings = st.dictionaries(
    st.sampled_from(TOOLS),
    st.builds(
        ToolSettings,
        risk=st.sampled_from([None, "high"]),
        requester_may=st.sampled_from([None, (), ("reject",), ("approve", "respond")]),
    ),
    max_size=2,
)
tenants = st.builds(
    lambda found, tools: replace(BASE, reviewers=numbered(found), tools=FrozenMap(tools)),
    st.lists(rules(), min_size=2, max_size=5),
    settings,
)
people = st.builds(
    Person,
    team=st.just("T0ACME"),
    user=st.sampled_from(PEOPLE),
    home_team=st.just("T0ACME"),
    groups=st.dictionaries(st.sampled_from(GROUPS), st.sampled_from([0, 0, 200]), min_size=1),
    guest=st.sampled_from([False] * 9 + [True]),
    outsider=st.sampled_from([False] * 9 + [None]),
    known_as_of=st.sampled_from([0] * 9 + [None]),
)
names = st.sampled_from(["U0A", "U0B", "U0C", "U0C", None])
questions: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {
        "person": people,
        "tool": st.sampled_from(TOOLS),
        "decision": st.sampled_from(POWERS),
        "proposed_args": arguments,
        "final_args": arguments,
        "requester": st.builds(Requester, names, names),
        "allowed": st.sampled_from([*[DECISIONS] * 8, (), ("approve", "reject"), ("respond",), ("reject", "respond")]),
        "opened_at": st.sampled_from([100, None]),
    }
)


def with_rules(tenant: TenantPolicy, found: list[ReviewerRule]) -> TenantPolicy:
    return replace(tenant, reviewers=numbered(found))


@PATIENT
@given(tenants, rules(deny_only=True), st.integers(0, 5), questions)
def test_adding_a_deny_never_grants(tenant, deny, at, question):
    more = list(tenant.reviewers)
    more.insert(at, deny)

    assert may(tenant, **question).allowed or not may(with_rules(tenant, more), **question).allowed


@PATIENT
@given(tenants, rules(may_only=True), st.integers(0, 5), questions)
def test_removing_a_reviewer_never_grants(tenant, allow, at, question):
    more = list(tenant.reviewers)
    more.insert(at, allow)

    assert may(with_rules(tenant, more), **question).allowed or not may(tenant, **question).allowed


@PATIENT
@given(tenants, rules(may_only=True), st.data(), questions)
def test_narrowing_a_pattern_of_an_allow_never_grants(tenant, allow, data, question):
    wide = data.draw(st.sampled_from(allow.tools))
    narrow = data.draw(st.sampled_from([each for each in PATTERNS if covers(wide, each)]))
    narrowed = replace(allow, tools=tuple(narrow if each == wide else each for each in allow.tools))
    before, after = (with_rules(tenant, [*tenant.reviewers, rule]) for rule in (allow, narrowed))

    assert may(before, **question).allowed or not may(after, **question).allowed


@PATIENT
@given(tenants, rules(may_only=True), conditions, questions)
def test_adding_a_condition_to_an_allow_never_grants(tenant, allow, condition, question):
    stricter = replace(allow, when=(*allow.when, condition))
    before, after = (with_rules(tenant, [*tenant.reviewers, rule]) for rule in (allow, stricter))

    assert may(before, **question).allowed or not may(after, **question).allowed


@PATIENT
@given(tenants, questions)
def test_leaving_a_group_with_allowances_only_never_grants(tenant, question):
    allowing = with_rules(tenant, [replace(rule, deny=()) for rule in tenant.reviewers])
    outside = {**question, "person": replace(question["person"], groups={})}

    assert may(allowing, **question).allowed or not may(allowing, **outside).allowed


@PATIENT
@given(tenants, questions)
def test_the_evidence_of_a_grant_names_a_rule_that_grants(tenant, question):
    verdict = may(tenant, **question)

    if verdict.allowed:
        rule = tenant.reviewers[int(verdict.rule.split("]")[0].removeprefix("reviewers["))]
        person = question["person"]
        assert rule.group in person.groups if rule.group else rule.user == person.user
        assert question["decision"] in rule.may
        assert any(matches(pattern, question["tool"]) for pattern in rule.tools)
        assert all(all_hold(rule.when, question[args]) for args in ("proposed_args", "final_args"))
        assert verdict.rule.startswith(f"reviewers[{rule.index}] {rule.subject} allows {question['decision']} on ")
        assert may(with_rules(tenant, [replace(rule, deny=())]), **question).allowed


@PATIENT
@given(tenants, questions)
def test_what_is_granted_is_allowed_by_the_call_and_offered_on_its_card(tenant, question):
    call = PolicyCall(
        tool=question["tool"],
        allowed=question["allowed"],
        proposed_args=question["proposed_args"],
        final_args=question["proposed_args"],
        requester=question["requester"],
    )

    if may(tenant, **question).allowed and question["decision"] in DECISIONS:
        assert question["decision"] in question["allowed"]
        assert question["decision"] in offered_to_channel(tenant, question["tool"], question["allowed"])
        assert question["decision"] in offered_on_call(tenant, call)


@PATIENT
@given(tenants, questions)
def test_not_knowing_a_person_never_grants(tenant, question):
    unknown = {**question, "person": replace(question["person"], known_as_of=None)}

    assert not may(tenant, **unknown).allowed


@PATIENT
@given(tenants, questions)
def test_whoever_is_granted_was_only_unconfirmed_while_nothing_was_known(tenant, question):
    unknown = {**question, "person": replace(question["person"], known_as_of=None)}

    if may(tenant, **question).allowed:
        assert may(tenant, **unknown) == RightsVerdict(allowed=False, why=Why.CANNOT_CONFIRM)


@FEW
@given(tenants, st.sampled_from(TOOLS), st.sampled_from(PEOPLE), st.sets(st.sampled_from(GROUPS)))
def test_what_explain_allows_may_be_done_on_every_call(tenant, tool, user, groups):
    answers = explain(tenant, tool, user, groups)
    person = Person("T0ACME", user, "T0ACME", dict.fromkeys(groups, 0), outsider=False, known_as_of=0)

    for decision, answer in answers.items():
        verdict = may(
            tenant, person=person, tool=tool, decision=decision, proposed_args={}, requester="U0C", allowed=DECISIONS
        )
        assert answer["allowed"] == verdict.allowed
        assert answer["why"]


@FEW
@given(tenants, tenants)
def test_every_two_policies_can_be_checked_and_compared(one, other):
    old, new = (Policy(1, (), FrozenMap({"acme": each})) for each in (one, other))

    assert plan(old, old) == []
    assert all(str(change) for change in plan(old, new))
    assert all(str(finding) for finding in check(new))
