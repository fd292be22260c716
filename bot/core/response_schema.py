"""The JSON Schema that a per-call interrupt may carry: which decisions it admits, and whether it takes an answer.

A server that sends a `response_schema` checks the answer against it, so what it would refuse is better refused here.
Reading stops at what cannot be understood and then admits nothing. A schema never makes us fetch anything, and this
module must not know who decides.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any
from urllib.parse import unquote

from jsonschema import exceptions as schema_errors
from jsonschema.validators import Draft202012Validator, validator_for
from referencing import Registry
from referencing.exceptions import Unresolvable

from bot.core.json import Number, parse

MAX_SCHEMA_DEPTH = 32
Types = frozenset[str]


@dataclass(frozen=True, slots=True)
class _Reading:
    """One schema, with what each of its references was found to admit: every definition is read once."""

    root: dict[str, Any]
    known: dict[str, Types | None] = field(default_factory=dict)


def admitted_types(schema: Any) -> tuple[str, ...]:
    """The values of `type` that the schema admits in an answer; none where it names none.

    Pydantic writes a union of models (`oneOf` over `$defs`) or, for a single decision, that model's plain object.
    """
    if not isinstance(schema, dict):
        return ()
    return tuple(sorted(_admitted(schema, _Reading(schema), 0) or ()))


def _admitted(node: Any, reading: _Reading, depth: int) -> Types | None:
    """What all keywords of a node leave together; None where the node says nothing of `type`."""
    if not isinstance(node, dict) or depth > MAX_SCHEMA_DEPTH:
        return None
    said = [
        _of_properties(node, reading),
        _of_reference(node, reading, depth + 1),
        _any_of(_branches(node, "oneOf"), reading, depth + 1),
        _any_of(_branches(node, "anyOf"), reading, depth + 1),
        *(_admitted(part, reading, depth + 1) for part in _branches(node, "allOf")),
    ]
    return _intersection(each for each in said if each is not None)


def _intersection(said: Iterable[Types]) -> Types | None:
    stated = list(said)
    return frozenset.intersection(*stated) if stated else None


def _branches(node: dict[str, Any], word: str) -> list[Any]:
    branches = node.get(word)
    return branches if isinstance(branches, list) else []


def _any_of(branches: list[Any], reading: _Reading, depth: int) -> Types | None:
    """The union of the branches that name a type; a branch that names none admits no decision by name."""
    named = [found for branch in branches if (found := _admitted(branch, reading, depth)) is not None]
    return frozenset[str]().union(*named) if named else None


def _of_reference(node: dict[str, Any], reading: _Reading, depth: int) -> Types | None:
    reference = node.get("$ref")
    if not isinstance(reference, str):
        return None
    if reference not in reading.known:
        reading.known[reference] = None  # a definition that leads back to itself adds nothing
        reading.known[reference] = _admitted(resolve(reading.root, reference), reading, depth)
    return reading.known[reference]


def _of_properties(node: dict[str, Any], reading: _Reading) -> Types | None:
    properties = node.get("properties")
    kind = properties.get("type") if isinstance(properties, dict) else None
    if isinstance(kind, dict) and isinstance(kind.get("$ref"), str):
        kind = resolve(reading.root, kind["$ref"])
    if not isinstance(kind, dict) or not kind.keys() & {"const", "enum"}:
        return None
    listed = [kind["const"]] if "const" in kind else kind["enum"]
    return frozenset(item for item in listed if isinstance(item, str)) if isinstance(listed, list) else frozenset()


def resolve(root: dict[str, Any], reference: str) -> Any:
    """What a local reference (`#/$defs/Name`) points to, else None. RFC 6901 writes `~` and `/` as `~0` and `~1`."""
    start, *parts = reference.split("/")
    node: Any = root if start == "#" else None
    for part in parts:
        name = unquote(part).replace("~1", "/").replace("~0", "~")
        node = node.get(name) if isinstance(node, dict) else None
    return node


def schema_refusal(answer: dict[str, Any], schema: str) -> str | None:
    """Why the schema (JSON text) does not take this answer (a lossless tree), or None. Names the place, never a value."""
    try:
        faults = [leaf for error in validator(schema).iter_errors(plain(answer)) for leaf in _leaves(error)]
    except Unresolvable:
        return "the agent server's schema refers to something that is not in it"
    except (schema_errors.SchemaError, re.error, ArithmeticError, ValueError, RecursionError):
        return "the agent server's schema cannot be used to check this answer"
    # Of a union every branch complains; the one that was meant got furthest.
    deepest = max(faults, key=lambda fault: len(fault.absolute_path), default=None)
    return f"the agent server's schema refuses this answer at {deepest.json_path}" if deepest else None


@lru_cache(maxsize=128)
def validator(schema: str) -> Any:
    """A schema (JSON text), ready to check with. Making it takes longer than a check, and one is asked about several times."""
    tree = parse(schema, constants=True)
    # Without a registry of its own jsonschema may fetch remote references.
    made = _validator_class(tree)(plain(tree), registry=Registry())
    made.check_schema(made.schema)
    return made


def schema_fault(schema: str) -> str | None:
    """Where a schema (JSON text) is none, or None."""
    try:
        validator(schema)
    except schema_errors.SchemaError as exc:
        return exc.json_path
    return None


def _leaves(error: schema_errors.ValidationError) -> Iterable[schema_errors.ValidationError]:
    if not error.context:
        yield error
    for inner in error.context or ():
        yield from _leaves(inner)


def _validator_class(tree: Any) -> type[Any]:
    dialect = tree.get("$schema") if isinstance(tree, dict) else None
    named = {"$schema": dialect} if isinstance(dialect, str) else {}
    found: type[Any] = validator_for(named, default=Draft202012Validator)
    return found


def plain(tree: Any) -> Any:
    """A lossless tree as Python's own values, for a schema to check."""
    match tree:
        case Number(text=text):
            return json.loads(text)
        case dict():
            return {key: plain(value) for key, value in tree.items()}
        case list():
            return [plain(value) for value in tree]
    return tree
