"""The outbox: what Slack should show and what it shows, for messages and Home tabs.

The outbox: what Slack should show, in which version, and what it shows. A row is wanted in one version and shown in
another; message sync closes the gap. Rows are leased with a token, so that two replicas never write one message at
once.

Home tabs that somebody may be looking at: which page, and what it shows. A tab is due every few seconds, to whichever
replica takes it; it stays due until it shows what it should, so a replica that dies between taking and publishing
costs one interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, delete, exists, false, func, not_, or_, select, text, update

from bot.core.model import PersonId, Review
from bot.store.audit import events
from bot.store.dialects import insert_once, upsert
from bot.store.engine import Tx, new_id
from bot.store.tables import DUE_MESSAGE, home_tabs, messages
from bot.store.transitions import lock_ref, urgency


@dataclass(frozen=True, slots=True)
class Message:
    """One message of ours as the store knows it; `position` None is a review's root."""

    id: str
    tenant: str
    review_id: str
    position: int | None
    parent_id: str | None
    channel: str
    ts: str | None
    wanted: int
    shown: int
    state: str  # new | posting | posted | gone | failed
    showing_id: str | None
    content_key: str | None
    token: int
    lease_until: int | None
    posting_since: int | None
    attempts: int
    next_try_at: int
    last_error: str


_FIELDS = [messages.c[name] for name in Message.__slots__]


def message_of(row: Sequence[Any]) -> Message:
    """A message from exactly its own columns, in order."""
    return Message(*row)


async def is_ours(tx: Tx, channel: str, ts: str) -> bool:
    """Whether a message of Slack's was posted from this database."""
    here = (messages.c.channel == channel) & (messages.c.ts == ts)
    return await tx.conn.scalar(select(messages.c.id).where(here).limit(1)) is not None


async def want_message(
    tx: Tx, review: Review, *, channel: str, position: int | None = None, parent_id: str | None = None
) -> str:
    """The id of the one message for this position, made now if it is missing."""
    row = {
        "id": new_id("m"),
        "tenant": review.tenant,
        "review_id": review.id,
        "position": position,
        "parent_id": parent_id,
        "channel": channel,
        "wanted": 1,
        "shown": 0,
        "urgency": urgency(review.state),
        "held": _unposted(parent_id),
        "state": "new",
        "token": 0,
        "attempts": 0,
        "created_at": tx.now,
        "next_try_at": tx.now,
        "last_error": "",
    }
    tx.wakes.add("messages")
    if await insert_once(tx, messages, row):
        return str(row["id"])
    here = and_(messages.c.review_id == review.id, messages.c.position.is_not_distinct_from(position))
    return str(await tx.conn.scalar(select(messages.c.id).where(here)))


def _unposted(parent_id: str | None) -> ColumnElement[bool]:
    """A reply is held until its root stands in Slack; told by the row itself, so that no poll joins to find out."""
    posted = exists().where(messages.c.id == parent_id, messages.c.ts.is_not(None))
    return false() if parent_id is None else not_(posted)


async def messages_of(tx: Tx, review_id: str) -> list[Message]:
    """A review's messages, the root first."""
    ordered = select(*_FIELDS).where(messages.c.review_id == review_id)
    found = await tx.conn.execute(ordered.order_by(func.coalesce(messages.c.position, -1)))
    return [message_of(row) for row in found]


async def load_message(tx: Tx, message_id: str) -> Message | None:
    """One message by its id, which its Slack metadata carries."""
    row = (await tx.conn.execute(select(*_FIELDS).where(messages.c.id == message_id))).one_or_none()
    return None if row is None else message_of(row)


async def claim_messages(tx: Tx, *, owner: str, lease_ms: int, limit: int) -> list[Message]:
    """Lease messages that are behind: cards that wait for people first, a turn for each tenant, replies after roots.

    One that is found `posting` may be in Slack already: look there before posting again.
    """
    ids = list(await tx.conn.scalars(due_messages(tx.now, limit)))
    if not ids:
        return []
    due = select(messages.c.id).where(messages.c.id.in_(ids), _free(tx.now))
    held = {"owner": owner, "lease_until": tx.now + lease_ms, "token": messages.c.token + 1}
    chosen = due.with_for_update(skip_locked=True)
    leased = await tx.conn.execute(
        update(messages).where(messages.c.id.in_(chosen)).values(**held).returning(*_FIELDS, messages.c.urgency)
    )
    # The cards of a batch stand in its thread in request order.
    ordered = sorted(leased.all(), key=lambda row: (row.urgency, row.next_try_at, row.review_id, row.position or 0))
    return [message_of(row[: len(_FIELDS)]) for row in ordered]


def _free(now: int) -> Any:
    return or_(messages.c.lease_until.is_(None), messages.c.lease_until < now)


def due_messages(now: int, limit: int) -> Select[tuple[str]]:
    """Ids of due messages, the first of every tenant before the second of any."""
    order = (messages.c.urgency, messages.c.next_try_at, messages.c.review_id, messages.c.position)
    turn = func.row_number().over(partition_by=messages.c.tenant, order_by=order).label("turn")
    ready = and_(text(DUE_MESSAGE), messages.c.next_try_at <= now, _free(now))
    ranked = select(messages.c.id, messages.c.urgency, messages.c.next_try_at, turn).where(ready).subquery()
    return select(ranked.c.id).order_by(ranked.c.urgency, ranked.c.turn, ranked.c.next_try_at).limit(limit)


async def _change(tx: Tx, message: Message, **changes: Any) -> bool:
    here = and_(messages.c.id == message.id, messages.c.token == message.token)
    return (await tx.conn.execute(update(messages).where(here).values(**changes))).rowcount == 1


async def posting(tx: Tx, message: Message) -> bool:
    """Note that a post is about to leave for `message.channel`; commit this before calling Slack. False: the lease is lost.

    A post whose outcome is unknown keeps the time of the first: whatever it left is looked for from there.
    """
    since = tx.now if message.posting_since is None else message.posting_since
    return await _change(tx, message, state="posting", posting_since=since, channel=message.channel)


async def not_posted(tx: Tx, message: Message) -> bool:
    """Slack said no: nothing of this post can be there, so nothing need be looked for."""
    return await _change(tx, message, state="new", posting_since=None)


async def posted(  # noqa: PLR0913 - where it is and what it shows, each named by the caller
    tx: Tx,
    message: Message,
    *,
    channel: str,
    ts: str,
    version: int,
    showing_id: str | None,
    content_key: str | None = None,
    again_at: int | None = None,
) -> bool:
    """Slack has the message. Locks its review first, as everybody does who changes both.

    `again_at`: an earlier post may show up late beside this one, so it is looked for then, and `sole` ends that.
    """
    await lock_ref(tx, message.review_id)
    place: dict[str, Any] = {"state": "posted", "channel": channel, "ts": ts}
    if again_at is None:
        place["posting_since"] = None
    else:
        place |= {"wanted": messages.c.wanted + 1, "next_try_at": again_at}
    if not await _change(tx, message, **place, **_shows(version, showing_id, content_key)):
        return False
    await _hold_replies(tx, message, held=False)
    content = {"channel": channel, "ts": ts, "showing": showing_id, "version": version}
    await _record(tx, message, "message.posted", content)
    return True


async def sole(tx: Tx, message: Message) -> bool:
    """No other copy of the message stands in Slack."""
    return await _change(tx, message, posting_since=None)


async def shown(
    tx: Tx, message: Message, *, version: int, showing_id: str | None, content_key: str | None = None
) -> bool:
    """The message shows this version, or already did (same content): nothing was written to Slack for that."""
    if not await _change(tx, message, **_shows(version, showing_id, content_key)):
        return False
    if showing_id != message.showing_id:
        await _record(tx, message, "message.shown", {"showing": showing_id, "version": version})
    return True


async def _hold_replies(tx: Tx, root: Message, *, held: bool) -> None:
    if root.parent_id is None:
        await tx.conn.execute(update(messages).where(messages.c.parent_id == root.id).values(held=held))


def _shows(version: int, showing_id: str | None, content_key: str | None) -> dict[str, Any]:
    told = {"shown": version, "showing_id": showing_id, "attempts": 0, "last_error": "", "lease_until": None}
    return told if content_key is None else told | {"content_key": content_key}


async def retry_later(tx: Tx, message: Message, *, at: int, error: str) -> bool:
    """Give the message back for another try; a post whose outcome is unknown stays `posting`."""
    attempts = messages.c.attempts + 1
    return await _change(tx, message, next_try_at=at, last_error=error, attempts=attempts, lease_until=None)


async def gone(tx: Tx, message: Message, *, repost: bool = False) -> bool:
    """The message was deleted in Slack; with `repost` it is wanted there anew."""
    fresh = {"state": "new", "ts": None, "shown": 0, "posting_since": None, "content_key": None, "next_try_at": tx.now}
    changes = fresh if repost else {"state": "gone"}
    await lock_ref(tx, message.review_id)
    if not await _change(tx, message, lease_until=None, **changes):
        return False
    await _hold_replies(tx, message, held=repost)
    await _record(tx, message, "message.gone", {"channel": message.channel, "ts": message.ts, "repost": repost})
    return True


async def doubt(tx: Tx, message_id: str) -> None:
    """The message may be gone: write it once more whatever it shows, so that Slack says so."""
    changes = {"wanted": messages.c.wanted + 1, "content_key": None, "next_try_at": tx.now}
    await tx.conn.execute(update(messages).where(messages.c.id == message_id).values(**changes))


async def doubt_all(tx: Tx, review_id: str) -> None:
    """What stands in Slack may not be what is stored: write every message of a review anew, whatever it shows."""
    changes = {"wanted": messages.c.wanted + 1, "content_key": None, "next_try_at": tx.now}
    await tx.conn.execute(update(messages).where(messages.c.review_id == review_id).values(**changes))


async def hurry(tx: Tx, tenant: str) -> None:
    """What ailed the tenant's channel is over: everything that waited for that goes out now."""
    waiting = and_(messages.c.tenant == tenant, text(DUE_MESSAGE), messages.c.last_error != "")
    await tx.conn.execute(update(messages).where(waiting).values(next_try_at=tx.now))


async def failed(tx: Tx, message: Message, *, error: str) -> bool:
    """Slack will never take this message."""
    if not await _change(tx, message, state="failed", last_error=error, lease_until=None):
        return False
    await _record(tx, message, "message.failed", {"channel": message.channel})
    return True


async def _record(tx: Tx, message: Message, kind: str, content: dict[str, Any]) -> None:
    await events.record(
        tx,
        tenant=message.tenant,
        kind=kind,
        review_id=message.review_id,
        position=message.position,
        content={"message": message.id, **content},
    )


@dataclass(frozen=True, slots=True)
class Tab:
    """A tab that was opened at `opened_at` (ms). `content` is a hash of what it shows, "" for not known."""

    who: PersonId
    opened_at: int
    page: int
    content: str


async def open_tab(tx: Tx, who: PersonId, page: int) -> None:
    """Somebody looks at a page: it is due at once, and shows nothing that we know of."""
    row = {"team": who.team, "user_id": who.user, "opened_at": tx.now, "next_at": tx.now, "page": page, "content": ""}
    await upsert(tx, home_tabs, row)


async def is_due(tx: Tx) -> bool:
    """Whether there is a tab to look after."""
    return await tx.conn.scalar(select(home_tabs.c.team).where(home_tabs.c.next_at <= tx.now).limit(1)) is not None


async def take_tabs(tx: Tx, *, every_ms: int, open_ms: int, limit: int) -> list[Tab]:
    """The tabs that are due, the longest due first; each is due again after `every_ms`. Those nobody looked at lately go."""
    await tx.conn.execute(delete(home_tabs).where(home_tabs.c.opened_at < tx.now - open_ms))
    due = select(home_tabs.c.team, home_tabs.c.user_id).where(home_tabs.c.next_at <= tx.now)
    chosen = due.order_by(home_tabs.c.next_at).limit(limit).with_for_update(skip_locked=True)
    found: list[Tab] = []
    for row in (await tx.conn.execute(chosen)).all():
        here = and_(home_tabs.c.team == row.team, home_tabs.c.user_id == row.user_id)
        taken = update(home_tabs).where(here).values(next_at=tx.now + every_ms)
        columns = (home_tabs.c.opened_at, home_tabs.c.page, home_tabs.c.content)
        opened_at, page, content = (await tx.conn.execute(taken.returning(*columns))).one()
        found.append(Tab(PersonId(row.team, row.user_id), opened_at, page, content))
    return found


async def shows(tx: Tx, tab: Tab, *, page: int, content: str) -> None:
    """Slack has it; a tab that was opened or turned meanwhile is drawn again."""
    here = and_(home_tabs.c.team == tab.who.team, home_tabs.c.user_id == tab.who.user)
    same = and_(here, home_tabs.c.opened_at == tab.opened_at, home_tabs.c.page == tab.page)
    await tx.conn.execute(update(home_tabs).where(same).values(page=page, content=content))


async def forget_tab(tx: Tx, who: PersonId) -> None:
    """Nobody can be shown it any more."""
    await tx.conn.execute(delete(home_tabs).where(and_(home_tabs.c.team == who.team, home_tabs.c.user_id == who.user)))
