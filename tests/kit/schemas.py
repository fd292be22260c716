"""Response schemas as LangChain sends them, and every other way of saying the same."""

from __future__ import annotations

from typing import Any

ARGUMENTS = {
    "properties": {"user_id": {"type": "string"}, "reason": {"type": "string"}},
    "required": ["user_id", "reason"],
    "type": "object",
}
EDITED = {
    "properties": {"name": {"const": "disable_user", "type": "string"}, "args": {"$ref": "#/$defs/disable_user"}},
    "required": ["name", "args"],
    "type": "object",
}
EXTRA: dict[str, tuple[dict[str, Any], list[str]]] = {
    "approve": ({}, []),
    "edit": ({"edited_action": {"$ref": "#/$defs/EditedAction"}}, ["edited_action"]),
    "reject": ({"message": {"type": "string"}}, []),
    "respond": ({"message": {"type": "string"}}, ["message"]),
}


def decision(kind: str) -> dict[str, Any]:
    """The model of one decision."""
    more, required = EXTRA.get(kind, ({}, []))
    properties = {"type": {"const": kind, "title": "Type", "type": "string"}, **more}
    return {"properties": properties, "required": ["type", *required], "type": "object"}


def pydantic_schema(*kinds: str) -> dict[str, Any]:
    """As pydantic writes it: a tagged union over definitions, or for one kind that model's plain object."""
    shared = {"EditedAction": EDITED, "disable_user": ARGUMENTS}
    if len(kinds) == 1:
        return {"$defs": shared, **decision(kinds[0])}
    named = {f"{kind.title()}Decision": decision(kind) for kind in kinds}
    references = [{"$ref": f"#/$defs/{name}"} for name in named]
    mapping = {kind: reference["$ref"] for kind, reference in zip(kinds, references, strict=True)}
    return {
        "$defs": {**named, **shared},
        "discriminator": {"mapping": mapping, "propertyName": "type"},
        "oneOf": references,
    }


def union(*kinds: str, word: str = "oneOf") -> dict[str, Any]:
    """A bare union without definitions."""
    return {word: [decision(kind) for kind in kinds]}


BOTH = ("approve", "reject")
ENUM = {"properties": {"type": {"enum": ["reject", "approve", 7, None]}}}
OPEN_SCHEMAS: list[tuple[Any, tuple[str, ...]]] = [
    (union(*BOTH), BOTH),
    (union(*BOTH, word="anyOf"), BOTH),
    (decision("respond"), ("respond",)),
    (ENUM, BOTH),
    ({"anyOf": [union("approve"), {"type": "null"}]}, ("approve",)),
    ({"allOf": [decision("reject")]}, ("reject",)),
    ({"allOf": [union("approve", "edit"), union("approve", "reject")]}, ("approve",)),
    # Two keywords side by side must both hold.
    ({**ENUM, **union("approve", "edit")}, ("approve",)),
    ({**union("approve", "edit"), "anyOf": [decision("reject"), decision("edit")]}, ("edit",)),
    ({**ENUM, **union("edit")}, ()),
    # A name in a JSON Pointer is escaped, and may be percent-encoded in a URI fragment.
    ({"$ref": "#/$defs/a~1b~0c", "$defs": {"a/b~c": decision("edit")}}, ("edit",)),
    ({"$ref": "#/$defs/a%20b", "$defs": {"a b": decision("edit")}}, ("edit",)),
    ({"properties": {"type": {"$ref": "#/$defs/Kind"}}, "$defs": {"Kind": {"enum": ["respond"]}}}, ("respond",)),
    # Types of something else than the answer itself are none of ours.
    ({"properties": {"edited_action": decision("approve")}}, ()),
    ({"properties": {"type": {"type": "string"}}}, ()),
    ({"properties": {"type": {"const": 7}}}, ()),
    ({"properties": {"type": {"enum": "approve"}}}, ()),
    ({"not": decision("approve")}, ()),
]
