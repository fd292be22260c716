"""The last question before an answer leaves: does everything that the decision rested on still hold?

Three answers. *Holds*: send. *Refuted* by fresh data: void, with a notice. *Cannot tell*: wait, and say so; when the time
to decide passes meanwhile, the review expires. This module must not send anything.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from bot.access.context import FRESH_MS
from bot.access.person import SAME, TenantPerson, UnchangedRequester, authority_for
from bot.core.decision import UnsendableAnswer, answer_tree, rejections
from bot.core.model import Action, Decision, DecisionType, Outcome, PersonId, Review, ReviewState
from bot.core.quorum import RUNS_THE_TOOL, stand_behind
from bot.errors import AgentError
from bot.policy.matching import matches, tool_settings
from bot.policy.model import Person, TenantPolicy
from bot.runtimes.langgraph.interrupts import is_silent
from bot.slack.client.people import CannotTell
from bot.store.policies import InForce
from bot.store.reviews import UnsettledReview

ALLOWED_CHANGED = "allowed_changed"
WAIT_MS = 5_000
# Whoever settles what is unknown wakes what waits for that; this is for a policy that no longer asks to hold.
AFTER_UNKNOWN_MS = 60_000

# (tenant, person, not older than) -> what Slack says now; raises `CannotTell`.
Confirm = Callable[[TenantPolicy, PersonId, int], Awaitable[Person]]
# (review, tenant) -> whom the thread's metadata names now; raises `AgentError`.
AskRequester = Callable[[Review, TenantPolicy], Awaitable[str | None]]


@dataclass(frozen=True, slots=True)
class Sources:
    """Where live facts come from: Slack for people, the agent server for the requester."""

    confirm: Confirm
    requester: AskRequester


@dataclass(frozen=True, slots=True)
class Holds:
    """Send this answer."""

    tenant: TenantPolicy
    review: Review
    answer: object


@dataclass(frozen=True, slots=True)
class Void:
    """These decisions are refuted; the review opens again."""

    positions: tuple[int, ...]
    why: str


@dataclass(frozen=True, slots=True)
class Wait:
    """It cannot be told now."""

    why: str
    delay_ms: int = WAIT_MS


@dataclass(frozen=True, slots=True)
class End:
    """Nothing may be sent any more."""

    state: ReviewState
    why: str


Rechecked = Holds | Void | Wait | End


def moved(review: Review | UnsettledReview, tenant: TenantPolicy) -> bool:
    """Whether the policy now points somewhere else than the review's answer would go."""
    agent, target = tenant.agent, review.target
    same_place = (agent.url, agent.kind) == (target.url, target.kind)
    return not same_place or not any(matches(pattern, target.identity) for pattern in agent.users)


async def recheck(review: Review, in_force: InForce, sources: Sources, *, expired: bool, now: int) -> Rechecked:
    """Judge a claimed review against the policy in force and live facts.

    `expired`: the review came here because nobody decided in time, so Placet rejects every position.
    """
    tenant = in_force.tenant(review.tenant)
    if tenant is None or moved(review, tenant):
        return End(ReviewState.SUPERSEDED, "moved_server")
    if expired:
        return _expired(review, tenant)
    if any(
        action.decision and not _still_listed(review, action, action.decision.type, tenant) for action in review.actions
    ):
        return End(ReviewState.SUPERSEDED, ALLOWED_CHANGED)
    if review.decide_by is not None and now >= review.decide_by:
        return End(ReviewState.EXPIRED, "not_in_time")
    try:
        fresh = Sources(_since(now - FRESH_MS, sources.confirm), sources.requester)
        refuted = await _refuted(review, TenantPerson(tenant, in_force.version, Person(None, "")), fresh)
    except CannotTell:
        return Wait("cannot_confirm")
    except AgentError:
        return Wait("agent_unreachable")
    if refuted:
        return Void(refuted, "voided_authority")
    return _answer(review, tenant)


def held_back(review: Review, unknown: Sequence[Review], tenant: TenantPolicy) -> bool:
    """Whether the policy holds back what this review runs, until what became of another call is known.

    A tool that says `after_unknown: hold` holds its own calls, wherever they were asked, and everything on the thread
    where one of its calls has an unknown outcome. What runs nothing, a rejection or an answer, goes out.
    """
    running = {action.tool for action in review.actions if _runs(action)}
    return bool(running) and any(
        other.id != review.id
        and action.outcome in (None, Outcome.UNKNOWN)
        and _runs(action)
        and tool_settings(tenant, action.tool).after_unknown == "hold"
        and (action.tool in running or _same_thread(review, other))
        for other in unknown
        for action in other.actions
    )


def _same_thread(one: Review, other: Review) -> bool:
    return (one.target.url, one.thread_id) == (other.target.url, other.thread_id)


def _since(floor: int, confirm: Confirm) -> Confirm:
    """Younger than the decision is not enough where it waited for long: what is known must be fresh as well."""

    async def asked(tenant: TenantPolicy, who: PersonId, since: int) -> Person:
        return await confirm(tenant, who, max(since, floor))

    return asked


def _expired(review: Review, tenant: TenantPolicy) -> Rechecked:
    if any(tool_settings(tenant, action.tool).on_expiry == "hold" for action in review.actions):
        return End(ReviewState.HELD, "held_by_policy")
    if not all(_still_listed(review, action, DecisionType.REJECT, tenant) for action in review.actions):
        return End(ReviewState.HELD, "not_rejectable")
    try:
        rejected = rejections(review)
        return Holds(tenant, rejected, answer_tree(rejected))
    except UnsendableAnswer:
        return End(ReviewState.HELD, "not_rejectable")


def _still_listed(review: Review, action: Action, kind: DecisionType, tenant: TenantPolicy) -> bool:
    """Whether the policy in force still lists a decision, where it alone says what the call allows."""
    return not is_silent(review) or kind.value in (tool_settings(tenant, action.tool).decisions or ())


def _answer(review: Review, tenant: TenantPolicy) -> Rechecked:
    try:
        return Holds(tenant, review, answer_tree(review))
    except UnsendableAnswer:
        return Void(tuple(action.position for action in review.actions), "voided_unsendable")


async def _refuted(review: Review, basis: TenantPerson, sources: Sources) -> tuple[int, ...]:
    """Positions whose decision does not hold any more: too few people stand behind it, or one of them may not now."""
    refuted: list[int] = []
    requester = await _requester(review, basis.tenant, sources)
    for action in review.actions:
        # Counted anew: two keys may turn out to be one person.
        behind = [await _still_may(review, one, basis, sources, requester=requester) for one in stand_behind(action)]
        few = _runs(action) and len({*behind}) < tool_settings(basis.tenant, action.tool).approvals
        if few or None in behind:
            refuted.append(action.position)
    return tuple(refuted)


async def _still_may(
    review: Review, made: Decision, basis: TenantPerson, sources: Sources, *, requester: str | UnchangedRequester | None
) -> PersonId | None:
    """Who decided this, if they still may."""
    person = await sources.confirm(basis.tenant, made.by, made.at)
    if person.unconfirmed:
        raise CannotTell
    standing = replace(basis, person=person)
    ask = authority_for(review, standing, requester)
    return standing.who if ask(review.actions[made.position], made.type, made.final_args).allowed else None


def _runs(action: Action) -> bool:
    return action.decision is not None and action.decision.type in RUNS_THE_TOOL


async def _requester(review: Review, tenant: TenantPolicy, sources: Sources) -> str | UnchangedRequester | None:
    """Read again only where a tool's own rule about its requester decides something."""
    ruled = any(
        tool_settings(tenant, action.tool).requester_may is not None
        for action in review.actions
        if action.decision is not None and action.decision.type is not DecisionType.REJECT
    )
    return await sources.requester(review, tenant) if ruled else SAME
