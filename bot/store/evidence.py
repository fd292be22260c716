"""Whether the decisions in force are the ones on record, and whether the record's numbers have holes.

The tables say what is true now, the record says how it came about: a decision that only one of them knows, or that
they tell differently, was written by somebody else than Placet. Reads only.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row, func, select, text

from bot.core.chain import Head
from bot.store.address import SQLITE
from bot.store.engine import Tx
from bot.store.registers import audit_events
from bot.store.tables import decisions, reviews

PRUNED = "audit.pruned"
PAGE = 500
HOLES_NAMED = 5


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is wrong, by our own word for its kind; None where it does not apply."""

    kind: str
    tenant: str | None
    text: str
    seq: int | None = None
    event_id: int | None = None
    review_id: str | None = None


@dataclass(frozen=True, slots=True)
class Pruned:
    """What retention took from a chain: everything up to `head`, written before `before` (ms), ids to `through`."""

    head: Head
    before: int
    through: int


async def pruned(tx: Tx, tenant: str) -> Pruned | None:
    """The newest note that retention took the beginning of a chain."""
    notes = select(audit_events.c.content).where(audit_events.c.tenant == tenant, audit_events.c.kind == PRUNED)
    content = await tx.conn.scalar(notes.order_by(audit_events.c.id.desc()).limit(1))
    if content is None:
        return None
    told = json.loads(content)
    return Pruned(Head(told["seq"], told["hash"]), told["before"], told["through"])


async def evidence(tx: Tx, *, tenant: str | None, cuts: Mapping[str, Pruned | None]) -> list[Finding]:
    """Decisions without their event, and those that the event tells differently."""
    found: list[Finding] = []
    after = ""
    columns = select(decisions, reviews.c.tenant).join(reviews, reviews.c.id == decisions.c.review_id)
    while True:
        here = columns.where(decisions.c.id > after)
        if tenant is not None:
            here = here.where(reviews.c.tenant == tenant)
        rows = (await tx.conn.execute(here.order_by(decisions.c.id).limit(PAGE))).all()
        if not rows:
            return found
        found += await _compare(tx, rows, cuts)
        after = rows[-1].id


async def _compare(tx: Tx, rows: Sequence[Row[Any]], cuts: Mapping[str, Pruned | None]) -> list[Finding]:
    told = await _made(tx, sorted({row.review_id for row in rows}))
    found: list[Finding] = []
    for row in rows:
        cut = cuts.get(row.tenant)
        if cut is not None and row.at < cut.before:
            continue
        event = told.get(row.id)
        if event is None:
            text_ = f"decision {row.id} by {row.team}/{row.user_id} has no event"
            found.append(Finding("no_event", row.tenant, text_, review_id=row.review_id))
        elif _told(row) != {name: event.get(name) for name in _told(row)}:
            text_ = f"decision {row.id} is not what its event says"
            found.append(Finding("differs", row.tenant, text_, review_id=row.review_id))
    return found


def _told(row: Row[Any]) -> dict[str, Any]:
    return {
        "type": row.type,
        "decided": row.digest,
        "showing": row.showing_id,
        "person": {"team": row.team, "user": row.user_id},
        "rule": row.rule,
        "policy_version": row.policy_version,
        "position": row.position,
    }


async def _made(tx: Tx, review_ids: Sequence[str]) -> dict[str, dict[str, Any]]:
    """What the record says of the decisions of some reviews, by decision."""
    columns = select(audit_events.c.content, audit_events.c.position)
    made = columns.where(audit_events.c.review_id.in_(review_ids), audit_events.c.kind == "decision.made")
    events = [json.loads(row.content) | {"position": row.position} for row in await tx.conn.execute(made)]
    return {event["decision"]: event for event in events if "decision" in event}


async def numbering(tx: Tx, cuts: Sequence[Pruned | None]) -> tuple[list[Finding], list[str]]:
    """Numbers that were given out and stand in no event.

    SQLite gives a number out only with its event, so a hole is an event that was removed, sealed or not. PostgreSQL
    loses the numbers of transactions that failed, so there a hole proves nothing.
    """
    start = max((cut.through for cut in cuts if cut is not None), default=0)
    holes = await _holes(tx, start)
    if not holes:
        return [], []
    shown = ", ".join(holes[:HOLES_NAMED]) + (
        f" and {len(holes) - HOLES_NAMED} more" if len(holes) > HOLES_NAMED else ""
    )
    if tx.dialect == SQLITE:
        return [Finding("missing", None, f"events were removed from the table: ids {shown}")], []
    return [], [f"that nothing was removed before it was sealed: ids {shown} were given out and stand in no event"]


async def _holes(tx: Tx, start: int) -> list[str]:
    previous = func.lag(audit_events.c.id, 1, start).over(order_by=audit_events.c.id).label("previous")
    numbered = select(audit_events.c.id, previous).where(audit_events.c.id > start).subquery()
    gaps = select(numbered).where(numbered.c.id > numbered.c.previous + 1).order_by(numbered.c.id).limit(100)
    holes = [(row.previous + 1, row.id - 1) for row in await tx.conn.execute(gaps)]
    newest = max(await tx.conn.scalar(select(func.max(audit_events.c.id))) or 0, start)
    given = await _given(tx)
    if given > newest:
        holes.append((newest + 1, given))
    return [str(first) if first == last else f"{first}-{last}" for first, last in holes]


async def _given(tx: Tx) -> int:
    """The highest number that was ever given out."""
    if tx.dialect == SQLITE:
        counter = "SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'"
    else:
        counter = "SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM audit_events_id_seq"
    return int(await tx.conn.scalar(text(counter)) or 0)
