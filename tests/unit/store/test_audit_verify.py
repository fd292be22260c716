"""What an auditor finds after somebody has had the table in hand, on both engines."""

from hashlib import sha256

import pytest
from sqlalchemy import delete, insert, select, text, update

from bot.core.digest import salted
from bot.core.model import Review
from bot.dispatch.housekeeping import Sealer
from bot.store.audit import events
from bot.store.audit.chain import GENESIS, Head, head_mac
from bot.store.audit.seal import chained_events, head_of
from bot.store.audit.verify import GivenHead, Report, VerifyRequest, verify
from bot.store.decisions import record_approvals
from bot.store.dispatches import arm
from bot.store.engine import Store
from bot.store.tables import approvals, audit_events, decisions
from tests.kit.made import decide_all, given_claim, given_decided, given_review, loaded, make_decision

pytestmark = pytest.mark.asyncio


async def sealed(store: Store) -> None:
    while await Sealer(store).step():
        pass


async def given_record(store: Store) -> None:
    """Some decided reviews, all sealed."""
    for _ in range(3):
        await given_decided(store)
    await sealed(store)


async def checked(store: Store, *heads: str, secret: str = "") -> Report:
    given = [one for one in map(GivenHead.read, heads) if one]
    assert len(given) == len(heads)
    async with store.read() as tx:
        return await verify(tx, VerifyRequest(None, given, secret))


async def head(store: Store) -> Head:
    async with store.read() as tx:
        found = await head_of(tx, "acme")
    assert found is not None
    return found


async def rewrite(store: Store, *statements) -> None:
    async with store.begin() as tx:
        for statement in statements:
            await tx.conn.execute(statement)


def kinds(report: Report) -> list[str]:
    return [one.kind for one in report.findings]


def event(seq: int):
    return audit_events.c.seq == seq


async def test_an_untouched_record_holds_and_says_what_it_cannot_prove(store: Store) -> None:
    await given_record(store)

    report = await checked(store)

    assert report.holds
    assert report.chains[0].head == await head(store)
    assert any("--head" in one for one in report.unproven)


async def test_with_its_head_a_record_is_proven_whole(store: Store) -> None:
    await given_record(store)

    report = await checked(store, str(await head(store)))

    assert report.holds
    assert report.unproven == ()


async def test_what_came_after_the_given_head_is_called_unproven(store: Store) -> None:
    await given_record(store)
    kept = await head(store)
    await given_decided(store)
    await sealed(store)

    report = await checked(store, str(kept))

    assert report.holds
    assert report.unproven == (f"acme: that nothing was cut off or changed after event {kept.seq}: give a newer head",)


@pytest.mark.parametrize("column", ["at", "kind", "actor", "content", "review_id", "position"])
async def test_an_edited_event_is_found_and_named(store: Store, column: str) -> None:
    await given_record(store)
    other = 7 if column in {"at", "position"} else "{}"
    await rewrite(store, update(audit_events).where(event(4)).values({column: other}))

    report = await checked(store)

    first = report.findings[0]
    assert (first.kind, first.tenant, first.seq) == ("changed", "acme", 4)


async def test_a_removed_event_is_found_and_named(store: Store) -> None:
    await given_record(store)
    await rewrite(store, delete(audit_events).where(event(4)))

    report = await checked(store)

    assert (report.findings[0].kind, report.findings[0].seq) == ("missing", 4)


async def test_swapped_events_are_found_and_named(store: Store) -> None:
    await given_record(store)
    await rewrite(
        store,
        update(audit_events).where(event(4)).values(seq=400),
        update(audit_events).where(event(5)).values(seq=4),
        update(audit_events).where(event(400)).values(seq=5),
    )

    report = await checked(store)

    assert (report.findings[0].kind, report.findings[0].seq) == ("reordered", 4)


async def test_an_inserted_event_is_found_and_named(store: Store) -> None:
    await given_record(store)
    async with store.read() as tx:
        rows = (await tx.conn.execute(select(audit_events).order_by(audit_events.c.seq))).all()
    moved = [update(audit_events).where(event(row.seq)).values(seq=row.seq + 1) for row in reversed(rows[3:])]
    forged = dict(rows[3]._mapping) | {"id": 9_999, "prev_hash": rows[2].hash, "hash": "f" * 64}
    await rewrite(store, *moved, insert(audit_events).values(forged))

    report = await checked(store)

    assert (report.findings[0].kind, report.findings[0].seq) in [("changed", 4), ("inserted", 4)]


async def test_a_cut_tail_shows_against_a_head_and_is_called_unproven_without(store: Store) -> None:
    await given_record(store)
    async with store.begin() as tx:
        await events.record(tx, tenant="acme", kind="tenant.paused", actor="operator:eve")
    await sealed(store)
    kept = await head(store)
    await rewrite(store, delete(audit_events).where(event(kept.seq)))
    if store.dialect == "sqlite":
        await rewrite(store, text("UPDATE sqlite_sequence SET seq = seq - 1 WHERE name = 'audit_events'"))

    against, without = await checked(store, str(kept)), await checked(store)

    assert kinds(against) == ["head"]
    assert without.holds
    assert any("cut off" in one for one in without.unproven)


async def test_a_chain_written_anew_shows_against_a_head(store: Store) -> None:
    await given_record(store)
    kept = await head(store)
    await rewrite(
        store,
        update(audit_events).where(event(2)).values(actor="operator:eve"),
        update(audit_events).values(seq=None, prev_hash=None, hash=None),
    )
    await sealed(store)

    assert (await checked(store)).holds
    assert kinds(await checked(store, str(kept))) == ["head"]


async def test_unsealed_events_that_were_removed_leave_a_hole_in_the_numbers(store: Store) -> None:
    await given_record(store)
    async with store.begin() as tx:
        for actor in ("operator:eve", "operator:ops"):
            await events.record(tx, tenant="acme", kind="tenant.paused", actor=actor)
    await rewrite(store, delete(audit_events).where(audit_events.c.actor == "operator:eve"))
    await sealed(store)

    report = await checked(store)

    if store.dialect == "sqlite":
        assert kinds(report) == ["missing"]
    else:
        assert any("stand in no event" in one for one in report.unproven)


async def test_the_newest_unsealed_event_that_was_removed_leaves_a_hole_too(store: Store) -> None:
    await given_record(store)
    async with store.begin() as tx:
        await events.record(tx, tenant="acme", kind="tenant.paused", actor="operator:eve")
    await rewrite(store, delete(audit_events).where(audit_events.c.hash.is_(None)))

    report = await checked(store)

    if store.dialect == "sqlite":
        assert kinds(report) == ["missing"]
    else:
        assert any("stand in no event" in one for one in report.unproven)


async def test_events_that_nobody_seals_are_reported_after_a_minute(store: Store) -> None:
    await given_decided(store)
    assert (await checked(store)).holds

    store.offset_ms = 61_000

    assert kinds(await checked(store)) == ["unsealed"]


async def test_a_decision_without_its_event_is_found(store: Store) -> None:
    review = await given_review(store)
    async with store.begin() as tx:
        await decide_all(tx, review)
        await tx.conn.execute(delete(audit_events).where(audit_events.c.kind == "decision.made"))
        await tx.conn.execute(text("SELECT 1"))
    await sealed(store)

    report = await checked(store)

    assert ("no_event", review.id) in [(one.kind, one.review_id) for one in report.findings]


@pytest.mark.parametrize(
    "forged", [{"user_id": "U0EVE"}, {"type": "reject"}, {"digest": "f" * 64}, {"rule": "user U0EVE"}]
)
async def test_a_decision_that_its_event_tells_differently_is_found(store: Store, forged: dict[str, str]) -> None:
    await given_record(store)
    review = await given_decided(store)
    await sealed(store)
    await rewrite(store, update(decisions).where(decisions.c.review_id == review.id).values(**forged))

    report = await checked(store)

    assert [(one.kind, one.review_id) for one in report.findings] == [("differs", review.id)]


async def test_a_decision_on_record_that_is_gone_from_the_table_is_found(store: Store) -> None:
    await given_record(store)
    review = await given_decided(store)
    await sealed(store)
    await rewrite(store, delete(decisions).where(decisions.c.review_id == review.id))

    report = await checked(store)

    assert [(one.kind, one.review_id) for one in report.findings] == [("no_row", review.id)]


async def given_approval(store: Store) -> Review:
    """One approval of two, which decides nothing by itself."""
    review = await given_review(store)
    async with store.begin() as tx:
        assert await record_approvals(tx, review, [make_decision(review)])
    return review


@pytest.mark.parametrize(
    ("forged", "kind"),
    [
        (delete(audit_events).where(audit_events.c.kind == "approval.made"), "no_event"),
        (update(approvals).values(user_id="U0EVE"), "differs"),
        (update(approvals).values(digest="f" * 64), "differs"),
        (delete(approvals), "no_row"),
    ],
)
async def test_an_approval_and_its_event_must_bear_each_other_out(store: Store, forged, kind: str) -> None:
    review = await given_approval(store)
    await sealed(store)
    assert (await checked(store)).holds
    await rewrite(store, forged)

    report = await checked(store)

    assert (kind, review.id) in [(one.kind, one.review_id) for one in report.findings]


async def test_no_hash_on_record_can_be_tested_with_a_guess_once_the_salt_is_gone(store: Store) -> None:
    claim = await given_claim(store)
    review = await loaded(store, claim.review_id)
    bare = {review.content_hash, sha256(b"{}").hexdigest()}
    async with store.begin() as tx:
        assert await arm(tx, claim, body_hash=salted(review.salt, b"{}"))

    recorded = "".join(one.content for one in await _all(store))

    assert salted(review.salt, review.content_hash) in recorded
    assert salted(review.salt, b"{}") in recorded
    assert not [one for one in bare if one in recorded]


async def _all(store: Store) -> list[events.RecordedEvent]:
    async with store.read() as tx:
        return [one async for page in chained_events(tx) for one in page]


async def test_a_heads_mac_is_held_against_the_secret_key(store: Store) -> None:
    await given_record(store)
    kept = await head(store)
    signed = f"{kept}:{head_mac('ours', 'acme', kept)}"

    assert (await checked(store, signed, secret="ours")).holds
    assert kinds(await checked(store, signed, secret="theirs")) == ["head_mac"]


@pytest.mark.parametrize("written", ["", "1", "1:abc", f"x:{GENESIS}", f"1:{'g' * 64}"])
async def test_what_is_no_head_is_not_read_as_one(written: str) -> None:
    assert GivenHead.read(written) is None
