"""Thread sync: what is pending on the agent server becomes what is stored.

When an interrupt that a thread does not list any more may be called gone. A single reading proves nothing: a proxy's
404, a replica that lags or a state between two checkpoints looks the same as a thread that moved on. Gone takes two
readings in a row, far enough apart, and a list of threads that tells the same.

One reading of one thread (state, then thread row) is compared with the live reviews of that thread; the difference is
written in one transaction. Level-triggered: whoever calls, and how often, changes nothing but the delay. Truth is the
state, never a run's output.
"""

from __future__ import annotations

import os
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import structlog

from bot.core.digest import CallAddress, call_digest
from bot.core.model import Action, DecisionType, Review, ReviewState, Target
from bot.core.states import IN_FLIGHT
from bot.policy.matching import card_channel, tool_settings
from bot.policy.model import TenantPolicy
from bot.runtimes.langgraph.interrupts import ParsedInterrupt, ProposedCall, is_silent, parse_pending
from bot.runtimes.langgraph.outcomes import call_results, is_only_one, tool_call_ids
from bot.runtimes.langgraph.run_context import RunContextLoss, RunContextLost, StartedRun
from bot.runtimes.langgraph.wire import PendingInterrupt, ThreadRow, ThreadState
from bot.store import messages, reviews
from bot.store.engine import Store, Tx, new_id

LEAST_APART_MS = 2_000
# What the list of threads is asked for: a thread in none of these does not wait for anybody.
NOT_IDLE = ("interrupted", "error", "busy")


def far_enough(missing_since: int, began: int, *, every_ms: int) -> bool:
    """Whether a reading that began then can be the second one; `every_ms` is the polling interval."""
    return began - missing_since >= max(LEAST_APART_MS, every_ms)


def list_agrees(read: str | None, listed: str | None) -> bool:
    """Whether the list says of a thread what its own reading said.

    `read` is the thread's status, None where it answered 404; `listed` its status among those that are `NOT_IDLE`.
    """
    return listed == (read if read in NOT_IDLE else None)


log = structlog.get_logger("placet")
REQUESTER = re.compile(r"[UW][A-Z0-9]+")
DECISION_NAME = re.compile(r"[A-Za-z0-9_-]{1,40}")  # what of a server's own words is fit for a log
CARD_LIMIT = 8  # more calls than this stand in the root message alone
UNSENT = (ReviewState.OPEN, ReviewState.DECIDED)
UNANSWERABLE = ("idle", "error")  # statuses of a thread that takes no answer
WAITING = (ReviewState.OPEN, ReviewState.DECIDED, ReviewState.EXPIRED, ReviewState.HELD)


@dataclass(frozen=True, slots=True)
class ThreadReading:
    """One reading of one thread; `began` is the database's time before the first request."""

    target: Target
    row: ThreadRow
    state: ThreadState
    began: int
    started: Callable[
        [], Awaitable[StartedRun]
    ]  # asks for the run that asked; raises `RunContextLost` and `AgentError`


@dataclass(frozen=True, slots=True)
class SyncResult:
    """What a sighting changed."""

    opened: int = 0
    closed: int = 0  # or has changed otherwise
    again: bool = False  # the thread was busy or in between: look once more soon
    missing: bool = False  # an interrupt that waits is not listed: look once more when that can prove something
    gone: tuple[str, ...] = ()  # reviews whose interrupt is gone, if the list of threads agrees


async def record_sighting(
    store: Store, tenant: TenantPolicy, seen: ThreadReading, *, policy_version: int, settled: bool
) -> SyncResult:
    """Write the difference between a sighting and the store.

    `settled` says that an earlier look saw the same thing: only then may a pending interrupt on an idle or failed
    thread be called unanswerable, since a pause shows for a moment before the thread's status says so.
    """
    if seen.row.status == "busy":
        return SyncResult(again=True)
    parsed = _parse(tenant, seen.state)
    started = await _started(store, parsed, seen)
    async with store.begin() as tx:
        live = await reviews.reviews_on_thread(tx, url=seen.target.url, thread_id=seen.row.thread_id)
        mine = await _left_to_sync(tx, tenant, live)
        missing = await _note_missing(tx, tenant, mine, parsed, began=seen.began)
        closed = await _supersede(tx, missing.replaced, seen.state)
        reread = await _close_reread(tx, mine, parsed, began=seen.began)
        renamed = await _rename_requesters(tx, tenant, mine, seen)
        broken, again = await _break_errored(tx, mine, seen, settled=settled)
        asked = [one for one in parsed if one.interrupt_id not in missing.held] if started is not None else []
        opened, later = await _open_new(
            tx, tenant, asked, seen, started, policy_version=policy_version, settled=settled
        )
        # A review that ended since `_started` looked was judged as one that waits: what is listed may be a new question.
        overtaken = started is None and not _all_live(parsed, live)
        again = again or later or reread > 0 or overtaken or _may_be_asked_again(mine, parsed)
    for review, one in opened:
        _tell_of_odd(review, one)
    return SyncResult(len(opened), closed + reread + broken + renamed, again, missing.waits, missing.gone)


async def record_absence(
    store: Store, tenant: TenantPolicy, target: Target, thread_id: str, *, began: int
) -> SyncResult:
    """As `record_sighting`, of a thread that answered 404: it is gone, or another identity's, or a proxy erred."""
    async with store.begin() as tx:
        live = await reviews.reviews_on_thread(tx, url=target.url, thread_id=thread_id)
        mine = await _left_to_sync(tx, tenant, live)
        missing = await _note_missing(tx, tenant, mine, (), began=began)
    return SyncResult(missing=missing.waits, gone=missing.gone)


async def supersede_gone(store: Store, gone: Sequence[str], state: ThreadState | None) -> int:
    """Close reviews whose interrupt is gone for good; what was listed again meanwhile stays."""
    async with store.begin() as tx:
        found = [await reviews.load_review(tx, review, lock=True) for review in gone]
        return await _supersede(tx, [one for one in found if one and one.missing_since is not None], state)


def _parse(tenant: TenantPolicy, state: ThreadState) -> tuple[ParsedInterrupt, ...]:
    def listed(tool: str) -> Sequence[DecisionType] | None:
        allowed = tool_settings(tenant, tool).decisions
        return None if allowed is None else [DecisionType(item) for item in allowed]

    found = [(one.id, one.value, one.response_schema) for one in state.pending]
    return parse_pending(found, listed, shared={one.id for one in state.pending if one.shared})


async def _started(
    store: Store, parsed: Sequence[ParsedInterrupt], seen: ThreadReading
) -> StartedRun | RunContextLoss | None:
    """Which run asked, and with what it was started; None where nothing new is pending. Raises `AgentError`."""
    async with store.read() as tx:
        known = await reviews.reviews_on_thread(tx, url=seen.target.url, thread_id=seen.row.thread_id)
    if _all_live(parsed, known):
        return None
    try:
        started = await seen.started()
        started.surroundings.carried(seen.target.kind, seen.target.route)
    except RunContextLost as lost:
        return lost.loss
    return started


def _all_live(parsed: Sequence[ParsedInterrupt], live: Sequence[Review]) -> bool:
    known = {(review.interrupt_id, review.content_hash) for review in live}
    return all((one.interrupt_id, one.content_hash) in known for one in parsed)


async def _left_to_sync(tx: Tx, tenant: TenantPolicy, live: Sequence[Review]) -> list[Review]:
    """The tenant's unsettled reviews on a thread, but those that wait to be sent again.

    What changed there may be the work of an answer of ours that came late. Only the dispatch, which looks for its mark
    before it does anything, can tell that from somebody else's.
    """
    known = [review for review in live if review.tenant == tenant.name]
    due = [review for review in known if review.state in (ReviewState.DECIDED, ReviewState.EXPIRED)]
    again = await reviews.attempted(tx, due) if due else frozenset()
    return [review for review in known if review.id not in again]


@dataclass(frozen=True, slots=True)
class _Missing:
    """Waiting reviews whose interrupt a reading did not list."""

    waits: bool  # some are to be looked at again
    replaced: tuple[Review, ...]  # gone: the same id asks something else by now
    gone: tuple[str, ...]  # gone, if the list agrees
    held: frozenset[str]  # interrupt ids of which nothing else is opened yet: one id, one open review


async def _note_missing(
    tx: Tx, tenant: TenantPolicy, known: Sequence[Review], parsed: Sequence[ParsedInterrupt], *, began: int
) -> _Missing:
    """Note which waiting reviews this reading lists and which not, or no longer as they were.

    Only reviews that were stored before this reading began: a newer one may come from a newer reading.
    """
    pending = {(one.interrupt_id, one.content_hash) for one in parsed}
    ids = {one.interrupt_id for one in parsed}
    first, replaced, gone = [], [], []
    for review in known:
        if review.state not in WAITING or review.opened_at >= began:
            continue
        if (review.interrupt_id, review.content_hash) in pending:
            if review.missing_since is not None:
                await reviews.note_listed(tx, review.id)
            continue
        since = review.missing_since
        if since is None:
            await reviews.note_missing(tx, review.id)
        if since is None or not far_enough(since, began, every_ms=tenant.watch_every_ms):
            first.append(review)
        elif review.interrupt_id in ids:
            replaced.append(review)
        else:
            gone.append(review.id)
    held = frozenset(review.interrupt_id for review in first)
    return _Missing(bool(first or gone), tuple(replaced), tuple(gone), held)


async def _supersede(tx: Tx, gone: Sequence[Review], state: ThreadState | None) -> int:
    """The thread moved on from what these asked."""
    closed = 0
    tried = await reviews.attempted(tx, gone) if gone else frozenset()
    for review in gone:
        if review.state not in WAITING:
            continue
        moved = await reviews.move(tx, review, ReviewState.SUPERSEDED, why="thread_moved_on")
        closed += moved is not None
        if moved is not None and review.id in tried and state is not None:
            await _tell_what_ran(tx, moved, state)
    return closed


async def _close_reread(tx: Tx, known: Sequence[Review], parsed: Sequence[ParsedInterrupt], *, began: int) -> int:
    """Close what is asked otherwise under the policy of this reading: it is opened anew, with what the call now allows.

    That happens only where the policy alone says what is allowed. A decision that is still allowed stands.
    """
    fresh = {(one.interrupt_id, one.content_hash): one for one in parsed}
    closed = 0
    for review in known:
        one = fresh.get((review.interrupt_id, review.content_hash))
        if one is None or not is_silent(review) or review.opened_at >= began:
            continue
        (call,), (action,) = one.calls, review.actions
        if review.state in (ReviewState.OPEN, ReviewState.HELD):
            other = (call.allowed, call.problem) != (action.allowed, action.problem)
        else:
            made = action.decision if review.state is ReviewState.DECIDED else None
            other = made is not None and made.type not in call.allowed
        if other:
            closed += await reviews.move(tx, review, ReviewState.SUPERSEDED, why="allowed_changed") is not None
    return closed


async def _tell_what_ran(tx: Tx, review: Review, state: ThreadState) -> None:
    """An answer that was called not taken, and then taken back, may have come after all: what it did is told."""
    results = call_results(state.all_messages, [action.tool_call_id for action in review.actions])
    outcomes = {at: (result.outcome, result.text) for at, result in enumerate(results) if result is not None}
    if outcomes:
        await reviews.set_outcomes(tx, review, outcomes)


async def _rename_requesters(tx: Tx, tenant: TenantPolicy, known: Sequence[Review], seen: ThreadReading) -> int:
    """Note whom the thread names as requester now, where reviews were opened for somebody else."""
    named = requester_of(tenant, seen.row.metadata)
    renamed = 0
    for review in known:
        if review.requester_now != named and review.state in UNSENT and review.opened_at < seen.began:
            renamed += await reviews.rename_requester(tx, review.id, named)
    return renamed


async def _break_errored(tx: Tx, known: Sequence[Review], seen: ThreadReading, *, settled: bool) -> tuple[int, bool]:
    """Mark reviews broken whose interrupt is listed and cannot be answered any more."""
    errors = {one.id: one.task_error for one in seen.state.pending}
    unanswerable = seen.row.status in UNANSWERABLE
    broken, again = 0, False
    for review in known:
        if review.interrupt_id not in errors or review.state not in WAITING or review.state is ReviewState.HELD:
            continue
        if errors[review.interrupt_id]:
            broken += await reviews.move(tx, review, ReviewState.BROKEN, why="poisoned") is not None
        elif unanswerable and settled:
            broken += await reviews.move(tx, review, ReviewState.BROKEN, why="unanswerable") is not None
        else:
            again = again or unanswerable
    return broken, again


async def _open_new(  # noqa: PLR0913 - a reading and how it is to be judged
    tx: Tx,
    tenant: TenantPolicy,
    parsed: Sequence[ParsedInterrupt],
    seen: ThreadReading,
    started: StartedRun | RunContextLoss | None,
    *,
    policy_version: int,
    settled: bool,
) -> tuple[list[tuple[Review, ParsedInterrupt]], bool]:
    """Open what is asked for the first time, or anew; and whether to look again soon before that.

    Polling lists no idle thread, so whatever led here, nothing is opened on one. On a failed thread an interrupt can
    only be shown as broken, once it is certain that the status does not lag behind a pause.
    """
    opened: list[tuple[Review, ParsedInterrupt]] = []
    if seen.row.status == "idle":
        return opened, bool(parsed) and not settled
    later = False
    for one in parsed:
        pending = next(item for item in seen.state.pending if item.id == one.interrupt_id)
        broken = "poisoned" if pending.task_error else "unanswerable" if seen.row.status in UNANSWERABLE else ""
        review = _with_surroundings(review_from(tenant, one, seen, pending, now=tx.now), started, tenant)
        if broken == "unanswerable" and not settled:
            later = later or not await reviews.is_known(tx, review)
            continue
        stored = await reviews.insert_review(tx, review, policy_version=policy_version)
        if not stored:
            waits = not broken and seen.row.status == "interrupted"
            anew, early = await reviews.next_generation(tx, review, began=seen.began, waits=waits)
            later = later or early
            stored = anew > 0 and await reviews.insert_review(
                tx, review, policy_version=policy_version, generation=anew
            )
        if not stored:
            continue
        opened.append((review, one))
        await want_messages(tx, tenant, review)
        if broken:
            await reviews.move(tx, review, ReviewState.BROKEN, why=broken)
    return opened, later


def _may_be_asked_again(known: Sequence[Review], parsed: Sequence[ParsedInterrupt]) -> bool:
    """Whether an answer is on its way to what is listed: once it is over, what is listed still is a new question."""
    pending = {(one.interrupt_id, one.content_hash) for one in parsed}
    return any(one.state in IN_FLIGHT and (one.interrupt_id, one.content_hash) in pending for one in known)


def _tell_of_odd(review: Review, one: ParsedInterrupt) -> None:
    """What an agent's developer should hear of: an interrupt that cannot be decided, and decisions that nobody knows."""
    known = {"tenant": review.tenant, "review": review.id}
    if one.problem:
        at = {call.position: call.problem for call in one.calls if call.problem}
        log.warning("An interrupt cannot be decided.", action="undecidable", problem=one.problem, calls=at, **known)
    for call in one.calls:
        if call.ignored:
            names = [name if DECISION_NAME.fullmatch(name) else "?" for name in call.ignored]
            log.warning(
                "Unknown decisions are not offered.", action="ignored", position=call.position, names=names, **known
            )


def review_from(
    tenant: TenantPolicy, one: ParsedInterrupt, seen: ThreadReading, pending: PendingInterrupt, *, now: int
) -> Review:
    """A new review, open and undelivered."""
    place = CallAddress(os.urandom(16), seen.target.url, seen.row.thread_id, one.interrupt_id)
    ids = _call_ids(one, seen.state, pending)
    return Review(
        id=new_id("r"),
        tenant=tenant.name,
        target=replace(seen.target, assistant=assistant_of(seen.row.metadata) or seen.target.assistant),
        thread_id=seen.row.thread_id,
        interrupt_id=one.interrupt_id,
        content_hash=one.content_hash,
        shape=one.shape,
        state=ReviewState.OPEN,
        why="",
        salt=place.salt,
        requester=requester_of(tenant, seen.row.metadata),
        opened_at=now,
        delivered_at=None,
        decide_by=None,
        settled_at=None,
        response_schema=one.response_schema,
        problem=one.problem,
        version=0,
        actions=tuple(_action(place, call, call_id) for call, call_id in zip(one.calls, ids, strict=True)),
        asked_by=seen.state.run_id,
        checkpoint_ns=pending.checkpoint_ns,
    )


def _with_surroundings(review: Review, started: StartedRun | RunContextLoss | None, tenant: TenantPolicy) -> Review:
    """The review with the hash of what its run was started with, or with the reason why nothing can be sent for it."""
    if not isinstance(started, StartedRun):
        return review.evolve(problem=review.problem or (started or RunContextLoss.GONE).value)
    run_id, found = started
    seal = found.seal(review.salt) if found else None
    # What the policy names is shown, and stored for that; everything else is kept nowhere.
    return review.evolve(asked_by=run_id, surroundings=seal, started_with=found.named(tenant.agent.show_context))


def _action(place: CallAddress, call: ProposedCall, call_id: str | None) -> Action:
    return Action(
        position=call.position,
        tool=call.tool,
        args=call.args,
        args_object=call.args_object,
        description=call.description,
        allowed=call.allowed,
        digest=call_digest(place, call.position, call.tool, call.args, call.allowed),
        problem=call.problem,
        tool_call_id=call_id,
    )


def _call_ids(one: ParsedInterrupt, state: ThreadState, pending: PendingInterrupt) -> tuple[str | None, ...]:
    named = tuple(call.tool_call_id for call in one.calls)
    messages = state.messages_for(pending)
    if any(named) or one.problem:
        return tuple(call_id if is_only_one(messages, call_id) else None for call_id in named)
    return tool_call_ids(messages, [(call.tool, call.args) for call in one.calls])


def assistant_of(metadata: dict[str, Any]) -> str | None:
    """The assistant that the thread belongs to, as both servers note it at its first run.

    Measured: resumed under another assistant, a thread runs on in that one's graph, and one answered interrupt of a
    per-call agent let the calls of its siblings run unapproved. So an answer goes to the thread's own assistant, and to
    the policy's only where the thread names none.
    """
    named = (metadata.get(key) for key in ("assistant_id", "graph_id"))
    return next((name for name in named if isinstance(name, str) and name), None)


def requester_of(tenant: TenantPolicy, metadata: dict[str, Any]) -> str | None:
    """The Slack user id that the thread's metadata names, or None: anything else is unknown, never guessed."""
    node: Any = {"metadata": metadata}
    for part in tenant.requester_path.split("."):
        node = node.get(part) if isinstance(node, dict) else None
    return node if isinstance(node, str) and REQUESTER.fullmatch(node) else None


async def want_messages(tx: Tx, tenant: TenantPolicy, review: Review) -> None:
    """Ask for the review's messages: one card; or a root, with a card for each of up to eight calls in its thread."""
    channel = card_channel(tenant, (action.tool for action in review.actions))
    if len(review.actions) == 1:
        await messages.want_message(tx, review, channel=channel, position=0)
        return
    root = await messages.want_message(tx, review, channel=channel)
    if len(review.actions) <= CARD_LIMIT:
        for action in review.actions:
            await messages.want_message(tx, review, channel=channel, position=action.position, parent_id=root)
