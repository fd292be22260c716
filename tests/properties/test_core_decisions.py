"""What holds for all interrupts and all presses: order, completeness, and nothing that was not allowed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.decide import Accepted, decide
from bot.core.decision import UnsendableAnswer, answer_tree
from bot.core.json import parse
from bot.core.model import DecisionType, InterruptShape, Review
from bot.runtimes.langgraph.interrupts import parse_interrupt
from tests.kit.factories import (
    ALL,
    INTERRUPT,
    anybody,
    make_action,
    make_intent,
    make_offer,
    make_press,
    make_review,
    make_showing,
    record,
    review_of,
    tree,
)
from tests.kit.json_texts import TEXTS
from tests.kit.schemas import pydantic_schema

ALLOWED = st.lists(st.sampled_from(ALL), min_size=1, unique=True).map(
    lambda kinds: tuple(kind for kind in ALL if kind in kinds)
)
REVIEWS = st.lists(ALLOWED, min_size=1, max_size=13).map(
    lambda lists: make_review(*(make_action(at, allowed=allowed) for at, allowed in enumerate(lists)))
)


def clicked(review: Review, kinds: dict[int, DecisionType], order: list[int]) -> Review:
    """One press after the other, each on a card as it stands then."""
    for position in order:
        result = decide(review, make_press(review, make_intent(kinds[position], position)), anybody)
        assert isinstance(result, Accepted)
        review = record(review, result.decisions)
    return review


def chosen_in(review: Review, data: st.DataObject) -> dict[int, DecisionType]:
    return {action.position: data.draw(st.sampled_from(action.allowed)) for action in review.actions}


def wire(review: Review) -> list[str]:
    return [answer["type"] for answer in answer_tree(review)["decisions"]]


@given(REVIEWS, st.data())
def test_decisions_leave_in_request_order_whatever_the_order_of_the_clicks(review, data):
    kinds = chosen_in(review, data)
    order = data.draw(st.permutations(sorted(kinds)))
    assert wire(clicked(review, kinds, order)) == [kinds[position].value for position in sorted(kinds)]


@given(REVIEWS, st.data())
def test_decisions_leave_in_request_order_whatever_the_order_inside_a_batch(review, data):
    kinds = chosen_in(review, data)
    order = data.draw(st.permutations(sorted(kinds)))
    press = make_press(review, *(make_intent(kinds[at], at) for at in order), showing=make_showing(review, None))
    result = decide(review, press, anybody)
    assert isinstance(result, Accepted)
    assert wire(record(review, result.decisions)) == [kinds[position].value for position in sorted(kinds)]


@given(REVIEWS, st.data())
def test_a_review_is_answered_whole_or_not_at_all(review, data):
    kinds = chosen_in(review, data)
    some = data.draw(st.sets(st.sampled_from(sorted(kinds))))
    half = clicked(review, kinds, sorted(some))
    if len(some) == len(kinds):
        assert len(wire(half)) == len(kinds)
    else:
        with pytest.raises(UnsendableAnswer):
            answer_tree(half)


@given(REVIEWS, st.data())
def test_only_what_is_allowed_at_its_position_is_ever_accepted(review, data):
    position = data.draw(st.integers(0, len(review.actions) - 1))
    kind = data.draw(st.sampled_from(ALL))
    action = review.actions[position]
    offers = (make_offer(action, offered=ALL),)
    press = make_press(review, make_intent(kind, position), showing=make_showing(review, position, offers=offers))
    assert isinstance(decide(review, press, anybody), Accepted) is (kind in action.allowed)


@given(REVIEWS, st.data())
def test_only_what_is_allowed_at_its_position_is_ever_sent(review, data):
    kinds = {action.position: data.draw(st.sampled_from(ALL)) for action in review.actions}
    permissive = make_review(*(replace(action, allowed=ALL) for action in review.actions))
    decided = clicked(permissive, kinds, sorted(kinds))
    narrowed = decided.evolve(
        actions=tuple(
            replace(action, allowed=narrow.allowed)
            for action, narrow in zip(decided.actions, review.actions, strict=True)
        )
    )
    if narrowed != decided:
        # An approval kept by a narrower list is still bound to the list that was shown, an edit's digest to its own.
        allowed = all(kinds[action.position] in action.allowed for action in review.actions)
        assert allowed or _refuses(narrowed)


def _refuses(review: Review) -> bool:
    try:
        answer_tree(review)
    except UnsendableAnswer:
        return True
    return False


@given(REVIEWS, st.data())
def test_a_showing_of_anything_else_decides_nothing(review, data):
    position = data.draw(st.integers(0, len(review.actions) - 1))
    kind = data.draw(st.sampled_from(review.actions[position].allowed))
    elsewhere = data.draw(st.sampled_from(["salt", "thread_id", "interrupt_id"]))
    other = make_review(*review.actions, **{elsewhere: b"x" * 16 if elsewhere == "salt" else "another"})
    press = make_press(review, make_intent(kind, position), showing=make_showing(other, position))
    assert not isinstance(decide(review, press, anybody), Accepted)


LISTED = st.lists(st.sampled_from(["approve", "edit", "reject", "respond", "escalate", 7, None]), max_size=5)
REQUESTS = st.fixed_dictionaries(
    {"name": st.sampled_from(["a", "b", "", None, 7])},
    optional={"args": TEXTS.map(parse), "description": st.sampled_from(["x", None, 7])},
)
CONFIGS = st.fixed_dictionaries({}, optional={"action_name": st.sampled_from(["a", "b"]), "allowed_decisions": LISTED})


@given(st.lists(REQUESTS, max_size=4), st.lists(CONFIGS, max_size=4))
def test_a_batch_offers_nothing_that_its_own_position_s_config_does_not_list(requests, configs):
    parsed = parse_interrupt(INTERRUPT, {"action_requests": requests, "review_configs": configs})
    for call in parsed.calls:
        listed = configs[call.position].get("allowed_decisions", []) if call.position < len(configs) else []
        assert {kind.value for kind in call.allowed} <= {item for item in listed if isinstance(item, str)}


@given(st.lists(REQUESTS, min_size=1, max_size=4), st.lists(CONFIGS, max_size=4))
def test_a_batch_without_a_problem_pairs_exactly_and_has_a_decision_for_each_call(requests, configs):
    parsed = parse_interrupt(INTERRUPT, {"action_requests": requests, "review_configs": configs})
    paired = [request.get("name") for request in requests] == [config.get("action_name") for config in configs]
    assert parsed.problem or (paired and all(call.allowed for call in parsed.calls))


@given(TEXTS, st.none() | TEXTS, st.sampled_from([INTERRUPT, "", "x"]))
def test_any_value_at_all_is_read_and_shown_without_loss(text, schema, interrupt_id):
    wrapped = f'{{"type":"tool_approval","name":"a","args":{text}}}'
    for source in (
        text,
        wrapped,
        f'{{"action_requests":{text},"review_configs":{text}}}',
        f'{{"action_requests":[{text}]}}',
    ):
        parsed = parse_interrupt(interrupt_id, parse(source), parse(schema) if schema else None)
        assert parsed.raw == source
        assert parsed.calls


@given(TEXTS, st.data())
def test_what_has_a_problem_is_never_answered(text, data):
    parsed = parse_interrupt(INTERRUPT, parse(f'{{"action_requests":[{text}],"review_configs":[{text}]}}'))
    review = review_of(parsed)
    kinds = {action.position: data.draw(st.sampled_from(ALL)) for action in review.actions}
    forced = record(review, [_decision(review, kind, at) for at, kind in kinds.items()])
    assert not parsed.problem or _refuses(forced)


def _decision(review: Review, kind: DecisionType, position: int) -> Any:
    permissive = make_review(*(replace(action, allowed=ALL, problem="") for action in review.actions))
    result = decide(permissive, make_press(permissive, make_intent(kind, position)), anybody)
    assert isinstance(result, Accepted)
    return replace(result.decisions[0], digest=review.actions[position].digest)


SCHEMAS = st.lists(st.sampled_from([kind.value for kind in ALL]), min_size=1, unique=True).map(
    lambda kinds: pydantic_schema(*kinds)
)


@given(SCHEMAS)
def test_a_schema_takes_the_plain_form_of_everything_that_is_offered_under_it(schema):
    value = tree({"type": "tool_approval", "name": "disable_user", "args": {"user_id": "a"}})
    review = review_of(parse_interrupt(INTERRUPT, value, tree(schema)))
    assert review.shape is InterruptShape.PER_CALL
    for kind in review.actions[0].allowed:
        intent = make_intent(kind, final_args='{"user_id":"b","reason":"x"}' if kind is DecisionType.EDIT else None)
        assert isinstance(decide(review, make_press(review, intent), anybody), Accepted)
