from __future__ import annotations

from bot.policy.explain import explain, who_decides
from bot.policy.source import parse
from tests.kit.policy_factories import make_tenant
from tests.kit.policy_table import policy_text


def tenant_of(piece: str):
    return parse(policy_text(piece)).tenants["acme"]


def test_each_decision_and_reveal_is_explained():
    assert explain(tenant_of("design"), "send_mail", "U0BEN", ["S0SUPPORT"]) == {
        "approve": {
            "allowed": True,
            "why": "reviewers[0] group S0SUPPORT allows approve on send_*; not on a call that they asked for themselves",
        },
        "edit": {
            "allowed": True,
            "why": "reviewers[0] group S0SUPPORT allows edit on send_*; not on a call that they asked for themselves",
        },
        "reject": {"allowed": True, "why": "reviewers[0] group S0SUPPORT allows reject on send_*"},
        "respond": {"allowed": False, "why": "their rules for send_mail leave respond out"},
        "reveal": {"allowed": False, "why": "their rules for send_mail leave reveal out"},
    }


def test_a_stranger_is_told_that_no_rule_is_about_them():
    answers = explain(tenant_of("design"), "execute_sql", "U0DAN", [])

    assert {answer["why"] for answer in answers.values()} == {"no rule makes them a reviewer of execute_sql"}
    assert not any(answer["allowed"] for answer in answers.values())


def test_a_denial_is_named():
    answer = explain(tenant_of("design"), "send_mail", "U0TEMP", ["S0SUPPORT"])["approve"]

    assert answer == {"allowed": False, "why": "reviewers[2] user U0TEMP denies approve on *"}


def test_a_condition_is_told_and_counts_as_not_met():
    answer = explain(tenant_of("refunds"), "refund", "U0BEN", ["S0SUPPORT"])["approve"]

    assert answer == {
        "allowed": False,
        "why": "only by its arguments: reviewers[0] group S0SUPPORT allows approve on refund when amount < 500",
    }


def test_a_tools_own_requester_rule_is_told():
    tenant = tenant_of("requester")

    assert "asked for themselves" in str(explain(tenant, "strict", "U0BEN", [])["reject"]["why"])
    assert "asked for themselves" not in str(explain(tenant, "open", "U0BEN", [])["approve"]["why"])


def test_reveal_has_no_requester_rule():
    answer = explain(tenant_of("design"), "execute_sql", "U0LEAD", [])["reveal"]

    assert answer == {"allowed": True, "why": "reviewers[1] user U0LEAD allows reveal on *"}


def test_a_listed_outsider_is_explained_as_that_person():
    assert explain(tenant_of("visitors"), "x", "U0EXT", [])["approve"]["allowed"]


def test_a_bot_is_explained():
    assert explain(tenant_of("design"), "x", "USLACKBOT", [])["approve"]["why"] == "a bot decides nothing"


def test_all_rules_that_touch_a_tool_are_listed():
    tenant = make_tenant(
        "reviewers:\n"
        "  - {group: S0A, tools: ['send_*'], may: [approve, edit], deny: [reveal], when: {n: {lt: 5}}}\n"
        "  - {user: U0B, tools: [other], may: [approve]}\n"
        "  - {user: U0C, tools: ['*'], may: [reject]}\n"
    )

    assert [line for _, line in who_decides(tenant, "send_mail")] == [
        "reviewers[0] group S0A allows approve, edit on send_* when n < 5",
        "reviewers[0] group S0A denies reveal on send_* when n < 5",
        "reviewers[2] user U0C allows reject on *",
    ]
    assert who_decides(tenant, "send_mail")[0][0] == tenant.reviewers[0]
