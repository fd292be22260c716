"""Ending what is unknown, and opening again what is held: by the agent server's state, or by an operator's word.

Each is one transition with its record, on a review as it was loaded; None means that somebody else was first. Who says
so, and on what grounds, is for the caller to know.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import not_, text, update

from bot.core.model import Outcome, Review, ReviewState
from bot.store.audit import events
from bot.store.decisions import record_approvals, void_decisions
from bot.store.engine import Tx
from bot.store.reviews import make_move, reopen, store_outcomes
from bot.store.tables import DUE_REVIEW, actions, dispatches, reviews
from bot.store.transitions import Move


@dataclass(frozen=True, slots=True)
class Settlement:
    """What an unknown review turns out to be, and what became of its calls."""

    to: ReviewState
    why: str = ""
    actor: str = events.PLACET
    outcomes: Mapping[int, tuple[Outcome, str | None]] = field(default_factory=dict)
    content: Mapping[str, Any] = field(default_factory=dict)


async def settle(tx: Tx, review: Review, made: Settlement) -> Review | None:
    """Settle an unknown review. One that is decided again waits to be claimed, and is looked at before it is sent."""
    told = {str(position): outcome.value for position, (outcome, _) in made.outcomes.items()}
    content = {"outcomes": told, **made.content}
    settled = await make_move(tx, review, Move(made.to, made.why, made.actor, content))
    if settled is None:
        return None
    await _release_held_back(tx, review.tenant)
    if made.to is ReviewState.DECIDED:
        await tx.conn.execute(update(actions).where(actions.c.review_id == review.id).values(outcome=None))
    await store_outcomes(tx, review.id, made.outcomes)
    # Sent again, it may become unknown again, and that is to be told again.
    again = {"alarm": None, "alarmed_at": None} if made.to is ReviewState.DECIDED else {}
    await _dispatch(tx, review.id, outcome=made.to.value, why=made.why, **again)
    return settled


async def _release_held_back(tx: Tx, tenant: str) -> None:
    """What the policy held back while this was unknown is looked at again at once."""
    waiting = (reviews.c.tenant == tenant) & text(DUE_REVIEW) & (reviews.c.why == "after_unknown")
    await tx.conn.execute(update(reviews).where(waiting).values(next_try_at=tx.now))
    tx.wakes.add("dispatch")


async def open_held(tx: Tx, review: Review, *, decide_within_ms: int | None, actor: str) -> Review | None:
    """Open a held review again with new time; what was decided before counts no more."""
    opened = await reopen(tx, review, decide_within_ms=decide_within_ms, actor=actor, why="reopened")
    if opened is None:
        return None
    # Its dispatch was to reject everything. What people decide now is no expiry.
    await _dispatch(tx, review.id, expiry=False)
    return await ask_anew(tx, opened, why="reopened", actor=actor)


async def ask_anew(tx: Tx, review: Review, *, why: str, actor: str) -> Review:
    """Let no decision of an unsent review count any more, nor any approval that waits for others."""
    voided = await void_decisions(tx, review, why=why, actor=actor) or review
    half = [action.position for action in voided.actions if action.approvals]
    return await record_approvals(tx, voided, (), voided=half, why=why) or voided


async def _dispatch(tx: Tx, review_id: str, **changes: Any) -> None:
    here = (dispatches.c.review_id == review_id) & not_(dispatches.c.live)
    await tx.conn.execute(update(dispatches).where(here).values(**changes))
