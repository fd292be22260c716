from __future__ import annotations

from typing import Any

from bot.policy.model import PolicyCall, Requester
from bot.policy.rules import offered_on_call, offered_to_channel, who_could
from bot.policy.source import parse
from tests.kit.policy_factories import make_tenant
from tests.kit.policy_table import policy_text

FOUR = ("approve", "edit", "reject", "respond")


def make_call(
    tool: str, args: Any = None, *, requester: str | None = "U0CLEO", allowed: tuple[str, ...] = FOUR
) -> PolicyCall:
    return PolicyCall(tool, allowed, proposed_args=args, final_args=args, requester=Requester(requester, requester))


def design():
    return parse(policy_text("design")).tenants["acme"]


def test_a_card_offers_what_any_reviewer_of_the_tool_may_do():
    tenant = make_tenant(
        "reviewers:\n  - {group: S0A, tools: [x], may: [approve]}\n  - {user: U0B, tools: ['x*'], may: [reject]}\n"
    )

    assert offered_to_channel(tenant, "x", FOUR) == ("approve", "reject")
    assert offered_to_channel(tenant, "xy", FOUR) == ("reject",)


def test_a_card_offers_nothing_that_the_call_does_not_allow():
    assert offered_to_channel(design(), "send_mail", ("reject", "approve")) == ("reject", "approve")
    assert offered_to_channel(design(), "send_mail", ()) == ()


def test_a_word_that_is_no_decision_is_never_offered():
    assert offered_to_channel(design(), "send_mail", ("escalate", "reveal", "approve")) == ("approve",)


def test_a_tool_without_reviewers_offers_nothing():
    assert offered_to_channel(make_tenant(), "x", FOUR) == ()


def test_a_subject_that_is_denied_everything_adds_nothing():
    tenant = make_tenant(
        "reviewers:\n  - {user: U0A, tools: [x, y], may: [approve, reject]}\n  - {user: U0A, tools: ['x*'], deny: [approve]}\n"
    )

    assert offered_to_channel(tenant, "x", FOUR) == ("reject",)
    assert offered_to_channel(tenant, "y", FOUR) == ("approve", "reject")


def test_a_denial_of_one_member_leaves_the_group_its_offer():
    assert who_could(design(), "send_mail", "approve")


def test_a_conditional_denial_leaves_the_offer_where_no_arguments_are_known():
    tenant = make_tenant(
        "reviewers:\n  - {user: U0A, tools: [x], may: [approve]}\n  - {user: U0A, tools: [x], deny: [approve], when: {n: 1}}\n"
    )

    assert offered_to_channel(tenant, "x", FOUR) == ("approve",)
    assert offered_on_call(tenant, make_call("x", {"n": 1})) == ()
    assert offered_on_call(tenant, make_call("x", {"n": 2})) == ("approve",)


def test_what_the_arguments_close_to_everybody_is_not_offered_on_the_call():
    tenant = make_tenant(
        "reviewers:\n"
        "  - {user: U0A, tools: [x], may: [approve, edit], when: {n: {lt: 5}}}\n"
        "  - {user: U0B, tools: [x], may: [reject]}\n"
    )

    assert offered_on_call(tenant, make_call("x", {"n": 9})) == ("reject",)
    assert offered_on_call(tenant, make_call("x", {"n": 4})) == ("approve", "edit", "reject")


def test_an_unknown_requester_closes_all_but_reject_where_the_tool_sets_the_rule():
    tenant = make_tenant(
        "reviewers: [{user: U0A, tools: ['*'], may: [approve, reject]}]\ntools: {x: {requester_may: []}}\n"
    )

    assert offered_on_call(tenant, make_call("x", requester=None)) == ("reject",)
    assert offered_on_call(tenant, make_call("y", requester=None)) == ("approve", "reject")
    assert offered_on_call(tenant, make_call("x")) == ("approve", "reject")
