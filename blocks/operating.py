"""What operators get to see: a menu on the card, and the window that asks whether it is meant.

The menu stands behind dots, apart from the buttons that decide, because everybody sees the card and only operators may
use it. It must not know who is an operator, nor how anything is carried out.
"""

from collections.abc import Sequence

from blocks import ids, kit, limits
from blocks import words_operators as words
from blocks.args import name_text
from blocks.kit import Json
from blocks.text import cut_by_weight, cut_plain
from blocks.words import CANCEL

NOTE = 500


def operator_menu(operations: Sequence[str], showing: str) -> list[Json]:
    """A line with the menu; no block where there is nothing to ask for."""
    if not operations:
        return []
    menu = kit.overflow(
        ids.OPERATE, [(ids.encode_operation(one, showing), words.MENU_PLAIN[one]) for one in operations]
    )
    return [{**kit.section(words.FOR_OPERATORS), "block_id": ids.OPERATE, "accessory": menu}]


def operation_modal(operation: str, *, showing: str, tools: Sequence[str], twice: bool = False) -> Json:
    """What `operation` will do, what it concerns, and for `settle` what was found (`twice`: how often it ran)."""
    explained = words.EXPLAINED_TWICE if twice else words.EXPLAINED[operation]
    blocks = [kit.section(explained), kit.rich([_concerns(tools)])]
    if operation == "settle":
        blocks += [_note()] if twice else [_found(), _note()]
    return kit.modal(
        cut_plain(words.TITLE_PLAIN[operation], limits.MODAL_TITLE),
        blocks,
        callback_id=ids.CALLBACKS_OPERATE[operation],
        showing=showing,
        submit=words.SUBMIT_PLAIN[operation],
        close=CANCEL,
    )


def _concerns(tools: Sequence[str]) -> Json:
    line = [kit.words(f"{words.CONCERNS}  ", bold=True)]
    for tool in tools[: limits.PEOPLE]:
        line += [kit.code(cut_by_weight(name_text(tool[: limits.ROOT_TOOL + 1]), limits.ROOT_TOOL)), kit.words(" ")]
    more = len(tools) - limits.PEOPLE
    return kit.lines([*line, kit.words(f"+{more}")] if more > 0 else line)


def _found() -> Json:
    return kit.field(ids.FOUND, words.FOUND_PLAIN, kit.radio(ids.CHOICE, words.FOUND_OPTIONS_PLAIN, None))


def _note() -> Json:
    return kit.field(ids.NOTE, words.NOTE_PLAIN, kit.text_input(ids.MESSAGE, None, longest=NOTE))
