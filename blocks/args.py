"""From the source text of a call's arguments to rows of name and value for display.

It exists to answer two questions exactly: what does a reviewer see of the arguments, and is that all of them? It must
not know Block Kit. Every text in a row is already in literal display.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from blocks import limits
from blocks.models import Mask
from blocks.text import escapes_in, json_string, literal, on_one_line, units, weight, with_edges
from blocks.tree import HIDDEN, Node, Pairs, Writer, beginning, is_not_finite, leaves, mask, read_json, take

_LOOKS_LIKE_JSON: Final = re.compile(
    r'["\[{]|(?:[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|true|false|null|-?NaN|-?Infinity)\Z'
)
JOINT: Final = 3
_CHARACTERS: Final = 2  # of source text for one unit that may be shown: far more than a card needs


class ArgumentsShape(StrEnum):
    """What kind of thing the arguments are. Only an object, empty or not, can be approved or edited."""

    OBJECT = "object"
    EMPTY = "empty"
    VALUE = "value"
    MALFORMED = "malformed"
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class Row:
    """One argument. ``name`` is empty where the arguments are no object; ``block`` asks for lines of its own.

    ``more``: the value goes on beyond ``text``. ``again``: it began before. ``as_text``: it is a string that could be
    taken for JSON, shown without quotes because it has lines of its own. ``key`` is the name as sent. A name too long to
    stand before its value stands in ``text``; ``long_name`` and ``value`` are then the two apart, for comparing.
    """

    name: str
    text: str
    block: bool = False
    more: bool = False
    again: bool = False
    as_json: bool = False
    as_text: bool = False
    key: str = ""
    long_name: str = ""
    value: str | None = None

    @property
    def size(self) -> int:
        """What the row costs of a budget, by weight."""
        return weight(self.name) + weight(self.text) + JOINT

    @property
    def characters(self) -> int:
        """What people are told of its length."""
        return len(self.name) + len(self.text)


@dataclass(frozen=True, slots=True)
class Arguments:
    """The arguments as read. ``known``: the rows are all there is, so that their ``total`` is exact."""

    shape: ArgumentsShape
    rows: tuple[Row, ...] = ()
    known: bool = True
    source_length: int = 0
    declared: int = 0
    suspected: int = 0
    not_finite: int = 0  # numbers that are NaN or infinite, or become so when they are read: 1e400

    @property
    def is_object(self) -> bool:
        """Whether approve and edit make sense at all."""
        return self.shape in (ArgumentsShape.OBJECT, ArgumentsShape.EMPTY)

    @property
    def total(self) -> int:
        """Characters of all names and values; where not ``known``, about that."""
        shown = sum(row.characters for row in self.rows)
        return shown if self.known else max(self.source_length, shown)

    @property
    def escapes(self) -> int:
        """How many characters had to be written out to be seen."""
        return sum(escapes_in(row.text, as_json=row.as_json) + escapes_in(row.name, as_json=False) for row in self.rows)


@dataclass(frozen=True, slots=True)
class Parsed:
    """Source text read once, with what is hidden already taken out. ``node`` is nothing where it is not JSON.

    ``cut``: the node is only a beginning, and what follows was not read.
    """

    source: str | None
    shape: ArgumentsShape
    node: Node = None
    masks: tuple[Mask, ...] = ()
    cut: bool = False


def parse(source: str | None, masks: Iterable[Mask] = (), *, reach: int | None = None) -> Parsed:
    """Read source text; never raises, whatever the text is. With ``reach`` no more than so many units can show."""
    masks = tuple(masks)
    if source is None:
        return Parsed(None, ArgumentsShape.MISSING, masks=masks)
    try:
        begun = beginning(source, _CHARACTERS * reach) if reach is not None else None
        node = read_json(source if begun is None else begun)
        return Parsed(source, _shape(node), _masked(node, masks), masks, cut=begun is not None)
    except (ValueError, RecursionError):
        return Parsed(source, ArgumentsShape.MALFORMED, masks=masks)


def read_arguments(parsed: Parsed, *, reach: int = limits.READ_PAGES) -> Arguments:
    """The arguments as rows, as far as ``reach`` units of display."""
    if parsed.source is None:
        return Arguments(ArgumentsShape.MISSING)
    if parsed.shape is ArgumentsShape.MALFORMED:
        return _from_text(parsed, parsed.source, reach)
    try:
        return _from_tree(parsed, parsed.source, reach)
    except ValueError:
        return _from_text(parsed, parsed.source, reach)


def skimmed(source: str | None, masks: Iterable[Mask], *, reach: int = limits.READ_CARD) -> Arguments:
    """Source text as rows, looked at no further than ``reach`` units need."""
    return read_arguments(parse(source, masks, reach=reach), reach=reach)


def value_text(text: str) -> str:
    """A string for people: bare, or in quotes where only these tell it from a number, a word of JSON or nothing."""
    if "\n" in text.strip(" \t\n"):
        return with_edges(text)
    quoted = not text or _LOOKS_LIKE_JSON.match(text) or text.strip(" \t\n") != text
    return json_string(text) if quoted else literal(text)


def name_text(text: str) -> str:
    """A name (of a tool or an argument) on one line, in quotes where it would be empty or begin or end blank."""
    return json_string(text) if not text or text.strip() != text or text.startswith('"') else on_one_line(text)


def one_line(parsed: Parsed, limit: int) -> tuple[str, bool]:
    """The arguments as JSON on one line, for plain text, with whether this is all of them.

    Where it is not, the text may be longer than ``limit`` units: it is still to be cut.
    """
    if parsed.source is None:
        return "", True
    if parsed.shape is not ArgumentsShape.MALFORMED:
        try:
            text, whole = take(_closed_up(Writer(limit).lines(parsed.node)), limit, joint="")
        except ValueError:
            pass
        else:
            return text, whole and not parsed.cut
    if parsed.masks:
        return HIDDEN, False
    return on_one_line(parsed.source[: limit + 1]), len(parsed.source) <= limit


def _closed_up(lines: Iterable[str]) -> Iterator[str]:
    """Lines of a tree without their indent, with a blank only where it separates two values."""
    before = "{"
    for line in lines:
        text = line.strip(" ")
        yield text if before[-1] in "{[" or text[0] in "}]" else f" {text}"
        before = text


def _masked(node: Node, masks: tuple[Mask, ...]) -> Node:
    return mask(node, [each.path for each in masks]) if masks else node


def _from_tree(parsed: Parsed, source: str, reach: int) -> Arguments:
    rows: list[Row] = []
    known = not parsed.cut
    for name, value in parsed.node if isinstance(parsed.node, Pairs) else [(None, parsed.node)]:
        if reach <= 0:
            known = False
            break
        row = _row(name, value, reach)
        rows.append(row)
        reach -= row.size
        known = known and not row.more
    declared = sum(each.declared for each in parsed.masks)
    suspected = len(parsed.masks) - declared
    not_finite = sum(map(is_not_finite, leaves(parsed.node)))
    return Arguments(parsed.shape, tuple(rows), known, len(source), declared, suspected, not_finite)


def _row(name: str | None, value: Node, reach: int) -> Row:
    label = "" if name is None else name_text(name[: limits.ARGUMENT_NAME + 1])
    if name is not None and units(label) > limits.ARGUMENT_NAME:
        apart = _row(None, value, reach)
        joined = _json_row("", Pairs([(name, value)]), reach)
        return replace(joined, key=name, long_name=name_text(name), value=apart.text)
    return replace(_named_row(label, value, reach), key=name or "")


def _named_row(label: str, value: Node, reach: int) -> Row:
    if type(value) is str:
        text = value_text(value[: reach + 1])
        bare = "\n" in text
        as_json, as_text = (False, _LOOKS_LIKE_JSON.match(text) is not None) if bare else (text.startswith('"'), False)
        return Row(label, text, _wants_lines(text), len(value) > reach, as_json=as_json, as_text=as_text)
    return _json_row(label, value, reach)


def _json_row(label: str, value: Node, reach: int) -> Row:
    text, whole = take(Writer(reach).lines(value), reach)
    return Row(label, text, block=_wants_lines(text), more=not whole, as_json=True)


def _wants_lines(text: str) -> bool:
    return "\n" in text or units(text) > limits.ROW_LEAST


def _shape(node: Node) -> ArgumentsShape:
    if isinstance(node, Pairs):
        return ArgumentsShape.OBJECT if node else ArgumentsShape.EMPTY
    return ArgumentsShape.VALUE


def _from_text(parsed: Parsed, source: str, reach: int) -> Arguments:
    """Text that is no tree for us. Nothing in it can be masked by path, so a mask hides all of it."""
    if parsed.masks:
        row, declared = Row("", HIDDEN), any(each.declared for each in parsed.masks)
        hidden = {"declared": int(declared), "suspected": int(not declared)}
        return Arguments(parsed.shape, (row,), known=False, source_length=len(source), **hidden)
    text = literal(source[: reach + 1]) or json_string(source)
    row = Row("", text, block=True, more=len(source) > reach)
    return Arguments(parsed.shape, (row,), known=not row.more, source_length=len(source))
