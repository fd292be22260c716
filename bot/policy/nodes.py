"""YAML nodes with their place in the file, and a collector of everything that is wrong with them.

Reading goes on after a fault, so that a person mends a file in one round instead of ten. Anchors, merge keys, tags of
one's own and several documents are refused: a file that decides who may approve says each thing once, where it stands.
This module must not know what a policy is.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import NamedTuple

import yaml

MAX_CHARACTERS = 1_000_000
MAX_DEPTH = 40
EXPONENT = re.compile(r"-?[0-9]+(\.[0-9]+)?[eE][+-]?[0-9]+")
TAG = "tag:yaml.org,2002:"


@dataclass(frozen=True, slots=True)
class PolicyProblem:
    """One fault of the file: where (1-based), at which path, what is wrong, and how to mend it."""

    line: int
    column: int
    path: str
    fault: str
    mend: str

    def __str__(self) -> str:
        at = f"line {self.line}, column {self.column}: "
        stop = "" if self.mend.endswith(("?", "…")) else "."
        return at + (f"{self.path}: " if self.path else "") + f"{self.fault}. {self.mend}{stop}"


class PolicyError(Exception):
    """The policy file cannot be used; `problems` holds all that was found, in the order of the file."""

    def __init__(self, problems: Collection[PolicyProblem]) -> None:
        self.problems = tuple(sorted(problems, key=lambda each: (each.line, each.column)))
        super().__init__("\n".join(map(str, self.problems)))


class Position(NamedTuple):
    """A position in the text, as YAML counts it: from 0."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class PolicyNode:
    """A node, the path that leads to it, and the list that its faults go to. `key` is where its key stands."""

    node: yaml.Node
    path: str
    faults: list[PolicyProblem]
    key: Position

    def blame(self, fault: str, mend: str) -> None:
        """Note a fault of the value."""
        mark = self.node.start_mark
        self.faults.append(PolicyProblem(mark.line + 1, mark.column + 1, self.path, fault, mend))

    def blame_key(self, fault: str, mend: str) -> None:
        """Note a fault of the key that leads here."""
        self.faults.append(PolicyProblem(self.key.line + 1, self.key.column + 1, self.path, fault, mend))

    @property
    def kind(self) -> str:
        """What YAML takes the value for: str, int, float, bool, null, timestamp, map, seq, or a strange tag."""
        kind = self.node.tag.removeprefix(TAG)
        # YAML 1.1 takes 5e2 for a text, and nobody who writes it without quotes does.
        bare = isinstance(self.node, yaml.ScalarNode) and self.node.style is None
        return "float" if kind == "str" and bare and EXPONENT.fullmatch(self.node.value) else kind

    def text(self) -> str | None:
        """The text of a string; anything else is a fault."""
        if isinstance(self.node, yaml.ScalarNode) and self.kind == "str":
            return str(self.node.value)
        self.blame(
            f"this is {_a(self.kind)}, and a text is needed", "Write a text, in quotes if it looks like a number"
        )
        return None

    def plain(self) -> str | None:
        """The source text of a scalar of any kind, None for a list or a mapping."""
        return self.node.value if isinstance(self.node, yaml.ScalarNode) else None

    def items(self) -> Iterator[PolicyNode]:
        """The members of a list; anything else is a fault."""
        if not isinstance(self.node, yaml.SequenceNode):
            self.blame(f"this is {_a(self.kind)}, and a list is needed", "Write a list: [one, two]")
            return
        for index, node in enumerate(self.node.value):
            yield PolicyNode(node, f"{self.path}[{index}]", self.faults, _spot(node))

    def entries(self) -> dict[str, PolicyNode]:
        """The members of a mapping by key, whatever the keys are; no mapping and a key given twice are faults."""
        if not isinstance(self.node, yaml.MappingNode):
            self.blame(f"this is {_a(self.kind)}, and named values are needed", "Write key: value pairs")
            return {}
        found: dict[str, PolicyNode] = {}
        for key, value in self.node.value:
            place = self._entry(key, value)
            if place is None:
                continue
            if key.value in found:
                place.blame_key("this key stands here a second time", "Keep one of the two")
            found.setdefault(key.value, place)
        return found

    def _entry(self, key: yaml.Node, value: yaml.Node) -> PolicyNode | None:
        name = key.value if isinstance(key, yaml.ScalarNode) else "?"
        place = PolicyNode(value, f"{self.path}.{name}" if self.path else name, self.faults, _spot(key))
        if isinstance(key, yaml.ScalarNode) and key.tag == TAG + "str":
            return place
        place.blame_key(f"this key is {_a(key.tag.removeprefix(TAG))}, and a text is needed", "Put the key in quotes")
        return None

    def fields(self, known: Collection[str], required: Collection[str] = ()) -> Mapping[str, PolicyNode]:
        """The members of a mapping whose keys are known; any other key, and a missing required one, is a fault."""
        found = self.entries()
        for name in [name for name in found if name not in known]:
            found.pop(name).blame_key(f"{name!r} is not known here", _instead(name, known))
        if isinstance(self.node, yaml.MappingNode):
            for name in required:
                if name not in found:
                    self.blame(f"{name!r} is missing", f"Add {name}: …")
        return found


def _instead(name: str, known: Collection[str]) -> str:
    close = get_close_matches(name, known, n=1)
    return f"Did you mean {close[0]!r}?" if close else f"Known are: {', '.join(known)}"


def _a(kind: str) -> str:
    names = {"str": "a text", "int": "a number", "float": "a number", "bool": "a yes/no", "null": "empty"}
    more = {"map": "a mapping", "seq": "a list", "timestamp": "a date", "merge": "a merge key"}
    return {**names, **more}.get(kind, f"of the kind {kind!r}")


def _spot(node: yaml.Node) -> Position:
    return Position(node.start_mark.line, node.start_mark.column)


def compose(text: str) -> PolicyNode:
    """The root of the file. Raises `PolicyError` for anything that is not one plain YAML document."""
    if len(text) > MAX_CHARACTERS:
        raise _at(0, 0, "the file is longer than a policy can be", f"Keep it under {MAX_CHARACTERS:,} characters")
    try:
        _scan(text)
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as exc:
        mark = exc.problem_mark or exc.context_mark
        line, column = (mark.line, mark.column) if mark else (0, 0)
        mend = _ALIAS_MEND if "alias" in (exc.context or "") else "Mend the line or its indent"
        raise _at(line, column, f"this is not YAML: {exc.problem or exc.context}", mend) from exc
    except yaml.reader.ReaderError as exc:
        line, column = _line_column(text, exc.position)
        raise _at(line, column, "a character here may not stand in YAML", "Remove it or write it as an escape") from exc
    if node is None:
        raise _at(0, 0, "the file is empty", "Write version: 1, and your tenants")
    return PolicyNode(node, "", [], _spot(node))


def _scan(text: str) -> None:
    """Refuse what would let a short file become huge, deep, or different from what it looks like."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        mark = event.start_mark
        line, column = (mark.line, mark.column) if mark else (0, 0)
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise _at(line, column, "anchors and aliases (& and *) are not used in a policy", _ALIAS_MEND)
        if isinstance(event, yaml.NodeEvent) and getattr(event, "tag", None) not in (None, "!"):
            raise _at(line, column, "tags (!) are not used in a policy", "Remove the tag")
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH:
            raise _at(line, column, "this is nested too deeply", "No policy needs so many levels")


_ALIAS_MEND = 'Write the value out; a pattern that begins with * needs quotes: "*"'


def _at(line: int, column: int, fault: str, mend: str) -> PolicyError:
    return PolicyError([PolicyProblem(line + 1, column + 1, "", fault, mend)])


def _line_column(text: str, index: int) -> tuple[int, int]:
    before = text[:index]
    return before.count("\n"), index - (before.rfind("\n") + 1)
