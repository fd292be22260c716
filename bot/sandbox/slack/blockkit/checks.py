"""The small pieces that shapes are put together from: a check looks at a value and yields what is wrong with it.

A finding is a JSON pointer and a sentence in Slack's manner. Nothing here knows a block or a limit.
"""

import re
from collections.abc import Callable, Container, Iterator, Mapping
from typing import Any

from bot.sandbox.slack.blockkit.weight import mrkdwn_weight, plain_weight, units

Finding = tuple[str, str]
Check = Callable[[Any, str], Iterator[Finding]]


def obj(required: Mapping[str, Check], optional: Mapping[str, Check] | None = None) -> Check:
    """An object with exactly these keys: none missing, none unknown."""
    allowed = {**required, **(optional or {})}

    def check(value: Any, at: str) -> Iterator[Finding]:
        if not isinstance(value, dict):
            yield at, "must provide an object"
            return
        yield from ((at, f"missing required field: {key}") for key in required if key not in value)
        for key, item in value.items():
            if key in allowed:
                yield from allowed[key](item, f"{at}/{key}")
            else:
                yield at, f"invalid additional property: {key}"

    return check


def by_type(shapes: Mapping[str, Check]) -> Check:
    """An object whose `type` says which of the shapes it has."""

    def check(value: Any, at: str) -> Iterator[Finding]:
        if not isinstance(value, dict):
            yield at, "must provide an object"
        elif "type" not in value:
            yield at, "missing required field: type"
        elif not isinstance(value["type"], str) or value["type"] not in shapes:
            yield f"{at}/type", f"unsupported type: {value['type']}"
        else:
            yield from shapes[value["type"]](value, at)

    return check


def items(of: Check, most: int | None = None, least: int = 0) -> Check:
    """A list of between `least` and `most` things of one shape."""

    def check(value: Any, at: str) -> Iterator[Finding]:
        if not isinstance(value, list):
            yield at, "must provide an array"
            return
        if len(value) < least:
            yield at, f"no fewer than {least} items allowed"
        if most is not None and len(value) > most:
            yield at, f"no more than {most} items allowed"
        for index, item in enumerate(value):
            yield from of(item, f"{at}/{index}")

    return check


def every(*checks: Check) -> Check:
    """All of these; the later ones only where the first finds nothing, so that they may trust the shape."""
    first, *rest = checks

    def check(value: Any, at: str) -> Iterator[Finding]:
        found = list(first(value, at))
        yield from found
        if not found:
            for later in rest:
                yield from later(value, at)

    return check


def _too_long_or_short(length: int, least: int, most: int, at: str) -> Iterator[Finding]:
    if length > most:
        yield at, f"must be less than {most + 1} characters"
    if length < least:
        yield at, f"must be more than {least - 1} characters"


def string(most: int, least: int = 0) -> Check:
    """A string that people do not read: counted as sent."""

    def check(value: Any, at: str) -> Iterator[Finding]:
        if isinstance(value, str):
            yield from _too_long_or_short(units(value), least, most, at)
        else:
            yield at, "must be a string"

    return check


def literal(most: int, least: int = 1) -> Check:
    """A string that people read as it stands: counted as escaped."""

    def check(value: Any, at: str) -> Iterator[Finding]:
        if isinstance(value, str):
            yield from _too_long_or_short(plain_weight(value), least, most, at)
        else:
            yield at, "must be a string"

    return check


def mrkdwn(most: int, least: int = 1) -> Check:
    """A string in Slack's markup."""

    def check(value: Any, at: str) -> Iterator[Finding]:
        if isinstance(value, str):
            yield from _too_long_or_short(mrkdwn_weight(value), least, most, at)
        else:
            yield at, "must be a string"

    return check


def matching(pattern: str, says: str) -> Check:
    """A string of a certain form."""
    form = re.compile(pattern)

    def check(value: Any, at: str) -> Iterator[Finding]:
        if not isinstance(value, str) or not form.fullmatch(value):
            yield at, says

    return check


def one_of(*values: Any) -> Check:
    """One of a few constants."""
    allowed: Container[Any] = values

    def check(value: Any, at: str) -> Iterator[Finding]:
        if value not in allowed:
            yield at, f"must be one of: {', '.join(map(str, values))}"

    return check


def boolean(value: Any, at: str) -> Iterator[Finding]:
    """True or false, no 0 and no 1."""
    if not isinstance(value, bool):
        yield at, "must be a boolean"


def integer(least: int, most: int) -> Check:
    """A whole number in a range."""

    def check(value: Any, at: str) -> Iterator[Finding]:
        if isinstance(value, bool) or not isinstance(value, int):
            yield at, "must be an integer"
        elif not least <= value <= most:
            yield at, f"must be between {least} and {most}"

    return check
