"""What one person decided lately, in some tenants only."""

from __future__ import annotations

from collections.abc import Collection

from sqlalchemy import and_, select, text

from bot.core.model import Review, Who
from bot.store.engine import Tx
from bot.store.reviews import load_review
from bot.store.tables import ACTIVE_DECISION, decisions, reviews


async def decided_lately(tx: Tx, who: Who, *, tenants: Collection[str], limit: int) -> list[tuple[Review, int]]:
    """The newest decisions of a person that count, each as its review and position, newest first."""
    mine = and_(decisions.c.team == who.team, decisions.c.user_id == who.user, text(ACTIVE_DECISION))
    columns = select(decisions.c.review_id, decisions.c.position).join(reviews, reviews.c.id == decisions.c.review_id)
    here = columns.where(mine, reviews.c.tenant.in_(tenants))
    rows = (await tx.conn.execute(here.order_by(decisions.c.at.desc()).limit(limit))).all()
    found = [(await load_review(tx, row.review_id), row.position) for row in rows]
    return [(review, position) for review, position in found if review is not None]
