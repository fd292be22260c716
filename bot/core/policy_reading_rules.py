"""Reading reviewer rules with their conditions, and the settings of tools.

Conditions keep numbers as decimal values of their source text, never as floats. A schema is kept as JSON text, so
that the record stays frozen. This module must not know how a rule is applied.
"""

from __future__ import annotations

import json
from dataclasses import fields
from decimal import Decimal
from typing import Any

import yaml

from bot.core import policy_values as values
from bot.core.policy_model import DECISIONS, NEVER, POWERS, ReviewerRule, ToolSettings
from bot.core.policy_when import COMPARE, Condition, from_text
from bot.core.policy_yaml import Place
from bot.core.response_schema import schema_fault

RULE_KEYS = ("group", "user", "tools", "may", "deny", "when")
SETTING_KEYS = tuple(
    "decide_within" if field.name == "decide_within_ms" else field.name for field in fields(ToolSettings)
)
MOST_APPROVALS = 20


def read_reviewer(index: int, place: Place) -> ReviewerRule:
    """One line of `reviewers`."""
    found = place.fields(RULE_KEYS, required=("tools",))
    if ("group" in found) == ("user" in found):
        place.blame("a rule is about one group or one user", "Write either group: S… or user: U…")
    if "may" not in found and "deny" not in found:
        place.blame("the rule neither allows nor denies anything", "Add may: [approve, …] or deny: [approve, …]")
    return ReviewerRule(
        index=index,
        group=values.optional_word(found.get("group"), values.GROUP),
        user=None if "group" in found else values.optional_word(found.get("user"), values.USER),
        tools=values.at_least_one(found.get("tools"), values.words(found.get("tools"), values.TOOL)),
        may=_powers(found.get("may")),
        deny=_powers(found.get("deny")),
        when=_when(found.get("when")),
    )


def _powers(place: Place | None) -> tuple[str, ...]:
    return values.at_least_one(place, values.choices(place, POWERS))


def _when(place: Place | None) -> tuple[Condition, ...]:
    conditions: list[Condition] = []
    found = place.entries() if place else {}
    if place is not None and not found and isinstance(place.node, yaml.MappingNode) and not place.node.value:
        place.blame("the condition is empty", "Leave when out, or write one like {amount: {lt: 500}}")
    for key, item in found.items():
        if not values.DOTTED.pattern.fullmatch(key):
            item.blame_key(f"{key!r} is not {values.DOTTED.what}", values.DOTTED.mend)
        conditions.extend(_comparisons(tuple(key.split(".")), item))
    return tuple(conditions)


def _comparisons(path: tuple[str, ...], place: Place) -> list[Condition]:
    if not isinstance(place.node, yaml.MappingNode):
        operand = _operand(place)
        return [] if operand is None else [Condition(path, "eq", operand)]
    found = place.fields(tuple(COMPARE))
    if not place.node.value:
        place.blame("there is nothing to compare with", "Write one like {lt: 500}")
    read = [(name, _operand(item), item) for name, item in found.items()]
    for name, operand, item in read:
        if name != "eq" and operand is not None and not isinstance(operand, Decimal):
            item.blame(f"{name} compares numbers only", "Write a number, or use eq")
    return [Condition(path, name, operand) for name, operand, _ in read if operand is not None]


def _operand(place: Place) -> Decimal | str | bool | None:
    text = place.plain()
    if text is not None and place.kind == "str":
        return text
    if text is not None and place.kind == "bool":
        return text.lower() in ("true", "yes", "on")
    number = from_text(text) if text is not None and place.kind in ("int", "float") else None
    if number is None:
        place.blame("this cannot be compared with", "Write a plain number, a text in quotes, true or false")
    return number


def read_tool(place: Place) -> ToolSettings:
    """What one name or pattern sets."""
    found = place.fields(SETTING_KEYS)
    return ToolSettings(
        title=values.optional_word(found.get("title"), values.TITLE),
        risk=values.choice(found.get("risk"), ("normal", "high")),
        approvals=values.whole(found.get("approvals"), most=MOST_APPROVALS),
        requester_may=_listed(found.get("requester_may"), DECISIONS),
        decide_within_ms=_decide_within(found.get("decide_within")),
        on_expiry=values.choice(found.get("on_expiry"), ("reject", "hold")),
        redact=values.words(found["redact"], values.DOTTED) if "redact" in found else None,
        result=values.choice(found.get("result"), ("none", "status", "first_lines")),
        mention=_mention(found.get("mention")),
        channel=values.optional_word(found.get("channel"), values.CHANNEL),
        schema=_schema(found.get("schema")),
        after_unknown=values.choice(found.get("after_unknown"), ("proceed", "hold")),
        resend=values.choice(found.get("resend"), ("settle", "fence", "never")),
        decisions=values.at_least_one(found.get("decisions"), _listed(found.get("decisions"), DECISIONS) or ()) or None,
    )


def _listed(place: Place | None, options: tuple[str, ...]) -> tuple[str, ...] | None:
    return None if place is None else values.choices(place, options)


def _decide_within(place: Place | None) -> int | None:
    return NEVER if place is not None and place.plain() == "never" else values.duration(place)


def _mention(place: Place | None) -> tuple[str, ...] | None:
    if place is None:
        return None
    if place.plain() is not None:
        return (values.word(place, values.MENTIONED),)
    return values.words(place, values.MENTIONED)


def _schema(place: Place | None) -> str | None:
    if place is None:
        return None
    if not isinstance(place.node, yaml.MappingNode):
        place.blame("a schema is a JSON Schema object", "Write it as a mapping: {type: object, properties: …}")
        return None
    text = json.dumps(_json(place), ensure_ascii=True, separators=(",", ":"))
    fault = schema_fault(text)
    if fault is not None:
        place.blame(f"this is not a JSON Schema, at {fault}", "Correct it: edits are checked against it")
    return text


def _json(place: Place) -> Any:
    if isinstance(place.node, yaml.MappingNode):
        return {key: _json(item) for key, item in place.entries().items()}
    if isinstance(place.node, yaml.SequenceNode):
        return [_json(item) for item in place.items()]
    text = place.plain() or ""
    if place.kind == "null":
        return None
    if place.kind == "bool":
        return text.lower() in ("true", "yes", "on")
    if place.kind in ("int", "float"):
        return _json_number(place, text)
    return text


def _json_number(place: Place, text: str) -> int | float:
    if from_text(text) is None:
        place.blame(f"{text!r} is not a JSON number", "Write it plainly in decimal digits")
        return 0
    return int(text) if place.kind == "int" else float(text)
