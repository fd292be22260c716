"""Reported payloads that other programs misread: what comes of each before anything is shown or sent."""

from __future__ import annotations

import json

import pytest

from bot.core.decide import Accepted, decide
from bot.core.decision import UnsendableAnswer, answer_tree
from bot.core.model import InterruptShape
from bot.runtimes.langgraph.interrupts import parse_interrupt, parse_pending
from bot.runtimes.langgraph.outcomes import tool_call_ids
from bot.runtimes.langgraph.resume import resume_body
from tests.kit.factories import (
    ALL,
    APPROVE,
    EDIT,
    INTERRUPT,
    OTHER_INTERRUPT,
    REJECT,
    RESPOND,
    anybody,
    decide_all,
    make_approval,
    make_batch,
    make_config,
    make_decision,
    make_intent,
    make_interrupt,
    make_press,
    make_request,
    make_showing,
    record,
    review_of,
    tree,
)
from tests.kit.schemas import union


def body(review, answer) -> dict:
    sent = resume_body(
        assistant="agent",
        interrupt_id=review.interrupt_id,
        answer_tree=answer,
        dispatch_id="d_one",
        attempt=1,
        kind="aegra",
    )
    return json.loads(sent)


def listed(*found):
    return parse_pending([(interrupt_id, tree(value), schema) for interrupt_id, value, schema in found])


def search_and_delete():
    """Two interrupts of one thread: a search, and a search with a deletion."""
    one = make_batch([make_request("search", {"q": "a"})])
    two = make_batch(
        [make_request("search", {"q": "b"}), make_request("delete", {"path": "/srv/a"})],
        [make_config("search"), make_config("delete", ["approve", "reject"])],
    )
    return [review_of(parsed) for parsed in listed((INTERRUPT, one, None), (OTHER_INTERRUPT, two, None))]


def test_case_001_each_of_two_pending_interrupts_is_answered_alone_under_its_own_id():
    first, second = search_and_delete()
    answers = [decide_all(first, [APPROVE]), decide_all(second, [APPROVE, REJECT])]
    resumes = [body(review, answer_tree(review))["command"]["resume"] for review in answers]
    assert [list(resume) for resume in resumes] == [[INTERRUPT], [OTHER_INTERRUPT]]
    assert [len(next(iter(resume.values()))["decisions"]) for resume in resumes] == [1, 2]


def test_case_001_no_answer_goes_to_whatever_is_pending():
    first, _ = search_and_delete()
    assert "decisions" not in body(first, answer_tree(decide_all(first, [APPROVE])))["command"]["resume"]


def test_case_001_two_interrupts_of_one_task_are_two_all_the_same():
    assert len(search_and_delete()) == 2


def test_case_002_two_questions_under_one_id_are_shown_and_never_answered():
    circle, square = make_batch([make_request("circle")]), make_batch([make_request("square")])
    reviews = [review_of(parsed) for parsed in listed((INTERRUPT, circle, None), (INTERRUPT, square, None))]
    assert [review.actions[0].tool for review in reviews] == ["circle", "square"]
    for review in reviews:
        with pytest.raises(UnsendableAnswer):
            answer_tree(record(review, [make_decision(review, APPROVE)]))


def test_case_002_the_same_question_listed_twice_is_one_review():
    circle = make_batch([make_request("circle")])
    assert len(listed((INTERRUPT, circle, None), (INTERRUPT, circle, None))) == 1


CALLS = [
    {"id": "c1", "name": "read", "args": {}},
    {"id": "c2", "name": "send_email", "args": {"to": "a@example.com"}},
    {"id": "c3", "name": "read", "args": {"p": 2}},
]


def gated():
    return review_of(make_interrupt(value=make_batch([make_request("send_email", {"to": "a@example.com"})])))


def test_case_004_only_gated_calls_are_decided():
    assert len(answer_tree(decide_all(gated(), [APPROVE]))["decisions"]) == 1


def test_case_004_a_gated_call_finds_its_id_among_ungated_ones():
    messages = [{"type": "ai", "tool_calls": CALLS}]
    assert tool_call_ids(messages, [("send_email", tree({"to": "a@example.com"}))]) == ("c2",)


def test_case_004_decisions_for_calls_that_were_not_asked_about_are_refused():
    review = gated()
    press = make_press(review, *(make_intent(APPROVE, at) for at in range(3)), showing=make_showing(review, None))
    assert not isinstance(decide(review, press, anybody), Accepted)


def transfers():
    calls = [make_request("transfer", {"amount": 10}), make_request("transfer", {"amount": 90_000})]
    configs = [make_config("transfer", ["approve", "reject"]), make_config("transfer", ["reject"])]
    return review_of(make_interrupt(value=make_batch(calls, configs)))


def test_case_005_each_of_two_calls_of_one_tool_has_its_own_list():
    assert [action.allowed for action in transfers().actions] == [(APPROVE, REJECT), (REJECT,)]


def test_case_005_an_approval_of_the_first_call_never_reaches_the_second():
    review = transfers()
    result = decide(review, make_press(review, make_intent(APPROVE, 0)), anybody)
    assert isinstance(result, Accepted)
    later = record(review, result.decisions)
    assert [action.decision is None for action in later.actions] == [False, True]


def test_case_005_both_decisions_leave_in_the_order_of_the_calls():
    answer = answer_tree(decide_all(transfers(), [APPROVE, REJECT]))
    assert [each["type"] for each in answer["decisions"]] == ["approve", "reject"]


DELETE, SEND = make_config("delete", ["approve", "reject"]), make_config("send")
BROKEN_BATCHES = {
    "shorter": [DELETE],
    "empty": [],
    "none": None,
    "swapped": [SEND, DELETE],
    "longer": [DELETE, SEND, SEND],
}


@pytest.mark.parametrize("configs", BROKEN_BATCHES.values(), ids=BROKEN_BATCHES)
def test_case_006_lists_that_do_not_pair_offer_nothing_and_are_never_answered(configs):
    value = {"action_requests": [make_request("delete"), make_request("send")], "review_configs": configs}
    review = review_of(make_interrupt(value=value))
    assert review.problem
    assert [action.allowed for action in review.actions] == [(), ()]
    with pytest.raises(UnsendableAnswer):
        answer_tree(record(review, [make_decision(review, APPROVE, at) for at in (0, 1)]))


def test_case_006_both_calls_are_still_there_to_be_shown():
    value = {"action_requests": [make_request("delete"), make_request("send")], "review_configs": [DELETE]}
    assert [call.tool for call in make_interrupt(value=value).calls] == ["delete", "send"]


def drop_and_ask():
    calls = [make_request("drop"), make_request("drop"), make_request("ask")]
    misspelt = {"action_name": "drop", "allowed_decision": ["approve"]}
    configs = [make_config("drop", []), misspelt, make_config("ask", ["respond", "escalate"])]
    return make_interrupt(value=make_batch(calls, configs))


def test_case_008_an_empty_list_means_nothing_and_not_everything():
    assert drop_and_ask().calls[0].allowed == ()


def test_case_008_a_misspelt_key_means_nothing():
    assert drop_and_ask().calls[1].allowed == ()


def test_case_008_an_unknown_decision_is_neither_offered_nor_forgotten():
    call = drop_and_ask().calls[2]
    assert (call.allowed, call.ignored) == ((RESPOND,), ("escalate",))


def test_case_008_one_position_without_a_decision_closes_all_and_says_so():
    assert drop_and_ask().problem == "undecidable_position"


def test_case_009_a_call_that_asks_alone_is_answered_by_a_bare_decision():
    parsed = parse_interrupt(INTERRUPT, tree(make_approval("send_email")), tree(union("approve", "reject")))
    review = review_of(parsed)
    answer = answer_tree(decide_all(review, [APPROVE]))
    assert body(review, answer)["command"]["resume"] == {INTERRUPT: {"type": "approve"}}


def test_case_009_what_a_call_that_asks_alone_allows_stands_in_its_schema():
    parsed = parse_interrupt(INTERRUPT, tree(make_approval("delete")), tree(union("reject")))
    assert (parsed.shape, parsed.calls[0].allowed) == (InterruptShape.PER_CALL, (REJECT,))


def test_case_009_an_answer_that_the_schema_refuses_never_leaves():
    parsed = parse_interrupt(INTERRUPT, tree(make_approval("delete")), tree(union("reject")))
    review = review_of(parsed)
    widened = review.evolve(actions=tuple(action.evolve(allowed=ALL) for action in review.actions))
    with pytest.raises(UnsendableAnswer):
        answer_tree(decide_all(widened, [APPROVE]))


def pings():
    given = [{}, None, "missing", "", '{"a":1}']
    calls = [{"name": "ping", "args": args} for args in given]
    del calls[2]["args"]
    return make_interrupt(value=make_batch(calls, [make_config("ping")] * len(calls)))


def test_case_011_a_tool_without_parameters_can_be_approved_and_edited():
    call = pings().calls[0]
    assert (call.args, call.allowed) == ("{}", ALL)


def test_case_011_arguments_that_are_no_object_are_kept_as_they_came():
    assert [call.args for call in pings().calls[1:]] == ["null", None, '""', '"{\\"a\\":1}"']


def test_case_011_calls_without_object_arguments_can_be_refused_or_answered_but_never_run():
    assert {call.allowed for call in pings().calls[1:]} == {(REJECT, RESPOND)}


def test_case_011_an_edit_of_no_arguments_may_add_some():
    review = review_of(make_interrupt(value=make_batch([make_request("ping") | {"args": {}}])))
    result = decide(review, make_press(review, make_intent(EDIT, final_args='{"a":1}')), anybody)
    assert isinstance(result, Accepted)


LONG = "D" * 9000
WITH_REPR = "Tool execution requires approval\n\nTool: write_file\nArgs: {'path': '/a'}"


@pytest.mark.parametrize(
    ("more", "kept"),
    [({}, None), ({"description": None}, None), ({"description": LONG}, LONG), ({"description": WITH_REPR}, WITH_REPR)],
)
def test_case_013_a_description_of_any_kind_leaves_the_call_decidable(more, kept):
    parsed = make_interrupt(value=make_batch([{"name": "w", "args": {"a": 1}} | more]))
    assert (parsed.problem, parsed.calls[0].description) == ("", kept)
