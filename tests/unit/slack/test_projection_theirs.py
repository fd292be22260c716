"""A call that somebody else answered: its outcome is shown, and never without the word that it was not by what stands here."""

import pytest

from blocks.cards import call_card
from blocks.reasons import theirs_text, why_text
from bot.core.model import Outcome, ReviewState
from bot.slack.outbound.projection import DrawingContext, call_view
from tests.kit.factories import make_review
from tests.kit.policy_factories import make_tenant


@pytest.mark.parametrize("outcome", [None, Outcome.EXECUTED, Outcome.REJECTED, Outcome.FAILED, Outcome.ANSWERED])
def test_whatever_became_of_it_the_card_and_its_text_say_that_somebody_else_answered(outcome):
    review = make_review().evolve(state=ReviewState.SUPERSEDED, why="answered_elsewhere")
    review = review.evolve(actions=tuple(action.evolve(outcome=outcome) for action in review.actions))

    drawn = call_card(call_view(review, review.actions[0], DrawingContext(make_tenant(), 0), showing="s_" + "a" * 26))

    told = theirs_text("answered_elsewhere", outcome and outcome.value)
    assert told.startswith("Somebody answered this outside Slack.")
    assert told in str(drawn.blocks)
    assert told in drawn.text
    assert "✅" not in str(drawn.blocks) + drawn.text


def test_an_outcome_of_ours_says_nothing_of_others():
    review = make_review().evolve(state=ReviewState.RESUMED)
    review = review.evolve(actions=tuple(action.evolve(outcome=Outcome.EXECUTED) for action in review.actions))

    drawn = call_card(call_view(review, review.actions[0], DrawingContext(make_tenant(), 0), showing="s_" + "a" * 26))

    assert why_text("answered_elsewhere") not in str(drawn.blocks)
