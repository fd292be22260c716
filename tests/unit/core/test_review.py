"""Where a review may go: the table, cell by cell, and the diagram drawn from it."""

from __future__ import annotations

import re

import pytest

from bot.core.model import ReviewState as S
from bot.core.states import IN_FLIGHT, TERMINAL, TRANSITIONS, IllegalTransition, check, mermaid, sources

WAYS: dict[S, set[S]] = {
    S.OPEN: {S.DECIDED, S.EXPIRED, S.SUPERSEDED, S.BROKEN},
    S.DECIDED: {S.OPEN, S.CLAIMED, S.EXPIRED, S.SUPERSEDED, S.BROKEN},
    S.CLAIMED: {S.ARMED, S.DECIDED, S.OPEN, S.EXPIRED, S.SUPERSEDED, S.BROKEN},
    S.ARMED: {S.SENT, S.DECIDED, S.UNKNOWN, S.SUPERSEDED, S.BROKEN},
    S.SENT: {S.RESUMED, S.UNKNOWN, S.SUPERSEDED, S.BROKEN},
    S.UNKNOWN: {S.RESUMED, S.DECIDED, S.BROKEN, S.SUPERSEDED},
    S.EXPIRED: {S.CLAIMED, S.HELD, S.SUPERSEDED, S.BROKEN},
    S.HELD: {S.OPEN, S.SUPERSEDED},
    S.RESUMED: set(),
    S.SUPERSEDED: set(),
    S.BROKEN: set(),
}
PAIRS = [(current, following) for current in S for following in S]


def test_every_state_is_a_row_also_those_that_nothing_follows():
    assert set(TRANSITIONS) == set(S)


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"{pair[0].value} to {pair[1].value}")
def test_the_table_has_exactly_the_ways_that_are_meant(pair):
    current, following = pair
    assert (following in TRANSITIONS[current]) is (following in WAYS[current])


@pytest.mark.parametrize("pair", [pair for pair in PAIRS if pair[1] in WAYS[pair[0]]])
def test_a_way_in_the_table_is_let_through(pair):
    check(*pair)


@pytest.mark.parametrize("pair", [pair for pair in PAIRS if pair[1] not in WAYS[pair[0]]])
def test_a_missing_cell_is_an_illegal_transition(pair):
    with pytest.raises(IllegalTransition) as caught:
        check(*pair)
    assert (caught.value.current, caught.value.following) == pair


def test_an_illegal_transition_says_what_it_was():
    with pytest.raises(IllegalTransition, match="a review that is resumed cannot become open"):
        check(S.RESUMED, S.OPEN)


def test_no_state_follows_itself():
    assert not [state for state in S if state in TRANSITIONS[state]]


def test_the_ends_are_resumed_superseded_and_broken():
    assert frozenset({S.RESUMED, S.SUPERSEDED, S.BROKEN}) == TERMINAL


def test_every_state_but_the_first_can_be_reached():
    assert {following for cells in TRANSITIONS.values() for following in cells} == set(S)


def test_from_every_state_an_end_can_be_reached():
    ending = set(TERMINAL)
    while more := {state for state in S if state not in ending and ending & set(TRANSITIONS[state])}:
        ending |= more
    assert ending == set(S)


def test_nothing_is_sent_without_being_armed_first():
    assert sources(S.SENT) == {S.ARMED}
    assert sources(S.ARMED) == {S.CLAIMED}


def test_a_review_is_resumed_only_after_something_was_sent():
    assert sources(S.RESUMED) == {S.SENT, S.UNKNOWN}


def test_what_is_on_its_way_never_opens_again_once_armed():
    assert not sources(S.OPEN) & {S.ARMED, S.SENT, S.UNKNOWN}


def test_an_answer_is_on_its_way_from_the_claim_to_the_outcome():
    assert frozenset({S.CLAIMED, S.ARMED, S.SENT}) == IN_FLIGHT


def test_every_cell_says_why_in_words_that_a_diagram_can_hold():
    whys = [why for cells in TRANSITIONS.values() for why in cells.values()]
    assert all(re.fullmatch(r"[a-z][a-z ,'-]+", why) for why in whys)


def test_the_table_cannot_be_changed():
    with pytest.raises(TypeError):
        TRANSITIONS[S.OPEN] = {}  # type: ignore[index]


def test_the_diagram_begins_with_open():
    assert mermaid().splitlines()[:2] == ["stateDiagram-v2", "    [*] --> open"]


def test_the_diagram_draws_every_way_and_every_end_once():
    drawn = sorted(re.findall(r"^    (\w+) --> (\w+|\[\*\])", mermaid(), re.MULTILINE))
    ways = [(current.value, following.value) for current, cells in WAYS.items() for following in cells]
    assert drawn == sorted([*ways, *((state.value, "[*]") for state in TERMINAL)])
