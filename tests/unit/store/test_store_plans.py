"""What is asked often is answered by an index, so that it costs the same beside any number of settled reviews."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import pytest_asyncio
from sqlalchemy import event, insert, text

from bot.core.model import Outcome, Review, ReviewState
from bot.store.audit.events import events_of
from bot.store.dispatches import accept, adopt_orphan, arm, claim_next, close, unknown_due
from bot.store.engine import Store, Tx
from bot.store.messages import claim_messages, want_message
from bot.store.reviews import (
    count_open,
    due_to_expire,
    list_pending,
    live_reviews,
    load_review,
    move,
    reviews_on_thread,
)
from bot.store.rows import action_row, decision_row, metadata, review_row
from bot.store.showings import load_showing
from bot.store.tables import actions, approvals, audit_events, decisions, dispatches, messages, reviews, showings
from tests.kit.made import URL, given_decided, given_review, make_decision, make_review

SETTLED = 2_000
Asking = Callable[[Tx, Review], Awaitable[Any]]


def _settled(number: int) -> Review:
    return make_review(state=ReviewState.RESUMED, settled_at=9, opened_at=number, decide_by=8, delivered_at=1)


def _rows(past: list[Review]) -> Iterator[tuple[Any, list[dict[str, Any]]]]:
    yield reviews, [review_row(one) | {"generation": 0, "policy_version": 1, "next_try_at": 5} for one in past]
    yield actions, [action_row(one.id, one.actions[0]) for one in past]
    dispatch = {"tenant": "acme", "server_url": URL, "state": "closed", "owner": "w", "live": False, "expiry": False}
    dispatch |= {
        "token": 1,
        "attempt": 1,
        "lease_ms": 1,
        "claimed_at": 1,
        "lease_until": 2,
        "next_try_at": 0,
        "why": "",
    }
    yield (
        dispatches,
        [dispatch | {"id": f"d{one.id}", "review_id": one.id, "thread_id": one.thread_id} for one in past],
    )
    message = {"tenant": "acme", "channel": "C", "ts": "1", "wanted": 2, "shown": 2, "urgency": 1, "held": False}
    message |= {"state": "posted", "token": 1, "attempts": 0, "created_at": 1, "next_try_at": 1, "last_error": ""}
    showing = {"position": 0, "kind": "card", "digest": "d", "offers": "[]", "page": 0, "number": 1, "at": 1}
    yield showings, [showing | {"id": f"s{one.id}", "review_id": one.id, "message_id": f"m{one.id}"} for one in past]
    made = {"delivery_key": "k", "voided_at": None}
    yield decisions, [decision_row(one.id, make_decision(one)) | made for one in past]
    counted = {"position": 0, "type": "approve", "team": "T", "user_id": "U", "at": 1, "showing_id": "s", "digest": "d"}
    counted |= {"rule": "", "policy_version": 1, "voided_at": None}
    yield approvals, [counted | {"id": f"a{one.id}", "review_id": one.id} for one in past]
    audited = {"tenant": "acme", "at": 1, "kind": "k", "actor": "placet", "content": "{}"}
    yield audit_events, [audited | {"review_id": one.id} for one in past]
    yield messages, [message | {"id": f"m{one.id}", "review_id": one.id} for one in past]


@pytest_asyncio.fixture
async def crowded(store: Store) -> AsyncIterator[Store]:
    """Thousands of settled reviews, and statistics that know them."""
    async with store.begin() as tx:
        for table, rows in _rows([_settled(number) for number in range(SETTLED)]):
            await tx.conn.execute(insert(table), rows)
        await tx.conn.execute(text("ANALYZE"))
    yield store


@contextmanager
def _statements(store: Store) -> Iterator[list[tuple[str, Any]]]:
    """Every statement that the writer sends, with its parameters as the driver gets them."""
    sent: list[tuple[str, Any]] = []

    def note(_conn: Any, _cursor: Any, statement: str, parameters: Any, _context: Any, many: bool) -> None:
        if statement.startswith(("SELECT", "UPDATE", "WITH")) and not many:
            sent.append((statement, parameters))

    event.listen(store._writer.sync_engine, "before_cursor_execute", note)
    yield sent
    event.remove(store._writer.sync_engine, "before_cursor_execute", note)


async def _scans(tx: Tx, statement: str, parameters: Any) -> list[str]:
    """The lines of a statement's plan that read a whole table; the one of tenants stays small."""
    explain = "EXPLAIN QUERY PLAN" if tx.dialect == "sqlite" else "EXPLAIN"
    plan = await tx.conn.exec_driver_sql(f"{explain} {statement}", parameters)
    lines = [str(row[-1]) for row in plan]
    return [line for line in lines if _reads_a_whole_table(line) and "tenants" not in line]


def _reads_a_whole_table(line: str) -> bool:
    """SQLite also says SCAN for a partial index read in order, and for what a WITH has made: these stay small."""
    if "Seq Scan on" in line:
        return True
    return line.startswith("SCAN ") and "INDEX" not in line and line.split()[1] in metadata.tables


async def _claim_and_finish(tx: Tx, _review: Review) -> None:
    claim = await claim_next(tx, owner="w", lease_ms=1)
    assert claim is not None
    armed = await arm(tx, claim, body_hash="b")
    assert armed is not None
    sent = await accept(tx, armed, run_id="run")
    assert sent is not None
    assert await close(tx, sent, to=ReviewState.UNKNOWN, why="", outcomes={0: (Outcome.UNKNOWN, None)})
    assert await unknown_due(tx, every_ms=1, limit=5)


ASKED: dict[str, Asking] = {
    "claim": _claim_and_finish,
    "orphan": lambda tx, _review: adopt_orphan(tx, owner="w", lease_ms=1),
    "load": lambda tx, review: load_review(tx, review.id, lock=True),
    "thread": lambda tx, review: reviews_on_thread(tx, url=URL, thread_id=review.thread_id),
    "live": lambda tx, _review: live_reviews(tx, tenant="acme"),
    "open": lambda tx, _review: count_open(tx),
    "pending": lambda tx, _review: list_pending(tx, tenant="acme", limit=5),
    "expire": lambda tx, _review: due_to_expire(tx, limit=5),
    "move": lambda tx, review: move(tx, review, ReviewState.SUPERSEDED),
    "outbox": lambda tx, _review: claim_messages(tx, owner="w", lease_ms=1, limit=5),
    "showing": lambda tx, _review: load_showing(tx, "s_1"),
    "audit": lambda tx, review: events_of(tx, review.id),
}


async def _asked(store: Store, ask: Asking) -> list[str]:
    """What one question reads whole, beside one open and one decided review."""
    review, decided = await given_review(store), await given_decided(store)
    async with store.begin() as tx:
        await want_message(tx, decided, channel="C1")
    async with store.begin() as tx:
        with _statements(store) as sent:
            await ask(tx, review)
        assert sent
        return [scan for statement, parameters in list(sent) for scan in await _scans(tx, statement, parameters)]


@pytest.mark.asyncio
async def test_no_frequent_question_reads_a_whole_table(crowded: Store) -> None:
    found = {name: await _asked(crowded, ask) for name, ask in ASKED.items()}

    assert found == {name: [] for name in ASKED}
