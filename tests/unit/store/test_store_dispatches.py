"""A claim is one owner's, each step holds for its token only, and the review moves with it."""

from dataclasses import replace

import pytest
from sqlalchemy import update

from bot.core.model import Outcome, ReviewState
from bot.store.decisions import void_decisions
from bot.store.dispatches import (
    FIRST_LOOK_MS,
    Claim,
    accept,
    adopt_orphan,
    any_due,
    arm,
    claim_next,
    close,
    load_claim,
    not_taken,
    put_off,
    raise_alarm,
    release,
    renew,
    set_alive,
    take_due,
    unknown_due,
)
from bot.store.engine import Store
from bot.store.reviews import load_review, move
from bot.store.tables import reviews
from bot.store.tenants import ALL, pause
from tests.kit.made import given_claim, given_decided, given_review, kinds, loaded


async def _claim(store: Store, *, owner: str = "w1", skip: tuple[str, ...] = ()) -> Claim | None:
    async with store.begin() as tx:
        return await claim_next(tx, owner=owner, lease_ms=30_000, skip_tenants=skip)


async def _armed(store: Store) -> Claim:
    claim = await given_claim(store)
    async with store.begin() as tx:
        armed = await arm(tx, claim, body_hash="b")
    assert armed is not None
    return armed


async def _sent(store: Store) -> Claim:
    armed = await _armed(store)
    async with store.begin() as tx:
        sent = await accept(tx, armed, run_id="run-1")
    assert sent is not None
    return sent


async def _close(store: Store, claim: Claim, to: ReviewState) -> bool:
    async with store.begin() as tx:
        return await close(tx, claim, to=to, why="seen", outcomes={0: (Outcome.EXECUTED, "ok\x00")})


@pytest.mark.asyncio
async def test_a_dispatch_goes_from_claim_to_outcome_with_one_event_a_step(store: Store) -> None:
    sent = await _sent(store)

    assert await _close(store, sent, ReviewState.RESUMED)

    review = await loaded(store, sent.review_id)
    assert (review.state, review.actions[0].outcome) == (ReviewState.RESUMED, Outcome.EXECUTED)
    assert await kinds(store, sent.review_id) == [
        "review.opened",
        "decision.made",
        "review.decided",
        "review.claimed",
        "review.armed",
        "review.sent",
        "review.resumed",
    ]


@pytest.mark.asyncio
async def test_each_step_is_seen_in_the_claim_that_it_returns(store: Store) -> None:
    claim = await given_claim(store, owner="w7", lease_ms=9_000)
    assert (claim.state, claim.token, claim.attempt, claim.owner) == ("claimed", 1, 0, "w7")
    async with store.begin() as tx:
        armed = await arm(tx, claim, body_hash="b")
        assert armed is not None
        assert (armed.state, armed.attempt, armed.armed_at, armed.lease_until) == ("armed", 1, tx.now, tx.now + 9_000)
        alive = await set_alive(tx, armed)
        assert alive is not None
        assert alive.alive_at == tx.now
        sent = await accept(tx, armed, run_id="run-1")

    assert sent is not None
    assert (sent.state, sent.run_id) == ("accepted", "run-1")
    async with store.read() as tx:
        assert await load_claim(tx, claim.review_id) == sent


@pytest.mark.asyncio
async def test_nothing_due_is_no_claim(store: Store) -> None:
    await given_review(store)

    assert await _claim(store) is None


@pytest.mark.asyncio
async def test_the_oldest_decided_review_goes_first(store: Store) -> None:
    made = []
    for offset in (0, 1_000, 2_000):
        store.offset_ms = offset
        made.append((await given_decided(store)).id)

    assert [claim.review_id if (claim := await _claim(store)) else None for _ in range(4)] == [*made, None]


@pytest.mark.asyncio
async def test_tenants_take_turns(store: Store) -> None:
    for tenant in ("acme", "acme", "acme", "globex", "initech"):
        await given_decided(store, tenant=tenant)

    turns = []
    for offset in range(5):
        store.offset_ms = 1_000 * (offset + 1)
        claim = await _claim(store)
        assert claim is not None
        turns.append(claim.tenant)
    assert turns == ["acme", "globex", "initech", "acme", "acme"]


@pytest.mark.asyncio
async def test_skipped_and_paused_tenants_are_not_claimed(store: Store) -> None:
    await given_decided(store, tenant="acme")
    await given_decided(store, tenant="globex")
    async with store.begin() as tx:
        await pause(tx, "acme", by="operator:ops")

    assert await _claim(store, skip=("globex",)) is None
    async with store.begin() as tx:
        await pause(tx, ALL, by="operator:ops")
    assert await _claim(store) is None


@pytest.mark.asyncio
async def test_a_thread_is_claimed_once_across_all_tenants(store: Store) -> None:
    await given_claim(store, thread="shared", tenant="acme")
    await given_decided(store, thread="shared", tenant="globex")
    free = await given_decided(store, tenant="globex")

    claim = await _claim(store)

    assert claim is not None
    assert claim.review_id == free.id
    assert await _claim(store) is None


@pytest.mark.asyncio
async def test_the_next_review_of_a_thread_is_claimed_when_the_first_is_closed(store: Store) -> None:
    sent = await _sent(store)
    waiting = await given_decided(store, thread=sent.thread_id)
    assert await _claim(store) is None

    await _close(store, sent, ReviewState.RESUMED)

    claim = await _claim(store)
    assert claim is not None
    assert claim.review_id == waiting.id


@pytest.mark.asyncio
async def test_an_attempt_not_taken_is_claimed_again_under_the_same_id_and_the_next_token(store: Store) -> None:
    armed = await _armed(store)
    async with store.begin() as tx:
        assert await not_taken(tx, armed, why="absent", retry_at=tx.now + 5_000)
    assert (await loaded(store, armed.review_id)).state is ReviewState.DECIDED
    assert await _claim(store) is None
    store.offset_ms = 6_000

    again = await _claim(store)

    assert again is not None
    assert (again.dispatch_id, again.token, again.attempt) == (armed.dispatch_id, 2, 1)
    assert (again.state, again.armed_at, again.alive_at) == ("claimed", None, None)


@pytest.mark.asyncio
async def test_a_second_claim_of_a_review_waits_for_its_thread(store: Store) -> None:
    armed = await _armed(store)
    async with store.begin() as tx:
        await not_taken(tx, armed, why="absent", retry_at=tx.now)
    other = await given_decided(store, thread=armed.thread_id)
    async with store.begin() as tx:
        await tx.conn.execute(update(reviews).where(reviews.c.id == other.id).values(next_try_at=0))

    first = await _claim(store)

    assert first is not None
    assert first.review_id == other.id
    assert await _claim(store) is None


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("to", "dispatch"),
    [
        (ReviewState.DECIDED, "idle"),
        (ReviewState.OPEN, "idle"),
        (ReviewState.EXPIRED, "idle"),
        (ReviewState.SUPERSEDED, "closed"),
        (ReviewState.BROKEN, "closed"),
    ],
)
async def test_a_released_claim_leaves_its_review_in_the_state_named(
    store: Store, to: ReviewState, dispatch: str
) -> None:
    claim = await given_claim(store)

    async with store.begin() as tx:
        assert await release(tx, claim, to=to, why="because", retry_at=tx.now + 1)

    review = await loaded(store, claim.review_id)
    assert (review.state, review.why) == (to, "because")
    async with store.read() as tx:
        freed = await load_claim(tx, claim.review_id)
    assert freed is not None
    assert freed.state == dispatch


@pytest.mark.asyncio
@pytest.mark.parametrize("to", [ReviewState.UNKNOWN, ReviewState.SUPERSEDED, ReviewState.BROKEN, ReviewState.RESUMED])
async def test_an_armed_dispatch_can_end_in_every_way(store: Store, to: ReviewState) -> None:
    armed = await _armed(store)

    assert await _close(store, armed, to)

    review = await loaded(store, armed.review_id)
    assert (review.state, review.actions[0].outcome_text) == (to, "ok\x00")
    assert not await _close(store, armed, to)


@pytest.mark.asyncio
async def test_an_expired_review_is_claimed_as_an_expiry_until_people_decide_anew(store: Store) -> None:
    review = await given_review(store)
    async with store.begin() as tx:
        await move(tx, review, ReviewState.EXPIRED)
    claim = await _claim(store)
    assert claim is not None
    assert claim.expiry
    async with store.begin() as tx:
        await release(tx, claim, to=ReviewState.DECIDED, why="busy")
    again = await _claim(store)
    assert again is not None
    assert again.expiry

    async with store.begin() as tx:
        await release(tx, again, to=ReviewState.OPEN, why="reopened")
        freed = await load_claim(tx, review.id)
    assert freed is not None
    assert not freed.expiry


@pytest.mark.asyncio
async def test_an_orphan_is_adopted_where_it_stands_and_its_old_owner_is_fenced_off(store: Store) -> None:
    armed = await _armed(store)
    async with store.begin() as tx:
        assert await adopt_orphan(tx, owner="w2", lease_ms=30_000) is None
    store.offset_ms = 60_000

    async with store.begin() as tx:
        adopted = await adopt_orphan(tx, owner="w2", lease_ms=30_000)

    assert adopted is not None
    assert (adopted.state, adopted.token, adopted.owner, adopted.attempt) == ("armed", 2, "w2", 1)
    async with store.begin() as tx:
        assert await accept(tx, armed, run_id="late") is None
        assert await renew(tx, armed, lease_ms=1) is None
        assert await set_alive(tx, armed) is None
        assert not await not_taken(tx, armed, why="", retry_at=0)
        assert not await close(tx, armed, to=ReviewState.RESUMED, why="")
        assert await accept(tx, adopted, run_id="run") is not None


@pytest.mark.asyncio
async def test_a_sleeping_owner_cannot_arm_after_its_claim_was_adopted(store: Store) -> None:
    claim = await given_claim(store)
    store.offset_ms = 60_000
    async with store.begin() as tx:
        adopted = await adopt_orphan(tx, owner="w2", lease_ms=30_000)
        assert adopted is not None

    async with store.begin() as tx:
        assert await arm(tx, claim, body_hash="b") is None
        assert not await release(tx, claim, to=ReviewState.DECIDED, why="")
        assert await arm(tx, adopted, body_hash="b") is not None


@pytest.mark.asyncio
async def test_a_renewed_claim_is_no_orphan(store: Store) -> None:
    claim = await given_claim(store)
    store.offset_ms = 29_000
    async with store.begin() as tx:
        renewed = await renew(tx, claim, lease_ms=30_000)
    store.offset_ms = 40_000

    async with store.begin() as tx:
        assert await adopt_orphan(tx, owner="w2", lease_ms=1) is None
        assert renewed is not None
        assert renewed.lease_until > tx.now


@pytest.mark.asyncio
async def test_a_claim_whose_review_was_voided_cannot_arm(store: Store) -> None:
    claim = await given_claim(store)
    async with store.begin() as tx:
        review = await load_review(tx, claim.review_id, lock=True)
        assert review is not None
        await void_decisions(tx, review, why="revoked", actor="placet")

    async with store.begin() as tx:
        assert await arm(tx, claim, body_hash="b") is None
        assert await release(tx, claim, to=ReviewState.DECIDED, why="")

    assert (await loaded(store, claim.review_id)).state is ReviewState.OPEN


@pytest.mark.asyncio
async def test_a_run_that_was_accepted_is_stored_though_its_review_moved_on(store: Store) -> None:
    armed = await _armed(store)
    async with store.begin() as tx:
        review = await load_review(tx, armed.review_id)
        assert review is not None
        await move(tx, review, ReviewState.SUPERSEDED)

    async with store.begin() as tx:
        sent = await accept(tx, armed, run_id="run-1")
        assert sent is not None
        assert await close(tx, sent, to=ReviewState.RESUMED, why="")

    assert (await loaded(store, armed.review_id)).state is ReviewState.SUPERSEDED


@pytest.mark.asyncio
async def test_a_lost_claim_changes_nothing(store: Store) -> None:
    claim = await given_claim(store)
    foreign = replace(claim, token=99)

    async with store.begin() as tx:
        assert await arm(tx, foreign, body_hash="b") is None
        assert not await release(tx, foreign, to=ReviewState.DECIDED, why="")
        assert await arm(tx, replace(claim, review_id="r_missing"), body_hash="b") is None

    assert (await kinds(store, claim.review_id))[-1] == "review.claimed"


@pytest.mark.asyncio
async def test_unknown_dispatches_come_up_on_a_schedule(store: Store) -> None:
    armed = await _armed(store)
    await _close(store, armed, ReviewState.UNKNOWN)

    async with store.begin() as tx:
        assert [claim.dispatch_id for claim in await unknown_due(tx, every_ms=60_000, limit=5)] == [armed.dispatch_id]
        assert await unknown_due(tx, every_ms=60_000, limit=5) == []
    store.offset_ms = 61_000
    async with store.begin() as tx:
        assert len(await unknown_due(tx, every_ms=60_000, limit=5)) == 1


@pytest.mark.asyncio
async def test_an_unknown_review_settled_as_not_executed_is_claimed_again(store: Store) -> None:
    armed = await _armed(store)
    await _close(store, armed, ReviewState.UNKNOWN)
    async with store.begin() as tx:
        unknown = await load_review(tx, armed.review_id)
        assert unknown is not None
        await move(tx, unknown, ReviewState.DECIDED, actor="operator:ops")

    again = await _claim(store)

    assert again is not None
    assert (again.dispatch_id, again.attempt) == (armed.dispatch_id, 1)


@pytest.mark.asyncio
async def test_an_alarm_is_raised_once(store: Store) -> None:
    sent = await _sent(store)

    async with store.begin() as tx:
        assert await raise_alarm(tx, sent, alarm="possibly_twice")
        assert not await raise_alarm(tx, sent, alarm="possibly_twice")

    assert (await kinds(store, sent.review_id)).count("dispatch.alarm") == 1


@pytest.mark.asyncio
async def test_an_unknown_that_turns_out_to_be_double_is_told_as_well_and_not_the_other_way_round(store: Store) -> None:
    sent = await _sent(store)

    async with store.begin() as tx:
        raised = [
            await raise_alarm(tx, sent, alarm=alarm)
            for alarm in ("unknown", "unknown", "possibly_twice", "raced", "unknown")
        ]

    assert raised == [True, False, True, False, False]


# -- looking back


@pytest.mark.asyncio
async def test_a_closed_dispatch_is_looked_back_at_by_one_worker_a_second_later(store: Store, replica: Store) -> None:
    sent = await _sent(store)
    assert await _close(store, sent, ReviewState.RESUMED)
    async with store.read() as tx:
        early = await any_due(tx)
    store.offset_ms = replica.offset_ms = FIRST_LOOK_MS
    async with store.read() as tx:
        assert await any_due(tx)

    async with store.begin() as tx:
        (due,) = await take_due(tx, lease_ms=60_000, limit=5)
    async with replica.begin() as tx:
        other = await take_due(tx, lease_ms=60_000, limit=5)

    assert (early, other) == (False, [])
    assert (due.claim.dispatch_id, due.alarm) == (sent.dispatch_id, None)


@pytest.mark.asyncio
async def test_a_look_back_that_could_not_be_made_is_made_later_and_one_that_is_done_is_gone(store: Store) -> None:
    first, second = await _sent(store), await _sent(store)
    for one in (first, second):
        assert await _close(store, one, ReviewState.SUPERSEDED)
    store.offset_ms = FIRST_LOOK_MS
    async with store.begin() as tx:
        await take_due(tx, lease_ms=60_000, limit=5)
        await put_off(tx, {first.dispatch_id: 5_000}, [second.dispatch_id])

    store.offset_ms += 5_000
    async with store.begin() as tx:
        again = await take_due(tx, lease_ms=60_000, limit=5)

    assert [due.claim.dispatch_id for due in again] == [first.dispatch_id]


@pytest.mark.asyncio
async def test_an_unknown_outcome_is_not_looked_back_at_but_looked_at_on_its_own_schedule(store: Store) -> None:
    assert await _close(store, await _sent(store), ReviewState.UNKNOWN)
    store.offset_ms = FIRST_LOOK_MS

    async with store.begin() as tx:
        assert await take_due(tx, lease_ms=1, limit=5) == []
        assert await unknown_due(tx, every_ms=1, limit=5)
