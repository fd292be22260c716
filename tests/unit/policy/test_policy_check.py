from __future__ import annotations

import pytest

from bot.policy.lint import check
from bot.policy.source import locate, parse
from tests.kit.policy_factories import make_policy, make_tenant_text, make_two
from tests.kit.policy_table import policy_text

OPEN = "  - {group: S0ALL, tools: ['*'], may: [approve, edit, reject, respond]}\n"


def found(piece: str, members=None, **parts: str) -> list[str]:
    return [
        f"{each.level} {each.path.removeprefix('tenants.acme.')}: {each.text}"
        for each in check(make_policy(piece, **parts), members)
    ]


def test_a_sound_policy_has_no_findings():
    assert found("reviewers:\n" + OPEN + "tools: {x: {approvals: 2, requester_may: [reject]}}\n") == []


def test_the_examples_quorum_is_found_to_be_out_of_reach():
    text = policy_text("design")

    first = check(parse(text))[0]

    assert str(first) == (
        "warning: tenants.acme.tools.execute_sql: execute_sql needs 2 approvals, and at most 1 person can give one."
        " Lower approvals, or let more people approve."
    )
    assert locate(text, first.path) == (14, 7)


@pytest.mark.parametrize(
    ("rules", "finding"),
    [
        (
            "  - {user: U0A, tools: [x], may: [approve], when: {n: {lt: 1, gt: 2}}}\n",
            "warning reviewers[1].when: no arguments can meet n < 1 and n > 2",
        ),
        (
            "  - {user: U0A, tools: [x], may: [approve]}\n  - {user: U0A, tools: ['*'], deny: [approve, edit]}\n",
            "warning reviewers[1]: every decision that it allows is denied to them",
        ),
        (
            "  - {user: U0A, tools: [x, y], may: [approve]}\n  - {user: U0A, tools: [x], deny: [approve]}\n",
            "note reviewers[1]: some of what it allows is denied to them: approve on x",
        ),
        (
            "  - {user: U0A, tools: ['*'], may: [approve, edit]}\n  - {user: U0A, tools: [x], may: [edit]}\n",
            "note reviewers[2]: it adds nothing to reviewers[1]",
        ),
        (
            "  - {user: U0A, tools: [x], may: [edit]}\n  - {user: U0A, tools: ['*'], may: [approve, edit]}\n",
            "note reviewers[1]: it adds nothing to reviewers[2]",
        ),
        (
            "  - {user: U0A, tools: [x], may: [edit]}\n  - {user: U0A, tools: [x], may: [edit]}\n",
            "note reviewers[2]: it adds nothing to reviewers[1]",
        ),
        (
            "  - {user: U0A, tools: [x], deny: [reveal]}\n",
            "note reviewers[1]: it denies what no rule allows anybody",
        ),
    ],
)
def test_rules_without_effect_are_found(rules, finding):
    assert found("reviewers:\n" + OPEN + rules) == [finding]


@pytest.mark.parametrize(
    "rules",
    [
        "  - {user: U0A, tools: [x], deny: [approve]}\n",
        "  - {user: U0A, tools: [x], may: [edit], when: {n: 1}}\n  - {user: U0A, tools: [x], may: [edit], when: {n: 2}}\n",
        "  - {user: U0A, tools: [x], may: [edit]}\n  - {user: U0B, tools: [x], may: [edit]}\n",
        "  - {user: U0A, tools: [x], may: [edit]}\n  - {user: U0A, tools: ['*'], deny: [edit], when: {n: 1}}\n",
        "  - {user: U0A, tools: [x], may: [edit], deny: [approve]}\n",
    ],
)
def test_rules_with_effect_are_left_alone(rules):
    assert found("reviewers:\n" + OPEN + rules) == []


def test_an_empty_group_is_found_where_members_are_known():
    assert found("reviewers:\n" + OPEN, {"S0ALL": []}) == ["warning reviewers[0]: group S0ALL has no members"]
    assert found("reviewers:\n" + OPEN, {"S0ALL": ["U0A", "U0B"], "S0X": []}) == []


def test_a_tenant_without_reviewers_is_found():
    assert found("") == ["warning reviewers: nobody may decide anything"]


@pytest.mark.parametrize(
    ("tools", "finding"),
    [
        ("x: {title: X}", "warning tools.x: nobody may decide x: its calls wait until they expire"),
        ('"x_*": {title: X}', "warning tools.x_*: nobody may decide x_*: its calls wait until they expire"),
        ("y: {decisions: [respond]}", "warning tools.y: nobody may decide y: its calls wait until they expire"),
        ("stop: {title: S}", "warning tools.stop: stop: nobody may do anything but reject it"),
        (
            "y: {requester_may: [respond]}",
            "warning tools.y: y: requester_may names respond, which no reviewer can decide here",
        ),
        (
            "ask: {requester_may: [respond]}",
            "warning tools.ask: ask: where the requester is unknown only reject is open, and nobody may reject it",
        ),
        ("y: {decide_within: 60s}", "warning tools.y: y: in the last 60 s Approve is not offered, so it never is"),
        (
            "y: {decisions: [approve]}",
            "warning tools.y: y: on_expiry is reject, and its calls cannot be rejected: they will be held",
        ),
        ("y: {approvals: 3}", "warning tools.y: y needs 3 approvals, and at most 2 people can give one"),
        (
            "y: {approvals: 2}",
            "note tools.y: y needs all of its 2 approvers, so none of them gets a call of their own approved",
        ),
    ],
)
def test_tools_whose_settings_cannot_work_are_found(tools, finding):
    rules = (
        "reviewers:\n"
        '  - {user: U0A, tools: ["y*"], may: [approve, edit, reject]}\n'
        '  - {user: U0B, tools: ["y*"], may: [approve]}\n'
        '  - {user: U0A, tools: ["stop*"], may: [reject]}\n'
        '  - {user: U0A, tools: ["ask*"], may: [respond]}\n'
    )

    assert found(f"{rules}tools: {{{tools}}}\n") == [finding]


@pytest.mark.parametrize(
    "tools",
    [
        '"y*": {approvals: 2, requester_may: [approve]}',
        "y: {decide_within: 61s}",
        "y: {decide_within: never, decisions: [reject]}",
        "stop: {decisions: [reject], decide_within: 1s}",
        "y: {decisions: [approve], on_expiry: hold}",
        "y: {decisions: [reject], approvals: 9}",
    ],
)
def test_tools_whose_settings_work_are_left_alone(tools):
    rules = (
        "reviewers:\n"
        "  - {user: U0A, tools: ['y*'], may: [approve, edit, reject]}\n"
        "  - {user: U0B, tools: ['y*'], may: [approve, reject]}\n"
        "  - {user: U0A, tools: ['stop*'], may: [reject]}\n"
    )

    assert found(f"{rules}tools: {{{tools}}}\n") == []


def test_a_single_approver_cannot_approve_their_own():
    assert found("reviewers: [{user: U0A, tools: [y], may: [approve, reject]}]\n") == [
        "note reviewers: y has a single approver, who cannot approve a call of their own"
    ]


def test_an_edits_author_counts_towards_the_quorum():
    rules = "  - {user: U0A, tools: [y], may: [approve, reject]}\n  - {user: U0B, tools: [y], may: [edit, reject]}\n"

    assert not [each for each in found(f"reviewers:\n{rules}tools: {{y: {{approvals: 2}}}}\n") if "warning" in each]


def test_a_quorum_is_counted_in_people_where_members_are_known():
    rules = "reviewers:\n" + OPEN + "  - {user: U0A, tools: [y], may: [approve]}\ntools: {y: {approvals: 3}}\n"

    assert found(rules) == []
    assert found(rules, {"S0ALL": ["U0A", "U0B"]})[-1] == (
        "warning tools.y: y needs 3 approvals, and at most 2 people can give one"
    )


def test_an_editing_group_of_unknown_size_may_give_the_first_approval():
    rules = (
        "reviewers:\n  - {group: S0E, tools: [y], may: [edit, reject]}\n  - {user: U0A, tools: [y], may: [approve]}\n"
        "tools: {y: {approvals: 2, requester_may: [approve]}}\n"
    )

    assert found(rules) == []


def test_a_tool_that_everybody_may_only_answer_has_no_quorum():
    assert found("reviewers: [{user: U0A, tools: [y], may: [respond]}]\n") == []


def test_identities_that_no_thread_can_arrive_for_are_found():
    reviewers = "reviewers:\n" + OPEN

    assert found(reviewers, users='["app-*"]') == [
        "warning agent.users: threads of app-* never arrive: patterns only admit hints, and no token admits any"
    ]
    assert found(reviewers + "intake_token_env: PLACET_INTAKE_A\n", users='["app-*"]') == [
        "note agent.users: no identity is polled, so a lost hint is never made up for"
    ]


def test_a_settle_time_that_was_never_tested_is_found():
    (finding,) = found("settle_for: 1s\nreviewers:\n" + OPEN)

    assert finding.startswith("warning settle_for: ")


@pytest.mark.parametrize("fenced", ["resend: fence\n", "tools: {x: {resend: fence}}\n"])
def test_a_fence_where_none_can_stand_is_found(fenced):
    piece = fenced + "reviewers:\n" + OPEN

    assert found(piece, kind="langgraph", resume="commands") == [
        "note agent.resume: a fence cannot stand on this route, so what may have been sent is never sent again"
    ]
    assert found(piece, kind="langgraph") == []
    assert found(piece, resume="commands") == []


def test_an_audit_that_is_shorter_than_the_arguments_is_found():
    reviewers = "reviewers:\n" + OPEN

    assert len(found("retain: {arguments: 90d, audit: 30d}\n" + reviewers)) == 1
    assert found("retain: {arguments: 90d, audit: 7y}\n" + reviewers) == []
    assert found("retain: {arguments: 90d}\n" + reviewers) == []


def test_admitted_visitors_whom_no_rule_names_are_found():
    piece = (
        "guests: [U0GUS, U0GIL]\noutsiders: [{team: T0X, user: U0EXT}]\n"
        "reviewers:\n  - {user: U0GUS, tools: ['*'], may: [approve]}\n  - {user: U0B, tools: ['*'], may: [approve, reject]}\n"
    )

    assert found(piece) == [
        "note guests: U0GIL is admitted, but no rule names them",
        "note outsiders: U0EXT is admitted, but no rule names them",
    ]
    assert found(piece + OPEN) == []


def test_a_file_without_tenants_or_operators_is_found():
    assert [finding.path for finding in check(parse("version: 1\ntenants: {}\n"))] == ["tenants", "operators"]


def test_secrets_that_tenants_share_are_found():
    shared = "intake_token_env: PLACET_INTAKE_A\nreviewers:\n" + OPEN
    one = make_tenant_text(shared, name="one", api_key_env="PLACET_AGENT_KEY_A")
    other = make_tenant_text(
        shared,
        name="two",
        api_key_env="PLACET_AGENT_KEY_A",
        url='"https://agent.example.com"',
        slack="{team: T0B, channel: C0B}",
    )

    findings = check(parse(make_two(one, other)))

    assert [finding.path for finding in findings] == [
        "tenants.two.intake_token_env",
        "tenants.two.agent.api_key_env",
    ]


def test_one_agent_key_for_one_server_is_no_finding():
    one = make_tenant_text("reviewers:\n" + OPEN, name="one", api_key_env="PLACET_AGENT_KEY_A", users="[a]")
    other = make_tenant_text(
        "reviewers:\n" + OPEN,
        name="two",
        api_key_env="PLACET_AGENT_KEY_A",
        users="[b]",
        slack="{team: T0B, channel: C0B}",
    )

    assert check(parse(make_two(one, other))) == []


def test_a_name_of_a_secret_is_a_bad_choice_for_cards():
    sound = "reviewers:\n" + OPEN

    assert found(sound, show_context="[org, region]") == []
    assert found(sound, show_context="[org, api_token]") == [
        "warning agent.show_context: api_token reads like the name of a secret, so cards may say only that it is hidden"
    ]
