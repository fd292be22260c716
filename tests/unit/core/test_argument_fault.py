"""An edit against the policy's schema of its tool: what is said, and of which argument."""

from __future__ import annotations

import json

import pytest

from bot.core.argument_schema import argument_fault
from bot.policy.nodes import PolicyError
from tests.kit.policy_factories import make_tenant

SCHEMA = json.dumps(
    {
        "type": "object",
        "required": ["amount"],
        "additionalProperties": False,
        "properties": {
            "amount": {"type": "integer", "maximum": 9007199254740993},
            "to": {"type": "object", "properties": {"name": {"$ref": "#/$defs/name"}}},
        },
        "$defs": {"name": {"type": "string", "minLength": 2}},
    }
)


@pytest.mark.parametrize("final", ['{"amount": 1}', '{"amount": 9007199254740993}', '{"amount":1,"to":{"name":"Ben"}}'])
def test_what_the_schema_takes_has_no_fault(final):
    assert argument_fault(final, SCHEMA) is None


@pytest.mark.parametrize(
    ("final", "said", "name"),
    [
        ("{}", "amount is missing", None),
        ('{"amount": "1"}', "This must be a whole number.", "amount"),
        ('{"amount": 9007199254740994}', "At most", "amount"),
        ('{"amount": 1, "to": {"name": "B"}}', "$.to.name", "to"),
        ('{"amount": 1, "more\\u202e": 2}', "does not take this", None),
        ("[]", "does not take this", None),
    ],
)
def test_what_it_does_not_take_is_said_with_its_place(final, said, name):
    fault = argument_fault(final, SCHEMA)

    assert fault is not None
    assert said in fault.sentence
    assert fault.sentence.isascii()
    assert fault.name == name


@pytest.mark.parametrize(
    "schema", ['{"$ref": "https://example.com/x.json"}', '{"$ref": "#/$defs/none"}', '{"type": 7}', "["]
)
def test_a_schema_that_cannot_be_used_takes_nothing(schema):
    fault = argument_fault("{}", schema)

    assert fault is not None
    assert "cannot be used" in fault.sentence


@pytest.mark.parametrize(
    "schema", ["{type: 7}", "{type: object, required: amount}", "{properties: {a: {minimum: low}}}"]
)
def test_what_is_no_json_schema_is_an_error_of_the_file(schema):
    with pytest.raises(PolicyError, match="not a JSON Schema"):
        make_tenant(f"tools: {{pay: {{schema: {schema}}}}}")
