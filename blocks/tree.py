"""JSON read without loss and written back as text for people: numbers as they were written, keys in their order.

It exists because ``12.70`` must not become ``12.7`` between the agent and the reviewer's eye. The module must not know
what is an argument; it sees JSON only. Duplicate keys are kept and shown twice.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from blocks import limits
from blocks.text import json_string, units

_PAD: Final = "  "
_TOKEN: Final = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{},]', re.DOTALL)
_ENDS: Final = {"[": "]", "{": "}"}
HIDDEN: Final = "[hidden]"


class NumberText(str):
    """A number, or one of NaN and the infinities, exactly as the source writes it."""

    __slots__ = ()


class Pairs(tuple["tuple[str, Node]", ...]):
    """An object, as its pairs in the order of the source."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class MaskedText:
    """A value that is not shown. It is written as a bare word, which no JSON value can imitate."""


Node = str | NumberText | bool | list["Node"] | Pairs | MaskedText | None


def read_json(source: str) -> Node:
    """Parse without loss. Raises ValueError or RecursionError for what is not JSON or nests too deep for Python."""
    node: Node = json.loads(
        source, parse_int=NumberText, parse_float=NumberText, parse_constant=NumberText, object_pairs_hook=Pairs
    )
    return node


def beginning(source: str, reach: int) -> str | None:
    """A beginning of JSON text, at least so many characters and closed so that it reads by itself; None for all of it.

    Whatever comes after is not looked at, so that the first sight of a megabyte costs what can be seen of it.
    """
    if len(source) <= reach:
        return None
    ends: list[str] = []
    for token in _TOKEN.finditer(source):
        char = source[token.start()]
        if char in _ENDS:
            ends.append(_ENDS[char])
        elif char == "," and token.start() >= reach:
            return source[: token.start()] + "".join(reversed(ends))
        elif char in "]}" and (not ends or ends.pop() != char):
            return None
    return None


def mask(node: Node, paths: Iterable[tuple[str | int, ...]]) -> Node:
    """The same tree with what lies at these paths hidden; a path that leads nowhere changes nothing."""
    below: dict[str | int, list[tuple[str | int, ...]]] = {}
    for path in paths:
        if not path:
            return MaskedText()
        below.setdefault(path[0], []).append(path[1:])
    if isinstance(node, Pairs):
        return Pairs([(key, mask(value, below[key]) if key in below else value) for key, value in node])
    if isinstance(node, list):
        return [mask(value, below[at]) if at in below else value for at, value in enumerate(node)]
    return node


def leaves(node: Node) -> Iterator[Node]:
    """Every value of a tree that holds no others, in no order."""
    waiting = [node]
    while waiting:
        item = waiting.pop()
        if isinstance(item, Pairs):
            waiting += [value for _, value in item]
        elif isinstance(item, list):
            waiting += item
        else:
            yield item


def is_not_finite(node: Node) -> bool:
    """Whether this is a number that no computer holds as written: NaN, an infinity, or one that becomes infinite."""
    return isinstance(node, NumberText) and not node.lstrip("-").isdigit() and not abs(float(node)) < float("inf")


@dataclass(frozen=True, slots=True)
class Writer:
    """Writes a tree as JSON text. A string is read no further than ``reach``, which makes its line longer than that."""

    reach: int = limits.READ_PAGES

    def line(self, node: Node) -> str:
        """All on one line; for small nodes."""
        if isinstance(node, Pairs):
            return "{" + ", ".join(f"{self.atom(key)}: {self.line(value)}" for key, value in node) + "}"
        if isinstance(node, list):
            return "[" + ", ".join(self.line(value) for value in node) + "]"
        return self.atom(node)

    def lines(self, node: Node, depth: int = 0, before: str = "", after: str = "") -> Iterator[str]:
        """Line by line, indented by two, short lists and objects on one line. Raises ValueError past our depth."""
        pad = _PAD * depth
        if not isinstance(node, list | Pairs) or self._is_short(node):
            yield f"{pad}{before}{self.line(node)}{after}"
            return
        if depth >= limits.DEEPEST:
            raise ValueError("nested too deep to be shown as a tree")
        start, end = ("{", "}") if isinstance(node, Pairs) else ("[", "]")
        yield f"{pad}{before}{start}"
        for at, (name, value) in enumerate(self._members(node), 1):
            yield from self.lines(value, depth + 1, name, "," if at < len(node) else "")
        yield f"{pad}{end}{after}"

    def atom(self, node: Node) -> str:
        """One value that holds no others."""
        if isinstance(node, MaskedText):
            return HIDDEN
        if isinstance(node, NumberText):
            return str(node)
        if isinstance(node, str):
            return json_string(node[: self.reach + 1])
        return {True: "true", False: "false"}.get(bool(node), "") if isinstance(node, bool) else "null"

    def _members(self, node: "list[Node] | Pairs") -> Iterator[tuple[str, Node]]:
        if isinstance(node, Pairs):
            return ((f"{self.atom(key)}: ", value) for key, value in node)
        return (("", value) for value in node)

    def _is_short(self, node: "list[Node] | Pairs") -> bool:
        if len(node) > limits.ONE_LINE // 3:
            return False
        values = [value for _, value in node] if isinstance(node, Pairs) else node
        if any(isinstance(value, list | Pairs) and value for value in values):
            return False
        return units(self.line(node)) <= limits.ONE_LINE


def take(lines: Iterator[str], reach: int, *, joint: str = "\n") -> tuple[str, bool]:
    """The lines joined until they pass ``reach`` units, and whether that was all of them."""
    taken: list[str] = []
    length = 0
    for line in lines:
        taken.append(line)
        length += units(line) + len(joint)
        if length > reach + len(joint):
            return joint.join(taken), False
    return joint.join(taken), True
