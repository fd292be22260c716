"""Conditions on a call's arguments, and the third answer: cannot be judged.

A condition compares the value at a dotted path with a number, a text or a yes/no. Where the path is missing or the
value is of another type, the answer is None, and the rule that asks takes the strictest reading of it. Numbers are
compared by value and in full, from their source text. This module must not know who asks or what is at stake.
"""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from itertools import combinations
from typing import Any

NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
COMPARE: Mapping[str, Callable[[Any, Any], bool]] = {
    "eq": operator.eq,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}
SIGNS = {"eq": "=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}


@dataclass(frozen=True, slots=True)
class Condition:
    """One comparison. `path` leads through objects only: an index into a list could be evaded by reordering it."""

    path: tuple[str, ...]
    compare: str
    value: Decimal | str | bool

    def __str__(self) -> str:
        shown = str(self.value) if isinstance(self.value, Decimal) else json.dumps(self.value, ensure_ascii=False)
        return f"{'.'.join(self.path)} {SIGNS[self.compare]} {shown}"


def holds(condition: Condition, args: Any) -> bool | None:
    """Whether the condition holds on these arguments; None when that cannot be judged."""
    value = args
    for key in condition.path:
        if not isinstance(value, Mapping) or key not in value:
            return None
        value = value[key]
    found = _comparable(value, type(condition.value))
    return None if found is None else COMPARE[condition.compare](found, condition.value)


def all_hold(conditions: Iterable[Condition], args: Any) -> bool | None:
    """False if one fails, None if none fails and one cannot be judged, else True."""
    answers = [holds(condition, args) for condition in conditions]
    if False in answers:
        return False
    return None if None in answers else True


def satisfiable(conditions: Iterable[Condition]) -> bool:
    """Whether some arguments could meet all of them: no two bounds of one path contradict each other."""
    by_path: dict[tuple[str, ...], list[Condition]] = {}
    for condition in conditions:
        by_path.setdefault(condition.path, []).append(condition)
    return all(_compatible(one, other) for each in by_path.values() for one, other in combinations(each, 2))


def _compatible(one: Condition, other: Condition) -> bool:
    """Bounds on one value contradict each other if and only if two of them do."""
    if type(one.value) is not type(other.value):
        return False
    if one.compare == "eq":
        return COMPARE[other.compare](one.value, other.value)
    if other.compare == "eq":
        return COMPARE[one.compare](other.value, one.value)
    if one.compare[0] == other.compare[0]:
        return True
    low, high = (one, other) if one.compare[0] == "g" else (other, one)
    meets = operator.le if (low.compare, high.compare) == ("ge", "le") else operator.lt
    return bool(meets(low.value, high.value))


def _comparable(value: Any, kind: type) -> Any:
    if kind is Decimal:
        return number(value)
    return value if type(value) is kind else None


def number(value: Any) -> Decimal | None:
    """The exact value of an int, a float, a Decimal or a source-text number; None for anything else.

    A yes/no is no number although Python's bool is an int, and NaN and the infinities are none either.
    """
    match value:
        case bool():
            return None
        case Decimal():
            return value if value.is_finite() else None
        case int():
            return Decimal(value)
        case float():
            return from_text(repr(value))
    text = getattr(value, "text", None)
    return from_text(text) if isinstance(text, str) else None


def from_text(text: str) -> Decimal | None:
    """The value of a JSON number's source text; None if it is none, or if its exponent is beyond all use."""
    if not NUMBER.fullmatch(text):
        return None
    try:
        return Decimal(text)
    except InvalidOperation:
        return None
