"""One active decision per position, with its evidence; taken back, never deleted."""

import json

import pytest

from bot.core.model import DecisionType, ReviewState
from bot.core.states import IllegalTransition
from bot.store.audit.events import events_of
from bot.store.decisions import (
    earlier_answer,
    history,
    insert_decisions,
    purge_answers,
    record_approvals,
    remember_answer,
    void_decisions,
    withdraw_approval,
)
from bot.store.engine import Store
from bot.store.reviews import load_review, move
from bot.store.showings import insert_showing
from tests.kit.made import ADA, BOB, given_decided, given_review, kinds, loaded, make_decision, make_showing


@pytest.mark.asyncio
async def test_a_batch_is_decided_with_its_last_position(store: Store) -> None:
    review = await given_review(store, actions=2)
    first, last = make_decision(review, 1), make_decision(review, 0, by=BOB)

    async with store.begin() as tx:
        partly = await insert_decisions(tx, review, [first], delivery_key="k1")
    async with store.begin() as tx:
        assert partly is not None
        whole = await insert_decisions(tx, partly, [last], delivery_key="k2")

    assert partly.state is ReviewState.OPEN
    assert whole is not None
    assert whole.state is ReviewState.DECIDED
    assert await loaded(store, review.id) == whole
    assert [action.decision for action in whole.actions] == [last, first]
    assert await kinds(store, review.id) == ["review.opened", "decision.made", "decision.made", "review.decided"]


@pytest.mark.asyncio
async def test_a_decision_comes_back_as_it_was_made(store: Store) -> None:
    review = await given_review(store)
    made = make_decision(
        review, type=DecisionType.EDIT, final_args='{"amount":12.70}', message="why\x00\ud800", rule='tools "*"'
    )

    async with store.begin() as tx:
        await insert_decisions(tx, review, [made], delivery_key="k")

    assert (await loaded(store, review.id)).actions[0].decision == made


@pytest.mark.asyncio
async def test_the_record_holds_digests_and_no_arguments(store: Store) -> None:
    review = await given_review(store)
    showing = make_showing(review, digest="shown")
    made = make_decision(
        review, showing_id=showing.id, digest="final", final_args='{"secret":"hunter2"}', message="hunter2"
    )
    async with store.begin() as tx:
        await insert_showing(tx, showing)
        await insert_decisions(tx, review, [made], delivery_key="k")

    async with store.read() as tx:
        event = next(event for event in await events_of(tx, review.id) if event.kind == "decision.made")
    told = json.loads(event.content)
    assert (event.kind, event.actor, event.position) == ("decision.made", "slack:T0ACME/U0ADA", 0)
    assert (told["proposed"], told["shown"], told["decided"]) == (review.actions[0].digest, "shown", "final")
    assert (told["rule"], told["policy_version"], told["showing"]) == ("user U0ADA", 1, showing.id)
    assert len(told["final_args_hash"]) == 64
    assert "hunter2" not in event.content


@pytest.mark.asyncio
async def test_a_second_decision_on_a_position_is_refused(store: Store) -> None:
    review = await given_review(store, actions=2)
    async with store.begin() as tx:
        partly = await insert_decisions(tx, review, [make_decision(review)], delivery_key="k")

    async with store.begin() as tx:
        assert partly is not None
        assert await insert_decisions(tx, partly, [make_decision(partly, by=BOB)], delivery_key="k2") is None
        assert await insert_decisions(tx, review, [make_decision(review, 1)], delivery_key="k3") is None

    async with store.read() as tx:
        assert len(await history(tx, review.id)) == 1


@pytest.mark.asyncio
@pytest.mark.parametrize("positions", [[], [0, 0]])
async def test_none_and_the_same_position_twice_are_no_decision(store: Store, positions: list[int]) -> None:
    review = await given_review(store)

    async with store.begin() as tx:
        made = [make_decision(review, position) for position in positions]
        assert await insert_decisions(tx, review, made, delivery_key="k") is None


@pytest.mark.asyncio
async def test_decisions_taken_back_stay_in_the_history(store: Store) -> None:
    decided = await given_decided(store, actions=2)

    async with store.begin() as tx:
        opened = await void_decisions(tx, decided, why="revoked", actor="placet", positions=[1])
        now = tx.now

    assert opened is not None
    assert opened.state is ReviewState.OPEN
    assert [action.decision is None for action in opened.actions] == [False, True]
    assert await loaded(store, decided.id) == opened
    async with store.read() as tx:
        past = await history(tx, decided.id)
    assert [one.decision for one in past] == [action.decision for action in decided.actions]
    assert [(one.voided_at, one.voided_by, one.why) for one in past] == [
        (None, None, None),
        (now, "placet", "revoked"),
    ]


@pytest.mark.asyncio
async def test_a_position_taken_back_can_be_decided_again_in_the_same_transaction(store: Store) -> None:
    decided = await given_decided(store)

    async with store.begin() as tx:
        opened = await void_decisions(tx, decided, why="changed", actor="slack:T0ACME/U0BOB")
        assert opened is not None
        rejected = make_decision(opened, by=BOB, type=DecisionType.REJECT)
        again = await insert_decisions(tx, opened, [rejected], delivery_key="k2")

    assert again is not None
    assert (again.state, again.actions[0].decision) == (ReviewState.DECIDED, rejected)
    assert await loaded(store, decided.id) == again


@pytest.mark.asyncio
async def test_a_partly_decided_review_stays_open_when_a_decision_is_taken_back(store: Store) -> None:
    review = await given_review(store, actions=2)
    async with store.begin() as tx:
        partly = await insert_decisions(tx, review, [make_decision(review)], delivery_key="k")
        assert partly is not None
        opened = await void_decisions(tx, partly, why="author", actor="slack:T0ACME/U0ADA")
        assert await void_decisions(tx, partly, why="again", actor="placet") is None

    assert opened is not None
    assert await loaded(store, review.id) == opened
    assert opened.version == 3


@pytest.mark.asyncio
async def test_nothing_to_take_back_and_a_stale_reading_change_nothing(store: Store) -> None:
    review, decided = await given_review(store), await given_decided(store)
    async with store.begin() as tx:
        await move(tx, decided, ReviewState.EXPIRED)

    async with store.begin() as tx:
        assert await void_decisions(tx, review, why="", actor="placet") is None
        assert await void_decisions(tx, decided, why="", actor="placet") is None


@pytest.mark.asyncio
async def test_what_expired_is_not_taken_back(store: Store) -> None:
    decided = await given_decided(store)
    async with store.begin() as tx:
        await move(tx, decided, ReviewState.EXPIRED)
        expired = await load_review(tx, decided.id)
        assert expired is not None
        with pytest.raises(IllegalTransition):
            await void_decisions(tx, expired, why="", actor="placet")


@pytest.mark.asyncio
async def test_a_delivery_is_answered_as_it_was_first(store: Store) -> None:
    async with store.begin() as tx:
        assert await earlier_answer(tx, "U1:1.2:s_1") is None
        assert await remember_answer(tx, "U1:1.2:s_1", "first\x00")
    async with store.begin() as tx:
        assert not await remember_answer(tx, "U1:1.2:s_1", "second")

    async with store.read() as tx:
        assert await earlier_answer(tx, "U1:1.2:s_1") == "first\x00"


@pytest.mark.asyncio
async def test_answers_older_than_a_day_are_forgotten(store: Store) -> None:
    async with store.begin() as tx:
        await remember_answer(tx, "old", "a")
    store.offset_ms = 90_000_000
    async with store.begin() as tx:
        await remember_answer(tx, "new", "b")
        assert await purge_answers(tx) == 1

    async with store.read() as tx:
        assert [await earlier_answer(tx, key) for key in ("old", "new")] == [None, "b"]


@pytest.mark.asyncio
async def test_an_approval_is_taken_back_alone_and_may_be_given_again(store: Store) -> None:
    review = await given_review(store)
    first, second = make_decision(review), make_decision(review, by=BOB, at=6)
    async with store.begin() as tx:
        both = await record_approvals(tx, review, [first, second])
        assert both is not None
        one = await withdraw_approval(tx, both, 0, ADA, why="taken_back")
        assert one is not None
        assert await withdraw_approval(tx, one, 0, ADA, why="taken_back") is None
        again = await record_approvals(tx, one, [make_decision(review, at=7)])
        assert await withdraw_approval(tx, both, 0, BOB, why="taken_back") is None  # what was read is too old

    assert [made.by for made in one.actions[0].approvals] == [BOB]
    assert again is not None
    assert await loaded(store, review.id) == again
    async with store.read() as tx:
        events = await events_of(tx, review.id)
    assert [event.kind for event in events] == [
        "review.opened",
        *["approval.made"] * 2,
        "approval.voided",
        "approval.made",
    ]
    assert json.loads(events[3].content) == {"approval": first.id, "why": "taken_back"}
