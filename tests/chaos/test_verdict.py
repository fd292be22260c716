"""The verdict over a chaos run sees each lie that it is there to see."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.chaos.verdict import Evidence, Pressed, Stored, duplicates, faults, unexplained

RAN = {"tool": "disable_user", "args": {"user_id": "k0001a"}, "tool_call_id": "k0001a"}
APPROVED = Stored("k0001a", "r_1", "resumed", "", "approve", '{"user_id": "k0001a"}', "executed", attempts=1)
REJECTED = Stored("k0002a", "r_2", "resumed", "", "reject", '{"user_id": "k0002a"}', "rejected", attempts=1)
OPEN = Stored("k0003a", "r_3", "open", "", None, "{}", None)
PRESSES = (
    Pressed("k0001a", "U0ADA", "approve", acked=True),
    Pressed("k0002a", "U0BEN", "reject", acked=True),
    Pressed("k0003a", "U0BEN", "approve", acked=False),
)
WELL = Evidence(
    frozenset({"k0001a", "k0002a", "k0003a"}),
    [RAN],
    [APPROVED, REJECTED, OPEN],
    PRESSES,
    frozenset({("U0ADA", "r_1"), ("U0BEN", "r_2")}),
)


def storing(*changed):
    """The same run, with other rows for these calls."""
    kept = [one for one in WELL.stored if one.call not in {other.call for other in changed}]
    return replace(WELL, stored=[*kept, *changed])


def ran_too(call):
    return replace(WELL, effects=[RAN, {"tool": "disable_user", "args": {}, "tool_call_id": call}])


def test_a_run_in_which_all_went_well_has_no_faults_and_no_duplicates():
    assert faults(WELL) == []
    assert duplicates(WELL) == 0


def test_a_second_effect_of_an_approved_call_is_a_duplicate():
    twice = replace(WELL, effects=[RAN, RAN])

    assert faults(twice) == ["k0001a ran more than once"]
    assert duplicates(twice) == 1


def test_a_second_beginning_counts_even_if_neither_came_to_its_end():
    begun = {"tool": "slow_op.begin", "args": {"seconds": 1}, "tool_call_id": "k0001a"}

    assert "k0001a ran more than once" in faults(replace(WELL, effects=[RAN, begun, begun]))


@pytest.mark.parametrize("call", ["k0002a", "k0003a"], ids=["rejected", "undecided"])
def test_an_effect_that_nobody_approved_is_found(call):
    assert f"{call} ran and is not approved" in faults(ran_too(call))
    assert duplicates(ran_too(call)) == 1


def test_an_effect_that_only_the_store_calls_approved_is_found_by_what_people_pressed():
    forged = replace(REJECTED, decision="approve", outcome="executed")
    seen = replace(
        storing(forged), effects=[RAN, {"tool": "x", "args": {"user_id": "k0002a"}, "tool_call_id": "k0002a"}]
    )

    assert faults(seen) == ["k0002a ran and nobody approved it"]


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"state": "sent", "outcome": None}, "k0001a of r_1 is decided and stands at sent ''"),
        ({"outcome": None}, "k0001a of r_1 has no outcome: resumed ''"),
        ({"state": "unknown", "outcome": None}, "k0001a of r_1 is decided and stands at unknown ''"),
    ],
)
def test_a_decision_without_an_outcome_or_a_reason_is_found(changes, fault):
    assert fault in faults(storing(replace(APPROVED, **changes)))


def test_an_unknown_outcome_with_its_reason_is_explained():
    assert faults(storing(replace(APPROVED, state="unknown", why="cut_off", outcome=None))) == []


def test_an_answer_of_nobody_else_is_not_believed():
    claimed = replace(REJECTED, state="superseded", why="answered_elsewhere", outcome="superseded")

    assert faults(storing(claimed)) == ["k0002a of r_2 is called 'answered_elsewhere', and nobody else answers here"]


def test_an_execution_that_never_was_is_found():
    assert faults(replace(WELL, effects=[])) == ["k0001a is called executed and never ran"]


def test_other_arguments_than_the_approved_ones_are_found():
    (fault,) = faults(replace(WELL, effects=[{**RAN, "args": {"user_id": "k0009z"}}]))

    assert fault.startswith("k0001a ran with {'user_id': 'k0009z'}")


def test_an_acknowledged_press_that_left_no_trace_is_found():
    lost = replace(WELL, answered=frozenset({("U0ADA", "r_1")}))

    assert faults(lost) == ["U0BEN's reject of k0002a was acknowledged and left no trace"]


def test_a_refusal_of_the_same_minute_accounts_for_a_press_and_an_older_one_does_not():
    late = [replace(one, at=1_000.0) for one in PRESSES]
    lost = replace(WELL, presses=late, answered=frozenset({("U0ADA", "r_1")}))

    assert faults(replace(lost, refused=[("U0BEN", 970.0)])) == []
    assert faults(replace(lost, refused=[("U0BEN", 900.0), ("U0ADA", 1_000.0)])) != []


def test_a_double_is_explained_only_by_a_flag():
    twice = replace(WELL, effects=[RAN, RAN])
    flagged = replace(storing(replace(APPROVED, why="possibly_twice")), effects=[RAN, RAN])

    assert unexplained(twice) == ["k0001a"]
    assert unexplained(flagged) == []
