"""One claimed review on its way out: re-check, look, arm, send, read back.

A review as it was sent: after its time was up, that is a rejection of everything.

What a closing verdict makes of a review, as data; and the outcomes that are stored with it.

The protocol was measured, not designed: agent servers have no idempotency key, so what matters is to know on which
side of the first byte each failure falls, never to send while anything of ours may still be under way, and to believe
only the thread's state. Each step ends in one stored transition; a crash anywhere leaves a row that another worker
can carry on from.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from types import MappingProxyType

import structlog

from bot.core.decision import UnsendableAnswer, rejections
from bot.core.model import Outcome, Review, ReviewState
from bot.dispatch.alarms import Alarm
from bot.dispatch.claim import DispatchServices, HeldClaim
from bot.errors import AgentError, AgentRejected, AgentUnreachable, OutcomeUnknown
from bot.policy.model import TenantPolicy
from bot.runtimes.langgraph.client import AgentClient, ThreadSnapshot
from bot.runtimes.langgraph.fence import FENCE, NEVER, fenced, put_up, resend_of, take_down
from bot.runtimes.langgraph.outcomes import CallResult
from bot.runtimes.langgraph.probe import Probe, carried_along, find_interrupt
from bot.runtimes.langgraph.resume import Resume, ResumeAccepted, commands_body, resume_body, send
from bot.runtimes.langgraph.run_context import CarriedContext
from bot.runtimes.langgraph.verdict import POSSIBLY_TWICE, RACED_ALARM, RAISED_ALARM, Verdict, VerdictKind
from bot.store.dispatches import Claim


def as_sent(review: Review, claim: Claim) -> Review:
    """The review with the answer that left us, whoever decided it."""
    if not claim.expiry:
        return review
    try:
        return rejections(review)
    except UnsendableAnswer:
        return review


# Of a review whose answer may have left us: its next state, and why.
ENDINGS = MappingProxyType(
    {
        VerdictKind.DONE: (ReviewState.RESUMED, ""),
        VerdictKind.UNOPPOSED: (ReviewState.RESUMED, ""),
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
)
# The same for a review of which nothing has left us in this attempt. Any other verdict says that an earlier one arrived.
UNSENT_ENDINGS = MappingProxyType(
    {
        VerdictKind.ELSEWHERE: (ReviewState.SUPERSEDED, "answered_elsewhere"),
        VerdictKind.POISONED: (ReviewState.BROKEN, "poisoned"),
        VerdictKind.MOVED_ON: (ReviewState.SUPERSEDED, "thread_moved_on"),
        VerdictKind.UNANSWERABLE: (ReviewState.BROKEN, "unanswerable"),
    }
)
# Verdicts that only time changes.
UNDER_WAY = frozenset({VerdictKind.WAIT, VerdictKind.RACED})


def outcomes_of(
    verdict: Verdict, results: Sequence[CallResult | None], *, expiry: bool
) -> dict[int, tuple[Outcome, str | None]]:
    """Each known outcome with the server's own words; a rejection that Placet sent for expiry is called that."""
    told: dict[int, tuple[Outcome, str | None]] = {}
    for position, outcome in enumerate(verdict.outcomes):
        if outcome is None:
            continue
        result = results[position] if position < len(results) else None
        named = Outcome.EXPIRED if expiry and outcome is Outcome.REJECTED else outcome
        told[position] = (named, result.text if result else None)
    return told


def why_of(verdict: Verdict, why: str) -> str:
    """The reason code to store: that it may have run twice, which was told when it was seen, goes before everything else."""
    return alarm_why(verdict) if POSSIBLY_TWICE in verdict.alarms else why


def alarm_why(verdict: Verdict) -> str:
    """What the card says of a call that may have run twice: with whom it raced, if it was not our own second copy."""
    return RACED_ALARM if verdict.raced_by else POSSIBLY_TWICE


log = structlog.get_logger("placet")

MOST_ATTEMPTS = 5
AFTER_ARMING_MS = 500
# A request that is armed within its lease is waited for no longer than this after it (`SendSettings`' limits, rounded up).
LINGERS_MS = 20_000
# What the server's no tells about itself; nothing of what it refused has run.
REFUSALS = MappingProxyType({401: "agent_forbids", 403: "agent_forbids", 404: "agent_gone"})
PAUSES_S = (0.25, 0.5, 1.0, 2.0, 5.0)


class Attempt:
    """Carries one claim from wherever it stands to a stored end."""

    def __init__(self, services: DispatchServices, claim: Claim, review: Review, tenant: TenantPolicy) -> None:
        self._services, self._review, self._tenant = services, review, tenant
        self._client: AgentClient = services.agents.client(review.target, tenant)
        self._hold = HeldClaim(services, claim, review.salt)
        self._sight = Probe(self._hold, review, self._client, every_ms=tenant.watch_every_ms)
        self._standing = 0  # how often the server refused to delete the last attempt's own assistant

    # -- nothing has left us

    async def start(self, answer: object) -> None:
        """From `claimed`: look, then send `answer`."""
        try:
            if not await self._fresh():
                return
            carried = await carried_along(self._review, self._client, route=self._review.target.route)
            if carried is None:
                await self._end_changed()
            else:
                await self._send(answer, carried)
        except AgentUnreachable as exc:
            await self._wait("agent_unreachable", 5_000, exc)
        except AgentRejected as exc:
            await self._wait("agent_refused", 5_000, exc)

    async def _fresh(self) -> bool:
        """Whether the interrupt waits as it was shown, and nothing of ours is under way.

        The first attempt needs one read: the key makes an answer to anything else a no-op.
        """
        if self._hold.claim.attempt == 0:
            state = await self._client.state(self._review.thread_id)
            one, same = find_interrupt(self._review, state)
            if one is not None and same and one.task_error is None:
                await self._sight.note_listed()
                return True
        verdict = await self._sight.firm()
        if verdict is None or verdict.kind in UNDER_WAY or verdict.kind is VerdictKind.STUCK:
            await self._hold.put_back("not_listed" if self._sight.missing else "thread_busy", 1_000)
            return False
        if verdict.kind is not VerdictKind.ABSENT:
            await self._end_unsent(verdict)
            return False
        if not await take_down(self._client, await self._hold.fence()):
            return True
        # It was refused, or called unknown, under an assistant that was still there: the look came too early for that.
        await self._hold.put_back("not_taken", 0)
        return False

    async def _end_unsent(self, verdict: Verdict) -> None:
        """The thread moved on, or an earlier attempt did arrive after all: then we only find out what became of it."""
        if verdict.kind in UNSENT_ENDINGS:
            theirs = outcomes_of(verdict, self._sight.results, expiry=False)
            await self._hold.end_unsent(*UNSENT_ENDINGS[verdict.kind], theirs)
            return
        await self._hold.arm(b"")
        await self.settle()

    async def _end_changed(self) -> None:
        """What the run was started with is gone or another: people approved something else. What still waits is asked anew."""
        await self._hold.end_unsent(ReviewState.SUPERSEDED, "surroundings_changed", {})
        self._services.hint(self._review.tenant, self._review.target.identity, self._review.thread_id)

    async def _wait(self, why: str, delay_ms: int, fault: AgentError) -> None:
        tenant = self._tenant.name
        log.warning("The agent server could not be asked.", action="agent_fault", tenant=tenant, fault=str(fault))
        await self._hold.put_back(why, delay_ms)

    # -- sending

    async def _send(self, answer: object, carried: CarriedContext) -> None:
        review, fence = self._review, await self._fence()
        body = self._body(answer, fence or review.target.assistant, carried, since=await self._hold.since())
        resume = Resume(review.thread_id, body, review.target.route, command_id=self._hold.claim.attempt + 1)
        server, send_settings = self._client.server, self._services.agents.send_settings
        try:
            async with send(
                server, resume, arm=lambda: self._hold.arm(body, fence=fence), send_settings=send_settings
            ) as accepted:
                await self._hold.accept(accepted.run_id)
                await self._until_end(accepted)
        except AgentUnreachable as exc:
            await self._not_sent(exc)
        except AgentRejected as exc:
            await self._refused(exc)
        except OutcomeUnknown as exc:
            log.warning("The answer's outcome is not known yet.", action="ambiguous", review=review.id, fault=str(exc))
            await self.settle()
        else:
            await self.follow()

    async def _fence(self) -> str | None:
        """The assistant made for this attempt alone, where the policy asks for one."""
        if not fenced(self._review, self._tenant):
            return None
        return await put_up(self._client, self._hold.claim, self._review.target.assistant)

    def _body(self, answer: object, assistant: str, carried: CarriedContext, *, since: int) -> bytes:
        review, claim = self._review, self._hold.claim
        make = commands_body if review.target.route == "commands" else resume_body
        return make(
            assistant=assistant,
            interrupt_id=review.interrupt_id,
            answer_tree=answer,
            dispatch_id=claim.dispatch_id,
            attempt=claim.attempt + 1,
            kind=review.target.kind,
            since=since,
            not_after=claim.lease_until + LINGERS_MS,
            carried=carried,
        )

    async def _until_end(self, accepted: ResumeAccepted) -> None:
        """Wait for the run's end; being cut off changes nothing but how soon we look."""
        ended = asyncio.ensure_future(accepted.until_end())
        try:
            while not (await asyncio.wait({ended}, timeout=self._services.lease_ms / 3000))[0]:
                await self._hold.renew()
                if self._hold.overlong:
                    return
            await ended
        except AgentError as exc:
            log.info("The run's stream was cut off.", action="stream_cut", review=self._review.id, fault=str(exc))
        finally:
            ended.cancel()

    async def _not_sent(self, fault: AgentError) -> None:
        """Not a byte left: tried again for as long as it takes, ever less often, and never called unknown."""
        if self._hold.claim.state == "armed":
            log.warning("An attempt did not leave.", action="not_sent", review=self._review.id, fault=str(fault))
            await self._hold.bury()
            await self._hold.again("agent_unreachable", 1_000 << min(self._hold.claim.attempt - 1, 4))
        else:
            await self._wait("agent_unreachable", 5_000, fault)

    async def _refused(self, fault: AgentRejected) -> None:
        """The server said no, so nothing ran: it waits, ever longer, for what a person must mend first.

        A 409 proves less: where an earlier attempt got lost, it may say that a copy of that was let through.
        """
        log.warning("An attempt was refused.", action="not_taken", review=self._review.id, fault=str(fault))
        tally = await self._hold.refused(dead=fault.status != 409)
        if fault.status == 409 and tally.lost and self._hold.claim.attempt >= MOST_ATTEMPTS:
            await self._hold.close(ReviewState.UNKNOWN, "too_many_attempts", {})
            return
        first = 1_000 if fault.status == 409 else 4_000
        await self._hold.again(REFUSALS.get(fault.status, "agent_refused"), min(first << tally.refused - 1, 60_000))

    async def _not_taken(self) -> None:
        """This attempt got lost on its way, and nobody refused it; so many of them are a riddle for an operator."""
        if (await self._hold.tally()).lost >= MOST_ATTEMPTS:
            await self._hold.close(ReviewState.UNKNOWN, "too_many_attempts", {})
            return
        await self._hold.again("not_taken", int(self._services.jitter() * 100))

    # -- it may have left us

    async def settle(self) -> None:
        """From `armed`: find out what became of the request; never send."""
        rounds = 0
        while True:
            verdict = await self._sight.glance()
            if verdict is None or verdict.kind in UNDER_WAY:
                await self._pause(rounds)
            elif verdict.kind is VerdictKind.TAKEN:
                await self._hold.accept(self._sight.our_run)
                log.info("The lost answer was accepted.", action="adopted", review=self._review.id, why=verdict.why)
                await self.follow()
                return
            elif verdict.kind is VerdictKind.ABSENT:
                if await self._absent():
                    return
            elif await self._concluded(verdict):
                return
            rounds += 1

    async def _absent(self) -> bool:
        """One look found no trace. Two of them, settled apart and nothing slow between, prove that it was not taken."""
        now = await self._services.store.now()
        claim, look = self._hold.claim, self._sight.last
        early = claim.armed_at is None or now - _spent_ms(look) < claim.armed_at + AFTER_ARMING_MS
        if look is None or early or not look.quick:
            if claim.alive_at is not None:
                await self._hold.start_settling()
            await self._services.sleep(0.25)
            return False
        if claim.alive_at is None:
            await self._hold.start_settling()
            return False
        return await self._settled(now, claim.alive_at)

    async def _settled(self, now: int, alive_at: int) -> bool:
        left = alive_at + self._tenant.settle_for_ms - now
        if left > 0:
            await self._hold.renew()
            await self._services.sleep(min(left / 1000, self._services.lease_ms / 3000))
            return False
        resend, fence = resend_of(self._review, self._tenant), await self._hold.fence()
        open_ended = resend == FENCE and fence is None  # sent before the policy asked for one
        if resend == NEVER or open_ended or self._standing >= MOST_ATTEMPTS:
            await self._hold.close(ReviewState.UNKNOWN, "not_resent", {})
            return True
        if fence is not None and not await self._closed_off(fence):
            return False
        await self._not_taken()
        return True

    async def _closed_off(self, fence: str) -> bool:
        """Whether the attempt's own assistant is gone, and the thread shows no trace of the attempt since."""
        await self._hold.renew()  # whoever took over may have found it used
        try:
            await take_down(self._client, fence)
        except AgentError as exc:
            review = self._review.id
            log.warning("An attempt's assistant is still there.", action="fence", review=review, fault=str(exc))
            self._standing += isinstance(exc, AgentRejected)
            await self._pause(self._standing)
            return False
        verdict = await self._sight.glance()
        return verdict is not None and verdict.kind is VerdictKind.ABSENT

    # -- the server took it

    async def follow(self) -> None:
        """From `accepted`: never send again, whatever is seen; find the outcome."""
        # After a re-send only the list of runs tells whether both copies arrived.
        quick = await self._sight.quick() if self._hold.claim.attempt <= 1 else None
        if quick is not None:
            await self._conclude(quick)
            return
        rounds = 0
        while True:
            verdict = await self._sight.glance()
            if verdict is not None and verdict.kind in ENDINGS:
                if await self._concluded(verdict):
                    return
            elif self._hold.overlong:
                await self._hold.close(ReviewState.UNKNOWN, "still_running", {})
                return
            else:
                await self._pause(rounds)
            rounds += 1

    # -- the end

    async def _concluded(self, verdict: Verdict) -> bool:
        """Store a closing verdict, if a second look agrees."""
        firm = await self._sight.borne_out(verdict)
        if firm is None:
            if self._sight.missing:
                await self._pause(2)
            return False
        await self._conclude(firm)
        return True

    async def _conclude(self, verdict: Verdict) -> None:
        state, why = ENDINGS[verdict.kind]
        if verdict.kind is VerdictKind.RAISED:
            await self._hold.alarm(Alarm(RAISED_ALARM))
        outcomes = outcomes_of(verdict, self._sight.results, expiry=self._hold.claim.expiry)
        await self._hold.close(state, why_of(verdict, why), outcomes)

    async def _pause(self, rounds: int) -> None:
        await self._services.sleep(PAUSES_S[min(rounds, len(PAUSES_S) - 1)])


def _spent_ms(look: ThreadSnapshot | None) -> int:
    """How long the look may have taken: what counts is when it began."""
    return 0 if look is None else int(look.slowest * 3_000) + 1
