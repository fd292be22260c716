"""Strategies for JSON as text, written without the program's own writer."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

NUMBERS = st.from_regex(r"-?(0|[1-9][0-9]{0,30})(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?", fullmatch=True)
# Any character, also half ones, controls and what reorders text.
STRINGS = st.text(st.characters(), max_size=12)
QUOTED = STRINGS.map(json.dumps)
ATOMS = st.one_of(NUMBERS, QUOTED, st.sampled_from(["true", "false", "null"]))


def written_object(pairs: dict[str, str]) -> str:
    return "{" + ",".join(f"{json.dumps(name)}:{value}" for name, value in pairs.items()) + "}"


def objects(values: st.SearchStrategy[str], **size: Any) -> st.SearchStrategy[str]:
    return st.dictionaries(_whole_names(), values, max_size=4, **size).map(written_object)


def _whole_names() -> st.SearchStrategy[str]:
    """Names that stay different once read: two half characters side by side become one."""
    return STRINGS.map(lambda name: json.loads(json.dumps(name)))


def _nest(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(st.lists(inner, max_size=4).map(lambda items: f"[{','.join(items)}]"), objects(inner))


TEXTS = st.recursive(ATOMS, _nest, max_leaves=12)
OBJECTS = objects(TEXTS)
