"""One message as it should be now, a shorter one where Slack refused it, and replies in its thread.

Pure: a message is a projection of the stored review, and two drawings of the same content have the same key, whatever
their showings are called.

A message that Slack refused for its size or its blocks, made into one that it will take. Slack does not say how it
counts, so our budgets may be wrong somewhere; a card that stays as it was, with buttons that no longer fit the state,
would be worse than a plain one. What is left out may not be approved from it: its Approve becomes Review, which shows
everything in a view.

What a watcher of a card must not miss, as one reply in its thread: a card that changes pings nobody. Replies are
rows, one for each review and reason, so that no redraw says anything twice. What an operator must look at is an alarm
of the workers, which says it here too.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from typing import Any

from blocks import elements as kit
from blocks import ids, reasons, words
from blocks.cards import call_card, short_call, short_root
from blocks.models import CallState, CallView, Rendered, RootView
from blocks.roots import root_card
from blocks.text import cut_marked
from bot.core.decide import review_digest
from bot.core.model import DecisionType, Offer, Review, Showing, ShowingKind
from bot.policy.matching import tool_settings
from bot.policy.model import TenantPolicy
from bot.slack.outbound.projection import DrawingContext, call_view, root_view
from bot.slack.windows.review import new_showing_id
from bot.store import notices
from bot.store.engine import Tx
from bot.store.messages import Message
from bot.store.transitions import QUIET_MS, UNDER_WAY


@dataclass(frozen=True, slots=True)
class DrawnMessage:
    """A message as it should be now, and the showing that it makes."""

    rendered: Rendered
    showing: Showing
    content_key: str
    shown: CallView | RootView

    def shorter(self, code: str) -> DrawnMessage:
        """The same after Slack refused it for its size or its blocks. The key stays: it is drawn once for one content."""
        made = replace(
            self.showing,
            id=new_showing_id(),
            offers=tuple(replace(offer, complete=False) for offer in self.showing.offers),
        )
        short = _renamed(shortened(self.rendered, code, self.shown), self.showing.id, made.id)
        return DrawnMessage(short, made, self.content_key, self.shown)


def _renamed(rendered: Rendered, old: str, new: str) -> Rendered:
    blocks = json.loads(json.dumps(rendered.blocks).replace(old, new))
    return replace(rendered, blocks=blocks)


def decide_within(review: Review, tenant: TenantPolicy) -> int | None:
    """The shortest time to decide among the review's tools, in ms; None when none expires."""
    if review.problem:
        return None  # nobody could decide it in time, so its time does not run
    times = [tool_settings(tenant, action.tool).decide_within_ms for action in review.actions]
    return min((time for time in times if time is not None), default=None)


def quiet_until(review: Review, message: Message, now: int) -> int | None:
    """When to look again instead of drawing a state that will pass, or None to draw now."""
    if message.ts is None or review.state not in UNDER_WAY:
        return None
    last = max((action.decision.at for action in review.actions if action.decision), default=0)
    return last + QUIET_MS if now < last + QUIET_MS else None


def draw(review: Review, drawing: DrawingContext, message: Message) -> DrawnMessage:
    """Project one message; the showing is new, and is stored only if the content is."""
    if review.delivered_at is None:
        # The time to decide starts with this very post.
        within = decide_within(review, drawing.tenant)
        review = replace(review, decide_by=None if within is None else drawing.now + within)
    showing_id = new_showing_id()
    shown: CallView | RootView
    if message.position is None:
        root = root_view(review, drawing, showing=showing_id)
        shown, rendered = root, root_card(root)
        offers: tuple[Offer, ...] = ()
        kind, digest = ShowingKind.ROOT, review_digest(review)
    else:
        action = review.actions[message.position]
        call = call_view(review, action, drawing, showing=showing_id)
        shown, rendered = call, call_card(call)
        kinds = tuple(DecisionType(kind) for kind in rendered.offered)
        offers = (Offer(action.position, kinds, rendered.complete),)
        kind, digest = ShowingKind.CARD, action.standing_digest
    showing = Showing(
        showing_id, review.id, message.position, kind, digest, offers, message_id=message.id, at=drawing.now
    )
    return DrawnMessage(rendered, showing, _key(rendered, showing_id, digest), shown)


def _key(rendered: Rendered, showing_id: str, digest: str) -> str:
    """What a reader could tell apart, without the showing's own id."""
    content = json.dumps([rendered.blocks, rendered.text, rendered.complete, digest]).replace(showing_id, "s")
    return hashlib.sha256(content.encode()).hexdigest()


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


TOLD = frozenset({"voided_authority", "voided_policy", "voided_unsendable"})


async def reply_once(tx: Tx, review: Review | None, message: Message) -> None:
    """Want a reply under the review's first message, if its reason is one of those."""
    if review is None or review.why not in TOLD or message.ts is None or message.position not in (None, 0):
        return
    if message.position == 0 and message.parent_id is not None:
        return  # the root's thread is the one that people follow
    await notices.add_notice(
        tx,
        tenant=review.tenant,
        channel=message.channel,
        user=None,
        thread_ts=message.ts,
        text=reasons.why_text(review.why),
        key=f"reply:{review.id}:{review.why}",
    )
