"""What a reviewer has chosen and typed so far, per call: it survives closing the window, a restart, another's decision.

A draft belongs to one digest; what was typed about other content is not carried over. Nothing is decided by a draft.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlalchemy import select

from bot.core.model import Who
from bot.store.engine import Tx
from bot.store.tables import drafts
from bot.store.writing import serialise, upsert


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


async def load_drafts(tx: Tx, review_id: str, who: Who) -> dict[int, Draft]:
    """One person's drafts of one review, by position."""
    here = (drafts.c.review_id == review_id) & (drafts.c.team == who.team) & (drafts.c.user_id == who.user)
    rows = await tx.conn.execute(select(drafts.c.position, drafts.c.content).where(here))
    return {row.position: _read(row.content) for row in rows}


async def hold_drafts(tx: Tx, review_id: str, who: Who) -> None:
    """Let nobody else change this person's drafts of a review before this transaction ends."""
    await serialise(tx, f"drafts:{review_id}:{who.team}:{who.user}")


async def save_drafts(tx: Tx, review_id: str, who: Who, changed: Mapping[int, Draft]) -> None:
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
