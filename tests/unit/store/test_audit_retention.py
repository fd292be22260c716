"""Retention on both engines: what was asked and answered goes, that it happened stays and still verifies."""

import pytest
from sqlalchemy import insert, select, text, update

from bot.core.model import DecisionType, Outcome, ReviewState
from bot.dispatch.housekeeping import Sealer
from bot.store.audit.seal import head_of
from bot.store.audit.verify import GivenHead, VerifyRequest, verify
from bot.store.decisions import insert_decisions
from bot.store.engine import Store
from bot.store.messages import load_message, want_message
from bot.store.retention import erase_notices, erase_settled, prune_audit
from bot.store.reviews import move, set_outcomes
from bot.store.rows import metadata
from bot.store.showings import insert_showing
from bot.store.tables import audit_events, drafts, reviews
from tests.kit.made import given_review, loaded, make_decision, make_showing

pytestmark = pytest.mark.asyncio

SECRET = "hunter2-in-the-arguments"
DAY_MS = 86_400_000


async def given_settled(store: Store, **changes):
    """A settled review in which the secret stands wherever it can."""
    review = await given_review(store, **changes)
    async with store.begin() as tx:
        await tx.conn.execute(text(f'UPDATE actions SET args = \'{{"password":"{SECRET}"}}\''))
        await insert_showing(tx, make_showing(review, final_args=f'["{SECRET}"]'))
        draft = {
            "review_id": review.id,
            "team": "T0ACME",
            "user_id": "U0ADA",
            "position": 0,
            "content": SECRET,
            "at": 1,
        }
        await tx.conn.execute(insert(drafts).values(**draft))
        made = make_decision(review, type=DecisionType.EDIT, final_args=f'["{SECRET}"]', message=SECRET)
        decided = await insert_decisions(tx, review, [made], delivery_key="k")
        assert decided is not None
        await set_outcomes(tx, decided, {0: (Outcome.EXECUTED, SECRET)})
        await want_message(tx, decided, channel="C1", position=0)
        await move(tx, decided, ReviewState.SUPERSEDED)
    return review


async def everything(store: Store) -> str:
    """All that stands in any table."""
    async with store.read() as tx:
        return "".join([str((await tx.conn.execute(select(table))).all()) for table in metadata.tables.values()])


async def erase(store: Store, tenant: str = "acme") -> int:
    async with store.begin() as tx:
        return await erase_settled(tx, tenant=tenant, older_than_ms=DAY_MS, limit=10)


async def seal(store: Store) -> None:
    while await Sealer(store).step():
        pass


async def test_what_a_settled_review_was_about_is_erased_from_every_table(store: Store) -> None:
    review = await given_settled(store)
    assert SECRET in await everything(store)
    store.offset_ms = DAY_MS + 1_000

    assert await erase(store) == 1
    assert await erase(store) == 0

    assert SECRET not in await everything(store)
    assert review.content_hash not in await everything(store)
    erased = await loaded(store, review.id)
    assert erased.erased_at is not None
    assert erased.salt == b""
    assert erased.actions[0].args is None
    assert erased.actions[0].digest == review.actions[0].digest
    assert erased.actions[0].decision is not None
    assert erased.actions[0].outcome is Outcome.EXECUTED


async def test_the_chain_verifies_after_retention_and_its_head_still_stands(store: Store) -> None:
    await given_settled(store)
    await seal(store)
    async with store.read() as tx:
        kept = await head_of(tx, "acme")
    store.offset_ms = DAY_MS + 1_000
    await erase(store)
    await seal(store)

    async with store.read() as tx:
        report = await verify(tx, VerifyRequest(heads=[GivenHead(kept.seq, kept.hash)]))

    assert report.findings == ()


async def test_the_cards_of_an_erased_review_are_wanted_anew(store: Store) -> None:
    review = await given_settled(store)
    async with store.begin() as tx:
        card = await want_message(tx, review, channel="C1", position=0)
        before = await load_message(tx, card)
    store.offset_ms = DAY_MS + 1_000

    await erase(store)

    async with store.read() as tx:
        after = await load_message(tx, card)
    assert after.wanted == before.wanted + 1


async def test_what_is_open_unknown_young_or_another_tenants_stays(store: Store) -> None:
    waiting = await given_review(store)
    theirs = await given_settled(store, tenant="globex")
    store.offset_ms = DAY_MS + 1_000
    young = await given_settled(store)

    assert await erase(store) == 0

    for review in (waiting, theirs, young):
        assert (await loaded(store, review.id)).actions[0].args is not None


async def test_notices_are_erased_once_they_are_old_and_sent(store: Store) -> None:
    async with store.begin() as tx:
        for state in ("new", "sent"):
            await tx.conn.execute(
                text(
                    "INSERT INTO notices (id, key, tenant, channel, text, state, token, attempts, created_at,"
                    f" next_try_at, last_error) VALUES ('{state}', '{state}', 'acme', 'C1', '\"{SECRET}\"', '{state}',"
                    " 0, 0, 1, 1, '\"\"')"
                )
            )

        assert await erase_notices(tx, tenant="acme", older_than_ms=DAY_MS) == 1
        assert await erase_notices(tx, tenant="acme", older_than_ms=DAY_MS) == 0


async def test_old_record_is_taken_from_the_beginning_and_the_rest_verifies(store: Store) -> None:
    await given_settled(store)
    await seal(store)
    store.offset_ms = 10 * DAY_MS
    await given_settled(store)
    await seal(store)
    async with store.begin() as tx:
        gone = await prune_audit(tx, tenant="acme", older_than_ms=5 * DAY_MS)
        assert await prune_audit(tx, tenant="acme", older_than_ms=5 * DAY_MS) == 0
    await seal(store)

    async with store.read() as tx:
        report = await verify(tx, VerifyRequest())
        first = await tx.conn.scalar(select(audit_events.c.seq).order_by(audit_events.c.seq).limit(1))

    assert gone > 0
    assert first == gone + 1
    assert report.findings == ()


async def test_a_beginning_that_somebody_else_took_is_missing(store: Store) -> None:
    await given_settled(store)
    await seal(store)
    async with store.begin() as tx:
        await tx.conn.execute(text("DELETE FROM audit_events WHERE seq <= 2"))

    async with store.read() as tx:
        report = await verify(tx, VerifyRequest())

    assert ("missing", 1) in [(one.kind, one.seq) for one in report.findings]


async def test_the_newest_event_always_stays_so_that_the_chain_goes_on(store: Store) -> None:
    await given_settled(store)
    await seal(store)
    store.offset_ms = 10 * DAY_MS
    async with store.begin() as tx:
        await prune_audit(tx, tenant="acme", older_than_ms=5 * DAY_MS)
        await tx.conn.execute(update(reviews).values(why=""))
    await seal(store)

    async with store.read() as tx:
        report = await verify(tx, VerifyRequest())
        count = len((await tx.conn.execute(select(audit_events))).all())

    assert report.findings == ()
    assert count == 2
