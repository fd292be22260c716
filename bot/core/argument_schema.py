"""What a schema says of the arguments of a call, for editing them: names, types, choices, what may be null or left out.

Two schemas can say it: the policy's own for a tool, and the one that a per-call interrupt carries for an edited call. Both are
hints for a form; what they do not say, or say in a way that cannot be followed, is left to the value. Nothing is fetched.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from jsonschema import exceptions as schema_errors
from jsonschema.validators import Draft202012Validator
from referencing import Registry
from referencing.exceptions import Unresolvable

from bot.core.json import JsonProblem, parse
from bot.core.response_schema import plain, resolve, validator

DEPTH = 8
MOST_CHOICES = 50
SCALARS = ("string", "integer", "number", "boolean")


@dataclass(frozen=True, slots=True)
class Property:
    """What is known of one argument; `text` is its own schema as a tree, None where there is none."""

    type: str = ""
    nullable: bool = False
    enum: tuple[Any, ...] = ()
    tree: Any = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class EditSchema:
    """What is known of a call's arguments."""

    properties: Mapping[str, Property] = field(default_factory=dict)
    required: frozenset[str] = frozenset()


NOTHING = EditSchema()


@lru_cache(maxsize=256)
def edit_schema(policy_schema: str | None, response_schema: str | None) -> EditSchema:
    """The policy's schema of a tool's arguments, else what the interrupt's own schema says of an edited call."""
    for text, find in ((policy_schema, _itself), (response_schema, _edited_arguments)):
        root = _read(text)
        arguments = find(root) if root is not None else None
        if isinstance(arguments, dict) and isinstance(arguments.get("properties"), dict):
            return _schema(root, arguments)
    return NOTHING


def value_refusal(rule: Property, value: Any) -> str | None:
    """Why a property's schema does not take a value (a lossless tree), in words for people, or None."""
    if not isinstance(rule.tree, dict):
        return None
    try:
        faults = list(Draft202012Validator(rule.tree, registry=Registry()).iter_errors(plain(value)))
    except (Unresolvable, schema_errors.SchemaError, re.error, ArithmeticError, ValueError, RecursionError, TypeError):
        return None  # the server will judge
    return _said(faults[0]) if faults else None


@dataclass(frozen=True, slots=True)
class ArgumentFault:
    """What the policy's schema does not take: a sentence, and the argument that it is about, None for all of them."""

    sentence: str
    name: str | None = None


def argument_fault(final_args: str, schema: str) -> ArgumentFault | None:
    """Why the policy's schema of a tool (JSON text) does not take these arguments as a whole, or None.

    A schema that cannot be used takes nothing: nobody else checks what a person typed.
    """
    try:
        found = sorted(
            validator(schema).iter_errors(plain(parse(final_args))), key=lambda each: len(each.absolute_path)
        )
    except (
        JsonProblem,
        Unresolvable,
        schema_errors.SchemaError,
        re.error,
        ArithmeticError,
        ValueError,
        RecursionError,
    ):
        return ArgumentFault("The policy's schema of this tool cannot be used to check the arguments: ask an operator.")
    if not found:
        return None
    first = found[0]
    path = list(first.absolute_path)
    name = str(path[0]) if path else None
    if first.validator == "required":
        gone = next((str(each) for each in first.validator_value if each not in first.instance), "")
        return ArgumentFault(
            f"By the policy's schema {_plainly(gone)} is missing at {_plainly(first.json_path)}.", name
        )
    return ArgumentFault(f"The policy's schema does not take this at {_plainly(first.json_path)}. {_said(first)}", name)


def _plainly(text: str) -> str:
    """Names as JSON writes them, so that nothing in one can be unseen or reorder the sentence."""
    return json.dumps(text)[1:-1][:80]


def _said(fault: schema_errors.ValidationError) -> str:
    """Never the value itself: it stands in the field already."""
    limit = fault.validator_value
    said = {
        "type": f"This must be {_kinds(limit)}.",
        "minimum": f"At least {limit} is needed.",
        "maximum": f"At most {limit} is allowed.",
        "exclusiveMinimum": f"More than {limit} is needed.",
        "exclusiveMaximum": f"Less than {limit} is needed.",
        "minLength": f"At least {limit} characters are needed.",
        "maxLength": f"At most {limit} characters are allowed.",
        "minItems": f"At least {limit} entries are needed.",
        "maxItems": f"At most {limit} entries are allowed.",
    }
    return said.get(str(fault.validator), f"The tool's schema does not take this ({str(fault.validator)[:40]}).")


def _kinds(limit: Any) -> str:
    words = {"integer": "a whole number", "number": "a number", "string": "a text", "boolean": "true or false"}
    kinds = limit if isinstance(limit, list) else [limit]
    return " or ".join(words.get(str(kind), f"of type {str(kind)[:20]}") for kind in kinds)


def _read(text: str | None) -> Any:
    try:
        return parse(text, constants=True) if text else None
    except JsonProblem:
        return None


def _itself(root: Any) -> Any:
    return root


def _edited_arguments(root: Any) -> Any:
    """`edited_action.args` of the branch of a response schema whose type is `edit`."""
    for branch in _branches(root, root, 0):
        properties = branch.get("properties")
        kind = _followed(root, properties.get("type")) if isinstance(properties, dict) else None
        if not isinstance(properties, dict) or not isinstance(kind, dict):
            continue
        if kind.get("const") == "edit" or "edit" in (kind.get("enum") or ()):
            action = _followed(root, properties.get("edited_action"))
            inner = action.get("properties") if isinstance(action, dict) else None
            found = _followed(root, inner.get("args")) if isinstance(inner, dict) else None
            if isinstance(found, dict):
                return found
    return None


def _branches(root: Any, node: Any, depth: int) -> Iterator[dict[str, Any]]:
    node = _followed(root, node)
    if not isinstance(node, dict) or depth > DEPTH:
        return
    yield node
    for word in ("oneOf", "anyOf", "allOf"):
        for part in node.get(word) or () if isinstance(node.get(word), list) else ():
            yield from _branches(root, part, depth + 1)


def _followed(root: Any, node: Any) -> Any:
    for _ in range(DEPTH):
        if not isinstance(node, dict) or not isinstance(node.get("$ref"), str):
            break
        node = resolve(root, node["$ref"])
    return node


def _schema(root: Any, arguments: dict[str, Any]) -> EditSchema:
    required = arguments.get("required")
    names = frozenset(name for name in required if isinstance(name, str)) if isinstance(required, list) else frozenset()
    return EditSchema({name: _property(root, node) for name, node in arguments["properties"].items()}, names)


def _property(root: Any, node: Any) -> Property:
    node = _followed(root, node)
    if not isinstance(node, dict):
        return Property()
    options = node.get("anyOf") or node.get("oneOf")
    parts = [_followed(root, part) for part in options] if isinstance(options, list) else [node]
    kinds = [kind for part in parts if isinstance(part, dict) for kind in _types(part)]
    nullable = "null" in kinds
    kinds = [kind for kind in dict.fromkeys(kinds) if kind != "null"]
    real = [part for part in parts if isinstance(part, dict) and part.get("type") != "null"]
    enum = real[0].get("enum") if len(real) == 1 else None
    usable = isinstance(enum, list) and 0 < len(enum) <= MOST_CHOICES
    listed = tuple(value for value in enum if value is not None) if isinstance(enum, list) and usable else ()
    nullable = nullable or (isinstance(enum, list) and None in enum)
    return Property(kinds[0] if len(kinds) == 1 else "", nullable, listed, plain(node))


def _types(part: dict[str, Any]) -> list[str]:
    kind = part.get("type")
    return (
        [kind]
        if isinstance(kind, str)
        else [one for one in kind if isinstance(one, str)]
        if isinstance(kind, list)
        else []
    )
