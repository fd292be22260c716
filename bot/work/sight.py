"""Looking at a thread on behalf of one dispatch, once or until two looks agree.

State is read before the runs, so a run that ends in between shows itself half: every closing verdict but "done" must be
the same in a second look. This module must not send, nor store an end.
"""

from __future__ import annotations

import structlog

from bot.agent.client import AgentClient, Look
from bot.core.judge import SECOND_LOOK, Verdict, VerdictKind, judge, needs_second_look
from bot.core.model import Review
from bot.core.outcome import CallResult
from bot.errors import AgentError, AgentUnreachable
from bot.store import reviews
from bot.work.absent import gone_for_good, is_missing
from bot.work.alarms import Alarm
from bot.work.hold import Hold
from bot.work.looking import observe_state, see

log = structlog.get_logger("placet")


class Sight:
    """What was seen last, and how to see again."""

    def __init__(self, hold: Hold, review: Review, client: AgentClient, *, every_ms: int) -> None:
        self._hold, self._review, self._client, self._every_ms = hold, review, client, every_ms
        self.last: Look | None = None
        self.results: tuple[CallResult | None, ...] = ()
        self._alarmed: tuple[str, ...] = ()
        self.missing = False  # the last look did not list the interrupt as it was shown
        self._noted = review.missing_since is not None

    async def glance(self) -> Verdict | None:
        """One full look, judged; None when the server cannot be read now."""
        await self._hold.renew()
        try:
            seen = await see(self._hold.bench.store, self._client, self._review, self._hold.claim)
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
        await self._hold.bench.sleep(SECOND_LOOK[verdict.kind])
        again = await self.glance()
        if again is None or again.kind is not verdict.kind or self.last is None:
            return None
        if self.missing and (again.kind is VerdictKind.MOVED_ON or self.last.gone):
            store = self._hold.bench.store
            self._noted = True
            if not await gone_for_good(store, self._client, self._review, self.last, every_ms=self._every_ms):
                return None
        return again

    async def note_listed(self) -> None:
        """The interrupt is listed: earlier looks that missed it count no more."""
        if self._noted:
            self._noted = False
            async with self._hold.bench.store.begin() as tx:
                await reviews.note_listed(tx, self._review.id)

    @property
    def our_run(self) -> str | None:
        """The id of the run that carries our mark, as last seen."""
        runs = self.last.runs if self.last else ()
        return next((run.run_id for run in runs if run.dispatch == self._hold.claim.dispatch_id), None)
