"""Blocks, and what holds over all blocks of one payload: ids are unique, one element at most takes the focus."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from bot.sandbox.slack.blockkit import elements, limits, texts
from bot.sandbox.slack.blockkit.checks import (
    Check,
    Finding,
    boolean,
    by_type,
    every,
    items,
    literal,
    obj,
    one_of,
    string,
)
from bot.sandbox.slack.blockkit.richtext import RICH_TEXT_ELEMENT

_ID: dict[str, Check] = {"block_id": string(limits.BLOCK_ID)}


def _text_or_fields(value: Any, at: str) -> Iterator[Finding]:
    if "text" not in value and "fields" not in value:
        yield at, "missing required field: text or fields"


def _action_ids_differ(value: Any, at: str) -> Iterator[Finding]:
    seen: set[str] = set()
    for index, element in enumerate(value["elements"]):
        action_id = element.get("action_id")
        if action_id in seen:
            yield f"{at}/elements/{index}/action_id", f"`action_id` {action_id} already exists in this block"
        if action_id is not None:
            seen.add(action_id)


SECTION = every(
    obj(
        {"type": one_of("section")},
        {
            **_ID,
            "text": texts.any_text(limits.SECTION_TEXT),
            "fields": items(texts.any_text(limits.SECTION_FIELD), limits.SECTION_FIELDS, 1),
            "accessory": elements.ACCESSORY,
            "expand": boolean,
        },
    ),
    _text_or_fields,
)
HEADER = obj({"type": one_of("header"), "text": texts.plain_text(limits.HEADER_TEXT)}, _ID)
_CONTEXT_TEXTS = by_type(
    {
        "image": elements.IMAGE,
        "plain_text": texts.plain_text(),
        "mrkdwn": texts.any_text(),
    }
)
CONTEXT = obj(
    {"type": one_of("context"), "elements": items(_CONTEXT_TEXTS, limits.CONTEXT_ELEMENTS, 1)},
    _ID,
)
ACTIONS = every(
    obj({"type": one_of("actions"), "elements": items(elements.ACTION, limits.ACTIONS_ELEMENTS, 1)}, _ID),
    _action_ids_differ,
)
DIVIDER = obj({"type": one_of("divider")}, _ID)
RICH_TEXT = obj({"type": one_of("rich_text"), "elements": items(RICH_TEXT_ELEMENT, None, 1)}, _ID)
INPUT = obj(
    {"type": one_of("input"), "label": texts.plain_text(limits.INPUT_LABEL), "element": elements.INPUT},
    {
        **_ID,
        "hint": texts.plain_text(limits.INPUT_HINT),
        "optional": boolean,
        "dispatch_action": boolean,
    },
)
IMAGE = obj(
    {
        "type": one_of("image"),
        "image_url": string(limits.IMAGE_URL, 1),
        "alt_text": literal(limits.ALT_TEXT),
    },
    {**_ID, "title": texts.plain_text(limits.IMAGE_TITLE)},
)
BLOCK = by_type(
    {
        "section": SECTION,
        "header": HEADER,
        "context": CONTEXT,
        "actions": ACTIONS,
        "divider": DIVIDER,
        "rich_text": RICH_TEXT,
        "input": INPUT,
        "image": IMAGE,
    }
)


def block_ids_differ(value: Any, at: str) -> Iterator[Finding]:
    """No two blocks may share an id; two empty ones collide as well."""
    seen: Counter[str] = Counter()
    for index, block in enumerate(value):
        block_id = block.get("block_id")
        if block_id is not None and seen[block_id]:
            yield f"{at}/{index}/block_id", f"`block_id` {block_id} already exists"
        if block_id is not None:
            seen[block_id] += 1


def one_focus(value: Any, at: str) -> Iterator[Finding]:
    """At most one element of a view may ask for the focus."""
    focused = 0
    for index, block in enumerate(value):
        candidates = [block.get("element"), block.get("accessory"), *block.get("elements", [])]
        focused += sum(1 for element in candidates if element and element.get("focus_on_load"))
        if focused > 1:
            yield f"{at}/{index}", "only one element may have focus_on_load"
            return


def blocks(most: int) -> Check:
    """A payload's blocks: at most `most`, each well formed, ids unique."""
    return every(items(BLOCK, most), block_ids_differ, one_focus)
