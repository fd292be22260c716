"""Whether an interrupt that a look does not list is gone for good, judged as watching judges it (`bot.core.absence`)."""

from __future__ import annotations

from bot.agent.client import AgentClient, Look
from bot.core.absence import NOT_IDLE, far_enough, list_agrees
from bot.core.model import Review
from bot.errors import AgentError
from bot.store import reviews
from bot.store.engine import Store
from bot.work.looking import find_interrupt


def is_missing(review: Review, look: Look) -> bool:
    """Whether the thread answers 404, or does not list the interrupt as it was shown.

    Listed beside another question of the same id, or by two tasks, it is not missing, though it can no more be answered.
    """
    if look.gone or look.state is None:
        return True
    one, same = find_interrupt(review, look.state)
    alone = sum(pending.id == review.interrupt_id for pending in look.state.pending) == 1
    return one is None or (alone and not one.shared and not same)


async def gone_for_good(store: Store, client: AgentClient, review: Review, look: Look, *, every_ms: int) -> bool:
    """Whether this look is the second one that misses the interrupt, far enough from the first, and the list agrees.

    The first is stored with the review, so that it outlives a restart and counts for every worker.
    """
    async with store.begin() as tx:
        since = await reviews.note_missing(tx, review.id)
        now = tx.now
    began = now - int(look.slowest * 3_000) - 1
    if not far_enough(since, began, every_ms=every_ms):
        return False
    try:
        listed = await client.statuses(NOT_IDLE)
    except AgentError:
        return False
    status = None if look.gone or look.thread is None else look.thread.status
    return list_agrees(status, listed.get(review.thread_id))
