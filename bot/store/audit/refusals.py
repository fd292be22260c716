"""Refused presses in the record: the first of its kind at once, its repeats counted in one event a minute.

Somebody who presses a button a hundred times must not write a hundred events, and must not go unnoticed either. Sealed
events never change, so repeats are counted in a row of their own, which becomes one event when its minute is over: at
the next refusal, or by the sweeper. What is refused, and why, is judged elsewhere.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Row, and_, delete, func, select, update

from bot.core.model import PersonId
from bot.store.audit import events
from bot.store.dialects import insert_once
from bot.store.engine import Tx
from bot.store.tables import refusals

MINUTE_MS = 60_000
PLACES = 20  # reviews that a count names; the rest are counted together
OTHERS = "others"


@dataclass(frozen=True, slots=True)
class PressRefused:
    """A refused press: whose, in which chain, for which reason, on what. `content` is more to record of the first."""

    tenant: str
    who: PersonId
    reason: str
    review_id: str | None = None
    position: int | None = None
    content: Mapping[str, Any] = field(default_factory=dict)


async def record_refusal(tx: Tx, refused: PressRefused) -> None:
    """Record one, or count it with those of its minute."""
    fresh = {"since": tx.now, "until": tx.now + MINUTE_MS, "more": 0, "places": "{}"}
    key = {"tenant": refused.tenant, "team": refused.who.team, "user_id": refused.who.user, "reason": refused.reason}
    if not await insert_once(tx, refusals, key | fresh):
        row = await _held(tx, key)
        if row is not None and tx.now < row.until:
            await tx.conn.execute(update(refusals).where(_here(key)).values(**_counted(row, refused)))
            return
        if row is not None:
            await _close(tx, row)
            await tx.conn.execute(update(refusals).where(_here(key)).values(**fresh))
    await _record(tx, refused)


async def _record(tx: Tx, refused: PressRefused) -> None:
    await events.record(
        tx,
        tenant=refused.tenant,
        kind="press.refused",
        review_id=refused.review_id,
        position=refused.position,
        actor=events.slack_actor(refused.who),
        content={"reason": refused.reason, **refused.content},
    )


async def _held(tx: Tx, key: Mapping[str, str]) -> Row[Any] | None:
    return (await tx.conn.execute(select(refusals).where(_here(key)).with_for_update())).one_or_none()


def _here(key: Mapping[str, str]) -> Any:
    return and_(*(refusals.c[name] == value for name, value in key.items()))


def _counted(row: Row[Any], refused: PressRefused) -> dict[str, Any]:
    places = json.loads(row.places)
    place = refused.review_id or ""
    place = place if place in places or len(places) < PLACES else OTHERS
    places[place] = places.get(place, 0) + 1
    return {"more": row.more + 1, "places": json.dumps(places)}


async def any_over(tx: Tx) -> bool:
    """Whether some minute is over."""
    first = await tx.conn.scalar(select(func.min(refusals.c.until)))
    return first is not None and first <= tx.now


async def close_refusals(tx: Tx, *, limit: int = 100) -> int:
    """Turn counts whose minute is over into events; returns how many minutes were closed."""
    over = select(refusals).where(refusals.c.until <= tx.now).order_by(refusals.c.until).limit(limit)
    rows = (await tx.conn.execute(over.with_for_update(skip_locked=True))).all()
    for row in rows:
        await _close(tx, row)
        key = {"tenant": row.tenant, "team": row.team, "user_id": row.user_id, "reason": row.reason}
        await tx.conn.execute(delete(refusals).where(_here(key)))
    return len(rows)


async def _close(tx: Tx, row: Row[Any]) -> None:
    if row.more == 0:
        return
    content = {"reason": row.reason, "count": row.more, "since": row.since, "reviews": json.loads(row.places)}
    actor = events.slack_actor(PersonId(row.team, row.user_id))
    await events.record(tx, tenant=row.tenant, kind="press.refused.again", actor=actor, content=content)
