"""Reported damage to arguments between the agent, the reviewer's form and the tool."""

from __future__ import annotations

import json

import pytest

from bot.core.decide import Accepted, decide
from bot.core.decision import answer_tree
from bot.core.editing import EditProblem, read_edit
from bot.core.json import dump, parse
from bot.core.model import Review
from bot.runtimes.langgraph.interrupts import parse_interrupt
from tests.kit.factories import (
    APPROVE,
    EDIT,
    INTERRUPT,
    REJECT,
    anybody,
    decide_all,
    make_action,
    make_batch,
    make_config,
    make_intent,
    make_interrupt,
    make_press,
    make_request,
    make_review,
    record,
    review_of,
)

BIG = '{"order_id":9007199254740993,"snowflake":1234567890123456789,"as_text":"1234567890123456789"}'
HUGE = '{"huge":123456789012345678901234567890}'


def proposed(arguments: str) -> Review:
    """A review of a call whose server wrote exactly these arguments."""
    configs = '[{"action_name":"refund","allowed_decisions":["approve","edit"]}]'
    body = f'{{"action_requests":[{{"name":"refund","args":{arguments}}}],"review_configs":{configs}}}'
    return review_of(parse_interrupt(INTERRUPT, parse(body)))


def edited(review: Review, typed: str) -> Review:
    """The review after somebody sent this text from the edit form."""
    source = read_edit(typed)
    assert isinstance(source, str), source
    result = decide(review, make_press(review, make_intent(EDIT, final_args=source)), anybody)
    assert isinstance(result, Accepted)
    return record(review, result.decisions)


def sent_arguments(review: Review) -> str:
    return dump(answer_tree(review)["decisions"][0]["edited_action"]["args"])


@pytest.mark.parametrize("arguments", [BIG, HUGE])
def test_case_017_every_digit_is_there_to_be_shown_and_stored(arguments):
    assert proposed(arguments).actions[0].args == arguments


def test_case_017_big_integers_leave_as_they_were_typed():
    typed = BIG.replace("9007199254740993", "9007199254740995")
    assert sent_arguments(edited(proposed(BIG), typed)) == typed


@pytest.mark.parametrize("arguments", [BIG, HUGE])
def test_case_017_sending_the_form_untouched_approves_the_call_as_it_stands(arguments):
    review = proposed(arguments)
    result = decide(review, make_press(review, make_intent(EDIT, final_args=arguments)), anybody)
    assert isinstance(result, Accepted)
    assert answer_tree(record(review, result.decisions)) == {"decisions": [{"type": "approve"}]}


def test_case_017_an_integer_that_no_server_can_keep_is_said_in_the_form():
    found = read_edit('{"huge": 123456789012345678901234567891}')
    assert isinstance(found, EditProblem)
    assert "64 bits" in found.message


def test_case_020_curly_quotes_are_named_and_their_meaning_is_handed_back_to_be_confirmed():
    found = read_edit("{“title”: “b”, “n”: 3}")
    assert isinstance(found, EditProblem)
    assert "curly quotes" in found.message
    assert found.repaired == '{"title":"b","n":3}'


def test_case_020_curly_quotes_inside_a_value_stay_in_it():
    review = make_review(make_action(args={"title": "a", "n": 3}))
    typed = '{"title": "he said “hi”", "n": 3}'
    assert json.loads(sent_arguments(edited(review, typed)))["title"] == "he said “hi”"


@pytest.mark.parametrize(
    ("typed", "said"), [('{"title":\u00a0"b", "n": 3}', "No-break space"), ('{"title": "b", "n": 3,}', "comma")]
)
def test_case_020_a_blank_that_is_none_and_a_comma_too_many_are_faults_with_a_place(typed, said):
    found = read_edit(typed)
    assert isinstance(found, EditProblem)
    assert said in found.message
    assert found.line == 1


@pytest.mark.parametrize("typed", ["{“title”: “b”}", '{"title":\u00a0"b"}', '{"title": "b",}'])
def test_case_020_no_decision_comes_of_text_that_does_not_parse(typed):
    review = make_review(make_action(args={"title": "a"}))
    result = decide(review, make_press(review, make_intent(EDIT, final_args=typed)), anybody)
    assert not isinstance(result, Accepted)


MIXED = '{"n":5,"f":1.5,"b":true,"z":null,"list":[1,"1"],"obj":{"k":false},"s":"5","t":"true"}'


def test_case_021_changing_one_number_leaves_every_other_type_and_the_order_alone():
    review = make_review(make_action(args=MIXED))
    typed = json.dumps(json.loads(MIXED), indent=2).replace('"n": 5', '"n": 6')
    assert sent_arguments(edited(review, typed)) == MIXED.replace('"n":5', '"n":6')


@pytest.mark.parametrize(("name", "other"), [("s", 5), ("t", True), ("z", ""), ("z", "None"), ("f", "1.5")])
def test_case_021_a_changed_type_is_a_change_and_is_sent_as_one(name, other):
    review = make_review(make_action(args=MIXED))
    typed = json.dumps(json.loads(MIXED) | {name: other})
    assert json.loads(sent_arguments(edited(review, typed)))[name] == other


def test_case_043_an_edit_has_no_place_where_another_tool_could_be_named():
    review = review_of(make_interrupt(value=make_batch([make_request("send_email", {"to": "a"})])))
    typed = '{"name":"delete_file","args":{"path":"/srv"},"edited_action":{"name":"delete_file"}}'
    action = answer_tree(edited(review, typed))["decisions"][0]["edited_action"]
    assert set(action) == {"name", "args"}
    assert action["name"] == "send_email"


@pytest.mark.parametrize("tool", ["send_email", "send_email ", "Send_email"])
def test_case_043_the_tool_of_an_edit_is_the_proposed_one_to_the_character(tool):
    review = make_review(make_action(tool=tool))
    assert answer_tree(decide_all(review, [EDIT]))["decisions"][0]["edited_action"]["name"] == tool


def twelve() -> Review:
    calls = [make_request("note", {"n": n}) for n in range(12)]
    return review_of(make_interrupt(value=make_batch(calls, [make_config("note", ["approve", "reject"])] * 12)))


def test_case_047_twelve_calls_decided_in_the_order_of_their_names_as_text_leave_in_request_order():
    review = twelve()
    for position in sorted(range(12), key=str):
        kind = APPROVE if position == 10 else REJECT
        result = decide(review, make_press(review, make_intent(kind, position)), anybody)
        assert isinstance(result, Accepted)
        review = record(review, result.decisions)
    kinds = [each["type"] for each in answer_tree(review)["decisions"]]
    assert kinds == ["approve" if position == 10 else "reject" for position in range(12)]


def test_case_048_deciding_one_call_leaves_its_siblings_waiting():
    review = twelve()
    result = decide(review, make_press(review, make_intent(APPROVE, 3)), anybody)
    assert isinstance(result, Accepted)
    later = record(review, result.decisions)
    assert [action.position for action in later.undecided] == [at for at in range(12) if at != 3]


def test_case_058_an_identical_call_proposed_again_takes_nothing_over():
    first = make_review()
    again = make_review(id="r_two", interrupt_id="13579bdf02468ace13579bdf02468ace")
    assert again.actions[0].digest != first.actions[0].digest
    assert again.actions[0].decision is None
    assert not isinstance(decide(again, make_press(first), anybody), Accepted)
