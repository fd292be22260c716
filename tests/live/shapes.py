"""What a JSON document is made of, its values left out: for telling whether two servers print the same thing."""

import re
from typing import Any

_ID = re.compile(r"[0-9a-f]{32}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|call_[0-9a-f]+")


def shape(value: Any, at: str = "") -> set[str]:
    """Every path in the document with the type that stands there; ids used as keys count as one key."""
    if isinstance(value, dict):
        return {at + "{}"}.union(*(shape(held, f"{at}.{_ID.sub('ID', key)}") for key, held in value.items()))
    if isinstance(value, list):
        return {at + "[]"}.union(*(shape(held, at + "[]") for held in value))
    return {f"{at}: {type(value).__name__}"}
