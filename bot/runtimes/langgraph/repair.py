"""What an operator may have done on an agent server: repair an interrupt, stop a run.

Repairing a poisoned interrupt: the thread is forked where it stands, and asks anew under a new id. A fork runs the
node at the checkpoint again. That is provably without effect in one place only: at LangChain's review node, with one
interrupt pending and nothing answered. Anywhere else it could repeat a tool, so it is refused and said why. What the
fork asks gets a fresh review by the next reading; nothing is decided here.

Stopping a run that does not end, on an operator's word. Only a run of our own is stopped: what somebody else's does
is not ours to break off. What it had begun stays unknown, so the review stays where it is; the operator looks at the
target system and settles it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bot.core.model import Review, ReviewState
from bot.core.states import Operation, operations
from bot.dispatch.recheck import moved
from bot.errors import AgentRejected, AgentUnreachable, OutcomeUnknown
from bot.policy.model import TenantPolicy
from bot.runtimes.langgraph.client import AgentClient, Agents, ThreadSnapshot
from bot.runtimes.langgraph.probe import carried_along, results_of
from bot.runtimes.langgraph.run_context import CarriedContext
from bot.runtimes.langgraph.wire import REVIEW_NODE
from bot.store import decisions, dispatches
from bot.store.audit import events
from bot.store.dispatches import Claim
from bot.store.engine import Store

CHANGED = (
    "what the run was started with (its context) cannot be read any more as it was, so a fork would run without it"
)


@dataclass(frozen=True, slots=True)
class OperatorReply:
    """How a request went, in one sentence for the operator."""

    ok: bool
    text: str


def unsafe(review: Review, look: ThreadSnapshot) -> str | None:
    """Why this thread must not be forked, or None where no effect can have happened since its checkpoint."""
    if look.state is None or look.thread is None:
        return "the agent server no longer has the thread"
    if look.thread.status == "busy" or any(run.active for run in look.runs):
        return "the thread is busy: whatever runs there must come to its end first"
    pending, following = look.state.pending, look.state.next
    if len(pending) != 1:
        return f"{len(pending)} questions are pending: a fork would propose calls again that may have run already"
    if pending[0].id != review.interrupt_id:
        return "the thread waits for something else by now"
    if following != (REVIEW_NODE,):
        stands = ", ".join(ascii(name)[1:-1][:60] for name in following) or "nowhere"
        return f"the thread does not stand at the review step (it stands at {stands}): a fork could run a tool again"
    if any(result is not None for result in results_of(review, look.state)):
        return "a call of it has a result already: a fork would propose it again"
    return None if look.state.checkpoint_id else "the agent server names no checkpoint to fork at"


@dataclass(frozen=True, slots=True)
class Repairer:
    """Forks threads on an operator's word. `hint` has a thread read soon."""

    store: Store
    agents: Agents
    hint: Callable[[str, str, str], None]

    async def repair(self, review: Review, tenant: TenantPolicy | None, *, actor: str) -> OperatorReply:
        """Fork the review's thread if that is safe. Raises `AgentUnreachable` and other agent errors of reading."""
        if review.state is not ReviewState.BROKEN:
            return OperatorReply(False, f"{review.id} is {review.state.value}, not broken: there is nothing to repair.")
        if tenant is None or moved(review, tenant):
            return OperatorReply(
                False, f"The policy no longer leads to {review.target.url} as {review.target.identity}."
            )
        client = self.agents.client(review.target, tenant)
        look = await client.look(review.thread_id)
        why = unsafe(review, look)
        if why is not None or look.state is None or look.state.checkpoint_id is None:
            return OperatorReply(False, f"Not repaired, because {why}.")
        # A fork runs the review step alone, and what it asks is sent with what the fork's own row says.
        carried = await carried_along(review, client, route="runs")
        if carried is None:
            return OperatorReply(False, f"Not repaired, because {CHANGED}.")
        if not await self._first(review, look.state.checkpoint_id, actor=actor):
            return OperatorReply(
                False, "Not repaired, because it was asked for already: look at the thread's next review."
            )
        return await self._fork(client, review, look.state.checkpoint_id, carried, actor=actor)

    async def _first(self, review: Review, checkpoint: str, *, actor: str) -> bool:
        """One fork for each checkpoint, whoever asks and however often; recorded before anything leaves us."""
        async with self.store.begin() as tx:
            first = await decisions.remember_answer(tx, f"repair:{review.id}:{checkpoint}", actor)
            if first:
                content = {"thread": review.thread_id, "checkpoint": checkpoint}
                await events.record(
                    tx, tenant=review.tenant, kind="repair.asked", review_id=review.id, actor=actor, content=content
                )
        return first

    async def _fork(
        self, client: AgentClient, review: Review, checkpoint: str, carried: CarriedContext, *, actor: str
    ) -> OperatorReply:
        run = None
        try:
            run = await client.fork(review.thread_id, checkpoint, review.target.assistant, carried)
            told = OperatorReply(True, f"Forked by run {run}: a fresh review opens as soon as the agent asks again.")
        except AgentUnreachable as exc:
            told = OperatorReply(False, f"Not repaired: {exc}.")
        except AgentRejected as exc:
            told = OperatorReply(False, f"The agent server refused to fork: {exc}.")
        except OutcomeUnknown as exc:
            told = OperatorReply(
                False, f"Whether the agent server forked is not known ({exc}). Look at its next review."
            )
        async with self.store.begin() as tx:
            content = {"thread": review.thread_id, "run": run, "forked": told.ok}
            await events.record(
                tx, tenant=review.tenant, kind="repair.done", review_id=review.id, actor=actor, content=content
            )
        self.hint(review.tenant, review.target.identity, review.thread_id)
        return told


NOT_KNOWN = "What it had done by then is not known: look at the target system, then settle the review."


@dataclass(frozen=True, slots=True)
class Canceller:
    """Stops runs."""

    store: Store
    agents: Agents

    async def cancel(self, review: Review, tenant: TenantPolicy | None, *, actor: str) -> OperatorReply:
        """Stop the review's run, if there is one of ours. Raises agent errors of reading."""
        if Operation.CANCEL not in operations(review):
            return OperatorReply(False, f"{review.id} is {review.state.value}, not stuck: there is no run to stop.")
        if tenant is None or moved(review, tenant):
            return OperatorReply(
                False, f"The policy no longer leads to {review.target.url} as {review.target.identity}."
            )
        async with self.store.read() as tx:
            claim = await dispatches.load_claim(tx, review.id)
        client = self.agents.client(review.target, tenant)
        run = None if claim is None else _ours(claim, await client.look(review.thread_id))
        if run is None:
            return OperatorReply(
                False, "Nothing was stopped: no run of ours is active there, or it is somebody else's."
            )
        return await self._stop(client, review, run, actor=actor)

    async def _stop(self, client: AgentClient, review: Review, run: str, *, actor: str) -> OperatorReply:
        await self._record(review, "cancel.asked", run, actor=actor)
        try:
            await client.cancel(review.thread_id, run)
            told = OperatorReply(True, f"Run {run} was stopped. {NOT_KNOWN}")
        except AgentUnreachable as exc:
            told = OperatorReply(False, f"Not stopped: {exc}.")
        except AgentRejected as exc:
            told = OperatorReply(False, f"The agent server refused to stop run {run}: {exc}.")
        except OutcomeUnknown as exc:
            told = OperatorReply(False, f"Whether run {run} was stopped is not known ({exc}). {NOT_KNOWN}")
        await self._record(review, "cancel.done", run, actor=actor, stopped=told.ok)
        return told

    async def _record(self, review: Review, kind: str, run: str, *, actor: str, **more: bool) -> None:
        async with self.store.begin() as tx:
            content = {"thread": review.thread_id, "run": run, **more}
            await events.record(tx, tenant=review.tenant, kind=kind, review_id=review.id, actor=actor, content=content)


def _ours(claim: Claim, look: ThreadSnapshot) -> str | None:
    """Our run that is active; or, on a thread that is busy without any, the one that the server named to us."""
    active = [run for run in look.runs if run.active]
    mine = [run.run_id for run in active if run.dispatch == claim.dispatch_id or run.run_id == claim.run_id]
    if mine or active:
        return next(iter(mine), None)
    busy = look.thread is not None and look.thread.status == "busy"
    return claim.run_id if busy else None
