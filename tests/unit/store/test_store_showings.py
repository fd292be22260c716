"""A showing keeps what was shown and offered, and the record says to whom."""

import json

import pytest

from bot.core.model import Offer, PersonId, ShowingKind
from bot.store.audit.events import events_of
from bot.store.engine import Store
from bot.store.showings import insert_showing, is_left, last_of_all, load_showing, load_showings
from tests.kit.made import BOTH, given_review, make_showing


@pytest.mark.asyncio
async def test_a_showing_comes_back_as_it_was_made(store: Store) -> None:
    review = await given_review(store)
    offers = (Offer(0, BOTH, complete=True), Offer(1, (), complete=False))
    showing = make_showing(
        review, None, kind=ShowingKind.MODAL, offers=offers, to=PersonId("T1", "U0ADA"), final_args="{}", page=2, at=7
    )

    async with store.begin() as tx:
        await insert_showing(tx, showing)

    async with store.read() as tx:
        assert await load_showing(tx, showing.id) == showing
        assert await load_showing(tx, "s_unknown") is None


@pytest.mark.asyncio
async def test_the_record_says_who_was_shown_which_digest(store: Store) -> None:
    review = await given_review(store)
    showing = make_showing(review, to=PersonId("T1", "U0ADA"))

    async with store.begin() as tx:
        await insert_showing(tx, showing)

    async with store.read() as tx:
        event = (await events_of(tx, review.id))[-1]
    told = json.loads(event.content)
    assert (event.tenant, event.kind, told["digest"], told["to"]) == (
        "acme",
        "showing.made",
        showing.digest,
        {"team": "T1", "user": "U0ADA"},
    )


@pytest.mark.asyncio
async def test_a_view_is_left_for_another_page_of_it_and_not_for_what_lies_on_top(store: Store) -> None:
    review = await given_review(store, actions=2)
    listed = make_showing(review, None, kind=ShowingKind.MODAL, to=PersonId("T1", "U0ADA"), at=1_000)
    later = [
        make_showing(review, 0, kind=ShowingKind.MODAL, to=PersonId("T1", "U0ADA"), page=1, at=1_001),
        make_showing(review, None, kind=ShowingKind.MODAL, to=PersonId("T1", "U0BEN"), page=1, at=1_001),
        make_showing(review, None, kind=ShowingKind.MODAL, to=PersonId("T1", "U0ADA"), page=0, at=1_001),
    ]
    async with store.begin() as tx:
        for one in (listed, *later):
            await insert_showing(tx, one)
        assert not await is_left(tx, listed)

        await insert_showing(
            tx, make_showing(review, None, kind=ShowingKind.MODAL, to=PersonId("T1", "U0ADA"), page=1, at=1_002)
        )
        assert await is_left(tx, listed)


@pytest.mark.asyncio
async def test_the_view_of_all_calls_that_a_person_was_shown_last_is_found_behind_views_of_single_calls(
    store: Store,
) -> None:
    review = await given_review(store, actions=2)
    first, second = (
        make_showing(review, None, kind=ShowingKind.MODAL, to=PersonId("T1", "U0ADA"), page=page, at=1_000 + page)
        for page in (0, 1)
    )
    single = make_showing(review, 1, kind=ShowingKind.MODAL, to=PersonId("T1", "U0ADA"), at=1_005)
    async with store.begin() as tx:
        for one in (first, second, single, make_showing(review, None, message_id="m_1", at=1_006)):
            await insert_showing(tx, one)

        assert await last_of_all(tx, review.id, PersonId("T1", "U0ADA")) == second
        assert await last_of_all(tx, review.id, PersonId("T1", "U0BEN")) is None
        assert await load_showings(tx, [first.id, single.id, "s_gone"]) == {first.id: first, single.id: single}
        assert await load_showings(tx, []) == {}
