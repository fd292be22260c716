"""JSON that keeps what was written.

Arguments must reach the tool exactly as a person saw them, so numbers stay source text (12.70 stays 12.70, a
40-digit integer keeps its digits), key order is kept, and a duplicate key is an error instead of a silent choice.
This module knows nothing of what the values mean.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from json.encoder import encode_basestring_ascii
from typing import Any

MAX_DEPTH = 200
INT64 = 2**63
CONSTANTS = frozenset({"NaN", "Infinity", "-Infinity"})


class JsonProblem(ValueError):
    """Text that is not JSON we accept; `line` and `column` are 1-based, 0 when unknown."""

    def __init__(self, fault: str, *, line: int = 0, column: int = 0) -> None:
        super().__init__(fault)
        self.fault, self.line, self.column = fault, line, column


@dataclass(frozen=True, slots=True)
class Number:
    """A JSON number as its source text, so that 7 and "7" never compare equal."""

    text: str

    def __repr__(self) -> str:
        return self.text


_number = lru_cache(maxsize=1_024)(Number)  # most numbers come again; making one costs more than finding it


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise JsonProblem(f"the key {json.dumps(twice)} appears twice")
    return found


def _refuse_constant(text: str) -> Any:
    raise JsonProblem(f"{text} is not a JSON number")


def parse(text: str | bytes, *, constants: bool = False) -> Any:
    """Read JSON into dicts, lists, strings, bools, None and `Number`.

    `constants` admits NaN and Infinity (as `Number`), which agent servers written in Python can emit; what a
    person types is read without it. Raises `JsonProblem` for anything else, with line and column where the parser
    knows them (`bot.core.editing` finds the others).
    """
    try:
        return json.loads(
            text,
            parse_int=_number,
            parse_float=_number,
            parse_constant=_number if constants else _refuse_constant,
            object_pairs_hook=_pairs,
        )
    except json.JSONDecodeError as exc:
        raise JsonProblem(exc.msg, line=exc.lineno, column=exc.colno) from exc
    except UnicodeDecodeError as exc:
        raise JsonProblem("the bytes are not UTF-8") from exc
    except RecursionError as exc:
        raise JsonProblem("the value is nested too deeply") from exc


@lru_cache(maxsize=4)
def parse_kept(text: str) -> Any:
    """As `parse` with constants, remembering the last few: one drawing reads the same arguments several times.

    Everybody is given the same tree, which must not be changed.
    """
    return parse(text, constants=True)


@dataclass(frozen=True, slots=True)
class _Mark:
    """Text of the writer's own, between values."""

    text: str


def _written(value: Any, *, ordered: bool) -> str:
    """One stack instead of recursion: whatever `parse` could read can be written, however deep it nests."""
    out: list[str] = []
    waiting: list[Any] = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, _Mark):
            out.append(item.text)
        elif isinstance(item, dict):
            waiting.extend(reversed(_object_parts(item, ordered=ordered)))
        elif isinstance(item, list | tuple):
            waiting.extend(reversed(_list_parts(item)))
        else:
            out.append(_scalar(item))
    return "".join(out)


def _object_parts(value: dict[str, Any], *, ordered: bool) -> list[Any]:
    parts: list[Any] = [_Mark("{")]
    for index, key in enumerate(sorted(value) if ordered else value):
        parts += [_Mark(("," if index else "") + encode_basestring_ascii(key) + ":"), value[key]]
    return [*parts, _Mark("}")]


def _list_parts(value: Sequence[Any]) -> list[Any]:
    parts: list[Any] = [_Mark("[")]
    for index, item in enumerate(value):
        parts += [_Mark(","), item] if index else [item]
    return [*parts, _Mark("]")]


def _scalar(value: Any) -> str:
    match value:
        case str():
            return encode_basestring_ascii(value)
        case Number(text=text):
            return text
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return json.dumps(value)
    raise TypeError(f"not a JSON value: {type(value).__name__}")


def dump(value: Any) -> str:
    """Source text: no blanks, ASCII escapes, keys in their own order, numbers as written."""
    return _written(value, ordered=False)


def canonical(value: Any) -> bytes:
    """As `dump`, with keys sorted by code point: equal values of equal spelling give equal bytes."""
    return _written(value, ordered=True).encode("ascii")


def too_deep(value: Any) -> bool:
    """Whether a value nests deeper than what is judged here (`MAX_DEPTH`): it can be shown, and is not decided on."""
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [inner for item in level for inner in _inside(item)]
        if not level:
            return False
    return True


def _inside(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list | tuple) else ()


def unsendable(value: Any) -> str | None:
    """Why an agent server could not hold this value, or None.

    Measured: integers beyond 64 bits break the checkpoint, non-finite numbers run as `inf`, and a number that
    `float()` changes would run as another one.
    """
    waiting = [value]
    while waiting:
        item = waiting.pop()
        why = _unsendable_number(item.text) if isinstance(item, Number) else None
        if isinstance(item, str) and _broken(item):
            why = "it holds a NUL or half a character"
        if why:
            return why
        waiting.extend(reversed([*(item if isinstance(item, dict) else ()), *_inside(item)]))
    return None


def _broken(text: str) -> bool:
    return "\x00" in text or any(0xD800 <= ord(char) <= 0xDFFF for char in text)


def _unsendable_number(text: str) -> str | None:
    if text.lstrip("-").isdigit():
        fits = len(text) < 40 and -INT64 <= int(text) < INT64
        return None if fits else f"{_short(text)} does not fit 64 bits"
    held = float(text)
    if not math.isfinite(held):
        return f"{_short(text)} is not a JSON number" if text in CONSTANTS else f"{_short(text)} is too large a number"
    if not _holds(held, text):
        return f"{_short(text)} would be changed by rounding"
    return None


def _holds(held: float, text: str) -> bool:
    try:
        return Decimal(repr(held)) == Decimal(text)
    except InvalidOperation:  # an exponent that Decimal cannot hold either
        return False


def _short(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:20]}… ({len(text)} characters)"
