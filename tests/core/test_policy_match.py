from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.core.policy_match import covers, matches, overlap, specificity

# A busy machine is no failure.
PATIENT = settings(deadline=None)

patterns = st.text(alphabet="ab*", max_size=7)
names = st.text(alphabet="ab", max_size=7)


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
@given(patterns, patterns)
def test_overlapping_patterns_have_a_common_name(one, other):
    if overlap(one, other):
        assert any(matches(one, name) and matches(other, name) for name in words(2 * max(len(one), len(other)) + 1))


def words(most: int) -> list[str]:
    """All words over two letters up to a length that suffices for short patterns."""
    found = [""]
    layer = [""]
    for _ in range(min(most, 8)):
        layer = [word + letter for word in layer for letter in "ab"]
        found += layer
    return found


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
