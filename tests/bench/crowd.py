"""Stored rows by the thousand: reviews that wait with their cards, and settled ones beside them.

What waits is made of the bot's own records, so that a press on it is judged as any other. What is settled is one real
review's rows copied by the database itself, which is why a hundred thousand take seconds.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import aiosqlite
import asyncpg
from sqlalchemy import Table, insert, text

from bot.core.json import parse
from bot.core.model import Review, Showing, Target
from bot.runtimes.langgraph.interrupts import parse_interrupt
from bot.store import people
from bot.store.engine import Store, new_id
from bot.store.rows import action_row, review_row, showing_row
from bot.store.tables import actions, audit_events, decisions, deliveries, messages, reviews, showings
from tests.bench.presses import ARGS, CHANNEL
from tests.kit.factories import make_showing, review_of

TEAM = "T0DEMO"
COPIED: tuple[Table, ...] = (reviews, actions, showings, messages, decisions, deliveries, audit_events)
# Columns that must differ in each copy; whatever else a table has is taken over.
NAMES = frozenset({"id", "review_id", "message_id", "showing_id", "key", "thread_id", "interrupt_id"})
SETTLED = {
    "reviews": {"state": "'resumed'", "settled_at": "1"},
    "messages": {"shown": "wanted"},
    "audit_events": {"hash": "'x'"},
}


@dataclass(frozen=True, slots=True)
class Waiting:
    """An open review and the showing on its card."""

    review: Review
    showing: Showing


def interrupt_of(thread: str) -> dict[str, Any]:
    """What an agent server lists for a thread of the crowd: one call, its id made from the thread's."""
    request = {"name": "disable_user", "args": json.loads(ARGS), "description": "Tool execution requires approval"}
    config = {"action_name": "disable_user", "allowed_decisions": ["approve", "edit", "reject"]}
    return {"id": interrupt_id(thread), "value": {"action_requests": [request], "review_configs": [config]}}


def interrupt_id(thread: str) -> str:
    """32 hexadecimal digits, as LangGraph makes them."""
    return thread.replace("-", "")


def call_id(thread: str) -> str:
    """The tool call's id in the thread's messages."""
    return f"call_{interrupt_id(thread)}"


def thread_id(number: int) -> str:
    """A UUID that counts."""
    return f"00000000-0000-4000-8000-{number:012x}"


def waiting(thread: str, *, target: Target, now: int, tenant: str = "demo") -> Waiting:
    """One open review as thread sync would have stored it, with its card delivered."""
    listed = interrupt_of(thread)
    parsed = parse_interrupt(listed["id"], parse(json.dumps(listed["value"])))
    review = review_of(
        parsed,
        id=new_id("r"),
        tenant=tenant,
        target=target,
        thread_id=thread,
        salt=secrets.token_bytes(16),
        opened_at=now - 60_000,
        delivered_at=now - 59_000,
        decide_by=now + 3_600_000,
    )
    review = review.evolve(actions=(review.actions[0].evolve(tool_call_id=call_id(thread)),))
    return Waiting(review, make_showing(review, id=new_id("s"), message_id=new_id("m"), at=now - 59_000))


async def store_waiting(store: Store, found: Sequence[Waiting]) -> None:
    """Store them, each with its card in Slack."""
    more = {"generation": 0, "policy_version": 1, "next_try_at": 0, "erased_at": None}
    rows: dict[Table, list[dict[str, Any]]] = {
        reviews: [review_row(one.review) | more for one in found],
        actions: [action_row(one.review.id, one.review.actions[0]) for one in found],
        showings: [showing_row(one.showing) | {"at": one.showing.at, "number": 1} for one in found],
        messages: [_message(one) for one in found],
    }
    async with store.begin() as tx:
        for table, made in rows.items():
            await tx.conn.execute(insert(table), made)


def _message(one: Waiting) -> dict[str, Any]:
    place = {"channel": CHANNEL, "ts": f"1.{secrets.randbelow(10**12):012d}", "held": False, "state": "posted"}
    counts = {"wanted": 1, "shown": 1, "urgency": 0, "token": 0, "attempts": 0}
    times = {"created_at": one.showing.at, "next_try_at": one.showing.at}
    names = {"id": one.showing.message_id, "review_id": one.review.id, "tenant": one.review.tenant, "position": 0}
    return place | counts | times | names | {"showing_id": one.showing.id, "last_error": ""}


async def know_people(store: Store, team: str = TEAM) -> None:
    """Ada and the group of the policy, as fresh as if Slack had just been asked."""
    async with store.begin() as tx:
        for user in ("U0ADA", "U0BEN"):
            await people.save_person(
                tx, people.StoredPerson(team, user, user, active=True, home_team=team, as_of=tx.now)
            )
        await people.save_group(tx, team, "S0SUPPORT", ["U0BEN"])


async def copy_settled(store: Store, review_id: str, count: int) -> None:
    """Multiply one decided review's rows, settled; see `at_rest`."""
    async with store.begin() as tx:
        series = f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {count})"
        for table in COPIED:
            columns = [column.name for column in table.columns if not _counted(table, column.name)]
            taken = ", ".join(_copied(table, name) for name in columns)
            await tx.conn.execute(
                text(
                    f"INSERT INTO {table.name} ({', '.join(columns)}) {series} "
                    f"SELECT {taken} FROM {table.name} t CROSS JOIN n WHERE {_mine(table)}"
                ),
                {"review": review_id},
            )


async def at_rest(url: str) -> None:
    """Let the database count what it holds and bring it to its place: a hundred thousand reviews do not come at once."""
    if url.startswith("sqlite"):
        async with aiosqlite.connect(url.partition(":///")[2], isolation_level=None) as file:
            for statement in ("ANALYZE", "PRAGMA wal_checkpoint(TRUNCATE)"):
                await file.execute(statement)
        return
    conn = await asyncpg.connect(url.replace("+asyncpg", ""))
    for statement in ("VACUUM ANALYZE", "CHECKPOINT"):
        await conn.execute(statement)
    await conn.close()


def _counted(table: Table, name: str) -> bool:
    return table is audit_events and name == "id"


def _copied(table: Table, name: str) -> str:
    override = SETTLED.get(table.name, {}).get(name)
    if override is not None:
        return override if override.startswith(("'", "1")) else f"t.{override}"
    return f"t.{name} || '-' || n.i" if name in NAMES else f"t.{name}"


def _mine(table: Table) -> str:
    """Which rows belong to the review: a delivery names only its showing, at its end."""
    if table is deliveries:
        return "t.key IN (SELECT d.delivery_key FROM decisions d WHERE d.review_id = :review)"
    return f"t.{'id' if table is reviews else 'review_id'} = :review"
