"""Taking back one's own decision or approval: whose it is, and until when."""

from __future__ import annotations

import pytest

from bot.core.decide import Refusal
from bot.core.model import Decision, ReviewState
from bot.core.states import IN_FLIGHT
from bot.core.take_back import is_changeable, is_stoppable, take_back_refusal
from tests.kit.factories import ADA, APPROVE, BEN, CLEO, make_review


def partly(*people):
    """A review whose one call these people have approved, while others are missing."""
    review = make_review()
    digest = review.actions[0].digest
    made = tuple(Decision(f"apr_{who.user}", 0, APPROVE, who, 1, "s_one", digest) for who in people)
    return review.evolve(actions=(review.actions[0].evolve(approvals=made),))


def by_quorum(*people):
    """A review that these people decided together, the last of them as its author."""
    review = partly(*people)
    action = review.actions[0]
    decided = action.evolve(decision=action.approvals[-1])
    return review.evolve(state=ReviewState.DECIDED, actions=(decided,))


def why_not(review, who):
    refused = take_back_refusal(review, 0, who)
    return refused and refused.reason


def test_whoever_approved_while_others_are_missing_may_take_it_back_and_nobody_else():
    review = partly(ADA, BEN)

    assert [why_not(review, who) for who in (ADA, BEN, CLEO)] == [None, None, Refusal.NOT_AUTHOR]
    assert is_changeable(review, review.actions[0])
    assert not is_stoppable(review, review.actions[0])


def test_each_of_those_who_decided_together_may_take_it_back_until_it_is_claimed():
    review = by_quorum(ADA, BEN)

    assert [why_not(review, who) for who in (ADA, BEN, CLEO)] == [None, None, Refusal.NOT_AUTHOR]
    for state in IN_FLIGHT:
        assert why_not(review.evolve(state=state), ADA) is Refusal.TOO_LATE_TO_CHANGE


@pytest.mark.parametrize("state", [ReviewState.RESUMED, ReviewState.SUPERSEDED, ReviewState.EXPIRED, ReviewState.HELD])
def test_what_has_ended_cannot_be_taken_back(state):
    assert why_not(partly(ADA).evolve(state=state), ADA) is Refusal.GONE


def test_where_nobody_approved_there_is_nothing_to_take_back():
    review = make_review()

    assert why_not(review, ADA) is Refusal.STALE_SHOWING
    assert not is_changeable(review, review.actions[0])


def test_a_place_that_the_review_does_not_have_leads_nowhere():
    assert take_back_refusal(partly(ADA), None, ADA).reason is Refusal.UNKNOWN_SHOWING
    assert take_back_refusal(partly(ADA), 1, ADA).reason is Refusal.UNKNOWN_SHOWING
