from __future__ import annotations

import pytest

from bot.policy.matching import tool_settings
from bot.policy.model import Person, Requester, RightsVerdict, Why
from bot.policy.rules import may_operate
from tests.kit.policy_factories import ask, make_person, make_policy, make_tenant

EVERYTHING = 'reviewers: [{user: U0BEN, tools: ["*"], may: [approve, edit, reject, respond]}]\n'


def test_final_arguments_left_out_are_the_proposed_ones():
    tenant = make_tenant("reviewers: [{user: U0BEN, tools: [x], may: [approve], when: {n: 1}}]\n")

    assert ask(tenant, make_person(), tool="x", proposed_args={"n": 1}).allowed
    assert ask(tenant, make_person(), tool="x", proposed_args={"n": 1}, final_args=None).why is Why.CONDITION_NOT_MET


def test_membership_counts_as_long_as_the_review_is_not_open():
    tenant = make_tenant('reviewers: [{group: S0A, tools: ["*"], may: [approve]}]\ntools: {"*": {risk: high}}\n')
    late = Person("T0ACME", "U0BEN", "T0ACME", {"S0A": 9_000}, outsider=False, known_as_of=0)

    assert ask(tenant, late).allowed
    assert ask(tenant, late, opened_at=8_999).why is Why.JOINED_TOO_LATE


def test_a_late_membership_does_not_hide_an_older_one():
    tenant = make_tenant(
        "reviewers:\n"
        '  - {group: S0NEW, tools: ["*"], may: [approve]}\n'
        '  - {group: S0OLD, tools: ["*"], may: [approve]}\n'
        'tools: {"*": {risk: high}}\n'
    )
    person = Person("T0ACME", "U0BEN", "T0ACME", {"S0NEW": 2_000, "S0OLD": 1}, outsider=False, known_as_of=0)

    assert ask(tenant, person, opened_at=1_000).rule == "reviewers[1] group S0OLD allows approve on *"


def test_slacks_own_bot_decides_nothing_though_its_profile_says_person():
    tenant = make_tenant('reviewers: [{user: USLACKBOT, tools: ["*"], may: [approve]}]\n')

    assert ask(tenant, make_person("USLACKBOT")).why is Why.BOT_USER


def test_evidence_names_the_most_specific_of_a_rules_patterns():
    tenant = make_tenant('reviewers: [{user: U0BEN, tools: ["*", "send_*", send_mail], may: [approve]}]\n')

    assert ask(tenant, make_person(), tool="send_mail").rule == "reviewers[0] user U0BEN allows approve on send_mail"
    assert ask(tenant, make_person(), tool="send_x").rule == "reviewers[0] user U0BEN allows approve on send_*"


def test_words_that_are_no_decisions_do_not_spoil_the_rule_for_questions():
    verdict = ask(make_tenant(EVERYTHING), make_person(), "respond", requester="U0BEN", allowed=("respond", "escalate"))

    assert verdict.allowed


def test_cannot_confirm_is_no_answer_and_every_other_refusal_is_one():
    assert {why for why in Why if RightsVerdict(allowed=False, why=why).unsure} == {Why.CANNOT_CONFIRM}


def test_an_unconfirmed_requester_is_refused_for_good():
    person = make_person(known_as_of=None)

    assert ask(make_tenant(EVERYTHING), person, requester="U0BEN").why is Why.OWN_REQUEST


def test_a_known_membership_denies_an_unconfirmed_person():
    tenant = make_tenant(
        'reviewers:\n  - {user: U0BEN, tools: ["*"], may: [approve]}\n  - {group: S0T, tools: ["*"], deny: [approve]}\n'
    )

    assert ask(tenant, make_person("U0BEN", "S0T", known_as_of=None)).why is Why.DENIED


def test_a_changed_requester_is_uncertain_and_names_both():
    moved = Requester("U0A", "U0B")

    assert (moved.certain, moved.names) == (False, {"U0A", "U0B"})
    assert Requester("U0A", "U0A").certain
    assert not Requester(None, None).certain


def test_people_are_hashable_and_keep_their_own_copy_of_groups():
    groups = {"S0A": 1}
    person = Person("T0ACME", "U0BEN", groups=groups)
    groups["S0B"] = 2

    assert dict(person.groups) == {"S0A": 1}
    assert hash(person) == hash(Person("T0ACME", "U0BEN", groups={"S0A": 1}))


@pytest.mark.parametrize(
    ("person", "why"),
    [
        (make_person("U0OPS"), Why.ALLOWED),
        (make_person("U0BEN"), Why.NOT_AN_OPERATOR),
        (make_person("U0OPS", outsider=True, home_team="T0PARTNER"), Why.OUTSIDER),
        (make_person("U0OPS", deactivated=True), Why.DEACTIVATED),
        (make_person("U0OPS", team="T0OTHER"), Why.OTHER_WORKSPACE),
        (make_person("U0OPS", known_as_of=None), Why.CANNOT_CONFIRM),
        (make_person("U0BEN", known_as_of=None), Why.NOT_AN_OPERATOR),
    ],
)
def test_only_confirmed_operators_operate(person, why):
    policy = make_policy()

    verdict = may_operate(policy, policy.tenants["acme"], person)

    assert (verdict.why, verdict.allowed) == (why, why is Why.ALLOWED)


def test_a_listed_outsider_with_an_operators_id_is_no_operator():
    policy = make_policy("outsiders: [{team: T0PARTNER, user: U0OPS}]\n")
    person = make_person("U0OPS", outsider=True, home_team="T0PARTNER")

    assert may_operate(policy, policy.tenants["acme"], person).why is Why.NOT_AN_OPERATOR


def test_each_setting_comes_from_the_most_specific_pattern_that_sets_it():
    tenant = make_tenant(
        "resend: fence\n"
        "tools:\n"
        '  "*": {risk: high, approvals: 2, result: none}\n'
        '  "send_*": {approvals: 3, title: Send}\n'
        "  send_mail: {title: Send mail, decide_within: never, channel: C0MAIL}\n"
    )

    settings = tool_settings(tenant, "send_mail")

    assert (settings.risk, settings.approvals, settings.title) == ("high", 3, "Send mail")
    assert (settings.decide_within_ms, settings.channel, settings.resend) == (None, "C0MAIL", "fence")
    assert tool_settings(tenant, "other").approvals == 2


def test_a_tool_without_settings_gets_the_tenants_and_the_defaults():
    settings = tool_settings(make_tenant("decide_within: 2h\non_expiry: hold\n"), "any")

    assert (settings.risk, settings.approvals, settings.title, settings.requester_may) == ("normal", 1, None, None)
    assert (settings.decide_within_ms, settings.on_expiry, settings.resend) == (7_200_000, "hold", "settle")
    assert (settings.redact, settings.result, settings.mention, settings.channel) == ((), "status", (), "C0APPROVALS")
    assert (settings.schema, settings.after_unknown, settings.decisions) == (None, "proceed", None)
