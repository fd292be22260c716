"""After a restore from a backup: nothing is dispatched until every unsettled review was compared with its thread.

A backup does not know what was decided, taken back or sent after it was made. So all tenants are paused by a row that
outlives this process, decisions that were not sent are asked for anew, every thread is read, and only when all of them
could be read the pause ends.
"""

from __future__ import annotations

from dataclasses import dataclass

from bot.core.model import Review, ReviewState
from bot.dispatch.recheck import moved
from bot.errors import AgentError
from bot.policy.model import TenantPolicy
from bot.runtimes.langgraph.repair import OperatorReply
from bot.runtimes.langgraph.watch import Watcher
from bot.store import messages, reviews, tenants
from bot.store.engine import Store
from bot.store.policies import InForce, Policies
from bot.store.settling import ask_anew

BY = "restore"  # whose pause it is: an operator's own is never ended here
UNSENT = (ReviewState.OPEN, ReviewState.DECIDED)


@dataclass(frozen=True, slots=True)
class Restorer:
    """Reads everything again, once."""

    store: Store
    policies: Policies
    watcher: Watcher

    async def run(self, *, actor: str) -> OperatorReply:
        """Hold everything, look at everything, and let go if that was possible. Safe to run again."""
        async with self.store.begin() as tx:
            await tenants.pause(tx, tenants.ALL, by=BY)
            in_force = await self.policies.in_force(tx)
        counted, unread = 0, dict[str, str]()
        for tenant in in_force.tenants():
            async with self.store.read() as tx:
                held = await reviews.live_reviews(tx, tenant=tenant.name)
            counted += len(held)
            await self._ask_anew(held, actor)
            unread.update(await self._read(tenant, held, in_force))
        if unread:
            thread, fault = next(iter(unread.items()))
            text = (
                f"{len(unread)} threads could not be read ({thread}: {fault}). Nothing is sent until this is run again."
            )
            return OperatorReply(False, text)
        return await self._let_go(counted, actor)

    async def _ask_anew(self, held: list[Review], actor: str) -> None:
        """Decisions that may have been taken back after the backup do not count, and every card is written anew.

        Also one that looks as it should: its buttons may name a showing that the backup does not know.
        """
        for review in held:
            async with self.store.begin() as tx:
                current = await reviews.load_review(tx, review.id, lock=True)
                if current is not None and current.state in UNSENT:
                    await ask_anew(tx, current, why="voided_restore", actor=actor)
                await messages.doubt_all(tx, review.id)

    async def _read(self, tenant: TenantPolicy, held: list[Review], in_force: InForce) -> dict[str, str]:
        """Each thread once; what could not be read, and why."""
        threads = {(one.target.identity, one.thread_id) for one in held if not moved(one, tenant)}
        unread: dict[str, str] = {}
        for identity, thread in sorted(threads):
            try:
                await self.watcher.read(tenant, identity, thread, version=in_force.version)
            except AgentError as exc:
                unread[thread] = str(exc)
        return unread

    async def _let_go(self, counted: int, actor: str) -> OperatorReply:
        async with self.store.begin() as tx:
            pause = (await tenants.paused(tx)).get(tenants.ALL)
            ours = pause is not None and pause.by == BY
            if ours:
                await tenants.resume(tx, tenants.ALL, by=actor)
        rest = "" if ours else " All tenants stay paused, as an operator wanted."
        return OperatorReply(True, f"{counted} unsettled reviews were looked at again.{rest}")
