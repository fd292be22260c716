"""Repeated refusals: the first at once, the rest of its minute in one event, of one person and one reason."""

import asyncio
import json

import pytest

from bot.store.audit.events import RecordedEvent
from bot.store.audit.refusals import MINUTE_MS, OTHERS, PLACES, PressRefused, any_over, close_refusals, record_refusal
from bot.store.audit.seal import chained_events
from bot.store.engine import Store
from tests.kit.made import ADA, BOB

pytestmark = pytest.mark.asyncio


async def _refused(store: Store, *, who=ADA, reason="not_a_reviewer", review="r_1", tenant="acme") -> None:
    async with store.begin() as tx:
        await record_refusal(tx, PressRefused(tenant, who, reason, review, 0, {"showing": "s_1"}))


async def _recorded(store: Store) -> list[RecordedEvent]:
    async with store.read() as tx:
        return [one async for page in chained_events(tx) for one in page]


async def _minute_over(store: Store) -> int:
    store.offset_ms += MINUTE_MS
    async with store.begin() as tx:
        return await close_refusals(tx)


async def test_a_hundred_presses_in_a_minute_are_two_events(store: Store) -> None:
    for _ in range(100):
        await _refused(store)
    before = await _recorded(store)

    closed = await _minute_over(store)
    first, again = await _recorded(store)

    assert closed == 1
    assert [one.kind for one in before] == ["press.refused"]
    assert json.loads(first.content) == {"reason": "not_a_reviewer", "showing": "s_1"}
    assert (again.kind, again.actor) == ("press.refused.again", "slack:T0ACME/U0ADA")
    told = json.loads(again.content)
    assert (told["count"], told["reviews"], told["since"]) == (99, {"r_1": 99}, first.at)


async def test_one_refusal_alone_leaves_no_second_event(store: Store) -> None:
    await _refused(store)

    await _minute_over(store)

    assert [one.kind for one in await _recorded(store)] == ["press.refused"]


@pytest.mark.parametrize("other", [{"who": BOB}, {"reason": "denied"}, {"tenant": "globex"}])
async def test_another_person_reason_or_tenant_has_an_event_of_its_own(store: Store, other: dict[str, object]) -> None:
    await _refused(store)
    await _refused(store, **other)

    assert [one.kind for one in await _recorded(store)] == ["press.refused"] * 2


async def test_the_next_refusal_after_its_minute_closes_it_even_where_no_sweeper_came(store: Store) -> None:
    await _refused(store)
    await _refused(store, review="r_2")
    store.offset_ms += MINUTE_MS

    await _refused(store, review="r_3")

    assert [(one.kind, one.review_id) for one in await _recorded(store)] == [
        ("press.refused", "r_1"),
        ("press.refused.again", None),
        ("press.refused", "r_3"),
    ]
    async with store.read() as tx:
        assert not await any_over(tx)


async def test_a_count_names_a_limited_number_of_reviews(store: Store) -> None:
    for number in range(PLACES + 5):
        await _refused(store, review=f"r_{number}")

    await _minute_over(store)

    told = json.loads((await _recorded(store))[-1].content)
    assert told["count"] == PLACES + 4
    assert len(told["reviews"]) == PLACES + 1
    assert told["reviews"][OTHERS] == 4


async def test_two_replicas_count_together(store: Store, replica: Store) -> None:
    await asyncio.gather(*(_refused(one) for one in [store, replica] * 10))

    await _minute_over(store)

    first, again = await _recorded(store)
    assert first.kind == "press.refused"
    assert json.loads(again.content)["count"] == 19
