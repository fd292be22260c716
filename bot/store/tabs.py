"""Home tabs that somebody may be looking at: which page, and what it shows.

A tab is due every few seconds, to whichever replica takes it; it stays due until it shows what it should, so a replica
that dies between taking and publishing costs one interval. What a tab should show is not known here.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import and_, delete, select, update

from bot.core.model import Who
from bot.store.engine import Tx
from bot.store.registers import home_tabs
from bot.store.writing import upsert


@dataclass(frozen=True, slots=True)
class Tab:
    """A tab that was opened at `opened_at` (ms). `content` is a hash of what it shows, "" for not known."""

    who: Who
    opened_at: int
    page: int
    content: str


async def open_tab(tx: Tx, who: Who, page: int) -> None:
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
        found.append(Tab(Who(row.team, row.user_id), opened_at, page, content))
    return found


async def shows(tx: Tx, tab: Tab, *, page: int, content: str) -> None:
    """Slack has it; a tab that was opened or turned meanwhile is drawn again."""
    here = and_(home_tabs.c.team == tab.who.team, home_tabs.c.user_id == tab.who.user)
    same = and_(here, home_tabs.c.opened_at == tab.opened_at, home_tabs.c.page == tab.page)
    await tx.conn.execute(update(home_tabs).where(same).values(page=page, content=content))


async def forget_tab(tx: Tx, who: Who) -> None:
    """Nobody can be shown it any more."""
    await tx.conn.execute(delete(home_tabs).where(and_(home_tabs.c.team == who.team, home_tabs.c.user_id == who.user)))
