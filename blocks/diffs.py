"""What an edit changed, field by field: old and new as they are displayed.

It exists so that nobody approves an edit without seeing the difference. Two values are the same only if their display
is, and literal display never shows two different values alike. The module must not know cards.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from blocks import kit, words
from blocks.args import Arguments, Row
from blocks.kit import Json
from blocks.text import cut_by_weight


@dataclass(frozen=True, slots=True)
class Change:
    """One argument before and after; ``None`` where it is not there."""

    name: str
    old: Row | None
    new: Row | None

    @property
    def is_same(self) -> bool:
        """Whether nothing changed."""
        return _value(self.old) == _value(self.new)


def compare(old: Arguments, new: Arguments) -> tuple[Change, ...]:
    """Changes in the order of the new arguments, then what is gone."""
    before = {row.name: row for row in old.rows}
    after = {row.name: row for row in new.rows}
    kept = [Change(row.name, before.get(row.name), row) for row in new.rows]
    return (*kept, *(Change(row.name, row, None) for row in old.rows if row.name not in after))


def change_elements(changes: Iterable[Change], limit: int, *, start: Iterable[Json] = ()) -> list[Json]:
    """Old and new of each of these fields, each value cut at ``limit`` with a mark."""
    line = list(start)
    for change in changes:
        line += [kit.words("\n")] if line else []
        line += [kit.code(change.name, bold=True), kit.words("  ")] if change.name else []
        line += _side(change.old, words.ADDED, limit, strike=True)
        line.append(kit.words(f" {words.ARROW} "))
        line += _side(change.new, words.LEFT_OUT, limit)
    return [kit.lines(line)] if line else []


def unchanged_names(changes: Iterable[Change]) -> tuple[str, ...]:
    """Names of the fields that stay, in literal display."""
    return tuple(change.name for change in changes if change.is_same and change.name)


def _side(row: Row | None, absent: str, limit: int, **style: bool) -> list[Json]:
    if row is None:
        return [kit.words(absent, italic=True)]
    text = cut_by_weight(row.text, limit)
    more = [kit.words(" …")] if row.more or text != row.text else []
    return ([kit.code(text, **style)] if text else []) + more


def _value(row: Row | None) -> tuple[str, bool] | None:
    return None if row is None else (row.text, row.as_json)
