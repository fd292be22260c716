"""What a watcher of a card must not miss, as one reply in its thread: a card that changes pings nobody.

Replies are rows, one for each review and reason, so that no redraw says anything twice. What an operator must look at is an
alarm of the workers, which says it here too. This module must not know how messages are written.
"""

from __future__ import annotations

from blocks import reasons
from bot.core.model import Review
from bot.store import notices
from bot.store.engine import Tx
from bot.store.messages import Message

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
