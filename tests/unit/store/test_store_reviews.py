"""Reviews are stored once, come back whole, and move only from where they were seen."""

import pytest
from sqlalchemy import text

from bot.core.model import DecisionType, InterruptShape, Outcome, ReviewState
from bot.core.states import IllegalTransition
from bot.store.audit.events import events_of
from bot.store.engine import Store
from bot.store.messages import load_message, want_message
from bot.store.reviews import (
    CHUNK,
    due_to_expire,
    insert_review,
    list_pending,
    live_reviews,
    load_review,
    move,
    reopen,
    reviews_on_thread,
    set_delivered,
    set_outcomes,
    touch,
)
from tests.kit.made import URL, given_decided, given_review, kinds, loaded, make_action, make_review

EDIT = (DecisionType.EDIT, DecisionType.RESPOND)


@pytest.mark.asyncio
async def test_a_review_comes_back_as_it_was_stored(store: Store) -> None:
    bare = make_review()
    odd = make_action(bare.place, 0, tool="x\x00\ud800", args=None, args_object=False, description=None, allowed=EDIT)
    named = make_action(bare.place, 1, tool_call_id="call\x00", problem="nobody may\u202e", allowed=())
    review = bare.evolve(
        actions=(odd, named),
        thread_id="t\x00",
        interrupt_id="\udfff",
        shape=InterruptShape.PER_CALL,
        requester=None,
        response_schema='{"type":"object"}',
        problem="unclear",
    )

    async with store.begin() as tx:
        assert await insert_review(tx, review, policy_version=3)

    assert await loaded(store, review.id) == review


@pytest.mark.asyncio
async def test_an_interrupt_is_stored_once(store: Store) -> None:
    review = await given_review(store)
    again = make_review(thread=review.thread_id, interrupt_id=review.interrupt_id)

    async with store.begin() as tx:
        assert not await insert_review(tx, again, policy_version=1)

    async with store.read() as tx:
        assert await load_review(tx, again.id) is None
        assert await events_of(tx, again.id) == []


@pytest.mark.asyncio
async def test_a_changed_interrupt_and_a_later_generation_are_reviews_of_their_own(store: Store) -> None:
    review = await given_review(store)
    place = {"thread": review.thread_id, "interrupt_id": review.interrupt_id}

    async with store.begin() as tx:
        assert await insert_review(tx, make_review(**place, content_hash="other"), policy_version=1)
        assert await insert_review(tx, make_review(**place), policy_version=1, generation=1)

    async with store.read() as tx:
        found = await reviews_on_thread(tx, url=URL, thread_id=review.thread_id)
    assert len(found) == 3


@pytest.mark.asyncio
async def test_another_tenants_review_is_not_found(store: Store) -> None:
    review = await given_review(store)

    async with store.read() as tx:
        assert await load_review(tx, review.id, tenant="globex") is None
        assert await load_review(tx, review.id, tenant="acme") == review


@pytest.mark.asyncio
async def test_a_move_counts_a_version_and_is_recorded(store: Store) -> None:
    review = await given_review(store)

    async with store.begin() as tx:
        moved = await move(tx, review, ReviewState.SUPERSEDED, why="gone", content={"seen": 1})
        now = tx.now

    assert moved == review.evolve(state=ReviewState.SUPERSEDED, why="gone", version=2, settled_at=now)
    assert await loaded(store, review.id) == moved
    async with store.read() as tx:
        last = (await events_of(tx, review.id))[-1]
    assert (last.kind, last.actor) == ("review.superseded", "placet")
    assert last.content == '{"from":"open","seen":1,"why":"gone"}'


@pytest.mark.asyncio
async def test_a_move_from_a_stale_reading_changes_nothing(store: Store) -> None:
    review = await given_review(store)
    async with store.begin() as tx:
        await move(tx, review, ReviewState.EXPIRED)

    async with store.begin() as tx:
        assert await move(tx, review, ReviewState.SUPERSEDED) is None

    assert await kinds(store, review.id) == ["review.opened", "review.expired"]


@pytest.mark.asyncio
async def test_a_move_that_the_table_does_not_have_raises(store: Store) -> None:
    review = await given_review(store)

    async with store.begin() as tx:
        with pytest.raises(IllegalTransition):
            await move(tx, review, ReviewState.ARMED)


@pytest.mark.asyncio
async def test_a_move_and_a_touch_have_the_messages_drawn_again(store: Store) -> None:
    review = await given_review(store)
    async with store.begin() as tx:
        message = await want_message(tx, review, channel="C1")
        await touch(tx, review.id)
        await move(tx, review, ReviewState.EXPIRED)

    async with store.read() as tx:
        found = await load_message(tx, message)
    assert found is not None
    assert (found.wanted, found.shown) == (3, 0)


@pytest.mark.asyncio
async def test_time_to_decide_runs_from_the_first_delivery_only(store: Store) -> None:
    review = await given_review(store)
    async with store.begin() as tx:
        assert await set_delivered(tx, review.id, decide_within_ms=1_000)
        first = tx.now
    store.offset_ms = 500
    async with store.begin() as tx:
        assert not await set_delivered(tx, review.id, decide_within_ms=9_000)

    found = await loaded(store, review.id)
    assert (found.delivered_at, found.decide_by) == (first, first + 1_000)


@pytest.mark.asyncio
async def test_only_delivered_unsent_reviews_past_their_time_expire(store: Store) -> None:
    await given_review(store)
    late, decided, early = await given_review(store), await given_decided(store), await given_review(store)
    async with store.begin() as tx:
        await set_delivered(tx, late.id, decide_within_ms=10_000)
        await set_delivered(tx, decided.id, decide_within_ms=20_000)
        await set_delivered(tx, early.id, decide_within_ms=90_000)
    store.offset_ms = 60_000

    async with store.read() as tx:
        assert await due_to_expire(tx, limit=10) == [late.id, decided.id]
        assert await due_to_expire(tx, limit=1) == [late.id]


@pytest.mark.asyncio
async def test_a_held_review_opens_again_with_a_new_deadline(store: Store) -> None:
    review = await given_review(store)
    async with store.begin() as tx:
        expired = await move(tx, review, ReviewState.EXPIRED)
        assert expired is not None
        held = await move(tx, expired, ReviewState.HELD)
        assert held is not None
        opened = await reopen(tx, held, decide_within_ms=5_000, actor="operator:ops")
        now = tx.now
        assert await reopen(tx, held, decide_within_ms=None, actor="operator:ops") is None

    assert opened is not None
    assert opened.decide_by == now + 5_000
    assert await loaded(store, review.id) == opened


@pytest.mark.asyncio
async def test_outcomes_stand_with_their_positions(store: Store) -> None:
    review = await given_review(store, actions=3)
    async with store.begin() as tx:
        await set_outcomes(tx, review, {0: (Outcome.EXECUTED, "done\x00"), 2: (Outcome.FAILED, None)})

    found = (await loaded(store, review.id)).actions
    assert [(action.outcome, action.outcome_text) for action in found] == [
        (Outcome.EXECUTED, "done\x00"),
        (None, None),
        (Outcome.FAILED, None),
    ]
    assert await kinds(store, review.id) == ["review.opened", "review.outcomes"]


@pytest.mark.asyncio
async def test_lists_hold_what_is_not_settled_oldest_first(store: Store) -> None:
    old = await given_review(store, opened_at=1, thread="t1")
    new = await given_review(store, opened_at=2, thread="t1", actions=2)
    other = await given_review(store, opened_at=3, tenant="globex", thread="t1")
    settled = await given_review(store, opened_at=0, thread="t1")
    async with store.begin() as tx:
        await move(tx, settled, ReviewState.SUPERSEDED)

    async with store.read() as tx:
        assert await live_reviews(tx, tenant="acme") == [old, new]
        assert await reviews_on_thread(tx, url=URL, thread_id="t1") == [old, new, other]
        assert await list_pending(tx, limit=10) == [old, new, other]
        assert await list_pending(tx, tenant="acme", limit=1) == [old]


@pytest.mark.asyncio
async def test_more_reviews_than_one_list_of_ids_takes_come_back_whole(store: Store) -> None:
    made = [make_review(opened_at=number) for number in range(CHUNK + 5)]
    async with store.begin() as tx:
        for review in made:
            await insert_review(tx, review, policy_version=1)

    async with store.read() as tx:
        assert await live_reviews(tx, tenant="acme") == made
        assert await tx.conn.scalar(text("SELECT count(*) FROM actions")) == CHUNK + 5
