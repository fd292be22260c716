"""What exactly somebody could see, and what they have typed so far.

Showings: what exactly somebody could see when they pressed. Written once, never changed.

What a reviewer has chosen and typed so far, per call: it survives closing the window, a restart, another's decision.
A draft belongs to one digest; what was typed about other content is not carried over. Nothing is decided by a draft.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import ColumnElement, ScalarSelect, bindparam, func, insert, select

from bot.core.model import Offer, PersonId, Showing
from bot.store.audit import events
from bot.store.dialects import serialise, upsert
from bot.store.engine import Tx
from bot.store.rows import showing_of, showing_row
from bot.store.tables import drafts, showings

_SHOWING = select(showings).where(showings.c.id == bindparam("showing"))


async def insert_showing(tx: Tx, showing: Showing) -> None:
    """Store one showing and record who was shown which digest; `at` 0 means now."""
    row = showing_row(showing) | {"at": showing.at or tx.now, "number": _next_number(showing.message_id)}
    await tx.conn.execute(insert(showings).values(**row))
    content = {
        "showing": showing.id,
        "digest": showing.digest,
        "kind": showing.kind.value,
        "offers": [_told(offer) for offer in showing.offers],
        "page": showing.page,
        "to": showing.to and {"team": showing.to.team, "user": showing.to.user},
        "message": showing.message_id,
    }
    tenant = events.tenant_of(showing.review_id)
    position = showing.position
    await events.record(
        tx, tenant=tenant, kind="showing.made", review_id=showing.review_id, position=position, content=content
    )


def _told(offer: Offer) -> dict[str, Any]:
    kinds = [kind.value for kind in offer.offered]
    return {"position": offer.position, "offered": kinds, "complete": offer.complete}


def _next_number(message_id: str | None) -> int | ScalarSelect[Any]:
    """Two showings of one message may be made in one millisecond: their number tells which is later."""
    if message_id is None:
        return 0
    last = select(func.coalesce(func.max(showings.c.number), 0) + 1).where(showings.c.message_id == message_id)
    return last.scalar_subquery()


async def load_showing(tx: Tx, showing_id: str) -> Showing | None:
    """One showing by the id that a button or a modal carried."""
    row = (await tx.conn.execute(_SHOWING, {"showing": showing_id})).one_or_none()
    return None if row is None else showing_of(row)


async def load_showings(tx: Tx, ids: Sequence[str]) -> dict[str, Showing]:
    """Several showings by their ids, as far as they are there."""
    if not ids:
        return {}
    rows = await tx.conn.execute(select(showings).where(showings.c.id.in_(ids)))
    return {row.id: showing_of(row) for row in rows}


async def last_of_all(tx: Tx, review_id: str, who: PersonId) -> Showing | None:
    """The view of all calls of a review that this person was shown last."""
    here = (showings.c.review_id == review_id) & _to(who) & showings.c.position.is_(None)
    row = (await tx.conn.execute(select(showings).where(here).order_by(showings.c.at.desc()).limit(1))).one_or_none()
    return None if row is None else showing_of(row)


def _to(who: PersonId) -> ColumnElement[bool]:
    return (showings.c.team == who.team) & (showings.c.user_id == who.user)


async def is_left(tx: Tx, showing: Showing, *, but: str = "") -> bool:
    """Whether another page of the same view has been drawn for this person since; what lies on top of it leaves it there.

    `but` is a showing that does not count. That a page was drawn does not say that it reached the screen.
    """
    if showing.to is None:
        return False
    theirs = (showings.c.review_id == showing.review_id) & _to(showing.to)
    same = showings.c.position.is_not_distinct_from(showing.position)
    since = theirs & same & (showings.c.at > showing.at) & (showings.c.page != showing.page) & (showings.c.id != but)
    return await tx.conn.scalar(select(showings.c.id).where(since).limit(1)) is not None


@dataclass(frozen=True, slots=True)
class Draft:
    """One call's draft. `seen`: keys of the pages of the full view that this person was shown. `fields`: single arguments as typed.

    `kept`: the final arguments of an edit that waits to be sent with the other calls, and `kept_in` the showing of its
    difference.
    """

    digest: str
    decision: str | None = None
    message: str | None = None
    edited: str | None = None
    revision: int = 0
    seen: frozenset[str] = frozenset()
    fields: Mapping[int, str | None] = field(default_factory=dict)
    kept: str | None = None
    kept_in: str | None = None


async def load_drafts(tx: Tx, review_id: str, who: PersonId) -> dict[int, Draft]:
    """One person's drafts of one review, by position."""
    here = (drafts.c.review_id == review_id) & (drafts.c.team == who.team) & (drafts.c.user_id == who.user)
    rows = await tx.conn.execute(select(drafts.c.position, drafts.c.content).where(here))
    return {row.position: _read(row.content) for row in rows}


async def hold_drafts(tx: Tx, review_id: str, who: PersonId) -> None:
    """Let nobody else change this person's drafts of a review before this transaction ends."""
    await serialise(tx, f"drafts:{review_id}:{who.team}:{who.user}")


async def save_drafts(tx: Tx, review_id: str, who: PersonId, changed: Mapping[int, Draft]) -> None:
    """Replace these positions' drafts."""
    if changed:
        await hold_drafts(tx, review_id, who)
    for position, draft in changed.items():
        row = {"review_id": review_id, "team": who.team, "user_id": who.user, "position": position}
        await upsert(tx, drafts, row | {"content": _write(draft), "at": tx.now})


def _write(draft: Draft) -> str:
    return json.dumps(
        {
            "digest": draft.digest,
            "decision": draft.decision,
            "message": draft.message,
            "edited": draft.edited,
            "revision": draft.revision,
            "seen": sorted(draft.seen),
            "fields": {str(number): text for number, text in draft.fields.items()},
            "kept": draft.kept,
            "kept_in": draft.kept_in,
        }
    )


def _read(content: str) -> Draft:
    """As another version may have written it: what is missing has its default, what is unknown is left."""
    held = {name: value for name, value in json.loads(content).items() if name in Draft.__slots__}
    fields = {int(number): text for number, text in held.get("fields", {}).items()}
    return Draft(**{**held, "seen": frozenset(held.get("seen", ())), "fields": fields})
