"""Notices: short messages to one person or channel that are sent once and never changed.

They are rows so that nothing after a commit can lose them. The key makes a notice idempotent: the same event told
twice is one row. Delivery is at least once; the text says nothing that would be wrong twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import and_, or_, select, text, update

from bot.store.audit import events
from bot.store.dialects import insert_once
from bot.store.engine import Tx, new_id
from bot.store.tables import DUE_NOTICE, notices


@dataclass(frozen=True, slots=True)
class Notice:
    """One notice to send; with `user_id`, only that person sees it."""

    id: str
    tenant: str
    channel: str
    user_id: str | None
    thread_ts: str | None
    text: str
    key: str
    token: int
    attempts: int


_FIELDS = [notices.c[name] for name in Notice.__slots__]


async def add_notice(  # noqa: PLR0913 - a notice's own parts, each named by the caller
    tx: Tx, *, tenant: str, channel: str, user: str | None, thread_ts: str | None, text: str, key: str
) -> bool:
    """Want a notice sent; False if one of this key was wanted before."""
    row = {
        "id": new_id("n"),
        "key": key,
        "tenant": tenant,
        "channel": channel,
        "user_id": user,
        "thread_ts": thread_ts,
        "text": text,
        "state": "new",
        "token": 0,
        "attempts": 0,
        "created_at": tx.now,
        "next_try_at": tx.now,
        "last_error": "",
    }
    tx.wakes.add("notices")
    return await insert_once(tx, notices, row)


async def claim_notices(tx: Tx, *, owner: str, lease_ms: int, limit: int) -> list[Notice]:
    """Lease notices that are due, oldest first."""
    free = or_(notices.c.lease_until.is_(None), notices.c.lease_until < tx.now)
    due = select(notices.c.id).where(text(DUE_NOTICE), notices.c.next_try_at <= tx.now, free)
    chosen = due.order_by(notices.c.next_try_at, notices.c.id).limit(limit).with_for_update(skip_locked=True)
    held = {"owner": owner, "lease_until": tx.now + lease_ms, "token": notices.c.token + 1}
    changed = update(notices).where(notices.c.id.in_(chosen)).values(**held)
    leased = await tx.conn.execute(changed.returning(*_FIELDS, notices.c.created_at))
    ordered = sorted(leased.all(), key=lambda row: (row.created_at, row.id))
    return [Notice(*row[: len(_FIELDS)]) for row in ordered]


async def notice_sent(tx: Tx, notice: Notice) -> bool:
    """Slack has it."""
    if not await _change(tx, notice, state="sent", sent_at=tx.now, lease_until=None):
        return False
    content = {"notice": notice.id, "key": notice.key, "channel": notice.channel, "to": notice.user_id}
    await events.record(tx, tenant=notice.tenant, kind="notice.sent", content=content)
    return True


async def notice_failed(tx: Tx, notice: Notice, *, error: str, retry_at: int | None) -> bool:
    """Try again at `retry_at`, or never (None)."""
    later = {"state": "failed"} if retry_at is None else {"next_try_at": retry_at}
    attempts = notices.c.attempts + 1
    return await _change(tx, notice, last_error=error, attempts=attempts, lease_until=None, **later)


async def _change(tx: Tx, notice: Notice, **changes: Any) -> bool:
    here = and_(notices.c.id == notice.id, notices.c.token == notice.token)
    return (await tx.conn.execute(update(notices).where(here).values(**changes))).rowcount == 1
