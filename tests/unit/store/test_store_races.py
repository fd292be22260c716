"""Races are decided by the database: two roots, many tasks, and on SQLite without the courtesy of the in-process lock."""

import asyncio
from collections import Counter
from contextlib import nullcontext

import pytest
from sqlalchemy import text

from bot.core.model import DecisionType, PersonId, Review, ReviewState
from bot.store.decisions import history, insert_decisions, remember_answer
from bot.store.dispatches import Claim, adopt_orphan, arm, claim_next, release
from bot.store.engine import Store
from bot.store.messages import Message, claim_messages, posted, want_message
from bot.store.policies import apply, current
from bot.store.reviews import insert_review, load_review, move, set_delivered
from tests.kit.made import (
    decide_all,
    given_claim,
    given_decided,
    given_review,
    kinds,
    loaded,
    make_decision,
    make_review,
)

CROWD = 20


@pytest.fixture
def roots(store: Store, replica: Store) -> list[Store]:
    """Twenty hands on two roots that nothing but the database holds apart."""
    for root in (store, replica):
        root._gate = nullcontext()
    return [store, replica] * (CROWD // 2)


async def _claim(root: Store, owner: int) -> Claim | None:
    async with root.begin() as tx:
        return await claim_next(tx, owner=f"w{owner}", lease_ms=30_000)


async def _claims(roots: list[Store]) -> list[Claim]:
    found = await asyncio.gather(*(_claim(root, owner) for owner, root in enumerate(roots)))
    return [claim for claim in found if claim]


@pytest.mark.asyncio
async def test_twenty_claimers_of_one_review_get_one_claim(roots: list[Store]) -> None:
    review = await given_decided(roots[0])

    assert len(await _claims(roots)) == 1

    assert (await kinds(roots[0], review.id)).count("review.claimed") == 1


@pytest.mark.asyncio
async def test_twenty_claimers_of_twenty_reviews_of_one_thread_get_one_claim(roots: list[Store]) -> None:
    async with roots[0].begin() as tx:
        for number in range(CROWD):
            review = make_review(thread="shared", tenant=f"t{number}")
            await insert_review(tx, review, policy_version=1)
            await decide_all(tx, review)

    assert len(await _claims(roots)) == 1
    assert await _claims(roots) == []


@pytest.mark.asyncio
async def test_claimers_of_several_threads_never_share_one(roots: list[Store]) -> None:
    for number in range(12):
        await given_decided(roots[0], thread=f"thread-{number % 4}")

    claims: list[Claim] = []
    for _ in range(4):
        claims += await _claims(roots)

    assert Counter(claim.thread_id for claim in claims) == {f"thread-{number}": 1 for number in range(4)}


async def _until_blocked(watcher: Store) -> None:
    """Until some transaction of this database waits for another's lock."""
    waiting = text("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'")
    blocked = 0
    while not blocked:
        async with watcher.read() as tx:
            blocked = await tx.conn.scalar(waiting) or 0


@pytest.mark.asyncio
@pytest.mark.parametrize("engine", ["postgresql"])
@pytest.mark.parametrize("again", [False, True])
async def test_a_claim_that_meets_an_uncommitted_one_of_its_thread_loses(roots: list[Store], again: bool) -> None:
    if again:
        claim = await given_claim(roots[0], thread="shared", tenant="late")
        async with roots[0].begin() as tx:
            await release(tx, claim, to=ReviewState.DECIDED, why="busy", retry_at=tx.now)
    else:
        await given_decided(roots[0], thread="shared", tenant="late")
    await given_decided(roots[0], thread="shared", tenant="early")

    async with roots[0].begin() as tx:
        first = await claim_next(tx, owner="w1", lease_ms=30_000, skip_tenants=["late"])
        second = asyncio.create_task(_claim(roots[1], 2))
        await _until_blocked(roots[0])

    assert first is not None
    assert first.tenant == "early"
    assert await second is None


@pytest.mark.asyncio
async def test_twenty_adopters_of_one_orphan_get_one_claim(roots: list[Store]) -> None:
    await given_claim(roots[0])
    for root in roots[:2]:
        root.offset_ms = 60_000

    async def adopt(root: Store) -> Claim | None:
        async with root.begin() as tx:
            return await adopt_orphan(tx, owner="w", lease_ms=30_000)

    adopted = await asyncio.gather(*(adopt(root) for root in roots))
    assert [claim.token for claim in adopted if claim] == [2]


@pytest.mark.asyncio
async def test_an_owner_and_its_adopter_never_both_arm(roots: list[Store]) -> None:
    claim = await given_claim(roots[0])
    roots[1].offset_ms = 60_000

    async def adopt_and_arm() -> Claim | None:
        async with roots[1].begin() as tx:
            adopted = await adopt_orphan(tx, owner="w2", lease_ms=30_000)
        if adopted is None or adopted.state != "claimed":
            return None
        async with roots[1].begin() as tx:
            return await arm(tx, adopted, body_hash="theirs")

    async def wake_and_arm() -> Claim | None:
        async with roots[0].begin() as tx:
            return await arm(tx, claim, body_hash="ours")

    armed = await asyncio.gather(adopt_and_arm(), wake_and_arm())
    assert len([one for one in armed if one]) == 1
    assert (await kinds(roots[0], claim.review_id)).count("review.armed") == 1


@pytest.mark.asyncio
@pytest.mark.parametrize("lock", [True, False])
async def test_twenty_people_decide_one_position_and_one_of_them_has(roots: list[Store], lock: bool) -> None:
    review = await given_review(roots[0])

    async def decide(number: int, root: Store) -> bool:
        kind = DecisionType.APPROVE if number % 2 else DecisionType.REJECT
        async with root.begin() as tx:
            seen = await load_review(tx, review.id, lock=lock)
            assert seen is not None
            made = make_decision(seen, by=PersonId("T0ACME", f"U{number}"), type=kind)
            return await insert_decisions(tx, seen, [made], delivery_key=f"k{number}") is not None

    won = await asyncio.gather(*(decide(number, root) for number, root in enumerate(roots)))

    assert sum(won) == 1
    async with roots[0].read() as tx:
        (only,) = await history(tx, review.id)
    assert only.decision.by.user == f"U{won.index(True)}"


@pytest.mark.asyncio
async def test_people_who_lock_before_they_decide_all_land_on_their_own_positions(roots: list[Store]) -> None:
    review = await given_review(roots[0], actions=CROWD)

    async def decide(position: int, root: Store) -> bool:
        async with root.begin() as tx:
            seen = await load_review(tx, review.id, lock=True)
            assert seen is not None
            made = make_decision(seen, position)
            return await insert_decisions(tx, seen, [made], delivery_key=f"k{position}") is not None

    assert all(await asyncio.gather(*(decide(position, root) for position, root in enumerate(roots))))

    decided = await loaded(roots[0], review.id)
    assert decided.state is ReviewState.DECIDED
    assert decided.undecided == ()
    assert (await kinds(roots[0], review.id)).count("review.decided") == 1


@pytest.mark.asyncio
async def test_a_decision_racing_the_deadline_wins_or_loses_whole(roots: list[Store]) -> None:
    review = await given_review(roots[0])

    async def decide() -> bool:
        async with roots[0].begin() as tx:
            return await insert_decisions(tx, review, [make_decision(review)], delivery_key="k") is not None

    async def expire() -> bool:
        async with roots[1].begin() as tx:
            return await move(tx, review, ReviewState.EXPIRED) is not None

    decided, expired = await asyncio.gather(decide(), expire())

    assert decided != expired
    found = await loaded(roots[0], review.id)
    assert found.state is (ReviewState.DECIDED if decided else ReviewState.EXPIRED)
    assert (found.actions[0].decision is not None) == decided


@pytest.mark.asyncio
async def test_twenty_sightings_of_one_interrupt_store_one_review(roots: list[Store]) -> None:
    place = {"thread": "t", "interrupt_id": "i"}

    async def store_it(root: Store) -> bool:
        async with root.begin() as tx:
            return await insert_review(tx, make_review(**place), policy_version=1)

    assert sum(await asyncio.gather(*(store_it(root) for root in roots))) == 1


@pytest.mark.asyncio
async def test_one_delivery_to_two_replicas_is_remembered_once(roots: list[Store]) -> None:
    async def remember(number: int, root: Store) -> bool:
        async with root.begin() as tx:
            return await remember_answer(tx, "same", str(number))

    assert sum(await asyncio.gather(*(remember(number, root) for number, root in enumerate(roots)))) == 1


@pytest.mark.asyncio
async def test_no_message_is_leased_twice(roots: list[Store]) -> None:
    async with roots[0].begin() as tx:
        for number in range(30):
            review = make_review(tenant=f"t{number % 3}")
            await insert_review(tx, review, policy_version=1)
            await want_message(tx, review, channel="C1")

    async def lease(root: Store) -> list[str]:
        async with root.begin() as tx:
            return [message.id for message in await claim_messages(tx, owner="w", lease_ms=30_000, limit=3)]

    leased: list[str] = []
    while len(leased) < 30:
        for found in await asyncio.gather(*(lease(root) for root in roots)):
            leased += found

    assert len(set(leased)) == len(leased) == 30


@pytest.mark.asyncio
async def test_posting_and_deciding_never_wait_for_each_other_in_a_circle(roots: list[Store]) -> None:
    async with roots[0].begin() as tx:
        made = [make_review(actions=2) for _ in range(CROWD)]
        for review in made:
            await insert_review(tx, review, policy_version=1)
            root = await want_message(tx, review, channel="C1")
            await want_message(tx, review, channel="C1", position=0, parent_id=root)
        claimed = await claim_messages(tx, owner="w", lease_ms=30_000, limit=CROWD)

    async def post(message: Message, root: Store) -> bool:
        async with root.begin() as tx:
            done = await posted(tx, message, channel="C1", ts="1", version=1, showing_id=None)
            return done and await set_delivered(tx, message.review_id, decide_within_ms=1)

    async def decide(review: Review, root: Store) -> bool:
        async with root.begin() as tx:
            seen = await load_review(tx, review.id, lock=True)
            return seen is not None and await move(tx, seen, ReviewState.SUPERSEDED) is not None

    services = [post(message, root) for message, root in zip(claimed, roots, strict=True)]
    services += [decide(review, root) for review, root in zip(made, roots, strict=True)]
    assert all(await asyncio.gather(*services))


@pytest.mark.asyncio
async def test_policies_applied_at_once_get_versions_of_their_own(roots: list[Store]) -> None:
    async def put(number: int, root: Store) -> int:
        async with root.begin() as tx:
            return (await apply(tx, text=str(number), digest=f"d{number}", by="x")).version

    versions = await asyncio.gather(*(put(number, root) for number, root in enumerate(roots)))

    assert sorted(versions) == list(range(1, CROWD + 1))
    async with roots[0].read() as tx:
        newest = await current(tx)
    assert newest is not None
    assert newest.version == CROWD
