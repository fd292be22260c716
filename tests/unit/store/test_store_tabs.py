"""Home tabs are rows: taken by one replica at a time, due again, gone when nobody has looked for long."""

from __future__ import annotations

import pytest

from bot.core.model import PersonId
from bot.store.engine import Store
from bot.store.messages import forget_tab, is_due, open_tab, shows, take_tabs

pytestmark = pytest.mark.asyncio

ADA, BEN = PersonId("T0ACME", "U0ADA"), PersonId("T0ACME", "U0BEN")
EVERY, HOUR = 3_000, 3_600_000


async def opened(store: Store, who: PersonId, page: int = 0) -> None:
    async with store.begin() as tx:
        await open_tab(tx, who, page)


async def taken(store: Store, limit: int = 10):
    async with store.begin() as tx:
        return await take_tabs(tx, every_ms=EVERY, open_ms=HOUR, limit=limit)


async def test_a_tab_is_taken_once_and_due_again_later(store: Store) -> None:
    await opened(store, ADA)

    (tab,) = await taken(store)

    assert (tab.who, tab.page, tab.content) == (ADA, 0, "")
    assert await taken(store) == []
    async with store.read() as tx:
        assert not await is_due(tx)
    store.offset_ms += EVERY + 1
    async with store.read() as tx:
        assert await is_due(tx)
    assert [one.who for one in await taken(store)] == [ADA]


async def test_what_a_tab_shows_is_kept_unless_it_was_opened_or_turned_meanwhile(store: Store) -> None:
    await opened(store, ADA)
    (tab,) = await taken(store)
    async with store.begin() as tx:
        await shows(tx, tab, page=0, content="first")
    store.offset_ms += EVERY + 1
    (same,) = await taken(store)
    await opened(store, ADA, page=2)
    async with store.begin() as tx:
        await shows(tx, same, page=0, content="late")

    (turned,) = await taken(store)

    assert same.content == "first"
    assert (turned.page, turned.content) == (2, "")


async def test_many_tabs_are_taken_in_turn(store: Store) -> None:
    await opened(store, ADA)
    store.offset_ms += 1
    await opened(store, BEN)

    assert [[one.who for one in await taken(store, 1)] for _ in range(3)] == [[ADA], [BEN], []]


async def test_tabs_that_nobody_looked_at_for_long_or_can_see_no_more_are_gone(store: Store) -> None:
    await opened(store, ADA)
    store.offset_ms += HOUR + 1
    await opened(store, BEN)

    assert [one.who for one in await taken(store)] == [BEN]
    async with store.begin() as tx:
        await forget_tab(tx, BEN)
    store.offset_ms += EVERY + 1
    assert await taken(store) == []
