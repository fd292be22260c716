"""What an operator may have done, by where a review stands."""

import pytest

from bot.core.model import ReviewState
from bot.core.states import STUCK, TWICE, Operation, maybe_twice, operations
from tests.kit.factories import make_review

NOTHING = [
    ReviewState.OPEN,
    ReviewState.DECIDED,
    ReviewState.CLAIMED,
    ReviewState.ARMED,
    ReviewState.SENT,
    ReviewState.EXPIRED,
    ReviewState.RESUMED,
    ReviewState.SUPERSEDED,
]


@pytest.mark.parametrize("state", NOTHING)
def test_a_review_that_goes_its_way_offers_operators_nothing(state):
    assert operations(make_review().evolve(state=state)) == ()


@pytest.mark.parametrize(
    ("state", "operation"),
    [
        (ReviewState.BROKEN, Operation.REPAIR),
        (ReviewState.HELD, Operation.REOPEN),
        (ReviewState.UNKNOWN, Operation.SETTLE),
    ],
)
def test_each_state_that_needs_an_operator_offers_the_one_way_out(state, operation):
    assert operations(make_review().evolve(state=state)) == (operation,)


def test_every_state_is_spoken_of_here():
    assert {*NOTHING, ReviewState.BROKEN, ReviewState.HELD, ReviewState.UNKNOWN} == set(ReviewState)


@pytest.mark.parametrize("why", sorted(STUCK))
def test_only_a_stuck_run_can_be_stopped(why):
    unknown = make_review().evolve(state=ReviewState.UNKNOWN, why=why)

    assert operations(unknown) == (Operation.SETTLE, Operation.CANCEL)
    assert Operation.CANCEL not in operations(unknown.evolve(state=ReviewState.RESUMED))


@pytest.mark.parametrize("state", [ReviewState.RESUMED, ReviewState.SUPERSEDED])
@pytest.mark.parametrize("why", sorted(TWICE))
def test_what_may_have_run_twice_can_be_settled_until_somebody_has_looked(state, why):
    raced = make_review().evolve(state=state, why=why)

    assert maybe_twice(raced)
    assert operations(raced) == (Operation.SETTLE,)
    assert operations(raced.evolve(why="settled_twice")) == ()
