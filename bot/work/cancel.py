"""Stopping a run that does not end, on an operator's word.

Only a run of our own is stopped: what somebody else's does is not ours to break off. What it had begun stays unknown, so
the review stays where it is; the operator looks at the target system and settles it. This module must not conclude
anything from a run that was stopped.
"""

from __future__ import annotations

from dataclasses import dataclass

from bot.agent.client import AgentClient, Look
from bot.agent.pool import Agents
from bot.core.model import Review
from bot.core.operate import Operation, operations
from bot.core.policy import TenantPolicy
from bot.errors import AgentRejected, AgentUnreachable, OutcomeUnknown
from bot.store import audit, dispatches
from bot.store.claims import Claim
from bot.store.engine import Store
from bot.work.recheck import moved
from bot.work.repair import Told

NOT_KNOWN = "What it had done by then is not known: look at the target system, then settle the review."


@dataclass(frozen=True, slots=True)
class Canceller:
    """Stops runs."""

    store: Store
    agents: Agents

    async def cancel(self, review: Review, tenant: TenantPolicy | None, *, actor: str) -> Told:
        """Stop the review's run, if there is one of ours. Raises agent errors of reading."""
        if Operation.CANCEL not in operations(review):
            return Told(False, f"{review.id} is {review.state.value}, not stuck: there is no run to stop.")
        if tenant is None or moved(review, tenant):
            return Told(False, f"The policy no longer leads to {review.target.url} as {review.target.identity}.")
        async with self.store.read() as tx:
            claim = await dispatches.load_claim(tx, review.id)
        client = self.agents.client(review.target, tenant)
        run = None if claim is None else _ours(claim, await client.look(review.thread_id))
        if run is None:
            return Told(False, "Nothing was stopped: no run of ours is active there, or it is somebody else's.")
        return await self._stop(client, review, run, actor=actor)

    async def _stop(self, client: AgentClient, review: Review, run: str, *, actor: str) -> Told:
        await self._record(review, "cancel.asked", run, actor=actor)
        try:
            await client.cancel(review.thread_id, run)
            told = Told(True, f"Run {run} was stopped. {NOT_KNOWN}")
        except AgentUnreachable as exc:
            told = Told(False, f"Not stopped: {exc}.")
        except AgentRejected as exc:
            told = Told(False, f"The agent server refused to stop run {run}: {exc}.")
        except OutcomeUnknown as exc:
            told = Told(False, f"Whether run {run} was stopped is not known ({exc}). {NOT_KNOWN}")
        await self._record(review, "cancel.done", run, actor=actor, stopped=told.ok)
        return told

    async def _record(self, review: Review, kind: str, run: str, *, actor: str, **more: bool) -> None:
        async with self.store.begin() as tx:
            content = {"thread": review.thread_id, "run": run, **more}
            await audit.record(tx, tenant=review.tenant, kind=kind, review_id=review.id, actor=actor, content=content)


def _ours(claim: Claim, look: Look) -> str | None:
    """Our run that is active; or, on a thread that is busy without any, the one that the server named to us."""
    active = [run for run in look.runs if run.active]
    mine = [run.run_id for run in active if run.dispatch == claim.dispatch_id or run.run_id == claim.run_id]
    if mine or active:
        return next(iter(mine), None)
    busy = look.thread is not None and look.thread.status == "busy"
    return claim.run_id if busy else None
