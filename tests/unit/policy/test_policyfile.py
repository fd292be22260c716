from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.policy.conditions import Condition
from bot.policy.model import AgentTarget
from bot.policy.nodes import PolicyError
from bot.policy.source import locate, parse
from tests.kit.policy_factories import (
    faults_in,
    make_policy,
    make_tenant,
    make_tenant_text,
    make_text,
    make_two,
    problems_of,
)
from tests.kit.policy_table import policy_text

FULL = """\
intake_token_env: PLACET_INTAKE_ACME
watch: {every: 10s}
resend: fence
settle_for: 32s
decide_within: 2d
on_expiry: hold
requester: metadata.asked_by.slack
guests: [U0GUS]
outsiders: [{team: T0PARTNER, user: W0EXT}]
retain: {arguments: 90d, audit: 7y}
reviewers:
  - {group: S0SUPPORT, tools: [refund, "send_*"], may: [approve, reveal], when: {amount: {ge: 1, lt: 5e2}, to.vip: false, env: prod}}
tools:
  refund: {title: "Pay back", risk: high, approvals: 3, requester_may: [], decide_within: never, on_expiry: reject,
           redact: [card.number, iban], result: first_lines, mention: S0SUPPORT, channel: G0REFUNDS,
           schema: {type: object, properties: {amount: {type: number, minimum: 0.01, default: null}}, required: [amount], x: [1, true]},
           after_unknown: hold, resend: never, decisions: [approve, reject]}
  "send_*": {mention: [U0LEAD, S0SUPPORT]}
"""


def test_a_short_tenant_gets_every_default():
    tenant = make_tenant()

    assert tenant.agent == AgentTarget("http://127.0.0.1:2026", "aegra", "agent_platform", ("approvals",))
    assert (tenant.agent.resume, tenant.agent.api_key_env, tenant.intake_token_env) == ("runs", None, None)
    assert (tenant.watch_every_ms, tenant.settle_for_ms, tenant.decide_within_ms) == (5_000, 5_000, 86_400_000)
    assert (tenant.resend, tenant.on_expiry, tenant.requester_path) == ("settle", "reject", "metadata.slack_user")
    assert (tenant.reviewers, dict(tenant.tools), tenant.guests, tenant.outsiders) == ((), {}, (), ())
    assert (tenant.retain_arguments_ms, tenant.retain_audit_ms, tenant.slack_enterprise) == (None, None, None)


def test_every_key_of_a_tenant_is_read():
    tenant = make_tenant(FULL, resume="commands", api_key_env="PLACET_AGENT_KEY_A", users='[a, "b-*"]')

    assert tenant.agent == AgentTarget(
        "http://127.0.0.1:2026", "aegra", "agent_platform", ("a", "b-*"), "commands", "PLACET_AGENT_KEY_A"
    )
    assert tenant.agent.polled == ("a",)
    assert (tenant.intake_token_env, tenant.watch_every_ms, tenant.settle_for_ms) == (
        "PLACET_INTAKE_ACME",
        10_000,
        32_000,
    )
    assert (tenant.resend, tenant.on_expiry, tenant.decide_within_ms) == ("fence", "hold", 2 * 86_400_000)
    assert (tenant.requester_path, tenant.guests) == ("metadata.asked_by.slack", ("U0GUS",))
    assert tenant.outsiders == (("T0PARTNER", "W0EXT"),)
    assert (tenant.retain_arguments_ms, tenant.retain_audit_ms) == (90 * 86_400_000, 7 * 365 * 86_400_000)


def test_every_key_of_a_tool_is_read():
    settings = make_tenant(FULL).tools["refund"]

    assert (settings.title, settings.risk, settings.approvals, settings.requester_may) == ("Pay back", "high", 3, ())
    assert (settings.decide_within_ms, settings.on_expiry) == (0, "reject")
    assert (settings.redact, settings.result) == (("card.number", "iban"), "first_lines")
    assert (settings.mention, settings.channel) == (("S0SUPPORT",), "G0REFUNDS")
    assert (settings.after_unknown, settings.resend, settings.decisions) == ("hold", "never", ("approve", "reject"))


def test_a_schema_is_kept_as_json_text():
    assert make_tenant(FULL).tools["refund"].schema == (
        '{"type":"object","properties":{"amount":{"type":"number","minimum":0.01,"default":null}},'
        '"required":["amount"],"x":[1,true]}'
    )


def test_conditions_keep_numbers_texts_and_yes_no_apart():
    (rule,) = make_tenant(FULL).reviewers

    assert (rule.index, rule.group, rule.user, rule.may, rule.deny) == (0, "S0SUPPORT", None, ("approve", "reveal"), ())
    assert rule.when == (
        Condition(("amount",), "ge", Decimal(1)),
        Condition(("amount",), "lt", Decimal("5e2")),
        Condition(("to", "vip"), "eq", value=False),
        Condition(("env",), "eq", "prod"),
    )


def test_operators_and_tenants_are_read():
    policy = make_policy(operators="[U0OPS, W0OPS]")

    assert (policy.version, policy.operators, list(policy.tenants)) == (1, ("U0OPS", "W0OPS"), ["acme"])


def test_a_tenant_may_have_no_end_for_decisions():
    assert make_tenant("decide_within: never\n").decide_within_ms is None


def test_equal_texts_give_equal_and_hashable_policies():
    one, other = make_policy(FULL), make_policy(FULL)

    assert one == other
    assert hash(one) == hash(other)
    assert "acme" in repr(one.tenants)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("https://Agent.Example.com/", "https://agent.example.com"),
        ("https://agent.example.com:443/base/", "https://agent.example.com/base"),
        ("https://agent.example.com.:8443", "https://agent.example.com:8443"),
        ("http://localhost:80", "http://localhost"),
        ("http://[::1]:2026/", "http://[::1]:2026"),
        ("http://127.9.9.9:1", "http://127.9.9.9:1"),
    ],
)
def test_urls_are_normalised(written, read):
    assert make_tenant(url=f'"{written}"').agent.url == read


@pytest.mark.parametrize(
    "url",
    [
        "http://agent.example.com",
        "http://127.0.0.1.example.com",
        "http://10.0.0.1:2026",
        "http://0.0.0.0:2026",
        "ftp://127.0.0.1",
        "file:///etc/passwd",
        "127.0.0.1:2026",
        "https://",
        "https:///path",
        "https://user@host.example",
        "https://user:pw@host.example",
        "https://host.example?x=1",
        "https://host.example?",
        "https://host.example/#f",
        "https://host.example:99999",
        "https://host.example:0",
        "https://host.example/a/../b",
        "https://host.example/a b",
        "https://host.example\\\\evil",
        "https://host_.example/%2e%2e",
        "https://ho%73t.example",
        "https://[::1",
        "https://169.254.169.254",
        "https://[fe80::1]",
        "https://[::ffff:169.254.1.1]",
        "https://höst.example",
    ],
)
def test_addresses_that_are_not_plain_https_or_loopback_are_refused(url):
    (fault,) = faults_in("", url=f'"{url}"')

    assert fault.startswith("agent.url: ")


@pytest.mark.parametrize(
    ("piece", "fault"),
    [
        ("titel: x\n", "titel: 'titel' is not known here"),
        ("watch: {each: 5s}\n", "watch.each: 'each' is not known here"),
        ("watch: {every: 5}\n", "watch.every: '5' is not a duration"),
        ("watch: {every: 0s}\n", "watch.every: '0s' is not a duration"),
        ("watch: {every: 1h30m}\n", "watch.every: '1h30m' is not a duration"),
        ("watch: {every: [5s]}\n", "watch.every: this is not a duration"),
        ("watch: 5s\n", "watch: this is a text, and named values are needed"),
        ("resend: always\n", "resend: 'always' is not known here"),
        ("resend: no\n", "resend: this is a yes/no, and a text is needed"),
        ("requester: slack_user\n", "requester: 'slack_user' is not a path into the thread's metadata"),
        (
            "intake_token_env: SLACK_BOT_TOKEN\n",
            "intake_token_env: 'SLACK_BOT_TOKEN' is not a name that a policy may refer to",
        ),
        ("guests: [gus]\n", "guests[0]: 'gus' is not a Slack user id"),
        ("guests: U0GUS\n", "guests: this is a text, and a list is needed"),
        ("guests: [U0GUS, U0GUS]\n", "guests[1]: this stands in the list already"),
        ("outsiders: [{team: T0X}]\n", "outsiders[0]: 'user' is missing"),
        ("outsiders: [{team: T0X, user: U0X}, {team: T0Y, user: U0X}]\n", "outsiders[1]: U0X is listed twice"),
        ("reviewers:\n", "reviewers: this is empty, and a list is needed"),
        ("reviewers: [{tools: [x], may: [approve]}]\n", "reviewers[0]: a rule is about one group or one user"),
        (
            "reviewers: [{user: U0A, group: S0A, tools: [x], may: [approve]}]\n",
            "reviewers[0]: a rule is about one group or one user",
        ),
        ("reviewers: [{user: S0A, tools: [x], may: [approve]}]\n", "reviewers[0].user: 'S0A' is not a Slack user id"),
        (
            "reviewers: [{group: U0A, tools: [x], may: [approve]}]\n",
            "reviewers[0].group: 'U0A' is not a Slack user group id",
        ),
        ("reviewers: [{user: U0A, may: [approve]}]\n", "reviewers[0]: 'tools' is missing"),
        ("reviewers: [{user: U0A, tools: [], may: [approve]}]\n", "reviewers[0].tools: the list is empty"),
        (
            "reviewers: [{user: U0A, tools: [5], may: [approve]}]\n",
            "reviewers[0].tools[0]: this is a number, and a text is needed",
        ),
        ("reviewers: [{user: U0A, tools: [x]}]\n", "reviewers[0]: the rule neither allows nor denies anything"),
        ("reviewers: [{user: U0A, tools: [x], may: []}]\n", "reviewers[0].may: the list is empty"),
        ("reviewers: [{user: U0A, tools: [x], may: [aprove]}]\n", "reviewers[0].may[0]: 'aprove' is not known here"),
        (
            "reviewers: [{user: U0A, tools: [x], deny: all}]\n",
            "reviewers[0].deny: this is a text, and a list is needed",
        ),
        ("reviewers: [{user: U0A, tools: [x], may: [edit], when: {}}]\n", "reviewers[0].when: the condition is empty"),
        (
            "reviewers: [{user: U0A, tools: [x], may: [edit], when: 5}]\n",
            "reviewers[0].when: this is a number, and named values are needed",
        ),
        (
            "reviewers: [{user: U0A, tools: [x], may: [edit], when: {a: {}}}]\n",
            "reviewers[0].when.a: there is nothing to compare with",
        ),
        (
            "reviewers: [{user: U0A, tools: [x], may: [edit], when: {a: {below: 5}}}]\n",
            "reviewers[0].when.a.below: 'below' is not known here",
        ),
        (
            "reviewers: [{user: U0A, tools: [x], may: [edit], when: {a: {lt: '5'}}}]\n",
            "reviewers[0].when.a.lt: lt compares numbers only",
        ),
        (
            "reviewers: [{user: U0A, tools: [x], may: [edit], when: {a: null}}]\n",
            "reviewers[0].when.a: this cannot be compared with",
        ),
        (
            "reviewers: [{user: U0A, tools: [x], may: [edit], when: {a: [1]}}]\n",
            "reviewers[0].when.a: this cannot be compared with",
        ),
        (
            "reviewers: [{user: U0A, tools: [x], may: [edit], when: {a: 0x1F}}]\n",
            "reviewers[0].when.a: this cannot be compared with",
        ),
        (
            "reviewers: [{user: U0A, tools: [x], may: [edit], when: {a: .inf}}]\n",
            "reviewers[0].when.a: this cannot be compared with",
        ),
        (
            "reviewers: [{user: U0A, tools: [x], may: [edit], when: {a: 2026-01-01}}]\n",
            "reviewers[0].when.a: this cannot be compared with",
        ),
        (
            "reviewers: [{user: U0A, tools: [x], may: [edit], when: {a..b: 1}}]\n",
            "reviewers[0].when.a..b: 'a..b' is not a dotted path",
        ),
        ("tools: {x: {riks: high}}\n", "tools.x.riks: 'riks' is not known here"),
        ("tools: {x: high}\n", "tools.x: this is a text, and named values are needed"),
        ("tools: {on: {risk: high}}\n", "tools.on: this key is a yes/no, and a text is needed"),
        ('tools: {"": {risk: high}}\n', "tools.: '' is not a tool's name or pattern"),
        ("tools: {x: {approvals: 0}}\n", "tools.x.approvals: '0' is not a whole number from 1 to 20"),
        ("tools: {x: {approvals: 21}}\n", "tools.x.approvals: '21' is not a whole number from 1 to 20"),
        ('tools: {x: {approvals: "2"}}\n', "tools.x.approvals: '2' is not a whole number from 1 to 20"),
        ("tools: {x: {title: ' x'}}\n", "tools.x.title: ' x' is not a title"),
        ("tools: {x: {requester_may: [reveal]}}\n", "tools.x.requester_may[0]: 'reveal' is not known here"),
        ("tools: {x: {decisions: []}}\n", "tools.x.decisions: the list is empty"),
        ("tools: {x: {mention: here}}\n", "tools.x.mention: 'here' is not a user or user group id"),
        ("tools: {x: {channel: x}}\n", "tools.x.channel: 'x' is not a Slack channel id"),
        ("tools: {x: {schema: [x]}}\n", "tools.x.schema: a schema is a JSON Schema object"),
        ("tools: {x: {schema: {a: 0x10}}}\n", "tools.x.schema.a: '0x10' is not a JSON number"),
        ("tools: {x: {risk: high}, x: {risk: normal}}\n", "tools.x: this key stands here a second time"),
        ("tools: {x: {<<: {risk: high}}}\n", "tools.x.<<: this key is a merge key, and a text is needed"),
        ("tools: {x: {[a]: 1}}\n", "tools.x.?: this key is a list, and a text is needed"),
        ("retain: {audit: forever}\n", "retain.audit: 'forever' is not a duration"),
    ],
)
def test_each_fault_is_named_at_its_path(piece, fault):
    assert faults_in(piece) == [fault]


NAMED = "a name of a run's context that can be shown"
PAGE = "the address of a thread's page"


@pytest.mark.parametrize(
    ("parts", "fault"),
    [
        ({"slack": "{team: acme, channel: C0X}"}, "slack.team: 'acme' is not a Slack workspace id"),
        ({"slack": '{team: T0X, channel: "#x"}'}, "slack.channel: '#x' is not a Slack channel id"),
        ({"slack": "{team: T0X}"}, "slack: 'channel' is missing"),
        (
            {"slack": "{team: T0X, channel: C0X, enterprise: T0X}"},
            "slack.enterprise: 'T0X' is not a Slack enterprise id",
        ),
        ({"kind": "platform"}, "agent.kind: 'platform' is not known here"),
        ({"resume": "wait"}, "agent.resume: 'wait' is not known here"),
        ({"users": "[]"}, "agent.users: the list is empty"),
        ({"users": "[a b]"}, "agent.users[0]: 'a b' is not an identity"),
        ({"assistant": "5"}, "agent.assistant: this is a number, and a text is needed"),
        ({"api_key_env": "HOME"}, "agent.api_key_env: 'HOME' is not a name that a policy may refer to"),
        (
            {"thread_url": '"http://x.example/{thread_id}"'},
            f"agent.thread_url: 'http://x.example/{{thread_id}}' is not {PAGE}",
        ),
        ({"thread_url": '"https://x.example/threads"'}, f"agent.thread_url: 'https://x.example/threads' is not {PAGE}"),
        ({"thread_url": '"https://{thread_id}/x"'}, f"agent.thread_url: 'https://{{thread_id}}/x' is not {PAGE}"),
        (
            {"thread_url": '"https://a@x.example/{thread_id}"'},
            f"agent.thread_url: 'https://a@x.example/{{thread_id}}' is not {PAGE}",
        ),
        ({"show_context": "[__x]"}, f"agent.show_context[0]: '__x' is not {NAMED}"),
        ({"show_context": "[langgraph_auth_user]"}, f"agent.show_context[0]: 'langgraph_auth_user' is not {NAMED}"),
        ({"show_context": "[a, b, c, d, e, f]"}, "agent.show_context: 6 names are too many for a card"),
        ({"show_context": "['a b']"}, f"agent.show_context[0]: 'a b' is not {NAMED}"),
        ({"url": "[x]"}, "agent.url: this is a list, and a text is needed"),
        ({"name": '"a/b"'}, "tenants.a/b: 'a/b' is not a tenant's name"),
        ({"operators": "[ops]"}, "operators[0]: 'ops' is not a Slack user id"),
    ],
)
def test_each_fault_of_the_frame_is_named_at_its_path(parts, fault):
    assert faults_in("", **parts) == [fault]


def test_all_problems_are_reported_at_once_in_the_order_of_the_file():
    problems = problems_of(make_text("resend: always\nguests: [gus]\n", kind="x", operators="[ops]"))

    assert [problem.path for problem in problems] == [
        "operators[0]",
        "tenants.acme.agent.kind",
        "tenants.acme.resend",
        "tenants.acme.guests[0]",
    ]


def test_a_problem_says_where_what_and_how_to_mend_it():
    text = make_text("resend: always\n")

    with pytest.raises(PolicyError) as caught:
        parse(text)

    assert str(caught.value) == (
        "line 7, column 13: tenants.acme.resend: 'always' is not known here. Choose one of: settle, fence, never."
    )


def test_a_misspelt_key_is_met_with_a_guess():
    (problem,) = problems_of(make_text("reviewrs: []\n"))

    assert (problem.line, problem.column, problem.mend) == (7, 5, "Did you mean 'reviewers'?")
    assert str(problem).endswith("Did you mean 'reviewers'?")


@pytest.mark.parametrize(
    ("text", "line", "fault"),
    [
        ("", 1, "the file is empty"),
        ("version: 2\ntenants: {}\n", 1, "'2' is not 1"),
        ("tenants: {}\n", 1, "'version' is missing"),
        ("version: 1\n", 1, "'tenants' is missing"),
        ("version: 1\ntenants: []\n", 2, "this is a list, and named values are needed"),
        ("version: 1\ntenants: {a: {}}\n", 2, "'slack' is missing"),
        ("- 1\n", 1, "this is a list, and named values are needed"),
        ("version: 1\n---\nversion: 1\n", 2, "this is not YAML: but found another document"),
        ("version: [1\n", 2, "this is not YAML: expected ',' or ']', but got '<stream end>'"),
        ("version: 1\ntenants:\n\tx: 1\n", 3, "this is not YAML: found character '\\t' that cannot start any token"),
        ("version: 1\n\x07\n", 2, "a character here may not stand in YAML"),
        ("a: &x {}\nb: *x\n", 1, "anchors and aliases (& and *) are not used in a policy"),
        ("a: *x\n", 1, "anchors and aliases (& and *) are not used in a policy"),
        ("a: !!python/name:os.system x\n", 1, "tags (!) are not used in a policy"),
        ("a: " + "[" * 60 + "]" * 60, 1, "this is nested too deeply"),
        ("#" * 1_000_001, 1, "the file is longer than a policy can be"),
    ],
)
def test_a_text_that_is_no_policy_is_refused_with_its_line(text, line, fault):
    problem = problems_of(text)[0]

    assert (problem.line, problem.fault) == (line, fault)


def test_a_bare_star_is_explained():
    (problem,) = problems_of(make_text("reviewers: [{user: U0A, tools: [*], may: [edit]}]\n"))

    assert 'needs quotes: "*"' in problem.mend


def test_long_values_are_cut_in_messages():
    (fault,) = faults_in(f"resend: {'x' * 500}\n")

    assert len(fault) < 120


def two(one: dict[str, str], other: dict[str, str], piece: str = "") -> list[str]:
    first = make_tenant_text(name="one", **one)
    return [
        f"{each.path}: {each.fault}"
        for each in problems_of(make_two(first, make_tenant_text(piece, name="two", **other)))
    ]


PATIENT = settings(deadline=None)
ELSEWHERE = {"slack": "{team: T0ACME, channel: C0OTHER}"}


@pytest.mark.parametrize(
    ("mine", "theirs"), [("[a]", "[a]"), ('["app-*"]', "[app-7]"), ('["a*"]', '["*z"]'), ("[x, a]", '["*"]')]
)
def test_tenants_whose_identities_overlap_on_one_server_are_refused(mine, theirs):
    (fault,) = two({"users": mine}, {"users": theirs, **ELSEWHERE})

    assert fault.startswith("tenants.two.agent.users[0]: ")
    assert fault.endswith("of tenant one on the same agent server")


def test_spellings_of_this_machine_are_one_server():
    assert two({"url": '"http://localhost:2026/"'}, {"url": '"http://[::1]:2026"', **ELSEWHERE})


def test_tenants_may_use_one_server_with_identities_of_their_own():
    assert two({"users": '["a-*"]'}, {"users": '["b-*", c]', **ELSEWHERE}) == []


def test_tenants_may_use_one_identity_on_different_servers():
    assert two({}, {"url": '"http://127.0.0.1:2027"', **ELSEWHERE}) == []


def test_two_tenants_in_one_channel_are_refused():
    assert two({"users": "[a]"}, {"users": "[b]"}) == [
        "tenants.two.slack.channel: tenant one uses C0APPROVALS of T0ACME already"
    ]


def test_a_tools_channel_may_not_be_another_tenants():
    faults = two({"users": "[a]"}, {"users": "[b]", **ELSEWHERE}, "tools: {x: {channel: C0APPROVALS}}\n")

    assert faults == ["tenants.two.tools.x.channel: tenant one uses C0APPROVALS of T0ACME already"]


def test_a_tool_may_have_a_channel_of_its_own():
    assert two({"users": "[a]"}, {"users": "[b]", **ELSEWHERE}, "tools: {x: {channel: C0MINE}, y: {title: Y}}\n") == []


def test_one_channel_id_in_two_workspaces_is_two_channels():
    assert two({"users": "[a]"}, {"users": "[b]", "slack": "{team: T0OTHER, channel: C0APPROVALS}"}) == []


def test_workspaces_of_one_enterprise_share_their_channels():
    one = {"users": "[a]", "slack": "{team: T0ACME, channel: C0X, enterprise: E0X}"}

    assert two(one, {"users": "[b]", "slack": "{team: T0OTHER, channel: C0X, enterprise: E0X}"})


def test_equally_specific_patterns_that_meet_and_differ_are_refused():
    faults = faults_in('tools: {"ab*": {risk: high}, "*bc": {risk: normal, title: X}}\n')

    assert faults == ["tools.*bc: '*bc' and 'ab*' are equally specific, meet in some name, and differ in risk"]


@pytest.mark.parametrize(
    "piece",
    [
        'tools: {"ab*": {risk: high}, "*bc": {risk: high}}\n',
        'tools: {"ab*": {risk: high}, "*bc": {title: X}}\n',
        'tools: {"ab*": {risk: high}, "*b": {risk: normal}}\n',
        'tools: {"ab*": {risk: high}, "bc*": {risk: normal}}\n',
        "tools: {ab: {risk: high}, bc: {risk: normal}}\n",
    ],
)
def test_patterns_that_do_not_contradict_each_other_stand_side_by_side(piece):
    assert faults_in(piece) == []


@pytest.mark.parametrize(
    ("path", "spot"),
    [
        ("tenants.acme.reviewers[2]", (13, 9)),
        ("tenants.acme.reviewers[2].when", (13, 9)),
        ("tenants.acme.tools.execute_sql", (15, 7)),
        ("tenants.acme.nothing", (4, 3)),
        ("", (1, 1)),
    ],
)
def test_a_path_is_found_in_the_text_or_its_nearest_parent_is(path, spot):
    text = policy_text("design").replace("reviewers:", "reviewers:\n      # comment")

    assert locate(text, path) == spot


def test_a_path_with_dots_in_a_tools_name_is_found():
    text = make_text("tools:\n  db: {risk: high}\n  db.read: {risk: normal}\n")

    assert locate(text, "tenants.acme.tools.db.read.risk") == (9, 17)


@PATIENT
@given(st.text(max_size=200))
def test_any_text_is_a_policy_or_a_list_of_problems(text):
    assert problems_of(text) or parse(text)


@PATIENT
@given(st.data())
def test_a_damaged_policy_is_a_policy_or_a_list_of_problems(data):
    text = policy_text(data.draw(st.sampled_from(["design", "paths", "visitors", "refunds"])))
    at = data.draw(st.integers(0, len(text)))
    damaged = text[:at] + data.draw(st.text(max_size=4)) + text[at + data.draw(st.integers(0, 9)) :]

    problems = problems_of(damaged)

    assert problems or parse(damaged)
    assert all(problem.line >= 1 and problem.column >= 1 and problem.mend for problem in problems)
