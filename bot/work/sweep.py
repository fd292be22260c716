"""The sweeper: what time alone does.

Reviews that nobody decided in time expire by the database's clock, and cards lose Approve in their last minute. What
happens to an expired review is the dispatcher's work.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from bot.core.decide import LAST_MINUTE_MS
from bot.core.model import ReviewState
from bot.store import decisions, reviews
from bot.store.engine import Store
from bot.store.expiry import near_expiry
from bot.store.refusals import any_over, close_refusals

BATCH = 100


@dataclass(slots=True)
class Sweeper:
    """One replica's sweeper; several may run."""

    store: Store
    changed: Callable[[], None]
    _redrawn: set[str] = field(default_factory=set)

    async def step(self) -> bool:
        """Expire what is due. Answers whether there may be more."""
        expired = await self._expire()
        redrawn = await self._redraw()
        if expired or redrawn:
            self.changed()
        return expired == BATCH

    async def _expire(self) -> int:
        async with self.store.begin() as tx:
            due = await reviews.due_to_expire(tx, limit=BATCH)
            for review_id in due:
                review = await reviews.load_review(tx, review_id, lock=True)
                if review is not None and review.state in (ReviewState.OPEN, ReviewState.DECIDED):
                    await reviews.move(tx, review, ReviewState.EXPIRED)
            await decisions.purge_answers(tx)
            if await any_over(tx):
                await close_refusals(tx, limit=BATCH)
        return len(due)

    async def _redraw(self) -> int:
        """Each process asks once for each card; an unchanged card costs no call."""
        async with self.store.read() as tx:
            near = set(await near_expiry(tx, within_ms=LAST_MINUTE_MS, limit=BATCH))
        new = near - self._redrawn
        if new:
            async with self.store.begin() as tx:
                for review_id in new:
                    await reviews.touch(tx, review_id)
        self._redrawn = near
        return len(new)
