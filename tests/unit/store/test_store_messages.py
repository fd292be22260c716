"""The outbox: one message per position, written by one replica at a time, in a fair order."""

import pytest

from bot.core.model import Review, ReviewState
from bot.store.engine import Store
from bot.store.messages import (
    Message,
    claim_messages,
    doubt_all,
    failed,
    gone,
    load_message,
    messages_of,
    posted,
    posting,
    retry_later,
    shown,
    want_message,
)
from bot.store.notices import Notice, add_notice, claim_notices, notice_failed, notice_sent
from bot.store.reviews import move, touch
from tests.kit.made import given_review, kinds


async def _want(store: Store, review: Review, position: int | None = None, parent: str | None = None) -> str:
    async with store.begin() as tx:
        return await want_message(tx, review, channel="C1", position=position, parent_id=parent)


async def _claim(store: Store, *, limit: int = 10, owner: str = "w1") -> list[Message]:
    async with store.begin() as tx:
        return await claim_messages(tx, owner=owner, lease_ms=30_000, limit=limit)


async def _post(store: Store, message: Message, *, ts: str = "1.1") -> None:
    async with store.begin() as tx:
        assert await posting(tx, message)
    async with store.begin() as tx:
        assert await posted(tx, message, channel="C9", ts=ts, version=message.wanted, showing_id="s_1", content_key="k")


async def _given_posted(store: Store) -> Message:
    await _want(store, await given_review(store))
    (message,) = await _claim(store)
    await _post(store, message)
    async with store.read() as tx:
        found = await load_message(tx, message.id)
    assert found is not None
    return found


@pytest.mark.asyncio
async def test_a_position_has_one_message(store: Store) -> None:
    review = await given_review(store)

    root = await _want(store, review)
    reply = await _want(store, review, 0, root)

    assert await _want(store, review) == root
    assert await _want(store, review, 0, root) == reply
    async with store.read() as tx:
        assert [message.id for message in await messages_of(tx, review.id)] == [root, reply]


@pytest.mark.asyncio
async def test_a_posted_message_is_done_until_its_review_changes(store: Store) -> None:
    message = await _given_posted(store)
    assert (message.state, message.channel, message.ts, message.shown) == ("posted", "C9", "1.1", 1)
    assert (message.showing_id, message.content_key, message.posting_since) == ("s_1", "k", None)
    assert await _claim(store) == []

    async with store.begin() as tx:
        await touch(tx, message.review_id)

    (again,) = await _claim(store)
    assert (again.id, again.wanted, again.shown) == (message.id, 2, 1)


@pytest.mark.asyncio
async def test_a_change_during_the_writing_is_written_next(store: Store) -> None:
    await _want(store, await given_review(store))
    (message,) = await _claim(store)
    async with store.begin() as tx:
        await touch(tx, message.review_id)

    await _post(store, message)

    (again,) = await _claim(store)
    assert (again.wanted, again.shown) == (2, 1)


@pytest.mark.asyncio
async def test_a_leased_message_is_nobody_elses(store: Store, replica: Store) -> None:
    await _want(store, await given_review(store))

    assert len(await _claim(store)) == 1
    assert await _claim(replica, owner="w2") == []


@pytest.mark.asyncio
async def test_a_message_of_a_dead_writer_comes_back_as_posting_and_fences_it_off(store: Store) -> None:
    await _want(store, await given_review(store))
    (dead,) = await _claim(store)
    async with store.begin() as tx:
        await posting(tx, dead)
    store.offset_ms = 60_000

    (again,) = await _claim(store, owner="w2")

    assert again.state == "posting"
    assert again.posting_since is not None
    async with store.begin() as tx:
        assert not await posting(tx, dead)
        assert not await posted(tx, dead, channel="C1", ts="1", version=1, showing_id=None)
        assert not await shown(tx, dead, version=1, showing_id=None)
        assert not await gone(tx, dead)
        assert not await failed(tx, dead, error="")


@pytest.mark.asyncio
async def test_a_reply_waits_for_its_root(store: Store) -> None:
    review = await given_review(store)
    root = await _want(store, review)
    reply = await _want(store, review, 0, root)

    (first,) = await _claim(store)
    assert first.id == root
    await _post(store, first)

    assert [message.id for message in await _claim(store)] == [reply]


@pytest.mark.asyncio
async def test_open_cards_go_first_and_tenants_take_turns(store: Store) -> None:
    settled = await given_review(store, tenant="initech")
    wanted = [("settled", await _want(store, settled))]
    async with store.begin() as tx:
        await move(tx, settled, ReviewState.SUPERSEDED)
    for name in ("a1", "a2", "a3", "b1"):
        review = await given_review(store, tenant=name[0])
        wanted.append((name, await _want(store, review)))
        store.offset_ms += 1_000

    names = {message_id: name for name, message_id in wanted}
    assert [names[message.id] for message in await _claim(store, limit=2)] == ["a1", "b1"]
    assert [names[message.id] for message in await _claim(store)] == ["a2", "a3", "settled"]


@pytest.mark.asyncio
async def test_a_failed_write_is_tried_again_at_its_time_and_not_sooner_when_touched(store: Store) -> None:
    await _want(store, await given_review(store))
    (message,) = await _claim(store)
    async with store.begin() as tx:
        assert await retry_later(tx, message, at=tx.now + 5_000, error="ratelimited\x00")
        await touch(tx, message.review_id)

    assert await _claim(store) == []
    store.offset_ms = 6_000
    (again,) = await _claim(store)
    assert (again.attempts, again.last_error, again.wanted) == (1, "ratelimited\x00", 2)


@pytest.mark.asyncio
async def test_a_message_with_nothing_new_to_show_is_caught_up_without_an_event(store: Store) -> None:
    message = await _given_posted(store)
    before = await kinds(store, message.review_id)
    async with store.begin() as tx:
        await touch(tx, message.review_id)
    (again,) = await _claim(store)

    async with store.begin() as tx:
        assert await shown(tx, again, version=again.wanted, showing_id=again.showing_id)

    assert await _claim(store) == []
    assert await kinds(store, message.review_id) == before


@pytest.mark.asyncio
async def test_a_message_in_doubt_is_written_anew_though_it_shows_what_it_should(store: Store) -> None:
    message = await _given_posted(store)
    async with store.begin() as tx:
        await doubt_all(tx, message.review_id)

    (again,) = await _claim(store)
    assert (again.ts, again.content_key) == (message.ts, None)


@pytest.mark.asyncio
async def test_a_new_showing_in_a_message_is_recorded(store: Store) -> None:
    message = await _given_posted(store)

    async with store.begin() as tx:
        assert await shown(tx, message, version=2, showing_id="s_2", content_key="k2")
        found = await load_message(tx, message.id)

    assert found is not None
    assert (found.showing_id, found.content_key) == ("s_2", "k2")
    assert (await kinds(store, message.review_id))[-2:] == ["message.posted", "message.shown"]


@pytest.mark.asyncio
async def test_a_deleted_message_is_posted_anew_only_when_asked(store: Store) -> None:
    message = await _given_posted(store)
    async with store.begin() as tx:
        assert await gone(tx, message, repost=True)

    (again,) = await _claim(store)
    assert (again.state, again.ts, again.shown) == ("new", None, 0)
    async with store.begin() as tx:
        assert await gone(tx, again)
        await touch(tx, message.review_id)
    assert await _claim(store) == []


@pytest.mark.asyncio
async def test_a_message_that_slack_never_takes_is_left(store: Store) -> None:
    await _want(store, await given_review(store))
    (message,) = await _claim(store)

    async with store.begin() as tx:
        assert await failed(tx, message, error="channel_not_found")

    store.offset_ms = 90_000
    assert await _claim(store) == []


async def _notice(store: Store, key: str) -> bool:
    async with store.begin() as tx:
        return await add_notice(
            tx, tenant="acme", channel="C1", user="U1", thread_ts=None, text="voided\ud800", key=key
        )


async def _claim_notices(store: Store) -> list[Notice]:
    async with store.begin() as tx:
        return await claim_notices(tx, owner="w", lease_ms=30_000, limit=10)


@pytest.mark.asyncio
async def test_a_notice_is_wanted_once_and_sent_once(store: Store) -> None:
    assert await _notice(store, "void:r_1")
    assert not await _notice(store, "void:r_1")

    (notice,) = await _claim_notices(store)
    assert (notice.text, notice.user_id) == ("voided\ud800", "U1")
    assert await _claim_notices(store) == []
    async with store.begin() as tx:
        assert await notice_sent(tx, notice)

    store.offset_ms = 90_000
    assert await _claim_notices(store) == []


@pytest.mark.asyncio
async def test_a_notice_is_tried_again_or_given_up(store: Store) -> None:
    await _notice(store, "one")
    (notice,) = await _claim_notices(store)
    async with store.begin() as tx:
        assert await notice_failed(tx, notice, error="x", retry_at=tx.now + 1_000)
    store.offset_ms = 2_000
    (again,) = await _claim_notices(store)
    assert again.attempts == 1

    async with store.begin() as tx:
        assert not await notice_sent(tx, notice)
        assert await notice_failed(tx, again, error="x", retry_at=None)
    store.offset_ms = 90_000
    assert await _claim_notices(store) == []
