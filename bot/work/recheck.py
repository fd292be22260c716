"""The last question before an answer leaves: does everything that the decision rested on still hold?

Three answers. *Holds*: send. *Refuted* by fresh data: void, with a notice. *Cannot tell*: wait, and say so; when the time
to decide passes meanwhile, the review expires. This module must not send anything.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from bot.authority import Standing, authority_for
from bot.core.decision import UnsendableAnswer, answer_tree, rejections
from bot.core.model import Action, Decision, Review, ReviewState, Who
from bot.core.policy import Person, TenantPolicy, tool_settings
from bot.core.policy_match import matches
from bot.policies import InForce
from bot.slack.people import CannotTell

WAIT_MS = 5_000

# (tenant, person, not older than) -> what Slack says now; raises `CannotTell`.
Confirm = Callable[[TenantPolicy, Who, int], Awaitable[Person]]


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


def moved(review: Review, tenant: TenantPolicy) -> bool:
    """Whether the policy now points somewhere else than the review's answer would go."""
    agent, target = tenant.agent, review.target
    same_place = (agent.url, agent.kind) == (target.url, target.kind)
    return not same_place or not any(matches(pattern, target.identity) for pattern in agent.users)


async def recheck(review: Review, in_force: InForce, confirm: Confirm, *, expired: bool, now: int) -> Rechecked:
    """Judge a claimed review against the policy in force and live facts.

    `expired`: the review came here because nobody decided in time, so Placet rejects every position.
    """
    tenant = in_force.tenant(review.tenant)
    if tenant is None or moved(review, tenant):
        return End(ReviewState.SUPERSEDED, "moved_server")
    if expired:
        return _expired(review, tenant)
    if review.decide_by is not None and now >= review.decide_by:
        return End(ReviewState.EXPIRED, "not_in_time")
    try:
        refuted = await _refuted(review, Standing(tenant, in_force.version, Person(None, "")), confirm)
    except CannotTell:
        return Wait("cannot_confirm")
    if refuted:
        return Void(refuted, "voided_authority")
    return _answer(review, tenant)


def _expired(review: Review, tenant: TenantPolicy) -> Rechecked:
    if any(tool_settings(tenant, action.tool).on_expiry == "hold" for action in review.actions):
        return End(ReviewState.HELD, "held_by_policy")
    try:
        rejected = rejections(review)
        return Holds(tenant, rejected, answer_tree(rejected))
    except UnsendableAnswer:
        return End(ReviewState.HELD, "not_rejectable")


def _answer(review: Review, tenant: TenantPolicy) -> Rechecked:
    try:
        return Holds(tenant, review, answer_tree(review))
    except UnsendableAnswer:
        return Void(tuple(action.position for action in review.actions), "voided_unsendable")


async def _refuted(review: Review, basis: Standing, confirm: Confirm) -> tuple[int, ...]:
    """Positions whose author may no longer take the decision that stands there."""
    refuted: list[int] = []
    for decision in _decisions(review.actions):
        person = await confirm(basis.tenant, decision.by, decision.at)
        if person.unconfirmed:
            raise CannotTell
        ask = authority_for(review, Standing(basis.tenant, basis.policy_version, person))
        action = review.actions[decision.position]
        if not ask(action, decision.type, decision.final_args).allowed:
            refuted.append(decision.position)
    return tuple(refuted)


def _decisions(actions: Sequence[Action]) -> list[Decision]:
    return [action.decision for action in actions if action.decision is not None]
