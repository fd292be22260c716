"""Thread sync: what is pending on the agent server becomes what is stored.

One reading of one thread (state, then thread row) is compared with the live reviews of that thread; the difference is
written in one transaction. Level-triggered: whoever calls, and how often, changes nothing but the delay. Truth is the
state, never a run's output. This module must not know Slack, and never sends an answer.
"""

from __future__ import annotations

import os
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import structlog

from bot.agent.surroundings import Loss, Started, SurroundingsLost
from bot.agent.wire import PendingInterrupt, ThreadRow, ThreadState
from bot.core.digest import Place, call_digest
from bot.core.interrupt import ParsedInterrupt, ProposedCall, parse_pending
from bot.core.model import Action, DecisionType, Review, ReviewState, Target
from bot.core.outcome import call_results, is_only_one, tool_call_ids
from bot.core.policy import TenantPolicy, tool_settings
from bot.core.review import IN_FLIGHT
from bot.store import messages, reviews
from bot.store.engine import Store, Tx
from bot.store.ids import new_id

log = structlog.get_logger("placet")
REQUESTER = re.compile(r"[UW][A-Z0-9]+")
DECISION_NAME = re.compile(r"[A-Za-z0-9_-]{1,40}")  # what of a server's own words is fit for a log
CARD_LIMIT = 8  # more calls than this stand in the root message alone
UNSENT = (ReviewState.OPEN, ReviewState.DECIDED)
WAITING = (ReviewState.OPEN, ReviewState.DECIDED, ReviewState.EXPIRED, ReviewState.HELD)


@dataclass(frozen=True, slots=True)
class Sighting:
    """One reading of one thread; `began` is the database's time before the first request."""

    target: Target
    row: ThreadRow
    state: ThreadState
    began: int
    started: Callable[[], Awaitable[Started]]  # asks for the run that asked; raises `SurroundingsLost` and `AgentError`


@dataclass(frozen=True, slots=True)
class Synced:
    """What a sighting changed."""

    opened: int = 0
    closed: int = 0  # or has changed otherwise
    again: bool = False  # the thread was busy or in between: look once more soon


async def record_sighting(
    store: Store, tenant: TenantPolicy, seen: Sighting, *, policy_version: int, settled: bool
) -> Synced:
    """Write the difference between a sighting and the store.

    `settled` says that an earlier look saw the same thing: only then may a pending interrupt on an idle or failed
    thread be called unanswerable, since a pause shows for a moment before the thread's status says so.
    """
    if seen.row.status == "busy":
        return Synced(again=True)
    parsed = _parse(tenant, seen.state)
    started = await _started(store, parsed, seen)
    async with store.begin() as tx:
        known = await reviews.reviews_on_thread(tx, url=seen.target.url, thread_id=seen.row.thread_id)
        mine = await _left_to_sync(tx, [review for review in known if review.tenant == tenant.name])
        closed = await _close_vanished(tx, mine, parsed, seen)
        renamed = await _rename_requesters(tx, tenant, mine, seen)
        broken, again = await _break_errored(tx, mine, seen, settled=settled)
        opened = await _open_new(tx, tenant, parsed, seen, started, policy_version=policy_version)
        again = again or _may_be_asked_again(mine, parsed)
    for review, one in opened:
        _tell_of_odd(review, one)
    return Synced(len(opened), closed + broken + renamed, again)


def _parse(tenant: TenantPolicy, state: ThreadState) -> tuple[ParsedInterrupt, ...]:
    def listed(tool: str) -> Sequence[DecisionType] | None:
        allowed = tool_settings(tenant, tool).decisions
        return None if allowed is None else [DecisionType(item) for item in allowed]

    found = [(one.id, one.value, one.response_schema) for one in state.pending]
    return parse_pending(found, listed, shared={one.id for one in state.pending if one.shared})


async def _started(store: Store, parsed: Sequence[ParsedInterrupt], seen: Sighting) -> Started | Loss | None:
    """Which run asked, and with what it was started; None where nothing new is pending. Raises `AgentError`."""
    async with store.read() as tx:
        known = await reviews.reviews_on_thread(tx, url=seen.target.url, thread_id=seen.row.thread_id)
    live = {(review.interrupt_id, review.content_hash) for review in known}
    if all((one.interrupt_id, one.content_hash) in live for one in parsed):
        return None
    try:
        started = await seen.started()
        started.surroundings.carried(seen.target.kind, seen.target.route)
    except SurroundingsLost as lost:
        return lost.loss
    return started


async def _left_to_sync(tx: Tx, known: Sequence[Review]) -> list[Review]:
    """All but those that wait to be sent again: what changed there may be the work of an answer of ours that came late.

    Only the dispatch, which looks for its mark before it does anything, can tell that from somebody else's.
    """
    due = [review for review in known if review.state in (ReviewState.DECIDED, ReviewState.EXPIRED)]
    again = await reviews.attempted(tx, due) if due else frozenset()
    return [review for review in known if review.id not in again]


async def _close_vanished(tx: Tx, known: Sequence[Review], parsed: Sequence[ParsedInterrupt], seen: Sighting) -> int:
    """Supersede waiting reviews whose interrupt is no longer pending, or no longer says what it said.

    Only reviews that were stored before this reading began: a newer one may come from a newer reading.
    """
    pending = {(one.interrupt_id, one.content_hash) for one in parsed}
    closed = 0
    tried = await reviews.attempted(tx, known) if known else frozenset()
    for review in known:
        gone = (review.interrupt_id, review.content_hash) not in pending
        if gone and review.state in WAITING and review.opened_at < seen.began:
            moved = await reviews.move(tx, review, ReviewState.SUPERSEDED, why="thread_moved_on")
            closed += moved is not None
            if moved is not None and review.id in tried:
                await _tell_what_ran(tx, moved, seen)
    return closed


async def _tell_what_ran(tx: Tx, review: Review, seen: Sighting) -> None:
    """An answer that was called not taken, and then taken back, may have come after all: what it did is told."""
    results = call_results(seen.state.all_messages, [action.tool_call_id for action in review.actions])
    outcomes = {at: (result.outcome, result.text) for at, result in enumerate(results) if result is not None}
    if outcomes:
        await reviews.set_outcomes(tx, review, outcomes)


async def _rename_requesters(tx: Tx, tenant: TenantPolicy, known: Sequence[Review], seen: Sighting) -> int:
    """Note whom the thread names as requester now, where reviews were opened for somebody else."""
    named = requester_of(tenant, seen.row.metadata)
    renamed = 0
    for review in known:
        if review.requester_now != named and review.state in UNSENT and review.opened_at < seen.began:
            renamed += await reviews.rename_requester(tx, review.id, named)
    return renamed


async def _break_errored(tx: Tx, known: Sequence[Review], seen: Sighting, *, settled: bool) -> tuple[int, bool]:
    """Mark reviews broken whose interrupt is listed and cannot be answered any more."""
    errors = {one.id: one.task_error for one in seen.state.pending}
    unanswerable = seen.row.status in ("idle", "error")
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


async def _open_new(  # noqa: PLR0913 - what was read, and under which policy
    tx: Tx,
    tenant: TenantPolicy,
    parsed: Sequence[ParsedInterrupt],
    seen: Sighting,
    started: Started | Loss | None,
    *,
    policy_version: int,
) -> list[tuple[Review, ParsedInterrupt]]:
    opened = []
    for one in parsed if started is not None else ():
        pending = next(item for item in seen.state.pending if item.id == one.interrupt_id)
        review = _with_surroundings(review_from(tenant, one, seen, pending, now=tx.now), started, tenant)
        waits = seen.row.status == "interrupted" and pending.task_error is None
        again_since = seen.began if waits else 0
        if not await _insert(tx, review, policy_version=policy_version, again_since=again_since):
            continue
        opened.append((review, one))
        await want_messages(tx, tenant, review)
        if pending.task_error:
            await reviews.move(tx, review, ReviewState.BROKEN, why="poisoned")
    return opened


async def _insert(tx: Tx, review: Review, *, policy_version: int, again_since: int) -> bool:
    """Store it, unless this very interrupt is known.

    What only a policy had closed is asked anew once it points here, and so is what is pending in a reading that began
    after the answer to it was over.
    """
    if await reviews.insert_review(tx, review, policy_version=policy_version):
        return True
    left = await reviews.left_behind(tx, review) or await reviews.asked_again(tx, review, since=again_since)
    return left > 0 and await reviews.insert_review(tx, review, policy_version=policy_version, generation=left)


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
    tenant: TenantPolicy, one: ParsedInterrupt, seen: Sighting, pending: PendingInterrupt, *, now: int
) -> Review:
    """A new review, open and undelivered."""
    place = Place(os.urandom(16), seen.target.url, seen.row.thread_id, one.interrupt_id)
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


def _with_surroundings(review: Review, started: Started | Loss | None, tenant: TenantPolicy) -> Review:
    """The review with the hash of what its run was started with, or with the reason why nothing can be sent for it."""
    if not isinstance(started, Started):
        return review.evolve(problem=review.problem or (started or Loss.GONE).value)
    run_id, found = started
    seal = found.seal(review.salt) if found else None
    # What the policy names is shown, and stored for that; everything else is kept nowhere.
    return review.evolve(asked_by=run_id, surroundings=seal, started_with=found.named(tenant.agent.show_context))


def _action(place: Place, call: ProposedCall, call_id: str | None) -> Action:
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
    channel = tenant.slack_channel
    if len(review.actions) == 1:
        await messages.want_message(tx, review, channel=channel, position=0)
        return
    root = await messages.want_message(tx, review, channel=channel)
    if len(review.actions) <= CARD_LIMIT:
        for action in review.actions:
            await messages.want_message(tx, review, channel=channel, position=action.position, parent_id=root)
