"""A reason belongs to the call that it is about, not to all calls of its review."""

import pytest

from blocks.reasons import why_text
from bot.core.model import Decision, DecisionType, Outcome, PersonId, ReviewState
from bot.slack.outbound.projection import DrawingContext, root_view
from tests.kit.factories import make_action, make_review
from tests.kit.policy_factories import make_tenant


def decision(position, kind):
    return Decision(f"d_{position}", position, kind, PersonId("T0DEMO", "U0ADA"), 1, "s_" + "a" * 26, "")


def told(review, why):
    """The positions whose cards say this."""
    calls = root_view(review, DrawingContext(make_tenant(), 0), showing="s_" + "a" * 26).calls
    return [call.position for call in calls if why_text(why) in (*call.notices, call.reason)]


def batch(state, why, *parts):
    """`parts`: the changes of each call."""
    actions = tuple(make_action(position=at, **changes) for at, changes in enumerate(parts))
    return make_review().evolve(state=state, why=why, actions=actions)


def test_that_a_tool_failed_stands_at_the_call_that_ran_and_not_beside_a_rejected_one():
    review = batch(
        ReviewState.RESUMED,
        "raised",
        {"decision": decision(0, DecisionType.APPROVE), "outcome": Outcome.FAILED},
        {"decision": decision(1, DecisionType.REJECT), "outcome": Outcome.REJECTED},
        {"decision": decision(2, DecisionType.APPROVE), "outcome": Outcome.EXECUTED},
        {"decision": decision(3, DecisionType.RESPOND), "outcome": Outcome.ANSWERED},
    )
    assert told(review, "raised") == [0]


@pytest.mark.parametrize("why", ["raced", "possibly_twice", "settled_twice"])
def test_that_a_tool_may_have_run_twice_stands_at_calls_that_run_tools(why):
    review = batch(
        ReviewState.RESUMED,
        why,
        {"decision": decision(0, DecisionType.EDIT), "outcome": Outcome.EXECUTED},
        {"decision": decision(1, DecisionType.REJECT), "outcome": Outcome.REJECTED},
    )
    assert told(review, why) == [0]


@pytest.mark.parametrize("why", ["taken_back", "voided_authority", "voided_policy", "stopped"])
def test_that_a_decision_was_taken_back_stands_at_the_call_that_it_was_about(why):
    review = batch(ReviewState.OPEN, why, {"void_why": why}, {"decision": decision(1, DecisionType.APPROVE)}, {})
    assert told(review, why) == [0]


def test_why_nothing_is_sent_yet_stands_at_every_call():
    review = batch(
        ReviewState.DECIDED,
        "agent_unreachable",
        {"decision": decision(0, DecisionType.APPROVE)},
        {"decision": decision(1, DecisionType.REJECT)},
    )
    assert told(review, "agent_unreachable") == [0, 1]
