"""Policies, people, tenants, threads and requests."""

import pytest
from sqlalchemy import select

from bot.errors import StoreError
from bot.store.engine import Store
from bot.store.messages import load_message, want_message
from bot.store.people import Membership, StoredPerson, account, group_as_of, members_of, person, save_group, save_person
from bot.store.policies import apply, current, current_version, known_digests, version
from bot.store.requests import answer, answer_of, ask, take
from bot.store.tables import audit_events
from bot.store.tenants import ALL, clear_fault, faults, pause, paused, resume, set_fault
from bot.store.threads import count_told, forget, note_told, note_unreadable, unreadable
from tests.kit.made import given_review

NAME = {"tenant": "acme", "identity": "approvals"}


async def _all_kinds(store: Store) -> list[str]:
    async with store.read() as tx:
        return list(await tx.conn.scalars(select(audit_events.c.kind).order_by(audit_events.c.id)))


@pytest.mark.asyncio
async def test_the_newest_policy_is_in_force(store: Store) -> None:
    async with store.begin() as tx:
        assert await current(tx) is None
        assert await current_version(tx) == 0
        first = await apply(tx, text="version: 1\x00", digest="d1", by="operator:ops")
        second = await apply(tx, text="version: 1 # two", digest="d2", by="operator:ops")

    async with store.read() as tx:
        assert await current(tx) == second
        assert await current_version(tx) == 2
        assert await version(tx, 1) == first
        assert await version(tx, 3) is None
        assert await known_digests(tx) == {"d1", "d2"}


@pytest.mark.asyncio
async def test_applying_the_policy_in_force_changes_nothing(store: Store) -> None:
    async with store.begin() as tx:
        first = await apply(tx, text="a", digest="d1", by="x")

    async with store.begin() as tx:
        assert await apply(tx, text="a", digest="d1", by="y") == first

    assert await _all_kinds(store) == ["policy.applied"]


@pytest.mark.asyncio
async def test_an_older_policy_comes_back_only_by_rollback_and_as_a_new_version(store: Store) -> None:
    async with store.begin() as tx:
        await apply(tx, text="a", digest="d1", by="x")
        await apply(tx, text="b", digest="d2", by="x")

        with pytest.raises(StoreError, match="--rollback"):
            await apply(tx, text="a", digest="d1", by="x")
        back = await apply(tx, text="a", digest="d1", by="x", rollback=True)

    assert (back.version, back.digest) == (3, "d1")


def _ada(**changes: object) -> StoredPerson:
    return StoredPerson(**({"team": "T1", "user_id": "U1", "name": "Ada", "active": True, "as_of": 5} | changes))  # type: ignore[arg-type]


@pytest.mark.asyncio
async def test_a_person_is_as_slack_said_last_and_only_real_changes_are_recorded(store: Store) -> None:
    async with store.begin() as tx:
        assert await person(tx, "T1", "U1") is None
        await save_person(tx, _ada())
        await save_person(tx, _ada(name="Ada L.", as_of=6))
        await save_person(tx, _ada(active=False, as_of=9, home_team="T2"))
        await save_person(tx, _ada(as_of=8))

    async with store.read() as tx:
        assert await person(tx, "T1", "U1") == _ada(active=False, as_of=9, home_team="T2")
    assert await _all_kinds(store) == ["person.changed", "person.changed"]


@pytest.mark.asyncio
async def test_who_stays_in_a_group_keeps_the_time_since_which_it_is_known(store: Store) -> None:
    async with store.begin() as tx:
        before = tx.now
        assert await save_group(tx, "T1", "S1", ["U1", "U2"]) == Membership(frozenset({"U1", "U2"}), frozenset())
        await save_group(tx, "T1", "S2", ["U1"])
    store.offset_ms = 10_000
    async with store.begin() as tx:
        later = tx.now
        change = await save_group(tx, "T1", "S1", ["U1", "U3"])

    assert change == Membership(frozenset({"U3"}), frozenset({"U2"}))
    async with store.read() as tx:
        assert (await account(tx, "T1", "U1")).groups == {"S1": before, "S2": before}
        assert (await account(tx, "T1", "U3")).groups == {"S1": later}
        assert (await account(tx, "T1", "U2")).groups == {}
        assert await members_of(tx, "T1", "S1") == {"U1", "U3"}
        assert await group_as_of(tx, "T1", "S1") == later
        assert await group_as_of(tx, "T1", "S9") is None


@pytest.mark.asyncio
async def test_an_answer_older_than_the_stored_one_changes_no_group(store: Store) -> None:
    async with store.begin() as tx:
        await save_group(tx, "T1", "S1", ["U1"], as_of=100)

        assert await save_group(tx, "T1", "S1", ["U2"], as_of=99) == Membership(frozenset(), frozenset())
        assert await members_of(tx, "T1", "S1") == {"U1"}
        await save_group(tx, "T1", "S1", ["U1"], as_of=101)

    assert await _all_kinds(store) == ["group.changed"]


@pytest.mark.asyncio
async def test_a_pause_is_set_once_and_open_cards_say_so(store: Store) -> None:
    review, other = await given_review(store), await given_review(store, tenant="globex")
    async with store.begin() as tx:
        cards = [await want_message(tx, one, channel="C1") for one in (review, other)]
        assert await pause(tx, "acme", by="operator:ops")
        assert not await pause(tx, "acme", by="operator:ops")
        assert (await paused(tx))["acme"].by == "operator:ops"
        assert [found.wanted for card in cards if (found := await load_message(tx, card))] == [2, 1]
        assert await pause(tx, ALL, by="operator:ops")
        assert [found.wanted for card in cards if (found := await load_message(tx, card))] == [3, 2]

    async with store.begin() as tx:
        assert await resume(tx, "acme", by="operator:ops")
        assert not await resume(tx, "acme", by="operator:ops")
        assert list(await paused(tx)) == [ALL]


@pytest.mark.asyncio
async def test_a_fault_is_news_once_until_it_is_over(store: Store) -> None:
    async with store.begin() as tx:
        assert await set_fault(tx, "acme", code="token_revoked", text="said\x00")
        assert not await set_fault(tx, "acme", code="token_revoked")
        assert {name: (fault.code, fault.text) for name, fault in (await faults(tx)).items()} == {
            "acme": ("token_revoked", "said\x00")
        }
        assert not await clear_fault(tx, "acme", code="agent_down")
        assert await clear_fault(tx, "acme")
        assert await faults(tx) == {}
        assert not await clear_fault(tx, "globex")


@pytest.mark.asyncio
async def test_a_thread_that_cannot_be_read_is_counted_told_once_and_forgotten_with_the_next_reading(
    store: Store,
) -> None:
    async with store.begin() as tx:
        for fault in ("read state: HTTP 500", "read state: HTTP 502"):
            noted = await note_unreadable(tx, **NAME, thread_id="t\ud8001", fault=fault)
        told = [await note_told(tx, noted) for _ in range(2)]
        named = await unreadable(tx, tenant="acme")
        counted = await count_told(tx, "acme"), await count_told(tx, "globex")
        await forget(tx, **NAME, thread_ids=["t\ud8001"])

        assert (noted.failures, noted.since, told, counted) == (2, tx.now, [True, False], (1, 0))
        assert [(one.thread_id, one.fault, one.told_at) for one in named] == [
            ("t\ud8001", "read state: HTTP 502", tx.now)
        ]
        assert await unreadable(tx) == []


@pytest.mark.asyncio
async def test_a_request_is_carried_out_by_one_and_answered(store: Store) -> None:
    async with store.begin() as tx:
        asked = await ask(tx, kind="repair", by="operator:ops", tenant="acme", review_id="r_1", content={"force": True})
        await ask(tx, kind="pause", by="operator:ops")
        first = await take(tx, owner="w1", lease_ms=1_000)
        second = await take(tx, owner="w1", lease_ms=1_000)

        assert first is not None
        assert second is not None
        assert {first.kind, second.kind} == {"repair", "pause"}
        assert await take(tx, owner="w2", lease_ms=1_000) is None
        assert await answer_of(tx, asked) is None
        mine = first if first.id == asked else second
        assert (mine.content, mine.review_id) == ('{"force":true}', "r_1")
        assert await answer(tx, mine, answer="done\x00")
        assert not await answer(tx, mine, answer="twice")
        assert await answer_of(tx, asked) == "done\x00"


@pytest.mark.asyncio
async def test_a_request_of_a_dead_taker_goes_to_the_next(store: Store) -> None:
    async with store.begin() as tx:
        await ask(tx, kind="repair", by="operator:ops")
        lost = await take(tx, owner="w1", lease_ms=1_000)
    store.offset_ms = 2_000

    async with store.begin() as tx:
        again = await take(tx, owner="w2", lease_ms=1_000)
        assert lost is not None
        assert again is not None
        assert not await answer(tx, lost, answer="late")
        assert await answer(tx, again, answer="done")
