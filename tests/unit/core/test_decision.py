"""Decisions on their way to the agent server: checked whole, or not sent at all."""

from __future__ import annotations

import json

import pytest

from bot.core.decision import (
    PLACET,
    UnsendableAnswer,
    answer_tree,
    edit_problem,
    framed_reason,
    rejections,
    same_arguments,
)
from bot.core.json import dump
from bot.core.model import DecisionType, InterruptShape
from tests.kit.factories import (
    ALL,
    APPROVE,
    EDIT,
    REJECT,
    RESPOND,
    decide_all,
    make_action,
    make_decision,
    make_review,
    record,
    tree,
)
from tests.kit.schemas import pydantic_schema


def sent(review):
    """The answer as the server reads it."""
    return json.loads(dump(answer_tree(review)))


def one(kind: DecisionType, *, review=None, **changes):
    """A review of one call with one decision on it."""
    given = review or make_review()
    return record(given, [make_decision(given, kind, **changes)])


def unsendable(review) -> str:
    with pytest.raises(UnsendableAnswer) as caught:
        answer_tree(review)
    return str(caught.value)


def test_an_approval_is_sent_with_its_type_alone():
    assert sent(one(APPROVE)) == {"decisions": [{"type": "approve"}]}


def test_an_edit_is_sent_with_the_tool_and_the_whole_final_arguments():
    edited = one(EDIT, final_args='{"user_id":"b","n":7}')
    action = {"name": "disable_user", "args": {"user_id": "b", "n": 7}}
    assert sent(edited) == {"decisions": [{"type": "edit", "edited_action": action}]}


@pytest.mark.parametrize("tool", ["send_email", "send_email ", "Löschen", "\u202etool", "a.b/c"])
def test_an_edit_names_the_proposed_tool_to_the_character(tool):
    edited = one(EDIT, review=make_review(make_action(tool=tool)))
    assert answer_tree(edited)["decisions"][0]["edited_action"]["name"] == tool


def test_edited_arguments_leave_byte_for_byte():
    text = '{"n":6,"f":12.70,"b":true,"z":null,"list":[1,"1"],"obj":{"k":false},"s":"5","big":9007199254740993}'
    assert f'"args":{text}' in dump(answer_tree(one(EDIT, final_args=text)))


def test_a_rejection_without_a_reason_has_no_message_key():
    assert sent(one(REJECT)) == {"decisions": [{"type": "reject"}]}


@pytest.mark.parametrize("blank", ["", " ", "\n\t "])
def test_a_blank_reason_is_no_reason(blank):
    assert sent(one(REJECT, message=blank)) == {"decisions": [{"type": "reject"}]}


def test_a_reason_is_framed_so_that_no_agent_takes_the_call_for_done():
    message = sent(one(REJECT, message=" no "))["decisions"][0]["message"]
    assert "not executed" in message
    assert "reason: no\n" in message
    assert "Do not try it again" in message


@pytest.mark.parametrize("typed", ["{reason}", "{0}", "100 %s", "R" * 3000, "“no”"])
def test_a_reason_stands_in_its_frame_as_typed(typed):
    assert f"reason: {typed}\n" in (framed_reason(typed) or "")


def test_an_answer_is_sent_as_typed():
    assert sent(one(RESPOND, message=" eu-west \n")) == {"decisions": [{"type": "respond", "message": " eu-west \n"}]}


@pytest.mark.parametrize("message", [None, "", "  ", "\n"])
def test_an_empty_answer_is_not_sent(message):
    assert "empty" in unsendable(one(RESPOND, message=message))


@pytest.mark.parametrize(("kind", "message"), [(RESPOND, "a\x00b"), (RESPOND, "\ud800"), (REJECT, "no\udfff")])
def test_words_that_no_server_can_hold_are_not_sent(kind, message):
    assert "half a character" in unsendable(one(kind, message=message))


def test_decisions_leave_in_request_order_one_for_each_call():
    review = make_review(*(make_action(position) for position in range(12)))
    kinds = [REJECT if position in (2, 10) else APPROVE for position in range(12)]
    assert [each["type"] for each in sent(decide_all(review, kinds))["decisions"]] == [kind.value for kind in kinds]


def test_the_order_in_which_people_decided_does_not_count():
    review = make_review(*(make_action(position) for position in range(3)))
    late_first = record(
        review, [make_decision(review, kind, at) for kind, at in ((REJECT, 2), (APPROVE, 0), (EDIT, 1))]
    )
    assert [each["type"] for each in sent(late_first)["decisions"]] == ["approve", "edit", "reject"]


def test_the_same_tool_twice_is_judged_by_each_position_s_own_list():
    review = make_review(make_action(0), make_action(1, allowed=(REJECT,)))
    assert "position 2 does not allow approve" in unsendable(decide_all(review, [APPROVE, APPROVE]))
    assert len(sent(decide_all(review, [APPROVE, REJECT]))["decisions"]) == 2


@pytest.mark.parametrize("kind", ALL)
def test_a_decision_that_its_position_does_not_allow_is_not_sent(kind):
    review = make_review(make_action(allowed=tuple(other for other in ALL if other is not kind)))
    assert "does not allow" in unsendable(one(kind, review=review))


def test_a_review_with_an_undecided_position_is_not_sent():
    review = make_review(make_action(0), make_action(1))
    assert "position 2" in unsendable(record(review, [make_decision(review, APPROVE, 0)]))


def test_a_decision_made_for_another_position_is_not_sent():
    review = make_review(make_action(0), make_action(1))
    misplaced = tuple(action.evolve(decision=make_decision(review, APPROVE, 0)) for action in review.actions)
    assert "position 2" in unsendable(review.evolve(actions=misplaced))


@pytest.mark.parametrize("order", [(1, 0), (0, 0), (0, 2), (1, 2), ()])
def test_positions_that_are_not_complete_and_in_order_are_not_sent(order):
    review = make_review(make_action(0), make_action(1), make_action(2))
    actions = tuple(review.actions[position] for position in order)
    assert "complete and in order" in unsendable(decide_all(review, [APPROVE] * 3).evolve(actions=actions))


def test_an_interrupt_with_a_problem_is_not_answered():
    assert "configs_do_not_pair" in unsendable(one(APPROVE, review=make_review(problem="configs_do_not_pair")))


def test_a_position_with_a_problem_is_not_answered():
    assert unsendable(one(REJECT, review=make_review(make_action(problem="no_config"))))


def test_an_interrupt_of_another_shape_is_not_answered():
    assert "cannot be answered" in unsendable(one(APPROVE, review=make_review(shape=InterruptShape.OTHER)))


def test_a_decision_on_other_content_is_not_sent():
    decided = one(APPROVE)
    changed = make_review(make_action(args={"user_id": "u_changed"}))
    assert "not what was decided on" in unsendable(record(changed, [decided.actions[0].decision]))


def test_final_arguments_changed_after_the_decision_are_not_sent():
    review = make_review()
    decision = make_decision(review, EDIT, final_args='{"user_id":"b"}')
    swapped = make_decision(review, EDIT, final_args='{"user_id":"c"}', digest=decision.digest)
    assert "not what was decided on" in unsendable(record(review, [swapped]))


@pytest.mark.parametrize(("kind", "final_args"), [(EDIT, None), (APPROVE, '{"user_id":"b"}'), (REJECT, "{}")])
def test_final_arguments_belong_to_an_edit_and_only_there(kind, final_args):
    assert "final arguments" in unsendable(one(kind, final_args=final_args))


@pytest.mark.parametrize("final_args", ["", "[1]", '{"a":1,"a":2}', '{"a":NaN}', '{"a":1e400}', '{"a":"\\u0000"}'])
def test_final_arguments_that_no_server_can_hold_are_not_sent(final_args):
    assert "position 1" in unsendable(one(EDIT, final_args=final_args))


def test_a_per_call_interrupt_gets_the_bare_decision():
    assert sent(one(APPROVE, review=make_review(shape=InterruptShape.PER_CALL))) == {"type": "approve"}


def test_a_per_call_interrupt_takes_exactly_one_decision():
    review = make_review(make_action(0), make_action(1), shape=InterruptShape.PER_CALL)
    assert "one decision" in unsendable(decide_all(review, [APPROVE, APPROVE]))


def per_call(*kinds: str):
    return make_review(shape=InterruptShape.PER_CALL, response_schema=dump(tree(pydantic_schema(*kinds))))


def test_a_per_call_answer_is_checked_against_the_server_s_schema():
    assert "schema refuses" in unsendable(one(APPROVE, review=per_call("respond")))


@pytest.mark.parametrize(
    "args", ["{}", '{"user_id":"a"}', '{"user_id":7,"reason":"x"}', '{"user_id":null,"reason":"x"}']
)
def test_edited_arguments_are_checked_against_the_tool_s_own_schema(args):
    assert "edited_action.args" in unsendable(one(EDIT, review=per_call("approve", "edit", "reject"), final_args=args))


def test_an_edit_that_the_schema_takes_is_sent_with_exactly_two_keys():
    edited = one(EDIT, review=per_call("approve", "edit"), final_args='{"user_id":"a","reason":"x"}')
    assert set(sent(edited)["edited_action"]) == {"name", "args"}


def test_what_nobody_decided_in_time_is_rejected_at_every_position():
    review = make_review(make_action(0), make_action(1, allowed=(REJECT,)))
    half = record(review, [make_decision(review, APPROVE, 0)])
    assert [each["type"] for each in sent(rejections(half))["decisions"]] == ["reject", "reject"]


def test_a_rejection_by_expiry_names_no_human_reviewer():
    message = sent(rejections(make_review()))["decisions"][0]["message"]
    assert "Nobody decided" in message
    assert "not executed" in message
    assert "human" not in message


def test_a_rejection_by_expiry_is_placet_s_own():
    assert rejections(make_review()).actions[0].decision.by == PLACET


def test_a_review_with_a_position_that_cannot_be_rejected_does_not_expire_by_rejection():
    with pytest.raises(UnsendableAnswer, match="cannot be rejected"):
        rejections(make_review(make_action(0), make_action(1, allowed=(APPROVE,))))


def test_a_person_s_reason_is_framed_even_if_they_are_called_like_placet():
    message = sent(one(REJECT, message="Nobody decided"))["decisions"][0]["message"]
    assert message == framed_reason("Nobody decided")


@pytest.mark.parametrize("text", ["{}", '{"a":{"b":[1,2.5,null,true,"x"]}}', ' {"a" : 1} '])
def test_objects_that_a_server_can_hold_are_fine_as_edits(text):
    assert edit_problem(text) is None


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[]", "JSON object"),
        ('"{}"', "JSON object"),
        ("null", "JSON object"),
        ("", "Expecting value"),
        ('{"a":1,"a":1}', "twice"),
    ],
)
def test_what_is_no_object_is_no_edit(text, why):
    assert why in (edit_problem(text) or "")


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (None, None),
        ("{}", " { } "),
        ('{"a":1,"b":2}', '{"b":2,"a":1}'),
        ('"\\u00e9"', '"é"'),
        ("NaN", "NaN"),
        ("x", "x"),
    ],
)
def test_arguments_that_say_the_same_are_the_same(left, right):
    assert same_arguments(left, right)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (None, "null"),
        ("{}", None),
        ("1", "1.0"),
        ("12.7", "12.70"),
        ("1", '"1"'),
        ("[1,2]", "[2,1]"),
        ("x", "{}"),
        ("{}", "x"),
    ],
)
def test_arguments_that_differ_in_kind_spelling_or_order_of_a_list_are_not_the_same(left, right):
    assert not same_arguments(left, right)
