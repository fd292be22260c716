"""Reviews whose time is nearly up: their cards lose Approve in the last minute."""

from __future__ import annotations

from sqlalchemy import select, text

from bot.store.engine import Tx
from bot.store.tables import EXPIRABLE, reviews


async def near_expiry(tx: Tx, *, within_ms: int, limit: int) -> list[str]:
    """Ids of reviews with less than `within_ms` left, and some."""
    left = (reviews.c.decide_by > tx.now) & (reviews.c.decide_by <= tx.now + within_ms)
    statement = select(reviews.c.id).where(text(EXPIRABLE), left, reviews.c.state == "open")
    return list(await tx.conn.scalars(statement.order_by(reviews.c.decide_by).limit(limit)))
