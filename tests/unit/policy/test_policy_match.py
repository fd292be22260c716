from __future__ import annotations

import re
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.policy.matching import covers, matches, overlap, specificity

# A busy machine is no failure.
PATIENT = settings(deadline=None)

patterns = st.text(alphabet="ab*", max_size=7)
names = st.text(alphabet="ab", max_size=7)
# If two patterns have a common name, they have one no longer than both together: these words suffice.
short_patterns = st.text(alphabet="ab*", max_size=4)
WORDS = ["".join(letters) for length in range(9) for letters in product("ab", repeat=length)]


def by_regex(pattern: str, name: str) -> bool:
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), name, re.DOTALL) is not None


@PATIENT
@given(patterns, names)
def test_matching_agrees_with_regular_expressions(pattern, name):
    assert matches(pattern, name) == by_regex(pattern, name)


@PATIENT
@given(patterns, patterns, names)
def test_a_name_that_fits_both_patterns_makes_them_overlap(one, other, name):
    if matches(one, name) and matches(other, name):
        assert overlap(one, other)


@PATIENT
@given(short_patterns, short_patterns)
def test_overlapping_patterns_have_a_common_name(one, other):
    assert overlap(one, other) == any(matches(one, name) and matches(other, name) for name in WORDS)


@PATIENT
@given(patterns, patterns, names)
def test_a_covering_pattern_matches_whatever_the_covered_one_does(wide, narrow, name):
    if covers(wide, narrow) and matches(narrow, name):
        assert matches(wide, name)


@pytest.mark.parametrize(("one", "other"), [("a*", "*b"), ("a*c", "ab*"), ("*", ""), ("app-*", "app-1"), ("**", "x")])
def test_patterns_that_share_a_name_overlap(one, other):
    assert overlap(one, other)
    assert overlap(other, one)


@pytest.mark.parametrize(("one", "other"), [("a*", "b*"), ("*a", "*b"), ("abc", "abd"), ("a*a", "a"), ("", "a")])
def test_patterns_without_a_common_name_do_not_overlap(one, other):
    assert not overlap(one, other)
    assert not overlap(other, one)


def test_an_exact_name_is_more_specific_than_any_pattern():
    assert specificity("x") > specificity("xxxxxxxxx*")


def test_of_two_patterns_the_one_with_more_literal_characters_is_more_specific():
    assert specificity("send_*") > specificity("*end*") > specificity("*")


def test_a_hostile_name_against_many_stars_is_answered():
    assert not matches("*a" * 40 + "b", "a" * 20_000)
