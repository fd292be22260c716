"""A showing keeps what was shown and offered, and the record says to whom."""

import json

import pytest

from bot.core.model import Offer, ShowingKind
from bot.store import Store
from bot.store.audit import events_of
from bot.store.showings import insert_showing, latest_showing, load_showing
from tests.store.made import BOTH, given_review, make_showing


@pytest.mark.asyncio
async def test_a_showing_comes_back_as_it_was_made(store: Store) -> None:
    review = await given_review(store)
    offers = (Offer(0, BOTH, complete=True), Offer(1, (), complete=False))
    showing = make_showing(
        review, None, kind=ShowingKind.MODAL, offers=offers, user="U0ADA", final_args="{}", page=2, at=7
    )

    async with store.begin() as tx:
        await insert_showing(tx, showing)

    async with store.read() as tx:
        assert await load_showing(tx, showing.id) == showing
        assert await load_showing(tx, "s_unknown") is None


@pytest.mark.asyncio
async def test_the_record_says_who_was_shown_which_digest(store: Store) -> None:
    review = await given_review(store)
    showing = make_showing(review, user="U0ADA")

    async with store.begin() as tx:
        await insert_showing(tx, showing)

    async with store.read() as tx:
        event = (await events_of(tx, review.id))[-1]
    told = json.loads(event.content)
    assert (event.tenant, event.kind, told["digest"], told["to"]) == ("acme", "showing.made", showing.digest, "U0ADA")


@pytest.mark.asyncio
async def test_the_later_of_two_showings_in_one_millisecond_is_the_latest(store: Store) -> None:
    review = await given_review(store)
    made = [make_showing(review, message_id="m_1") for _ in range(5)]

    async with store.begin() as tx:
        for showing in made:
            await insert_showing(tx, showing)
        await insert_showing(tx, make_showing(review, message_id="m_2"))

    async with store.read() as tx:
        latest = await latest_showing(tx, message_id="m_1")
        assert await latest_showing(tx, message_id="m_3") is None
    assert latest is not None
    assert latest.id == made[-1].id
    assert latest.at > 0
