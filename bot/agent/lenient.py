"""Reading a tree that others wrote: what is not of the expected kind is as if it were not there."""

from __future__ import annotations

from typing import Any

from bot.core.lossless import Number


def inner(row: dict[str, Any], key: str) -> dict[str, Any]:
    """The object under a key, else an empty one."""
    found = row.get(key)
    return found if isinstance(found, dict) else {}


def items(value: Any) -> list[Any]:
    """A list, else an empty one."""
    return value if isinstance(value, list) else []


def text(value: Any) -> str | None:
    """A string, else None."""
    return value if isinstance(value, str) else None


def whole(value: Any) -> int | None:
    """A non-negative integer as written, else None."""
    written = value.text if isinstance(value, Number) else ""
    return int(written) if written.isascii() and written.isdigit() and len(written) < 19 else None
