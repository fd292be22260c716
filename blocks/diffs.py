"""What an edit changed, argument by argument: old and new as they are displayed.

It exists so that nobody approves an edit without seeing the difference. Two values are the same only if their display
is, and literal display never shows two different values alike. The module must not know cards.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from blocks import elements, limits, words
from blocks.args import Arguments, Row
from blocks.elements import Json
from blocks.text import cut_by_weight, weight


@dataclass(frozen=True, slots=True)
class ArgumentChange:
    """One argument before and after; ``None`` where it is not there. ``name``: in full, in literal display."""

    name: str
    old: Row | None
    new: Row | None

    @property
    def is_same(self) -> bool:
        """Whether nothing changed."""
        return _value(self.old) == _value(self.new)


@dataclass(frozen=True, slots=True)
class DiffRows:
    """The changes as far as there was room: ``shown`` of ``total`` with their name and their old value in full."""

    elements: list[Json]
    shown: int
    total: int
    new_in_full: bool = True

    @property
    def is_whole(self) -> bool:
        """Whether every change is there, so that only what runs has to be read beside it."""
        return self.shown == self.total


def compare(old: Arguments, new: Arguments) -> tuple[ArgumentChange, ...]:
    """Changes in the order of the new arguments, then what is gone. Both must have been read in full."""
    before, after = _keyed(old.rows), _keyed(new.rows)
    kept = [ArgumentChange(_label(row), before.get(key), row) for key, row in after.items()]
    return (*kept, *(ArgumentChange(_label(row), row, None) for key, row in before.items() if key not in after))


def changed_only(changes: Sequence[ArgumentChange]) -> tuple[ArgumentChange, ...]:
    """Without the arguments that stay as they were."""
    return tuple(change for change in changes if not change.is_same)


def draw(changes: Sequence[ArgumentChange], room: int, *, value: int, start: Sequence[Json] = ()) -> DiffRows:
    """Old and new of each change, each side cut at ``value`` with a mark, until the room (by weight) is used up."""
    changed = changed_only(changes)
    line, shown, new_in_full = list(start), 0, True
    for at, change in enumerate(changed):
        name = cut_by_weight(change.name, limits.ARGUMENT_NAME)
        sides = [cut_by_weight(_text(row), value) for row in (change.old, change.new)]
        room -= weight(name) + sum(map(weight, sides))
        if room < 0:
            new_in_full = new_in_full and all(each.new is None for each in changed[at:])
            break
        line += [elements.words("\n")] if line else []
        line += (
            [elements.code(name, bold=True), elements.words("  " if name == change.name else " …  ")] if name else []
        )
        line += _side(change.old, sides[0], words.ADDED, strike=True)
        line.append(elements.words(f" {words.ARROW} "))
        line += _side(change.new, sides[1], words.LEFT_OUT)
        shown += name == change.name and sides[0] == _text(change.old)
        new_in_full = new_in_full and sides[1] == _text(change.new)
    return DiffRows([elements.lines(line)] if line else [], shown, len(changed), new_in_full)


def unchanged_names(changes: Sequence[ArgumentChange]) -> tuple[str, ...]:
    """Names of the arguments that stay, in literal display."""
    return tuple(change.name for change in changes if change.is_same and change.name)


def _keyed(rows: Sequence[Row]) -> dict[tuple[str, int], Row]:
    """By the full name, and by how often it came before: a name that stands twice is shown twice."""
    count: Counter[str] = Counter()
    keyed = {}
    for row in rows:
        keyed[(row.key, count[row.key])] = row
        count[row.key] += 1
    return keyed


def _label(row: Row) -> str:
    return row.name or row.long_name


def _side(row: Row | None, text: str, absent: str, **style: bool) -> list[Json]:
    if row is None:
        return [elements.words(absent, italic=True)]
    more = [elements.words(" …")] if text != _text(row) else []
    return ([elements.code(text, **style)] if text else []) + more


def _text(row: Row | None) -> str:
    return "" if row is None else row.text if row.value is None else row.value


def _value(row: Row | None) -> tuple[str, bool] | None:
    return None if row is None else (row.text, row.as_json)
