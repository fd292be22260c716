"""Whether the decisions in force are the ones on record, and whether the record's numbers have holes.

The tables say what is true now, the record says how it came about: a decision or an approval that only one of them knows,
or that they tell differently, was written by somebody else than Placet. Reads only.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row, Table, func, select, text

from bot.core.chain import Head
from bot.store.address import SQLITE
from bot.store.engine import Tx
from bot.store.registers import audit_events
from bot.store.tables import approvals, decisions, reviews

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


@dataclass(frozen=True, slots=True)
class Book:
    """One table whose rows the record bears out: the kind of their events, and what an event calls row and digest."""

    name: str
    table: Table
    kind: str
    digest: str

    def told(self, row: Row[Any]) -> dict[str, Any]:
        """What the event of this row must say."""
        return {
            "type": row.type,
            self.digest: row.digest,
            "showing": row.showing_id,
            "person": {"team": row.team, "user": row.user_id},
            "rule": row.rule,
            "policy_version": row.policy_version,
            "position": row.position,
        }


BOOKS = (
    Book("decision", decisions, "decision.made", "decided"),
    Book("approval", approvals, "approval.made", "approved"),
)


async def evidence(tx: Tx, *, tenant: str | None, cuts: Mapping[str, Pruned | None]) -> list[Finding]:
    """Decisions and approvals without their event, those that it tells differently, and events without their row."""
    found: list[Finding] = []
    for book in BOOKS:
        async for rows in _rows(tx, book, tenant):
            found += await _compare(tx, book, rows, cuts)
        async for events in _events(tx, book, tenant):
            found += await _reverse(tx, book, events)
    return found


async def _rows(tx: Tx, book: Book, tenant: str | None) -> AsyncIterator[Sequence[Row[Any]]]:
    columns = select(book.table, reviews.c.tenant).join(reviews, reviews.c.id == book.table.c.review_id)
    after = ""
    while True:
        here = columns.where(book.table.c.id > after)
        if tenant is not None:
            here = here.where(reviews.c.tenant == tenant)
        rows = (await tx.conn.execute(here.order_by(book.table.c.id).limit(PAGE))).all()
        if not rows:
            return
        yield rows
        after = rows[-1].id


async def _events(tx: Tx, book: Book, tenant: str | None) -> AsyncIterator[Sequence[Row[Any]]]:
    columns = select(*(audit_events.c[name] for name in ("id", "tenant", "review_id", "seq", "content")))
    after = 0
    while True:
        here = columns.where(audit_events.c.kind == book.kind, audit_events.c.id > after)
        if tenant is not None:
            here = here.where(audit_events.c.tenant == tenant)
        rows = (await tx.conn.execute(here.order_by(audit_events.c.id).limit(PAGE))).all()
        if not rows:
            return
        yield rows
        after = rows[-1].id


async def _compare(tx: Tx, book: Book, rows: Sequence[Row[Any]], cuts: Mapping[str, Pruned | None]) -> list[Finding]:
    told = await _made(tx, book, sorted({row.review_id for row in rows}))
    found: list[Finding] = []
    for row in rows:
        cut = cuts.get(row.tenant)
        if cut is not None and row.at < cut.before:
            continue
        event, wanted = told.get(row.id), book.told(row)
        if event is None:
            text_ = f"{book.name} {row.id} by {row.team}/{row.user_id} has no event"
            found.append(Finding("no_event", row.tenant, text_, review_id=row.review_id))
        elif wanted != {name: event.get(name) for name in wanted}:
            text_ = f"{book.name} {row.id} is not what its event says"
            found.append(Finding("differs", row.tenant, text_, review_id=row.review_id))
    return found


async def _made(tx: Tx, book: Book, review_ids: Sequence[str]) -> dict[str, dict[str, Any]]:
    """What the record says of the rows of some reviews, by row."""
    columns = select(audit_events.c.content, audit_events.c.position)
    made = columns.where(audit_events.c.review_id.in_(review_ids), audit_events.c.kind == book.kind)
    events = [json.loads(row.content) | {"position": row.position} for row in await tx.conn.execute(made)]
    return {event[book.name]: event for event in events if book.name in event}


async def _reverse(tx: Tx, book: Book, events: Sequence[Row[Any]]) -> list[Finding]:
    """Events whose row is gone: rows are voided, never deleted."""
    named = {json.loads(event.content).get(book.name): event for event in events}
    held = select(book.table.c.id).where(book.table.c.id.in_([name for name in named if name is not None]))
    there = set(await tx.conn.scalars(held))
    return [
        Finding(
            "no_row",
            event.tenant,
            f"{book.name} {name} is on record and not in the table",
            seq=event.seq,
            event_id=event.id,
            review_id=event.review_id,
        )
        for name, event in named.items()
        if name not in there
    ]


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
