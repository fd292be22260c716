"""The record of who did what, when, to which digest.

An event commits in the transaction of what it records, or neither does. Recorded are facts about reviews, decisions,
showings, dispatches, messages, policy, people and tenants; not the leases by which workers share rows. Events are
written once; only the sealer later fills in their place in the tenant's hash chain.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import ScalarSelect, insert, select

from bot.core.json import canonical
from bot.core.model import PersonId
from bot.store.engine import Tx
from bot.store.tables import audit_events, reviews

# Where events are chained that concern no single tenant: the policy, people, a pause of all.
EVERYONE = "*"
PLACET = "placet"


@dataclass(frozen=True, slots=True)
class Event:
    """One event to record. `content` is JSON; digests stand in it, arguments and reasons never do."""

    tenant: str
    kind: str
    review_id: str | None = None
    position: int | None = None
    actor: str = PLACET
    content: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RecordedEvent:
    """One event as it is stored; `seq`, `prev_hash` and `hash` are None until it is sealed."""

    id: int
    tenant: str
    at: int
    kind: str
    review_id: str | None
    position: int | None
    actor: str
    content: str
    seq: int | None
    prev_hash: str | None
    hash: str | None


_FIELDS = [audit_events.c[name] for name in RecordedEvent.__slots__]
_INSERT = insert(audit_events)


def slack_actor(who: PersonId) -> str:
    """How a person stands in the record."""
    return f"slack:{who.team}/{who.user}"


def tenant_of(review_id: str) -> ScalarSelect[str]:
    """The tenant of a review, looked up by the INSERT itself."""
    return select(reviews.c.tenant).where(reviews.c.id == review_id).scalar_subquery()


async def record(  # noqa: PLR0913 - the columns of an event, each named by the caller
    tx: Tx,
    *,
    tenant: str | ScalarSelect[str],
    kind: str,
    review_id: str | None = None,
    position: int | None = None,
    actor: str = PLACET,
    content: Mapping[str, Any] | None = None,
) -> None:
    """Record one event in this transaction; `tenant` may be `tenant_of(review)`."""
    row = _row(tx, Event("", kind, review_id, position, actor, content or {})) | {"tenant": tenant}
    await tx.conn.execute(insert(audit_events).values(**row))


async def record_all(tx: Tx, events: Sequence[Event]) -> None:
    """Record several, in this order."""
    if events:
        # Not `.values([…])`: SQLAlchemy compiles that anew each time.
        await tx.conn.execute(_INSERT, [_row(tx, event) for event in events])


def _row(tx: Tx, event: Event) -> dict[str, Any]:
    return {
        "tenant": event.tenant,
        "at": tx.now,
        "kind": event.kind,
        "review_id": event.review_id,
        "position": event.position,
        "actor": event.actor,
        "content": canonical(dict(event.content)).decode("ascii"),
    }


async def events_of(tx: Tx, review_id: str) -> list[RecordedEvent]:
    """What is recorded of one review, in the order it was written."""
    found = await tx.conn.execute(
        select(*_FIELDS).where(audit_events.c.review_id == review_id).order_by(audit_events.c.id)
    )
    return [RecordedEvent(*row) for row in found]
