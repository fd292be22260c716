"""Looking at a thread on behalf of one dispatch, once or until two looks agree.

Whether an interrupt that a look does not list is gone for good, judged as watching judges it
(`bot.runtimes.langgraph.thread_sync`).

One look at a thread on behalf of one dispatch: what is read, and what `judge` is given of it. State is not always
enough: who answered stands in the history where a result surprises, and what a sub-agent's tool answered stands in
the history of its own checkpoints, which the thread's state does not show. Both are read only where they are needed.
Nothing here concludes, sends or stores.

State is read before the runs, so a run that ends in between shows itself half: every closing verdict but "done" must
be the same in a second look.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import structlog

from bot.core.decision import said_of
from bot.core.digest import content_hash
from bot.core.model import DecisionType, Review
from bot.dispatch.alarms import Alarm
from bot.dispatch.claim import HeldClaim
from bot.errors import AgentError, AgentUnreachable
from bot.runtimes.langgraph.client import HISTORY_LIMIT, AgentClient, ThreadSnapshot
from bot.runtimes.langgraph.outcomes import CallResult, call_ids_of, call_results, tool_call_ids
from bot.runtimes.langgraph.run_context import NOTHING, CarriedContext, RunContextLoss, RunContextLost
from bot.runtimes.langgraph.thread_sync import NOT_IDLE, far_enough, list_agrees
from bot.runtimes.langgraph.verdict import (
    SECOND_LOOK,
    Observation,
    RunRow,
    Verdict,
    VerdictKind,
    judge,
    needs_second_look,
)
from bot.runtimes.langgraph.wire import HistoryEntry, PendingInterrupt, ThreadState
from bot.store import dispatches, reviews
from bot.store.dispatches import Claim
from bot.store.engine import Store


def is_missing(review: Review, look: ThreadSnapshot) -> bool:
    """Whether the thread answers 404, or does not list the interrupt as it was shown.

    Listed beside another question of the same id, or by two tasks, it is not missing, though it can no more be answered.
    """
    if look.gone or look.state is None:
        return True
    one, same = find_interrupt(review, look.state)
    alone = sum(pending.id == review.interrupt_id for pending in look.state.pending) == 1
    return one is None or (alone and not one.shared and not same)


async def gone_for_good(
    store: Store, client: AgentClient, review: Review, look: ThreadSnapshot, *, every_ms: int
) -> bool:
    """Whether this look is the second one that misses the interrupt, far enough from the first, and the list agrees.

    The first is stored with the review, so that it outlives a restart and counts for every worker.
    """
    async with store.begin() as tx:
        since = await reviews.note_missing(tx, review.id)
        now = tx.now
    began = now - int(look.slowest * 3_000) - 1
    if not far_enough(since, began, every_ms=every_ms):
        return False
    try:
        listed = await client.statuses(NOT_IDLE)
    except AgentError:
        return False
    status = None if look.gone or look.thread is None else look.thread.status
    return list_agrees(status, listed.get(review.thread_id))


WIDE_LIMIT = 200  # checkpoints of all branches of a thread
# A result is there, and who answered is not plain from runs and state.
WHOSE = frozenset({VerdictKind.UNOPPOSED, VerdictKind.LOST_RACE, VerdictKind.ELSEWHERE})


@dataclass(frozen=True, slots=True)
class ProbeReading:
    """What was read, each call's result, and what that proves."""

    look: ThreadSnapshot
    results: tuple[CallResult | None, ...]
    verdict: Verdict


async def see(
    store: Store, client: AgentClient, review: Review, claim: Claim, *, raced_before: bool = False
) -> ProbeReading:
    """Look at the thread in full. Raises `AgentError`."""
    look = await client.look(review.thread_id)
    siblings = await _siblings(store, claim, look.runs)
    seen = replace(observe(review, claim, look), siblings=siblings, raced_before=raced_before)
    over = seen.carried and not any(run.active for run in seen.ours)
    if over and review.checkpoint_ns and not seen.answered:
        branch = await _branch(client, review, claim)
        seen = _with_branch(seen, review, claim, branch or ())
        if branch == () and look.state is not None and not seen.listed:
            seen = _with_later_calls(seen, review, claim, look.state, await client.history(review.thread_id))
    verdict = judge(seen)
    if verdict.kind in WHOSE:
        seen = _with_history(seen, claim, await client.history(review.thread_id))
        verdict = judge(seen)
    return ProbeReading(look, seen.results, verdict)


async def _siblings(store: Store, claim: Claim, runs: Sequence[RunRow]) -> frozenset[str]:
    """Which of the runs' marks are other dispatches of ours: they answer other interrupts, one after the other."""
    marks = {run.dispatch for run in runs if run.dispatch and run.dispatch != claim.dispatch_id}
    if not marks:
        return frozenset()
    async with store.read() as tx:
        return await dispatches.known_dispatches(tx, marks)


async def _branch(client: AgentClient, review: Review, claim: Claim) -> tuple[HistoryEntry, ...] | None:
    """The checkpoints of what asked, none where it keeps none of its own; None where the server cannot show them.

    A state names the task that leads to what asks. What that task called by itself (an agent in a `@task`) stands
    further down, under a name that only the checkpoints tell.
    """
    try:
        own = await client.history(review.thread_id, namespace=review.checkpoint_ns)
    except AgentError:
        return None
    try:
        below = () if own else await client.history(review.thread_id, namespace=None, limit=WIDE_LIMIT)
    except AgentError:  # langgraph dev wants a name
        below = ()
    found: dict[str, list[HistoryEntry]] = {}
    for entry in below:
        if entry.namespace.startswith(f"{review.checkpoint_ns}|"):
            found.setdefault(entry.namespace, []).append(entry)
    ours = [branch for branch in found.values() if any(_is_ours(entry, claim) for entry in branch)]
    asked = [branch for branch in ours if all(_ids_in(branch, review, claim))]
    return own or (tuple(asked[0]) if len(asked) == 1 else ())


def _ids_in(branch: Sequence[HistoryEntry], review: Review, claim: Claim) -> list[str | None]:
    """Each call's id, matched with what stood in the branch as it asked where it was not known before."""
    ours = [at for at, entry in enumerate(branch) if _is_ours(entry, claim)]
    known = [action.tool_call_id for action in review.actions]
    waiting = branch[ours[-1] + 1 : ours[-1] + 2] if ours else ()
    if not waiting or all(known):
        return known
    found = tool_call_ids(waiting[0].messages, [(action.tool, action.args) for action in review.actions])
    return [one or matched for one, matched in zip(known, found, strict=True)]


def _with_branch(seen: Observation, review: Review, claim: Claim, branch: Sequence[HistoryEntry]) -> Observation:
    """What the branch's own checkpoints add: results, and whether ours came past the step that asks."""
    if not any(_is_ours(entry, claim) for entry in branch):
        return seen
    ids, newest = _ids_in(branch, review, claim), branch[0]
    told = call_results(newest.messages, ids, edited=newest.edited_tool_calls)
    results = tuple(known or within for known, within in zip(seen.results, told, strict=True))
    return replace(seen, results=results, wrote=True)


def _with_later_calls(
    seen: Observation, review: Review, claim: Claim, state: ThreadState, history: Sequence[HistoryEntry]
) -> Observation:
    """What a task that asks before it says what it called (`@task`) answered, once its messages stand in the thread.

    Only where a single message that our run brought makes just these calls: another call's result is worse than none.
    """
    ours = [at for at, entry in enumerate(history) if _is_ours(entry, claim)]
    waiting = history[ours[-1] + 1 : ours[-1] + 2] if ours else ()
    if not waiting or any(action.tool_call_id for action in review.actions):
        return seen
    calls = [(action.tool, action.args) for action in review.actions]
    before = call_ids_of(waiting[0].messages)
    found = [tool_call_ids([message], calls) for message in state.messages if not call_ids_of([message]) & before]
    matched = [ids for ids in found if all(ids)]
    if len(matched) != 1:
        return seen
    return replace(seen, results=call_results(state.messages, matched[0], edited=state.edited_tool_calls))


def _with_history(seen: Observation, claim: Claim, history: Sequence[HistoryEntry]) -> Observation:
    """Who went on from the checkpoint at which the interrupt waited."""
    ours = [entry for entry in history if _is_ours(entry, claim)]
    if not ours:
        wrote = False if history and _reaches_back(history, seen.ours) else seen.wrote
        return replace(seen, wrote=wrote)
    waited_at = ours[-1].parent_id
    foreign = {run.run_id for run in seen.foreign}
    beside = (entry.run_id for entry in history if entry.parent_id == waited_at and entry.run_id in foreign)
    theirs = tuple(dict.fromkeys(run_id for run_id in beside if run_id and waited_at))
    return replace(seen, wrote=True, mark_seen=True, beside=theirs)


def _is_ours(entry: HistoryEntry, claim: Claim) -> bool:
    return entry.dispatch == claim.dispatch_id or (claim.run_id is not None and entry.run_id == claim.run_id)


def _reaches_back(history: Sequence[HistoryEntry], ours: Sequence[RunRow]) -> bool:
    """Whether all that ours wrote would be in it: it is whole, or goes back to before ours began."""
    return len(history) < HISTORY_LIMIT or any(history[-1].at < run.created_at for run in ours)


def find_interrupt(review: Review, state: ThreadState | None) -> tuple[PendingInterrupt | None, bool]:
    """The review's interrupt as the state lists it, and whether it still says what it said, to one task alone."""
    listed = [one for one in state.pending if one.id == review.interrupt_id] if state else []
    same = [one for one in listed if _hash(one) == review.content_hash]
    return next(iter([*same, *listed]), None), bool(same) and len(listed) == 1 and not same[0].shared


def _hash(one: PendingInterrupt) -> str:
    """As `bot.runtimes.langgraph.interrupts` hashes it: with the response schema where there is one (per-call mode)."""
    per_call = (
        isinstance(one.value, dict) and one.value.get("type") == "tool_approval" and "action_requests" not in one.value
    )
    with_schema = per_call and one.response_schema is not None
    return content_hash([one.value, one.response_schema] if with_schema else one.value)


async def carried_along(review: Review, client: AgentClient, *, route: str) -> CarriedContext | None:
    """What the run that asked was started with, ready to be sent again; None where it cannot be had as it was.

    One read where there is any, none where there is not. Raises `AgentUnreachable` or `AgentRejected`.
    """
    if review.problem in set(RunContextLoss):
        return None
    if review.surroundings is None or review.asked_by is None:
        return NOTHING
    try:
        found = await client.surroundings(review.thread_id, review.asked_by)
        return found.carried(review.target.kind, route) if found.seal(review.salt) == review.surroundings else None
    except RunContextLost:
        return None


def results_of(review: Review, state: ThreadState | None) -> tuple[CallResult | None, ...]:
    """Each call's ToolMessage, as far as the state shows one."""
    ids = [action.tool_call_id for action in review.actions]
    if state is None:
        return (None,) * len(ids)
    return call_results(state.all_messages, ids, edited=state.edited_tool_calls)


def observe(review: Review, claim: Claim, look: ThreadSnapshot) -> Observation:
    """State, thread and runs."""
    base = observe_state(review, claim, look.state)
    status = look.thread.status if look.thread else None
    return replace(base, thread_status=status, runs=look.runs)


def observe_state(review: Review, claim: Claim, state: ThreadState | None) -> Observation:
    """The one read after an accepted run ended: enough to believe a result, not to conclude anything else."""
    one, same = find_interrupt(review, state)
    decided = [action.decision for action in review.actions]
    return Observation(
        dispatch=claim.dispatch_id,
        kind=review.target.kind,
        sent=tuple(decision.type if decision else DecisionType.REJECT for decision in decided),
        results=results_of(review, state),
        listed=one is not None,
        same_digest=same,
        task_error=one.task_error if one else None,
        thread_status=None,
        runs=(),
        sent_args=tuple(decision.final_args if decision else None for decision in decided),
        said=tuple(said_of(decision) for decision in decided),
        errors=state.errors if state else (),
        asks_only=one is not None and one.answer_refused,
        asks_again=one is not None and one.answered,
        mark_seen=state is not None and state.dispatch == claim.dispatch_id,
        accepted=claim.state == "accepted",
        run_id=claim.run_id,
        others_pending=state is not None and any(other.id != review.interrupt_id for other in state.pending),
        unfinished=state is not None and bool(state.next),
        asked_by=review.asked_by,
    )


log = structlog.get_logger("placet")


class Probe:
    """What was seen last, and how to see again."""

    def __init__(self, hold: HeldClaim, review: Review, client: AgentClient, *, every_ms: int) -> None:
        self._hold, self._review, self._client, self._every_ms = hold, review, client, every_ms
        self.last: ThreadSnapshot | None = None
        self.results: tuple[CallResult | None, ...] = ()
        self._alarmed: tuple[str, ...] = ()
        self.missing = False  # the last look did not list the interrupt as it was shown
        self._noted = review.missing_since is not None

    async def glance(self) -> Verdict | None:
        """One full look, judged; None when the server cannot be read now."""
        await self._hold.renew()
        try:
            seen = await see(self._hold.services.store, self._client, self._review, self._hold.claim)
        except AgentError as exc:
            self.last = None
            log.warning(
                "The agent server cannot be read.", action="agent_fault", review=self._review.id, fault=str(exc)
            )
            return None
        self.last, self.results, verdict = seen.look, seen.results, seen.verdict
        self.missing = is_missing(self._review, seen.look)
        if not self.missing:
            await self.note_listed()
        if verdict.alarms and self._alarmed != verdict.alarms:
            self._alarmed = verdict.alarms
            await self._hold.alarm(Alarm.of(verdict))
        return verdict

    async def quick(self) -> Verdict | None:
        """One read of the state: enough when every call has the result that we sent for, and for nothing else.

        Whether somebody else answered in the same moment does not show here; the thread is looked back at for that.
        """
        try:
            state = await self._client.state(self._review.thread_id)
        except AgentError:
            return None
        observed = observe_state(self._review, self._hold.claim, state)
        verdict = judge(observed)
        if verdict.kind is not VerdictKind.DONE:
            return None
        self.results = observed.results
        return verdict

    async def firm(self) -> Verdict | None:
        """A look whose verdict a second one bears out; None while they differ. Raises `AgentUnreachable`."""
        first = await self.glance()
        if first is None:
            raise AgentUnreachable("the agent server cannot be read")
        return await self.borne_out(first)

    async def borne_out(self, verdict: Verdict) -> Verdict | None:
        """The same verdict by a second look, where one look is not enough; None when they differ.

        A verdict that rests on what is missing waits until it is gone for good.
        """
        if not needs_second_look(verdict.kind):
            return verdict
        await self._hold.services.sleep(SECOND_LOOK[verdict.kind])
        again = await self.glance()
        if again is None or again.kind is not verdict.kind or self.last is None:
            return None
        if self.missing and (again.kind is VerdictKind.MOVED_ON or self.last.gone):
            store = self._hold.services.store
            self._noted = True
            if not await gone_for_good(store, self._client, self._review, self.last, every_ms=self._every_ms):
                return None
        return again

    async def note_listed(self) -> None:
        """The interrupt is listed: earlier looks that missed it count no more."""
        if self._noted:
            self._noted = False
            async with self._hold.services.store.begin() as tx:
                await reviews.note_listed(tx, self._review.id)

    @property
    def our_run(self) -> str | None:
        """The id of the run that carries our mark, as last seen."""
        runs = self.last.runs if self.last else ()
        return next((run.run_id for run in runs if run.dispatch == self._hold.claim.dispatch_id), None)
