"""A message that Slack refused for its size or its blocks, made into one that it will take.

Slack does not say how it counts, so our budgets may be wrong somewhere; a card that stays as it was, with buttons that no
longer fit the state, would be worse than a plain one. What is left out may not be approved from it: its Approve becomes
Review, which shows everything in a view. This module must not decide when to shorten.
"""

from __future__ import annotations

from typing import Any

from blocks import ids, kit, words
from blocks.models import Rendered
from blocks.text import cut_marked

TEXT_ONLY = frozenset({"msg_too_long"})
BLOCKS = frozenset({"msg_blocks_too_long", "invalid_blocks", "invalid_blocks_format", "block_mismatch"})
TOO_MUCH = TEXT_ONLY | BLOCKS
# Below 4,000 whether Slack counts characters, UTF-16 units or the bytes of UTF-8.
TEXT = 900


def shortened(rendered: Rendered, code: str) -> Rendered:
    """The same message with a short text and, where the blocks were refused, hardly any."""
    blocks = [_reviewed(block) for block in rendered.blocks]
    if code in BLOCKS:
        note = kit.rich([kit.lines([kit.words(words.NOT_DRAWN)])])
        blocks = [*_of_type(blocks, "header"), note, *_of_type(blocks, "actions")]
    offered = tuple(kind for kind in rendered.offered if kind != "approve")
    return Rendered(blocks, cut_marked(rendered.text, TEXT), complete=False, offered=offered)


def _of_type(blocks: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [block for block in blocks if block["type"] == kind]


def _reviewed(block: dict[str, Any]) -> dict[str, Any]:
    """Approve gives way to Review."""
    if block["type"] != "actions":
        return block
    there = any(element["action_id"] == ids.REVIEW for element in block["elements"])
    elements = [
        _review(element) for element in block["elements"] if not (there and element["action_id"] == ids.APPROVE)
    ]
    return {**block, "elements": elements}


def _review(element: dict[str, Any]) -> dict[str, Any]:
    if element["action_id"] != ids.APPROVE:
        return element
    return kit.button(words.REVIEW, ids.REVIEW, element["value"], style="primary")
