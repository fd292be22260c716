"""One claimed review on its way out: re-check, look, arm, send, read back.

The protocol was measured, not designed at a desk: agent servers have no idempotency key, so what matters is to know on
which side of the first byte each failure falls, never to send while anything of ours may still be under way, and to
believe only the thread's state. Each step ends in one stored transition; a crash anywhere leaves a row that another
worker can carry on from. This module must not decide who may decide.
"""

from __future__ import annotations

import asyncio
import hashlib
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import structlog

from bot.agent.client import AgentClient, Look
from bot.agent.pool import Agents
from bot.agent.resume import Accepted, Resume, commands_body, resume_body, send
from bot.core.judge import SECOND_LOOK, Verdict, VerdictKind, judge, needs_second_look
from bot.core.model import Outcome, Review, ReviewState
from bot.core.policy import TenantPolicy, tool_settings
from bot.errors import AgentError, AgentRejected, AgentUnreachable, OutcomeUnknown
from bot.metrics import ALARMS, DISPATCHES
from bot.store import dispatches
from bot.store.dispatches import Claim
from bot.store.engine import Store
from bot.work.looking import find_interrupt, observe, observe_state, results_of

log = structlog.get_logger("placet")

MOST_ATTEMPTS = 5
AFTER_ARMING_MS = 500
PAUSES_S = (0.25, 0.5, 1.0, 2.0, 5.0)

# What each closing verdict makes of a review whose answer may have left us, and why.
ENDINGS: dict[VerdictKind, tuple[ReviewState, str]] = {
    VerdictKind.DONE: (ReviewState.RESUMED, ""),
    VerdictKind.TAKEN_NO_RESULT: (ReviewState.RESUMED, ""),
    VerdictKind.LOST_RACE: (ReviewState.SUPERSEDED, "answered_elsewhere"),
    VerdictKind.ELSEWHERE: (ReviewState.SUPERSEDED, "answered_elsewhere"),
    VerdictKind.POISONED: (ReviewState.BROKEN, "poisoned"),
    VerdictKind.RAISED: (ReviewState.RESUMED, "raised"),
    VerdictKind.CUT_OFF: (ReviewState.UNKNOWN, "cut_off"),
    VerdictKind.STUCK: (ReviewState.UNKNOWN, "stuck"),
    VerdictKind.MOVED_ON: (ReviewState.SUPERSEDED, "thread_moved_on"),
    VerdictKind.UNANSWERABLE: (ReviewState.UNKNOWN, "unanswerable"),
}
# The same for a review of which nothing has left us in this attempt.
UNSENT_ENDINGS: dict[VerdictKind, tuple[ReviewState, str]] = {
    VerdictKind.ELSEWHERE: (ReviewState.SUPERSEDED, "answered_elsewhere"),
    VerdictKind.POISONED: (ReviewState.BROKEN, "poisoned"),
    VerdictKind.MOVED_ON: (ReviewState.SUPERSEDED, "thread_moved_on"),
    VerdictKind.UNANSWERABLE: (ReviewState.BROKEN, "unanswerable"),
}


class LeaseLost(Exception):
    """Another worker holds this dispatch now."""


@dataclass(frozen=True, slots=True)
class Bench:
    """What every attempt works with. `sleep` is injected so that tests need not wait."""

    store: Store
    agents: Agents
    lease_ms: int = 15_000
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    jitter: Callable[[], float] = random.random


class Attempt:
    """Carries one claim from wherever it stands to a stored end."""

    def __init__(self, bench: Bench, claim: Claim, review: Review, tenant: TenantPolicy) -> None:
        self._bench, self._claim, self._review, self._tenant = bench, claim, review, tenant
        self._client: AgentClient = bench.agents.client(review.target, tenant)

    # -- nothing has left us

    async def start(self, answer: object) -> None:
        """From `claimed`: look, then send `answer`."""
        try:
            if await self._fresh():
                await self._send(answer)
        except AgentUnreachable as exc:
            await self._wait("agent_unreachable", 5_000, exc)
        except AgentRejected as exc:
            await self._wait("agent_refused", 5_000, exc)

    async def _fresh(self) -> bool:
        """Whether the interrupt waits as it was shown, and nothing of ours is under way.

        The first attempt needs one read: the key makes an answer to anything else a no-op.
        """
        if self._claim.attempt == 0:
            state = await self._client.state(self._review.thread_id)
            one, same = find_interrupt(self._review, state)
            if one is not None and same and one.task_error is None:
                return True
        verdict = await self._firm()
        if verdict is None or verdict.kind in (VerdictKind.WAIT, VerdictKind.RACED, VerdictKind.STUCK):
            await self._wait("thread_busy", 1_000)
            return False
        if verdict.kind is VerdictKind.ABSENT:
            return True
        await self._end_unsent(verdict)
        return False

    async def _end_unsent(self, verdict: Verdict) -> None:
        """An earlier attempt did arrive after all, or the thread moved on."""
        if verdict.kind in UNSENT_ENDINGS:
            state, why = UNSENT_ENDINGS[verdict.kind]
            async with self._bench.store.begin() as tx:
                await dispatches.release(tx, self._claim, to=state, why=why)
            DISPATCHES.labels(result=why).inc()
            return
        await self._arm(b"")
        await self.settle()

    async def _wait(self, why: str, delay_ms: int, fault: AgentError | None = None) -> None:
        if fault is not None:
            log.warning(
                "The agent server could not be asked.", action="agent_fault", tenant=self._tenant.name, fault=str(fault)
            )
        back = ReviewState.EXPIRED if self._claim.expiry else ReviewState.DECIDED
        async with self._bench.store.begin() as tx:
            await dispatches.release(tx, self._claim, to=back, why=why, retry_at=tx.now + delay_ms)

    # -- sending

    async def _send(self, answer: object) -> None:
        claim, review = self._claim, self._review
        body = self._body(answer)
        resume = Resume(review.thread_id, body, review.target.route, command_id=claim.attempt + 1)
        server, doorway = self._client.server, self._bench.agents.doorway
        try:
            async with send(server, resume, arm=lambda: self._arm(body), doorway=doorway) as accepted:
                await self._accept(accepted)
                await self._until_end(accepted)
        except AgentUnreachable as exc:
            await self._not_sent(exc)
            return
        except AgentRejected as exc:
            await self._not_taken("agent_refused", 1_000, exc)
            return
        except OutcomeUnknown as exc:
            log.warning("The answer's outcome is not known yet.", action="ambiguous", review=review.id, fault=str(exc))
            await self.settle()
            return
        await self.follow()

    def _body(self, answer: object) -> bytes:
        review, claim = self._review, self._claim
        make = commands_body if review.target.route == "commands" else resume_body
        return make(
            assistant=review.target.assistant,
            interrupt_id=review.interrupt_id,
            answer_tree=answer,
            dispatch_id=claim.dispatch_id,
            attempt=claim.attempt + 1,
            kind=review.target.kind,
        )

    async def _arm(self, body: bytes) -> None:
        """Store that the first byte may leave: after this commit nobody believes "not sent" without proof."""
        async with self._bench.store.begin() as tx:
            self._held(await dispatches.arm(tx, self._claim, body_hash=hashlib.sha256(body).hexdigest()))

    def _held(self, claim: Claim | None) -> None:
        if claim is None:
            raise LeaseLost
        self._claim = claim

    async def _accept(self, accepted: Accepted) -> None:
        async with self._bench.store.begin() as tx:
            self._held(await dispatches.accept(tx, self._claim, run_id=accepted.run_id))

    async def _until_end(self, accepted: Accepted) -> None:
        """Wait for the run's end; being cut off changes nothing but how soon we look."""
        ended = asyncio.ensure_future(accepted.until_end())
        try:
            while not (await asyncio.wait({ended}, timeout=self._bench.lease_ms / 3000))[0]:
                await self._renew()
            await ended
        except AgentError as exc:
            log.info("The run's stream was cut off.", action="stream_cut", review=self._review.id, fault=str(exc))
        finally:
            ended.cancel()

    async def _not_sent(self, fault: AgentError) -> None:
        if self._claim.state == "armed":
            await self._not_taken("agent_unreachable", 1_000, fault)
        else:
            await self._wait("agent_unreachable", 5_000, fault)

    async def _not_taken(self, why: str, delay_ms: int, fault: AgentError | None = None) -> None:
        """This attempt is dead for certain; the next one looks before anything else."""
        if self._claim.attempt >= MOST_ATTEMPTS:
            await self._close(ReviewState.UNKNOWN, "too_many_attempts", {})
            return
        if fault is not None:
            log.warning("An attempt did not arrive.", action="not_taken", review=self._review.id, fault=str(fault))
        async with self._bench.store.begin() as tx:
            await dispatches.not_taken(tx, self._claim, why=why, retry_at=tx.now + delay_ms)

    # -- it may have left us

    async def settle(self) -> None:
        """From `armed`: find out what became of the request; never send."""
        rounds = 0
        while True:
            verdict = await self._glance()
            if verdict is None or verdict.kind in (VerdictKind.WAIT, VerdictKind.RACED):
                await self._pause(rounds)
            elif verdict.kind is VerdictKind.TAKEN:
                await self._adopt(verdict)
                await self.follow()
                return
            elif verdict.kind is VerdictKind.ABSENT:
                if await self._absent():
                    return
            elif await self._concluded(verdict):
                return
            rounds += 1

    async def _adopt(self, verdict: Verdict) -> None:
        """Our run is active, so the server accepted it."""
        look = self._last
        run = next((run for run in look.runs if run.dispatch == self._claim.dispatch_id), None) if look else None
        async with self._bench.store.begin() as tx:
            self._held(await dispatches.accept(tx, self._claim, run_id=run.run_id if run else None))
        log.info("The lost answer was accepted.", action="adopted", review=self._review.id, why=verdict.why)

    async def _absent(self) -> bool:
        """One look found no trace. Two of them, settled apart and nothing slow between, prove that it was not taken."""
        async with self._bench.store.read() as tx:
            now = tx.now
        claim, look = self._claim, self._last
        early = claim.armed_at is None or now - self._spent_ms(look) < claim.armed_at + AFTER_ARMING_MS
        if look is None or early or not look.quick:
            if claim.alive_at is not None:
                await self._restart_settling()
            await self._bench.sleep(0.25)
            return False
        if claim.alive_at is None:
            await self._restart_settling()
            return False
        return await self._settled(now, claim.alive_at)

    @staticmethod
    def _spent_ms(look: Look | None) -> int:
        return 0 if look is None else int(look.slowest * 3_000) + 1

    async def _restart_settling(self) -> None:
        async with self._bench.store.begin() as tx:
            self._held(await dispatches.set_alive(tx, self._claim))

    async def _settled(self, now: int, alive_at: int) -> bool:
        left = alive_at + self._tenant.settle_for_ms - now
        if left > 0:
            await self._renew()
            await self._bench.sleep(min(left / 1000, self._bench.lease_ms / 3000))
            return False
        if self._never_resent():
            await self._close(ReviewState.UNKNOWN, "not_resent", {})
        else:
            await self._not_taken("not_taken", int(self._bench.jitter() * 100))
        return True

    def _never_resent(self) -> bool:
        return any(tool_settings(self._tenant, action.tool).resend == "never" for action in self._review.actions)

    # -- the server took it

    async def follow(self) -> None:
        """From `accepted`: never send again, whatever is seen; find the outcome."""
        if self._claim.attempt <= 1 and await self._quick_result():
            return
        rounds = 0
        while True:
            verdict = await self._glance()
            waits = verdict is None or verdict.kind in (
                VerdictKind.TAKEN,
                VerdictKind.WAIT,
                VerdictKind.RACED,
                VerdictKind.ABSENT,
            )
            if waits or verdict is None:
                await self._pause(rounds)
            elif await self._concluded(verdict):
                return
            rounds += 1

    async def _quick_result(self) -> bool:
        """One read of the state: enough when every call has the result that we sent for."""
        try:
            state = await self._client.state(self._review.thread_id)
        except AgentError:
            return False
        verdict = judge(observe_state(self._review, self._claim, state))
        if verdict.kind is not VerdictKind.DONE:
            return False
        self._results = results_of(self._review, state)
        await self._conclude(verdict)
        return True

    # -- looking

    _last: Look | None = None
    _results: tuple[object, ...] = ()

    async def _glance(self) -> Verdict | None:
        """One full look, judged; None when the server cannot be read now."""
        await self._renew()
        try:
            look = await self._client.look(self._review.thread_id)
            history = await self._client.history(self._review.thread_id) if self._needs_history(look) else ()
        except AgentError as exc:
            self._last = None
            log.warning(
                "The agent server cannot be read.", action="agent_fault", review=self._review.id, fault=str(exc)
            )
            return None
        self._last = look
        self._results = results_of(self._review, look.state)
        return judge(observe(self._review, self._claim, look, history))

    def _needs_history(self, look: Look) -> bool:
        """Runs carry the mark; history is read only where a result stands without any run of ours."""
        ours = any(run.dispatch == self._claim.dispatch_id for run in look.runs)
        return not ours and all(result is not None for result in results_of(self._review, look.state))

    async def _firm(self) -> Verdict | None:
        """A look whose verdict a second one bears out, where one is not enough."""
        first = await self._glance()
        if first is None:
            raise AgentUnreachable("the agent server cannot be read")
        if not needs_second_look(first.kind):
            return first
        await self._bench.sleep(SECOND_LOOK[first.kind])
        second = await self._glance()
        return second if second is not None and second.kind is first.kind else None

    async def _concluded(self, verdict: Verdict) -> bool:
        """Store a closing verdict, if a second look agrees."""
        if needs_second_look(verdict.kind):
            await self._bench.sleep(SECOND_LOOK[verdict.kind])
            again = await self._glance()
            if again is None or again.kind is not verdict.kind:
                return False
            verdict = again
        await self._conclude(verdict)
        return True

    async def _conclude(self, verdict: Verdict) -> None:
        state, why = ENDINGS[verdict.kind]
        outcomes = {
            position: (self._named(outcome), self._text(position))
            for position, outcome in enumerate(verdict.outcomes)
            if outcome is not None
        }
        if verdict.alarms:
            why = verdict.alarms[0]
            for alarm in verdict.alarms:
                ALARMS.labels(kind=alarm).inc()
            log.error(
                "The tool may have run twice.",
                action="possibly_twice",
                review=self._review.id,
                runs=list(verdict.raced_by),
            )
        await self._close(state, why, outcomes)

    def _named(self, outcome: Outcome) -> Outcome:
        return Outcome.EXPIRED if self._claim.expiry and outcome is Outcome.REJECTED else outcome

    def _text(self, position: int) -> str | None:
        result = self._results[position] if position < len(self._results) else None
        return getattr(result, "text", None)

    async def _close(self, state: ReviewState, why: str, outcomes: dict[int, tuple[Outcome, str | None]]) -> None:
        async with self._bench.store.begin() as tx:
            closed = await dispatches.close(tx, self._claim, to=state, why=why, outcomes=outcomes)
        if closed:
            DISPATCHES.labels(result=why or state.value).inc()

    async def _renew(self) -> None:
        async with self._bench.store.begin() as tx:
            self._held(await dispatches.renew(tx, self._claim, lease_ms=self._bench.lease_ms))

    async def _pause(self, rounds: int) -> None:
        await self._bench.sleep(PAUSES_S[min(rounds, len(PAUSES_S) - 1)])
