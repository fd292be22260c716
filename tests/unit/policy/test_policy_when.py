from __future__ import annotations

from decimal import Decimal

import pytest

from bot.core.json import Number
from bot.policy.conditions import Condition, all_hold, from_text, holds, number, satisfiable


def amount(compare: str, value: str) -> Condition:
    return Condition(("amount",), compare, Decimal(value))


@pytest.mark.parametrize(
    ("compare", "below", "equal", "above"),
    [
        ("eq", False, True, False),
        ("lt", True, False, False),
        ("le", True, True, False),
        ("gt", False, False, True),
        ("ge", False, True, True),
    ],
)
def test_each_comparison_answers_below_at_and_above_its_value(compare, below, equal, above):
    condition = amount(compare, "10")

    answers = [holds(condition, {"amount": Number(text)}) for text in ("9.99", "1e1", "10.01")]

    assert answers == [below, equal, above]


@pytest.mark.parametrize("value", ["12", None, True, [12], {"value": 12}, float("nan"), float("inf"), Decimal("NaN")])
def test_what_is_not_a_finite_number_cannot_be_judged_against_one(value):
    assert holds(amount("lt", "500"), {"amount": value}) is None


@pytest.mark.parametrize("args", [None, [], "amount", {}, {"Amount": 1}, Number("1")])
def test_a_path_that_leads_nowhere_cannot_be_judged(args):
    assert holds(amount("lt", "500"), args) is None


def test_a_path_does_not_lead_through_a_list():
    assert holds(Condition(("items", "0"), "eq", Decimal(1)), {"items": [1]}) is None


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (7, Decimal(7)),
        (0.1, Decimal("0.1")),
        (Decimal("12.70"), Decimal("12.70")),
        (Number("12345678901234567890123"), Decimal(12345678901234567890123)),
        (Number("-1.5E-3"), Decimal("-0.0015")),
    ],
)
def test_numbers_are_taken_at_their_written_value(value, found):
    assert number(value) == found


@pytest.mark.parametrize(
    "text", ["", "1_000", "٣", "0x10", "01", ".5", "1.", "NaN", "-Infinity", " 1", "1e99999999999999999999"]
)
def test_text_that_json_would_not_call_a_number_has_no_value(text):
    assert from_text(text) is None


def test_a_huge_exponent_is_compared_without_being_written_out():
    assert holds(amount("lt", "500"), {"amount": Number("1e999999999999")}) is False


def test_one_failing_condition_outweighs_one_that_cannot_be_judged():
    assert all_hold([Condition(("missing",), "eq", "x"), amount("lt", "5")], {"amount": 9}) is False


def test_a_condition_that_cannot_be_judged_leaves_the_whole_open():
    assert all_hold([Condition(("missing",), "eq", "x"), amount("lt", "5")], {"amount": 1}) is None


def test_text_and_yes_no_are_compared_only_with_their_kind():
    args = {"mode": "true", "flag": True}

    assert holds(Condition(("mode",), "eq", value=True), args) is None
    assert holds(Condition(("flag",), "eq", "true"), args) is None


@pytest.mark.parametrize(
    "conditions",
    [
        [],
        [amount("gt", "1"), amount("lt", "1.1")],
        [amount("ge", "5"), amount("le", "5")],
        [amount("eq", "5"), amount("ge", "5")],
        [amount("le", "5"), amount("eq", "4")],
        [amount("lt", "5"), amount("le", "1")],
        [amount("gt", "9"), Condition(("other",), "eq", "x")],
    ],
)
def test_conditions_that_some_arguments_meet_are_satisfiable(conditions):
    assert satisfiable(conditions)


@pytest.mark.parametrize(
    "conditions",
    [
        [amount("gt", "5"), amount("lt", "5")],
        [amount("ge", "5"), amount("lt", "5")],
        [amount("le", "5"), amount("gt", "5")],
        [amount("eq", "5"), amount("eq", "6")],
        [amount("eq", "5"), amount("gt", "5")],
        [amount("lt", "5"), amount("eq", "5")],
        [amount("eq", "5"), Condition(("amount",), "eq", "5")],
    ],
)
def test_conditions_that_contradict_each_other_are_not_satisfiable(conditions):
    assert not satisfiable(conditions)
