"""Per-call interrupts, and the decisions that a response schema admits."""

from __future__ import annotations

from typing import Any

import pytest

from bot.core.json import dump
from bot.core.model import InterruptShape
from bot.core.response_schema import admitted_types, schema_refusal
from bot.runtimes.langgraph.interrupts import parse_interrupt
from tests.kit.factories import ALL, EDIT, INTERRUPT, REJECT, RESPOND, make_approval, tree
from tests.kit.schemas import OPEN_SCHEMAS, decision, pydantic_schema, union


def per_call(schema: Any = None, *, value: Any = None, policy: Any = None) -> Any:
    given = tree(make_approval() if value is None else value)
    return parse_interrupt(
        INTERRUPT, given, tree(schema) if schema is not None else None, policy or (lambda _tool: None)
    )


def allowed(schema: Any = None, *, policy: Any = None) -> Any:
    return per_call(schema, policy=policy).calls[0].allowed


def test_a_tool_approval_is_one_call_with_its_id():
    parsed = per_call()
    assert (parsed.shape, parsed.calls[0].tool, parsed.calls[0].tool_call_id) == (
        InterruptShape.PER_CALL,
        "disable_user",
        "call_1",
    )


def test_a_tool_approval_needs_no_review_configs():
    assert per_call(policy=lambda _tool: [REJECT]).problem == ""


def test_without_word_from_server_or_policy_nothing_is_allowed_and_it_is_said_why():
    (call,) = per_call().calls
    assert (call.allowed, call.problem) == ((), "decisions_unknown")


def test_without_any_policy_nothing_is_allowed():
    assert parse_interrupt(INTERRUPT, tree(make_approval())).problem == "undecidable_position"


def test_without_a_schema_the_policy_says_what_is_allowed():
    assert allowed(policy=lambda _tool: [REJECT, RESPOND]) == (REJECT, RESPOND)


def test_the_policy_is_asked_about_the_tool_of_the_call():
    assert allowed(policy={"disable_user": [EDIT]}.get) == (EDIT,)


def test_an_empty_list_in_the_policy_allows_nothing():
    assert per_call(policy=lambda _tool: []).calls[0].problem == "no_usable_decision"


def test_the_schema_counts_and_not_the_policy():
    assert allowed(pydantic_schema("reject"), policy=lambda _tool: ALL) == (REJECT,)


@pytest.mark.parametrize(
    "kinds",
    [("approve", "edit", "reject", "respond"), ("approve", "reject"), ("respond",), ("reject", "respond"), ("edit",)],
)
def test_the_schemas_that_langchain_sends_are_read(kinds):
    assert allowed(pydantic_schema(*kinds)) == tuple(kind for kind in ALL if kind.value in kinds)


@pytest.mark.parametrize(("schema", "kinds"), OPEN_SCHEMAS)
def test_what_a_schema_admits_is_read_through_its_keywords(schema, kinds):
    assert admitted_types(schema) == kinds


@pytest.mark.parametrize(
    "schema", [{}, [], "approve", True, 7, {"type": "object"}, {"oneOf": {}}, {"enum": ["approve"]}]
)
def test_a_schema_that_names_no_decision_admits_none(schema):
    assert per_call(schema).calls[0].problem == "no_usable_decision"


def test_a_reference_that_leads_nowhere_admits_nothing():
    assert admitted_types({"oneOf": [{"$ref": "#/$defs/Gone"}, {"$ref": "https://elsewhere.example/schema"}]}) == ()


def test_a_definition_that_leads_back_to_itself_admits_nothing_more():
    schema = {"$ref": "#/$defs/A", "$defs": {"A": {"oneOf": [{"$ref": "#/$defs/A"}, decision("reject")]}}}
    assert admitted_types(schema) == ("reject",)


def test_reading_a_schema_takes_no_longer_for_definitions_used_very_often():
    layers = {f"L{n}": {"oneOf": [{"$ref": f"#/$defs/L{n + 1}"}] * 300} for n in range(10)}
    schema = {"$ref": "#/$defs/L0", "$defs": {**layers, "L10": decision("approve")}}
    assert admitted_types(schema) == ("approve",)


def test_unknown_types_in_a_schema_are_ignored_and_remembered():
    call = per_call(union("reject", "escalate")).calls[0]
    assert (call.allowed, call.ignored) == ((REJECT,), ("escalate",))


def test_a_schema_that_nests_too_deeply_leaves_the_call_undecidable():
    schema: Any = decision("approve")
    for _ in range(300):
        schema = {"oneOf": [schema]}
    assert per_call(schema).problem == "nested_too_deeply"


def test_a_call_without_object_arguments_can_only_be_refused_or_answered():
    value = make_approval() | {"args": "x"}
    assert per_call(pydantic_schema("approve", "edit", "reject", "respond"), value=value).calls[0].allowed == (
        REJECT,
        RESPOND,
    )


@pytest.mark.parametrize("name", [None, "", 7])
def test_a_tool_approval_without_a_name_is_not_decidable(name):
    parsed = per_call(value=make_approval() | {"name": name})
    assert (parsed.calls[0].problem, parsed.problem) == ("no_tool_name", "undecidable_position")


@pytest.mark.parametrize("call_id", [None, 7, ["x"]])
def test_a_tool_call_id_of_another_kind_is_none(call_id):
    assert per_call(value=make_approval() | {"tool_call_id": call_id}).calls[0].tool_call_id is None


def test_another_schema_is_other_content():
    assert per_call(pydantic_schema("approve")).content_hash != per_call(pydantic_schema("reject")).content_hash


def test_the_schema_is_kept_as_source_text():
    schema = pydantic_schema("respond")
    assert per_call(schema).response_schema == dump(tree(schema))


REPLY = tree({"type": "approve"})


def refusal(schema: Any, answer: Any = REPLY) -> str:
    return schema_refusal(answer, dump(tree(schema))) or ""


def test_a_schema_takes_the_answers_that_it_describes():
    schema = pydantic_schema("approve", "edit", "reject", "respond")
    edited = {"type": "edit", "edited_action": {"name": "disable_user", "args": {"user_id": "u_1", "reason": "x"}}}
    for answer in (
        REPLY,
        edited,
        {"type": "reject"},
        {"type": "reject", "message": "x"},
        {"type": "respond", "message": "x"},
    ):
        assert refusal(schema, tree(answer)) == ""


def test_a_refusal_names_the_place_and_never_the_value():
    edited = {"type": "edit", "edited_action": {"name": "disable_user", "args": {"user_id": 4711, "reason": "x"}}}
    said = refusal(pydantic_schema("approve", "edit", "reject", "respond"), tree(edited))
    assert said.endswith("at $.edited_action.args.user_id")


def test_a_batched_answer_is_refused_by_a_per_call_schema():
    assert refusal(pydantic_schema("approve", "reject"), tree({"decisions": [{"type": "approve"}]}))


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "objekt"},
        {"type": 5},
        {"pattern": "("},
        {"required": "type"},
        {"properties": 7},
        {"$ref": "#"},
        {"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/A"}}},
    ],
)
def test_a_schema_that_is_none_refuses_every_answer(schema):
    assert "cannot be used" in refusal(schema)


@pytest.mark.parametrize("reference", ["#/$defs/Gone", "https://elsewhere.example/schema.json", "file:///etc/passwd"])
def test_a_schema_that_points_outside_itself_refuses_and_fetches_nothing(reference):
    assert "not in it" in refusal({"$ref": reference})


@pytest.mark.parametrize("dialect", ["https://elsewhere.example/dialect", 7, ["x"]])
def test_an_unknown_dialect_is_read_as_the_newest_or_refused_and_never_crashes(dialect):
    assert refusal({"$schema": dialect, "properties": {"type": {"const": "reject"}}})


def test_numbers_of_any_size_in_a_schema_do_not_crash():
    text = '{"properties":{"type":{"maxLength":' + "1" * 5000 + "}}}"
    assert schema_refusal(REPLY, text) is not None
