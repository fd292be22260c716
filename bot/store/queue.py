"""What one person decided lately, in some tenants only."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import and_, false, or_, select, text

from bot.core.model import Review, Who
from bot.store.engine import Tx
from bot.store.reviews import load_review
from bot.store.tables import ACTIVE_DECISION, decisions, reviews


async def decided_lately(tx: Tx, who: Mapping[str, Who | None], *, limit: int) -> list[tuple[Review, int]]:
    """The newest decisions of a person that count, each as its review and position, newest first.

    `who` is the person's key in each tenant.
    """
    mine = [
        and_(reviews.c.tenant == tenant, decisions.c.team == key.team, decisions.c.user_id == key.user)
        for tenant, key in who.items()
        if key is not None
    ]
    columns = select(decisions.c.review_id, decisions.c.position).join(reviews, reviews.c.id == decisions.c.review_id)
    here = columns.where(or_(false(), *mine), text(ACTIVE_DECISION))
    rows = (await tx.conn.execute(here.order_by(decisions.c.at.desc()).limit(limit))).all()
    found = [(await load_review(tx, row.review_id), row.position) for row in rows]
    return [(review, position) for review, position in found if review is not None]
