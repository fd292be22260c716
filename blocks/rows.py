"""Rows of arguments, and all else that others wrote, as rich_text.

It exists because this is the only door through which text of the agent or of a reviewer enters a block, and that door
leads to ``text`` elements in code style or to preformatted text, under labels of ours. It must not decide what to show.
"""

from collections.abc import Iterable

from blocks import call as said
from blocks import elements as kit
from blocks import limits, words
from blocks.args import Arguments, ArgumentsShape, Row, name_text
from blocks.elements import Json
from blocks.models import CallView
from blocks.text import cut_by_weight, literal, weight


def tool_line(tool: str, limit: int) -> tuple[list[Json], bool]:
    """The tool's real name under our label, and whether the name stands there in full."""
    if not tool:
        return [kit.words(words.ASKS, bold=True)], True
    name = name_text(tool[: limit + 1])
    whole = weight(name) <= limit
    elements = [kit.words(f"{words.TOOL}  ", bold=True), kit.code(cut_by_weight(name, limit))]
    return elements + ([] if whole else [kit.words(" …")]), whole


def row_elements(rows: Iterable[Row], *, start: list[Json] | None = None) -> list[Json]:
    """Rows as elements of one rich_text block, short values in lines, long ones in boxes. ``start``: a first line."""
    done: list[Json] = []
    line: list[Json] = list(start or [])
    for row in rows:
        if row.block:
            line += _break(line) + _head(row)
            done += ([kit.lines(line)] if line else []) + [kit.box(row.text)]
            line = [kit.words(words.GOES_ON, italic=True)] if row.more else []
        else:
            line += _break(line) + _head(row) + _value(row)
    return done + ([kit.lines(line)] if line else [])


def shape_note(arguments: Arguments) -> list[Json]:
    """What stands instead of rows where there are none."""
    note = {ArgumentsShape.EMPTY: words.NO_ARGUMENTS, ArgumentsShape.MISSING: words.MISSING}.get(arguments.shape)
    return [kit.words(note, italic=True)] if note else []


def quote(label: str, text: str, limit: int) -> Json:
    """Free text of others under a label of ours, as far as it fits, and how much more there is."""
    shown = literal(text[: limit + 1]).strip("\n") or name_text(text[:limit])
    kept = cut_by_weight(shown, limit)
    elements = [kit.lines([kit.words(label, bold=True)]), kit.box(kept)]
    if kept == shown and len(text) <= limit:
        return kit.rich(elements)
    note = words.CHARACTERS.format(
        shown=words.count(min(limit, len(kept))), total=words.count(max(len(text), len(shown)))
    )
    return kit.rich([*elements, kit.lines([kit.words(note, italic=True)])])


def started(call: CallView) -> list[Json]:
    """What the policy has shown of what the run was started with; nothing where it asks for nothing."""
    text = said.started_text(call)
    return [kit.rich([kit.lines([kit.words(words.STARTED_WITH, bold=True)]), kit.box(text)])] if text else []


def policy_line(call: CallView) -> list[Json]:
    """What is missing in the policy, to be copied; nothing where nothing is."""
    if not call.policy_line:
        return []
    return [kit.rich([kit.lines([kit.words(words.POLICY_LINE, bold=True)]), kit.box(call.policy_line)])]


def tool_name(tool: str) -> list[Json]:
    """A tool's name in a list of calls, short, with a mark where it was cut; a question has none."""
    if not tool:
        return [kit.words(words.QUESTION, italic=True)]
    name = name_text(tool[: limits.ROOT_TOOL + 1])
    kept = cut_by_weight(name, limits.ROOT_TOOL)
    return [kit.code(kept), *([] if kept == name else [kit.words(" …")])]


def preview(arguments: Arguments) -> tuple[str, bool]:
    """The first values on one short line, for lists of calls, blanks drawn together; and whether that is all."""
    text = " ".join(", ".join(row.text for row in arguments.rows[:3]).split())
    kept = cut_by_weight(text, limits.ROOT_PREVIEW)
    return kept, kept == text and arguments.known and len(arguments.rows) <= 3


def preview_elements(arguments: Arguments, *, edited: bool) -> list[Json]:
    """As ``preview``, after a blank and a mark where an edit put these values there; what is missing is marked."""
    kept, whole = preview(arguments)
    mark = [kit.words(f"  {words.EDITED_MARK}", italic=True)] if edited else []
    shown = [kit.words("  "), kit.code(kept)] if kept else []
    return [*mark, *shown, *([] if whole else [kit.words(" …")])]


def _break(line: list[Json]) -> list[Json]:
    return [kit.words("\n")] if line else []


def _head(row: Row) -> list[Json]:
    head = [kit.code(row.name, bold=True)] if row.name else []
    if row.as_text:
        head += [kit.words(f" {words.AS_TEXT}", italic=True)]
    if row.again:
        head += [kit.words(f" {words.GOES_ON_FROM}", italic=True)]
    return [*head, kit.words("  ")] if head else []


def _value(row: Row) -> list[Json]:
    more = [kit.words(" …")] if row.more else []
    return ([kit.code(row.text)] if row.text else []) + more
