from __future__ import annotations

import pytest

from bot.policy.diff import ChangeKind, duration_text, plan
from bot.policy.source import parse
from tests.kit.policy_factories import make_policy, make_tenant_text, make_two


def changes(old: str, new: str, old_parts=None, new_parts=None) -> list[str]:
    found = plan(make_policy(old, **(old_parts or {})), make_policy(new, **(new_parts or {})))
    return [f"{change.kind.name} {change}" for change in found]


def rule(subject: str, tools: str, rights: str) -> str:
    return f"  - {{{subject}, tools: {tools}, {rights}}}\n"


SUPERSEDES = "; reviews of threads that lie elsewhere now are superseded"
ALICE = rule("user: U0A", "['*']", "may: [approve, reject]")


def test_the_same_policy_changes_nothing():
    assert changes("reviewers:\n" + ALICE, "reviewers:\n" + ALICE) == []


def test_a_changed_url_stands_before_everything_else():
    new = {"operators": "[U0OPS, U0A]", "url": '"https://agent.example.com"', "kind": "langgraph"}

    lines = changes("", "reviewers:\n" + ALICE, new_parts=new)

    assert lines == [
        f"URL acme: the agent URL changes from http://127.0.0.1:2026 to https://agent.example.com{SUPERSEDES}",
        f"TARGET acme: the kind of agent server changes from aegra to langgraph{SUPERSEDES}",
        "GAINS user U0A becomes an operator: may repair, settle, reopen and pause",
        "GAINS acme: user U0A gains approve, reject on *",
    ]


def test_every_way_to_reach_the_server_is_shown():
    old = {"users": "[a]", "assistant": "x", "resume": "runs"}
    new = {"users": "[a, b]", "assistant": "y", "resume": "commands", "api_key_env": "PLACET_AGENT_KEY_A"}
    new["thread_url"] = '"https://x.example/{thread_id}"'

    assert changes("", "", old, new) == [
        f"TARGET acme: the list of identities changes from a to a, b{SUPERSEDES}",
        "TARGET acme: the assistant changes from x to y",
        "TARGET acme: the route of resumes changes from runs to commands",
        "TARGET acme: the agent key's variable changes from none to PLACET_AGENT_KEY_A",
        "TARGET acme: where cards link to changes from nowhere to https://x.example/{thread_id}",
    ]


def test_what_cards_show_of_a_runs_context_is_a_change_and_more_of_it_a_looser_one():
    some, more = {"show_context": "[org]"}, {"show_context": "[org, region]"}

    assert changes("", "", some, more) == [
        "LOOSENS acme: what cards show of a run's context changes from org to org, region"
    ]
    assert changes("", "", some) == ["SETTING acme: what cards show of a run's context changes from org to nothing"]


def test_another_channel_is_shown():
    assert changes("", "", new_parts={"slack": "{team: T0ACME, channel: C0NEW, enterprise: E0X}"}) == [
        "PLACE acme: the Slack place changes from T0ACME C0APPROVALS to T0ACME C0NEW E0X"
    ]


@pytest.mark.parametrize(
    ("before", "after", "line"),
    [
        ("", "may: [approve, edit]", "GAINS acme: user U0A gains approve, edit on x"),
        ("may: [approve]", "", "LOSES acme: user U0A loses approve on x"),
        (
            "",
            "may: [approve], when: {n: {lt: 5}}",
            "GAINS acme: user U0A gains approve on x: allowed when n < 5 (before: not allowed)",
        ),
        (
            "may: [approve], when: {n: {lt: 5}}",
            "may: [approve]",
            "GAINS acme: user U0A gains approve on x: allowed (before: allowed when n < 5)",
        ),
        (
            "may: [approve]",
            "may: [approve], when: {n: {lt: 5}}",
            "LOSES acme: user U0A loses approve on x: allowed when n < 5 (before: allowed)",
        ),
        (
            "may: [approve], when: {n: {lt: 5}}",
            "may: [approve], when: {n: {lt: 9}}",
            "CHANGES acme: user U0A changes approve on x: allowed when n < 9 (before: allowed when n < 5)",
        ),
        ("", "deny: [approve]", "LOSES acme: user U0A is denied approve on x (before: not allowed)"),
        ("may: [approve]", "deny: [approve]", "LOSES acme: user U0A is denied approve on x (before: allowed)"),
        (
            "deny: [approve]",
            "",
            "GAINS acme: user U0A is no longer denied approve on x, so that other rules may allow it",
        ),
        (
            "deny: [approve]",
            "may: [approve]",
            "GAINS acme: user U0A gains approve on x: allowed (before: denied)",
        ),
        (
            "",
            "deny: [approve], when: {n: 1}",
            "LOSES acme: user U0A loses approve on x: not allowed, but denied when n = 1 (before: not allowed)",
        ),
    ],
)
def test_who_gains_and_who_loses_is_said(before, after, line):
    old, new = ("reviewers:\n" + rule("user: U0A", "[x]", rights) if rights else "" for rights in (before, after))

    assert changes(old, new) == [line]


def test_rules_that_were_only_split_and_moved_are_no_change():
    old = "reviewers:\n" + ALICE
    new = "reviewers:\n" + rule("user: U0A", "['*']", "may: [reject]") + rule("user: U0A", "['*', x]", "may: [approve]")

    assert changes(old, new) == []


def test_a_wider_patterns_change_is_not_repeated_for_narrower_ones():
    old = "reviewers:\n" + rule("group: S0A", "['send_*']", "may: [edit]")
    new = old + ALICE

    assert changes(old, new) == ["GAINS acme: user U0A gains approve, reject on *"]


def test_exceptions_within_a_pattern_are_said():
    old = "reviewers:\n" + rule("user: U0A", "[x]", "may: [approve]")
    new = "reviewers:\n" + ALICE + rule("user: U0A", "[drop_db]", "deny: [approve]")

    assert changes(old, new) == [
        "GAINS acme: user U0A gains approve, reject on *; but approve on drop_db is denied",
        "LOSES acme: user U0A is denied approve on drop_db (before: not allowed)",
    ]


def test_several_conditions_of_one_right_are_joined():
    old = ""
    new = (
        "reviewers:\n"
        + rule("user: U0A", "[x]", "may: [approve], when: {b: 1, a: 2}")
        + rule("user: U0A", "[x]", "may: [approve], when: {a: 1}")
    )

    assert changes(old, new) == [
        "GAINS acme: user U0A gains approve on x: allowed when a = 1 or a = 2 and b = 1 (before: not allowed)"
    ]


def test_visitors_that_come_and_go_are_shown():
    old = "guests: [U0GUS]\noutsiders: [{team: T0X, user: U0X}]\n"
    new = "guests: [U0GIL]\noutsiders: [{team: T0Y, user: U0X}]\n"

    assert changes(old, new) == [
        "GAINS acme: the guest U0GIL is admitted",
        "GAINS acme: the outsider U0X of T0Y is admitted",
        "LOSES acme: the guest U0GUS is not admitted any more",
        "LOSES acme: the outsider U0X of T0X is not admitted any more",
    ]


def test_operators_that_leave_are_shown():
    assert changes("", "", new_parts={"operators": "[]"}) == ["LOSES user U0OPS is no operator any more"]


def test_tenants_that_come_and_go_are_shown():
    mine = make_tenant_text()
    yours = make_tenant_text("reviewers:\n" + ALICE, name="two", users="[b]", slack="{team: T0B, channel: C0B}")
    one, two = parse(make_two(mine, "")), parse(make_two(mine, yours))

    assert [str(change) for change in plan(one, two)] == [
        "two: the tenant is new: decisions go to http://127.0.0.1:2026, cards to C0B of T0B",
        "two: user U0A gains approve, reject on *",
    ]
    assert [str(change) for change in plan(two, one)] == [
        "two: the tenant is removed: its open reviews are superseded, nobody decides there"
    ]


def test_the_first_policy_is_all_new():
    kinds = [change.kind for change in plan(None, make_policy("reviewers:\n" + ALICE))]

    assert kinds == [ChangeKind.TENANT, ChangeKind.GAINS, ChangeKind.GAINS]


@pytest.mark.parametrize(
    ("before", "after", "line"),
    [
        ("risk: high", "risk: normal", "LOOSENS acme: x: risk changes from high to normal"),
        ("risk: normal", "risk: high", "SETTING acme: x: risk changes from normal to high"),
        ("approvals: 2", "approvals: 1", "LOOSENS acme: x: approvals changes from 2 to 1"),
        ("title: A", "approvals: 2, title: A", "SETTING acme: x: approvals changes from 1 to 2"),
        ("requester_may: []", "title: A", "LOOSENS acme: x: requester_may changes from [] to the default"),
        ("title: A", "requester_may: []", "SETTING acme: x: requester_may changes from the default to []"),
        (
            "title: A",
            "requester_may: [approve]",
            "LOOSENS acme: x: requester_may changes from the default to [approve]",
        ),
        ("redact: [a, b]", "redact: [a]", "LOOSENS acme: x: redact changes from [a, b] to [a]"),
        ("redact: [a]", "redact: [a, b]", "SETTING acme: x: redact changes from [a] to [a, b]"),
        ("result: status", "result: first_lines", "LOOSENS acme: x: result changes from status to first_lines"),
        ("resend: never", "resend: fence", "LOOSENS acme: x: resend changes from never to fence"),
        ("resend: fence", "resend: settle", "LOOSENS acme: x: resend changes from fence to settle"),
        (
            "decisions: [reject]",
            "decisions: [approve, reject]",
            "LOOSENS acme: x: decisions changes from [reject] to [approve, reject]",
        ),
        (
            "decisions: [approve]",
            "title: A",
            "LOOSENS acme: x: decisions changes from [approve] to what the server says",
        ),
        (
            "title: A",
            "decisions: [approve]",
            "SETTING acme: x: decisions changes from what the server says to [approve]",
        ),
        (
            "after_unknown: hold",
            "after_unknown: proceed",
            "LOOSENS acme: x: after_unknown changes from hold to proceed",
        ),
        ("decide_within: 2h", "decide_within: never", "SETTING acme: x: decide_within changes from 2h to never"),
    ],
)
def test_changed_settings_say_whether_they_weaken_the_gate(before, after, line):
    lines = changes(f"tools: {{x: {{{before}}}}}\n", f"tools: {{x: {{{after}}}}}\n")

    assert [each for each in lines if "title" not in each] == [line]


def test_the_tenants_own_settings_are_shown():
    assert changes("", "decide_within: 90m\nintake_token_env: PLACET_INTAKE_A\n") == [
        "SETTING acme: intake_token_env changes from none to PLACET_INTAKE_A",
        "SETTING acme: decide_within changes from 1d to 90m",
    ]


def test_a_setting_that_moved_to_another_pattern_and_still_holds_is_no_change():
    assert changes("tools: {x: {risk: high}}\n", 'tools: {x: {title: A}, "x*": {risk: high}}\n') == [
        "LOOSENS acme: x: title changes from none to A".replace("LOOSENS", "SETTING"),
        "SETTING acme: x*: risk changes from normal to high",
    ]


@pytest.mark.parametrize(
    ("milliseconds", "text"), [(5_000, "5s"), (90_000, "90s"), (86_400_000, "1d"), (7_200_000, "2h"), (60_000, "1m")]
)
def test_durations_are_written_as_a_policy_would(milliseconds, text):
    assert duration_text(milliseconds) == text
