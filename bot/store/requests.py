"""What operators ask of the process that serves: a command inserts a row, `serve` carries it out and answers.

So a command never writes beside a running SQLite server, and the same way works on PostgreSQL. What a kind of request
means is not known here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import and_, insert, or_, select, text, update

from bot.core.json import dump
from bot.store.audit import events
from bot.store.engine import Tx, new_id
from bot.store.tables import WAITING_REQUEST, requests


@dataclass(frozen=True, slots=True)
class Request:
    """One request as its taker holds it; `content` is JSON text."""

    id: str
    kind: str
    tenant: str | None
    review_id: str | None
    content: str
    asked_by: str
    asked_at: int
    owner: str | None


_FIELDS = [requests.c[name] for name in Request.__slots__]


async def ask(  # noqa: PLR0913 - a request's own parts, each named by the caller
    tx: Tx,
    *,
    kind: str,
    by: str,
    tenant: str | None = None,
    review_id: str | None = None,
    content: Mapping[str, Any] | None = None,
) -> str:
    """Leave a request; the id is what `answer_of` is asked with."""
    made = Request(new_id("q"), kind, tenant, review_id, dump(dict(content or {})), by, tx.now, None)
    row = {name: getattr(made, name) for name in Request.__slots__}
    tx.wakes.add("requests")
    await tx.conn.execute(insert(requests).values(**row, state="new"))
    told = {"request": made.id, "kind": kind}
    chain = tenant or events.EVERYONE
    await events.record(tx, tenant=chain, kind="request.asked", review_id=review_id, actor=by, content=told)
    return made.id


async def take(tx: Tx, *, owner: str, lease_ms: int) -> Request | None:
    """The oldest request that nobody is carrying out, yours for `lease_ms`."""
    free = or_(requests.c.lease_until.is_(None), requests.c.lease_until < tx.now)
    due = select(requests.c.id).where(text(WAITING_REQUEST), free).order_by(requests.c.asked_at, requests.c.id)
    one = due.limit(1).with_for_update(skip_locked=True).scalar_subquery()
    held = {"state": "taken", "owner": owner, "lease_until": tx.now + lease_ms}
    changed = update(requests).where(requests.c.id == one).values(**held).returning(*_FIELDS)
    row = (await tx.conn.execute(changed)).one_or_none()
    return None if row is None else Request(*row)


async def answer(tx: Tx, request: Request, *, answer: str) -> bool:
    """Say how it went; False if another owner has taken the request over."""
    here = and_(requests.c.id == request.id, requests.c.owner == request.owner, requests.c.state == "taken")
    done = {"state": "done", "answer": answer, "answered_at": tx.now, "lease_until": None}
    if (await tx.conn.execute(update(requests).where(here).values(**done))).rowcount != 1:
        return False
    content = {"request": request.id, "kind": request.kind}
    tenant, review_id = request.tenant or events.EVERYONE, request.review_id
    await events.record(tx, tenant=tenant, kind="request.done", review_id=review_id, content=content)
    return True


async def answer_of(tx: Tx, request_id: str) -> str | None:
    """The answer, None while the request waits."""
    told: str | None = await tx.conn.scalar(select(requests.c.answer).where(requests.c.id == request_id))
    return told


async def untaken(tx: Tx, request_id: str) -> bool:
    """Whether nobody has begun to carry the request out."""
    return await tx.conn.scalar(select(requests.c.state).where(requests.c.id == request_id)) == "new"
