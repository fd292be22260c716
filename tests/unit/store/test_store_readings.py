"""Any order of readings of one thread: what waits there is never lost, carried over, or open twice.

The thread of a generated history is pending, gone, 404, busy or unreadable, for a while or for one reading; the list of
threads tells the truth, and readings may lie. Two replicas read; each may be restarted, and people decide in between.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import pytest

from bot.core.json import dump
from bot.core.json import parse as tree
from bot.core.model import Review, ReviewState, Target
from bot.policy.source import parse
from bot.runtimes.langgraph import thread_sync
from bot.runtimes.langgraph.thread_sync import (
    LEAST_APART_MS,
    ThreadReading,
    list_agrees,
    record_absence,
    record_sighting,
    supersede_gone,
)
from bot.runtimes.langgraph.wire import PendingInterrupt, ThreadRow, ThreadState
from bot.store import dispatches, reviews
from bot.store.decisions import insert_decisions
from bot.store.engine import Store
from bot.store.tables import reviews as table
from tests.kit.factories import started_bare
from tests.kit.made import URL, make_decision
from tests.kit.office import policy_text

pytestmark = pytest.mark.asyncio

TENANT = parse(policy_text(URL, kind="aegra")).tenants["demo"]
TARGET = Target(URL, "aegra", "approvals", "agent")
THREAD = "t1"
EVERY_MS = max(LEAST_APART_MS, TENANT.watch_every_ms)
RUNS = 8
STEPS = 60


def question(name: str, amount: int) -> PendingInterrupt:
    """One interrupt that asks for a payment."""
    value = {
        "action_requests": [{"name": "refund", "args": {"amount": amount}, "description": ""}],
        "review_configs": [{"action_name": "refund", "allowed_decisions": ["approve", "reject"]}],
    }
    return PendingInterrupt(name, tree(repr(value).replace("'", '"').encode()), None, "task", "tools", None, "")


def key_of(one: PendingInterrupt) -> str:
    """Its id and arguments."""
    return f"{one.id} {dump(one.value['action_requests'][0]['args'])}"


QUESTIONS = [question("a" * 32, 1), question("a" * 32, 2), question("b" * 32, 1)]


@dataclass
class Thread:
    """The thread as it is, and as one reading shows it."""

    store: Store
    pending: PendingInterrupt | None = None
    missed: dict[str, int] = field(default_factory=dict)  # since when readings in a row have not shown a question
    ended: set[str] = field(default_factory=set)  # reviews whose end was looked at
    log: list[str] = field(default_factory=list)

    @property
    def listed(self) -> str | None:
        """What the list of threads says of it."""
        return "interrupted" if self.pending else None

    def become(self, pending: PendingInterrupt | None) -> None:
        """Another question, or none."""
        self.pending = pending
        self.log.append(f"is {key_of(pending)}" if pending else "is gone")

    async def read(self, shown: str) -> None:
        """One reading: `true`, or one that shows something else."""
        began = await self.store.now() + 1
        self.store.offset_ms += 3
        self.log.append(f"read {shown}")
        if shown == "500":
            return
        state, status = self._state(shown)
        if status != "busy":
            listed = [key_of(one) for one in state.pending]
            self.missed = {
                key_of(one): self.missed.get(key_of(one), began) for one in QUESTIONS if key_of(one) not in listed
            }
        if status is None:
            synced = await record_absence(self.store, TENANT, TARGET, THREAD, began=began)
        else:
            seen = ThreadReading(TARGET, ThreadRow(THREAD, status, "", {}), state, began, started_bare)
            synced = await record_sighting(self.store, TENANT, seen, policy_version=1, settled=True)
        if synced.gone and list_agrees(status, self.listed):
            await supersede_gone(self.store, synced.gone, state if status else None)

    def _state(self, shown: str) -> tuple[ThreadState, str | None]:
        pending = (self.pending,) if self.pending and shown == "true" else ()
        status = "busy" if shown == "busy" else None if shown == "404" else "interrupted" if self.pending else "idle"
        return ThreadState((), (), pending, None, {}, None), status


async def all_reviews(store: Store) -> list[Review]:
    """Every review, oldest first."""
    async with store.read() as tx:
        return await reviews._load(tx, table.c.id.is_not(None))


async def decide(store: Store) -> str | None:
    """Somebody approves what is open; the id of the decision's review."""
    async with store.begin() as tx:
        opened = [one for one in await reviews.live_reviews(tx, tenant="demo") if one.state is ReviewState.OPEN]
        if not opened:
            return None
        review = opened[0]
        moved = await insert_decisions(tx, review, [make_decision(review)], delivery_key=review.id)
    assert moved is not None, "a press between two readings is never refused"
    return review.id


@pytest.mark.parametrize("run", range(RUNS))
async def test_no_order_of_readings_loses_doubles_or_carries_over_what_waits(store: Store, run: int) -> None:
    seed = random.randrange(10**6)  # put the printed one here to see the same again
    chance = random.Random(seed)
    thread, decided = Thread(store), set[str]()
    print(f"run {run}, seed {seed}")
    for _ in range(STEPS):
        match chance.choice(["become", "lie", "lie", "read", "read", "wait", "decide"]):
            case "become":
                thread.become(chance.choice([None, *QUESTIONS]))
            case "lie":
                await thread.read(chance.choice(["404", "empty", "500", "busy"]))
            case "read":
                await thread.read("true")
            case "decide":
                decided |= {await decide(store) or ""}
            case _:
                store.offset_ms += chance.choice([10, 1_000, 1_900, 2_100, 5_000])
        await hold(store, thread, decided)
    for _ in range(4):  # in the end the thread is let alone
        store.offset_ms += EVERY_MS + 10
        await thread.read("true")
    live = [one for one in await all_reviews(store) if one.state in (ReviewState.OPEN, ReviewState.DECIDED)]
    asked = [thread.pending.id] if thread.pending else []
    assert [one.interrupt_id for one in live] == asked, thread.log


async def hold(store: Store, thread: Thread, decided: set[str]) -> None:
    """What is true after each step."""
    found = await all_reviews(store)
    live = [one for one in found if one.state in (ReviewState.OPEN, ReviewState.DECIDED)]
    ids = [one.interrupt_id for one in live]
    assert len(ids) == len(set(ids)), f"one interrupt is open twice: {thread.log}"
    for one in found:
        approved = any(action.decision is not None for action in one.actions)
        assert approved == (one.id in decided), f"an approval was carried over: {thread.log}"
        if one.settled_at is not None and one.id not in thread.ended:
            thread.ended.add(one.id)
            since = thread.missed.get(f"{one.interrupt_id} {one.actions[0].args}")
            assert since is not None, f"closed while it was listed: {thread.log}"
            assert one.settled_at - since >= EVERY_MS, f"closed too soon: {thread.log}"


async def ends(store: Store, review: Review, to: ReviewState) -> None:
    """The review is over: its answer was taken, or the thread had moved on."""
    async with store.begin() as tx:
        if to is ReviewState.SUPERSEDED:
            assert await reviews.move(tx, review, to, why="thread_moved_on")
            return
        claim = await dispatches.load_claim(tx, review.id)
        assert await dispatches.close(tx, claim, to=to, why="")


@pytest.mark.parametrize("to", [ReviewState.RESUMED, ReviewState.SUPERSEDED])
async def test_a_question_asked_anew_while_a_reading_saw_the_old_one_end_is_read_once_more(
    store: Store, monkeypatch, to
):
    thread = Thread(store, pending=QUESTIONS[0])
    await thread.read("true")
    (review,) = await all_reviews(store)
    if to is ReviewState.RESUMED:
        await decide(store)
        async with store.begin() as tx:
            claim = await dispatches.claim_next(tx, owner="w", lease_ms=1_000)
            armed = await dispatches.arm(tx, claim, body_hash="h")
            assert await dispatches.accept(tx, armed, run_id="run-1")
    looked = thread_sync._started

    async def ends_in_between(*args):
        found = await looked(*args)
        await ends(store, review, to)
        return found

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(thread_sync, "_started", ends_in_between)
        began = await store.now() + 1
        row, state = ThreadRow(THREAD, "interrupted", "", {}), ThreadState((), (), (QUESTIONS[0],), None, {}, None)
        seen = ThreadReading(TARGET, row, state, began, started_bare)
        synced = await record_sighting(store, TENANT, seen, policy_version=1, settled=True)
    store.offset_ms += 10

    assert synced.again
    await thread.read("true")
    assert [one.state for one in await all_reviews(store)] == [to, ReviewState.OPEN]
