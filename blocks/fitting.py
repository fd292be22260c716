"""Which rows of arguments fit where: a share for each on a card, or all of them over pages.

It exists so that whether a display is complete is computed in one place, and only by leaving nothing out. It must not
know why there is a budget. Budgets are in ``text.weight``.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from blocks import limits
from blocks.args import JOINT, Arguments, Row
from blocks.text import cut_by_weight, weight


@dataclass(frozen=True, slots=True)
class Fit:
    """What of the arguments fits a budget. ``complete`` only if nothing at all was left out."""

    rows: tuple[Row, ...]
    shown: int
    total: int
    complete: bool


@dataclass(frozen=True, slots=True)
class Pages:
    """The arguments dealt out to pages, at least one. ``complete`` only if the last page is the end of them."""

    pages: tuple[tuple[Row, ...], ...]
    complete: bool


def fit(arguments: Arguments, budget: int, *, most_rows: int = limits.CARD_ROWS) -> Fit:
    """Choose what to show within a budget: everything, or of every argument a beginning, so that none hides another."""
    if _fits(arguments, budget, most_rows):
        return Fit(arguments.rows, arguments.total, arguments.total, complete=True)
    return _begun(arguments, tuple(_shares(arguments.rows[:most_rows], budget)))


def fit_card(arguments: Arguments) -> Fit:
    """As ``fit`` for a card: what cannot be shown whole is kept to a few lines, so that the buttons stay in sight."""
    if _fits(arguments, limits.CARD_ARGUMENTS, limits.CARD_ROWS):
        return fit(arguments, limits.CARD_ARGUMENTS)
    few = (_first_lines(row) for row in arguments.rows[: limits.CARD_ROWS])
    return _begun(arguments, tuple(_shares(tuple(few), limits.CARD_PREVIEW)))


def deal(arguments: Arguments) -> Pages:
    """Lay all rows on pages; a long value goes on where the page before stopped. Stops after the last allowed page."""
    pages: list[tuple[Row, ...]] = []
    page: list[Row] = []
    left = limits.PAGE
    for row in _pieces(arguments.rows):
        if page and (row.size > left or len(page) >= limits.PAGE_ROWS):
            pages.append(tuple(page))
            page, left = [], limits.PAGE
        if len(pages) == limits.PAGES:
            return Pages(tuple(pages), complete=False)
        page.append(row)
        left -= row.size
    return Pages((*pages, tuple(page)), complete=arguments.known)


def _fits(arguments: Arguments, budget: int, most_rows: int) -> bool:
    rows = arguments.rows
    return arguments.known and len(rows) <= most_rows and sum(row.size for row in rows) <= budget


def _begun(arguments: Arguments, rows: tuple[Row, ...]) -> Fit:
    return Fit(rows, sum(row.characters for row in rows), arguments.total, complete=False)


def _first_lines(row: Row) -> Row:
    lines = row.text.split("\n", limits.CARD_LINES)
    if len(lines) <= limits.CARD_LINES:
        return row
    return replace(row, text="\n".join(lines[: limits.CARD_LINES]), more=True)


def _shares(rows: tuple[Row, ...], budget: int) -> Iterator[Row]:
    for at, row in enumerate(rows):
        if budget < limits.ROW_LEAST:
            return
        share = max(limits.ROW_LEAST, budget // (len(rows) - at))
        shown = _shortened(row, min(share, budget))
        budget -= shown.size
        yield shown


def _pieces(rows: Iterable[Row]) -> Iterator[Row]:
    for row in rows:
        rest = row
        while _is_over(rest, limits.PAGE):
            first = _shortened(rest, limits.PAGE)
            yield first
            rest = replace(rest, text=rest.text[len(first.text) :], again=True)
        yield rest


def _shortened(row: Row, budget: int) -> Row:
    if not _is_over(row, budget):
        return row
    room = budget - weight(row.name) - JOINT
    return replace(row, text=cut_by_weight(row.text[: room + 1], room), more=True)


def _is_over(row: Row, budget: int) -> bool:
    return len(row.text) > budget or row.size > budget
