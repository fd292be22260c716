"""JSON that keeps what was written.

Arguments must reach the tool exactly as a person saw them, so numbers stay source text (12.70 stays 12.70, a
40-digit integer keeps its digits), key order is kept, and a duplicate key is an error instead of a silent choice.
This module knows nothing of what the values mean.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from json.encoder import encode_basestring_ascii
from typing import Any

MAX_DEPTH = 200
INT64 = 2**63


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
    person types is read without it. Raises `JsonProblem` with line and column for anything else.
    """
    try:
        return json.loads(
            text,
            parse_int=Number,
            parse_float=Number,
            parse_constant=Number if constants else _refuse_constant,
            object_pairs_hook=_pairs,
        )
    except json.JSONDecodeError as exc:
        raise JsonProblem(exc.msg, line=exc.lineno, column=exc.colno) from exc
    except UnicodeDecodeError as exc:
        raise JsonProblem("the bytes are not UTF-8") from exc
    except RecursionError as exc:
        raise JsonProblem("the value is nested too deeply") from exc


def _write(value: Any, out: list[str], *, ordered: bool, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise JsonProblem("the value is nested too deeply")
    if isinstance(value, str):
        out.append(encode_basestring_ascii(value))
    elif isinstance(value, dict):
        _write_object(value, out, ordered=ordered, depth=depth)
    elif isinstance(value, list | tuple):
        out.append("[")
        for index, item in enumerate(value):
            if index:
                out.append(",")
            _write(item, out, ordered=ordered, depth=depth + 1)
        out.append("]")
    else:
        out.append(_scalar(value))


def _write_object(value: dict[str, Any], out: list[str], *, ordered: bool, depth: int) -> None:
    out.append("{")
    for index, key in enumerate(sorted(value) if ordered else value):
        out.append("," if index else "")
        out.append(encode_basestring_ascii(key))
        out.append(":")
        _write(value[key], out, ordered=ordered, depth=depth + 1)
    out.append("}")


def _scalar(value: Any) -> str:
    match value:
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
    out: list[str] = []
    _write(value, out, ordered=False, depth=0)
    return "".join(out)


def canonical(value: Any) -> bytes:
    """As `dump`, with keys sorted by code point: equal values of equal spelling give equal bytes."""
    out: list[str] = []
    _write(value, out, ordered=True, depth=0)
    return "".join(out).encode("ascii")


def unsendable(value: Any) -> str | None:
    """Why an agent server could not hold this value, or None.

    Measured: integers beyond 64 bits break the checkpoint, non-finite numbers run as `inf`, and a number that
    `float()` changes would run as another one.
    """
    if isinstance(value, Number):
        return _unsendable_number(value.text)
    if isinstance(value, str):
        return "it holds a NUL or half a character" if _broken(value) else None
    items: list[Any] = []
    if isinstance(value, dict):
        items = [*value.keys(), *value.values()]
    elif isinstance(value, list):
        items = value
    return next((why for item in items if (why := unsendable(item))), None)


def _broken(text: str) -> bool:
    return "\x00" in text or any(0xD800 <= ord(char) <= 0xDFFF for char in text)


def _unsendable_number(text: str) -> str | None:
    from decimal import Decimal, InvalidOperation

    if text.lstrip("-").isdigit():
        return None if -INT64 <= int(text[:40]) < INT64 and len(text) < 40 else f"{_short(text)} does not fit 64 bits"
    try:
        exact, held = Decimal(text), float(text)
    except (InvalidOperation, ValueError):
        return f"{_short(text)} is not a number"
    if not math.isfinite(held):
        return f"{_short(text)} is too large a number"
    if Decimal(repr(held)) != exact:
        return f"{_short(text)} would be changed by rounding"
    return None


def _short(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:20]}… ({len(text)} digits)"
