"""Drafts are one person's and come back as they were typed; reviews near their end are found."""

import pytest

from bot.store.engine import Store
from bot.store.reviews import near_expiry, set_delivered
from bot.store.showings import Draft, load_drafts, save_drafts
from tests.kit.made import ADA, BOB, given_decided, given_review


@pytest.mark.asyncio
async def test_a_draft_is_replaced_by_the_next_and_belongs_to_one_person(store: Store) -> None:
    review = await given_review(store, actions=2)
    typed = Draft("d1", decision="edit", message="why\x00\ud800", edited="{}", revision=2, seen=frozenset({"a1", "b2"}))
    async with store.begin() as tx:
        await save_drafts(tx, review.id, ADA, {0: Draft("d0"), 1: Draft("d1")})
        await save_drafts(tx, review.id, ADA, {1: typed})

    async with store.read() as tx:
        assert await load_drafts(tx, review.id, ADA) == {0: Draft("d0"), 1: typed}
        assert await load_drafts(tx, review.id, BOB) == {}


@pytest.mark.asyncio
async def test_only_open_reviews_in_their_last_minute_are_near_their_end(store: Store) -> None:
    near, far, decided = await given_review(store), await given_review(store), await given_decided(store)
    async with store.begin() as tx:
        await set_delivered(tx, near.id, decide_within_ms=50_000)
        await set_delivered(tx, far.id, decide_within_ms=900_000)
        await set_delivered(tx, decided.id, decide_within_ms=50_000)

        assert await near_expiry(tx, within_ms=60_000, limit=5) == [near.id]

    store.offset_ms = 100_000
    async with store.read() as tx:
        assert await near_expiry(tx, within_ms=60_000, limit=5) == []
