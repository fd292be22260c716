"""Repairing a poisoned interrupt: the thread is forked where it stands, and asks anew under a new id.

A fork runs the node at the checkpoint again. That is provably without effect in one place only: at LangChain's review
node, with one interrupt pending and nothing answered. Anywhere else it could repeat a tool, so it is refused and said
why. What the fork asks gets a fresh review by the next reading; nothing is decided here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bot.agent.client import AgentClient, Look
from bot.agent.pending import REVIEW_NODE
from bot.agent.pool import Agents
from bot.agent.surroundings import Carried
from bot.core.model import Review, ReviewState
from bot.core.policy import TenantPolicy
from bot.errors import AgentRejected, AgentUnreachable, OutcomeUnknown
from bot.store import audit, decisions
from bot.store.engine import Store
from bot.work.looking import carried_along, results_of
from bot.work.recheck import moved

CHANGED = (
    "what the run was started with (its context) cannot be read any more as it was, so a fork would run without it"
)


@dataclass(frozen=True, slots=True)
class Told:
    """How a request went, in one sentence for the operator."""

    ok: bool
    text: str


def unsafe(review: Review, look: Look) -> str | None:
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

    async def repair(self, review: Review, tenant: TenantPolicy | None, *, actor: str) -> Told:
        """Fork the review's thread if that is safe. Raises `AgentUnreachable` and other agent errors of reading."""
        if review.state is not ReviewState.BROKEN:
            return Told(False, f"{review.id} is {review.state.value}, not broken: there is nothing to repair.")
        if tenant is None or moved(review, tenant):
            return Told(False, f"The policy no longer leads to {review.target.url} as {review.target.identity}.")
        client = self.agents.client(review.target, tenant)
        look = await client.look(review.thread_id)
        why = unsafe(review, look)
        if why is not None or look.state is None or look.state.checkpoint_id is None:
            return Told(False, f"Not repaired, because {why}.")
        # A fork runs the review step alone, and what it asks is sent with what the fork's own row says.
        carried = await carried_along(review, client, route="runs")
        if carried is None:
            return Told(False, f"Not repaired, because {CHANGED}.")
        if not await self._first(review, look.state.checkpoint_id, actor=actor):
            return Told(False, "Not repaired, because it was asked for already: look at the thread's next review.")
        return await self._fork(client, review, look.state.checkpoint_id, carried, actor=actor)

    async def _first(self, review: Review, checkpoint: str, *, actor: str) -> bool:
        """One fork for each checkpoint, whoever asks and however often; recorded before anything leaves us."""
        async with self.store.begin() as tx:
            first = await decisions.remember_answer(tx, f"repair:{review.id}:{checkpoint}", actor)
            if first:
                content = {"thread": review.thread_id, "checkpoint": checkpoint}
                await audit.record(
                    tx, tenant=review.tenant, kind="repair.asked", review_id=review.id, actor=actor, content=content
                )
        return first

    async def _fork(
        self, client: AgentClient, review: Review, checkpoint: str, carried: Carried, *, actor: str
    ) -> Told:
        run = None
        try:
            run = await client.fork(review.thread_id, checkpoint, review.target.assistant, carried)
            told = Told(True, f"Forked by run {run}: a fresh review opens as soon as the agent asks again.")
        except AgentUnreachable as exc:
            told = Told(False, f"Not repaired: {exc}.")
        except AgentRejected as exc:
            told = Told(False, f"The agent server refused to fork: {exc}.")
        except OutcomeUnknown as exc:
            told = Told(False, f"Whether the agent server forked is not known ({exc}). Look at its next review.")
        async with self.store.begin() as tx:
            content = {"thread": review.thread_id, "run": run, "forked": told.ok}
            await audit.record(
                tx, tenant=review.tenant, kind="repair.done", review_id=review.id, actor=actor, content=content
            )
        self.hint(review.tenant, review.target.identity, review.thread_id)
        return told
