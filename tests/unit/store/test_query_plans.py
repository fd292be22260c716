"""What happens at every press, in message sync and in sealing reads no whole table, however much is settled beside it."""

from collections.abc import Awaitable, Callable

import pytest
from sqlalchemy import insert, text

from bot.access.deciding import DecisionRequest, DecisionService
from bot.access.person import Actor
from bot.core.decide import Intent
from bot.core.model import DecisionType, Review
from bot.store import policies
from bot.store.audit.events import EVERYONE
from bot.store.audit.seal import seal_tenant, unsealed_tenants
from bot.store.engine import Store, Tx
from bot.store.messages import Message, claim_messages, messages_of, posted, posting, shown, want_message
from bot.store.people import StoredPerson, save_person
from bot.store.policies import Policies, text_digest
from bot.store.showings import insert_showing
from bot.store.tables import deliveries
from tests.kit.made import URL, given_review, make_showing
from tests.kit.office import policy_text
from tests.unit.store.test_store_plans import SETTLED, _scans, _statements, crowded

__all__ = ["crowded"]

ADA = Actor("T0DEMO", "U0ADA", "T0DEMO")


async def _ready(store: Store) -> tuple[Review, str]:
    """A review that Ada may decide, and the showing on its card."""
    policy = policy_text(URL)
    review = await given_review(store, tenant="demo")
    showing = make_showing(review)
    async with store.begin() as tx:
        await policies.apply(tx, text=policy, digest=text_digest(policy), by="test")
        await save_person(tx, StoredPerson("T0DEMO", "U0ADA", "Ada", active=True, as_of=tx.now))
        await insert_showing(tx, showing)
        await want_message(tx, review, channel="C1", position=0)
    return review, showing.id


async def _read_whole(store: Store, asking: Callable[[], Awaitable[object]]) -> list[str]:
    """The lines of plans that read a whole table, of every statement that the asking sends."""
    with _statements(store) as sent:
        await asking()
    assert sent
    async with store.begin() as tx:
        return [scan for statement, parameters in list(sent) for scan in await _scans(tx, statement, parameters)]


def _is_small(line: str) -> bool:
    """The policy's versions, and people and groups, stay few."""
    return any(name in line for name in ("policy_versions", "people", "user_groups", "group_members", "tenants"))


@pytest.mark.asyncio
async def test_a_press_and_its_repetition_read_no_whole_table(crowded: Store) -> None:
    _, showing = await _ready(crowded)
    async with crowded.begin() as tx:
        kept = [{"key": f"click:old:{number}", "answer": "{}", "at": 1} for number in range(SETTLED)]
        await tx.conn.execute(insert(deliveries), kept)
        await tx.conn.execute(text("ANALYZE"))
    decision_service, rulings, approve = DecisionService(crowded, Policies()), [], (Intent(0, DecisionType.APPROVE),)
    asked = DecisionRequest(ADA, showing, "click:1", lambda _review, _showing: approve)

    async def press() -> None:
        rulings.extend([await decision_service.rule(asked), await decision_service.rule(asked)])

    found = await _read_whole(crowded, press)

    assert [one for one in found if not _is_small(one)] == []
    assert [one.refused for one in rulings] == [None, None]
    assert len(rulings[0].recorded) == 1


@pytest.mark.asyncio
async def test_message_sync_reads_no_whole_table(crowded: Store) -> None:
    await _ready(crowded)

    async def drawn(tx: Tx, message: Message) -> None:
        assert await posting(tx, message)
        assert await posted(tx, message, channel="C1", ts="1.1", version=message.wanted, showing_id=None)
        assert await shown(tx, message, version=message.wanted, showing_id=None)
        await messages_of(tx, message.review_id)

    async def step() -> None:
        async with crowded.begin() as tx:
            [message] = await claim_messages(tx, owner="w", lease_ms=1_000, limit=5)
            await drawn(tx, message)

    found = await _read_whole(crowded, step)

    assert [one for one in found if not _is_small(one)] == []


@pytest.mark.asyncio
async def test_sealing_reads_no_whole_table(crowded: Store) -> None:
    await _ready(crowded)
    async with crowded.begin() as tx:
        while await seal_tenant(tx, "acme"):
            pass
        await tx.conn.execute(text("ANALYZE"))
    sealed: list[int] = []

    async def step() -> None:
        async with crowded.begin() as tx:
            assert set(await unsealed_tenants(tx)) == {"demo", EVERYONE}
            sealed.append(await seal_tenant(tx, "demo"))

    found = await _read_whole(crowded, step)

    assert [one for one in found if not _is_small(one)] == []
    assert sealed[0] > 0
