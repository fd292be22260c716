"""A message that Slack refused for its size or its blocks, made into one that it will take.

Slack does not say how it counts, so our budgets may be wrong somewhere; a card that stays as it was, with buttons that no
longer fit the state, would be worse than a plain one. What is left out may not be approved from it: its Approve becomes
Review, which shows everything in a view. This module must not decide when to shorten.
"""

from __future__ import annotations

from typing import Any

from blocks import ids, kit, words
from blocks.models import CallState, CallView, Rendered, RootView
from blocks.short import short_call, short_root
from blocks.text import cut_marked

TEXT_ONLY = frozenset({"msg_too_long"})
BLOCKS = frozenset({"msg_blocks_too_long", "invalid_blocks", "invalid_blocks_format", "block_mismatch"})
TOO_MUCH = TEXT_ONLY | BLOCKS
# Below 4,000 whether Slack counts characters, UTF-16 units or the bytes of UTF-8.
TEXT = 900


def shortened(rendered: Rendered, code: str, shown: CallView | RootView) -> Rendered:
    """The same message with a short text and, where the blocks were refused, the least that a reader must know."""
    blocks = [_reviewed(block) for block in rendered.blocks]
    if code in BLOCKS:
        kept = [block for block in blocks if block["type"] == "actions" or block.get("block_id") == ids.OPERATE]
        if not _leads_to_review(kept) and isinstance(shown, CallView) and shown.state is CallState.WAITING:
            kept = [*kit.actions([kit.button(words.REVIEW, ids.REVIEW, shown.showing)], "more"), *kept]
        reviewable = _leads_to_review(kept)
        if isinstance(shown, CallView):
            told = short_call(shown, reviewable=reviewable)
        else:
            told = short_root(shown, reviewable=reviewable)
        blocks = [*told, *kept]
    offered = tuple(kind for kind in rendered.offered if kind != "approve")
    return Rendered(blocks, cut_marked(rendered.text, TEXT), complete=False, offered=offered)


def _leads_to_review(blocks: list[dict[str, Any]]) -> bool:
    return any(element["action_id"] == ids.REVIEW for block in blocks for element in block.get("elements", []))


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
