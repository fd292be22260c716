"""Which results can be opened, by whom, and what of one stays hidden."""

from __future__ import annotations

import pytest

from bot.access.person import Actor, TenantPerson
from bot.core.model import Outcome
from bot.policy.model import Person
from bot.policy.source import parse as read_policy
from bot.slack.outbound.projection import DrawingContext, call_view, may_read_result
from bot.slack.windows.results import LONGEST, draw_result
from bot.slack.windows.review import ViewContext
from tests.kit.factories import OPENED, make_action, make_review, make_showing
from tests.kit.office import ADA, CLEO, DAN, policy_text

TEAM = "T0DEMO"


def stage(user=ADA, **lines):
    tenant = read_policy(policy_text("http://127.0.0.1:2026", **lines)).tenants["demo"]
    person = Person(TEAM, user, outsider=False, known_as_of=OPENED)
    return DrawingContext(tenant, OPENED, TenantPerson(tenant, 1, person))


def ran(text="refunded", outcome=Outcome.EXECUTED, **changes):
    action = make_action(0, tool="refund", args='{"to":"SEEDED-41x"}', outcome=outcome, outcome_text=text, **changes)
    return make_review(action, tenant="demo", requester=CLEO)


def drawn(review, text, **lines):
    context = ViewContext(review, make_showing(review), stage(**lines), Actor(TEAM, ADA, TEAM), {})
    return draw_result(context, review.actions[0], text)


@pytest.mark.parametrize(
    ("setting", "outcome", "text", "there"),
    [
        ("status", Outcome.EXECUTED, "refunded", True),
        ("first_lines", Outcome.FAILED, "no such order", True),
        ("none", Outcome.EXECUTED, "refunded", False),
        ("status", Outcome.EXECUTED, None, False),
        ("status", Outcome.REJECTED, "rejected", False),
        ("status", Outcome.ANSWERED, "eu-1", False),
    ],
)
def test_a_result_can_be_opened_where_a_tool_ran_and_the_policy_lets_it(setting, outcome, text, there):
    review = ran(text, outcome)
    view = call_view(
        review, review.actions[0], stage(tools=f"      refund: {{result: {setting}}}\n"), showing="s_" + "a" * 26
    )
    assert view.has_result is there


@pytest.mark.parametrize(("user", "may"), [(ADA, True), (CLEO, True), (DAN, False)])
def test_reviewers_of_the_tool_and_who_asked_may_open_it(user, may):
    review = ran()
    assert may_read_result(review, review.actions[0], stage(user)) is may


def test_what_is_hidden_of_a_call_is_hidden_in_its_result():
    found = drawn(ran(), "paid to SEEDED-41x, token=abc123def", tools="      refund: {redact: [to]}\n")
    assert "paid to [hidden], [hidden]" in str(found.view)
    assert (found.event, found.showing.to.user) == ("result.opened", ADA)


def test_of_a_result_without_end_only_so_much_is_looked_at_and_all_is_counted():
    assert "of 5,000,000 characters can be read here" in str(drawn(ran(), "x" * (5 * LONGEST)).view)
