"""What awaits one person: every open call that they may decide, in the tenants of their workspace.

The command and the Home tab are drawn from this. Nothing here is a right: whoever presses is judged again. A workspace's
person never sees another workspace's tenant.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from blocks import words
from blocks.queue import ask_whom
from bot.authority import FRESH_MS, Standing, known_person
from bot.core.model import Action, Review, ReviewState, Who
from bot.core.policy import TenantPolicy, tool_settings
from bot.policies import InForce
from bot.slack.projection import Stage, offered, read_only_positions
from bot.store import reviews, tenants
from bot.store.engine import Tx

MOST = 300


@dataclass(frozen=True, slots=True)
class Awaiting:
    """One call that a person may decide, and what it is drawn against."""

    review: Review
    action: Action
    stage: Stage
    risk: str


@dataclass(frozen=True, slots=True)
class Mine:
    """A person's queue, riskiest and oldest first. `ask` says why there can be none; `unsure`: Slack was not asked yet."""

    calls: tuple[Awaiting, ...]
    stages: tuple[Stage, ...]
    ask: str | None = None
    unsure: bool = False


def tenants_of(in_force: InForce, team: str) -> tuple[TenantPolicy, ...]:
    """The tenants of one workspace."""
    return tuple(tenant for tenant in in_force.tenants() if team in (tenant.slack_team, tenant.slack_enterprise))


async def mine(tx: Tx, in_force: InForce, who: Who) -> Mine:
    """Read what awaits this person."""
    stages = [await _stage(tx, in_force, tenant, who) for tenant in tenants_of(in_force, who.team)]
    if not stages:
        return Mine((), (), words.NO_TENANT_HERE)
    calls: list[Awaiting] = []
    for stage in stages:
        calls += await _awaiting(tx, stage)
    calls.sort(key=lambda one: (one.risk != "high", one.review.opened_at, one.review.id, one.action.position))
    return _told(in_force, stages, calls, who)


def _told(in_force: InForce, stages: Sequence[Stage], calls: Sequence[Awaiting], who: Who) -> Mine:
    unsure = any(stage.viewer is not None and stage.viewer.person.unconfirmed for stage in stages)
    if calls or any(_is_reviewer(stage, who) for stage in stages):
        return Mine(tuple(calls), tuple(stages), words.NOT_SURE if unsure and not calls else None, unsure)
    operators = in_force.policy.operators if in_force.policy else ()
    return Mine((), tuple(stages), words.NOT_SURE if unsure else ask_whom(operators), unsure)


def _is_reviewer(stage: Stage, who: Who) -> bool:
    groups = stage.viewer.person.groups if stage.viewer else {}
    return any(rule.may and (rule.user == who.user or rule.group in groups) for rule in stage.tenant.reviewers)


async def _stage(tx: Tx, in_force: InForce, tenant: TenantPolicy, who: Who) -> Stage:
    person = await known_person(tx, tenant, who, fresh_since=tx.now - FRESH_MS)
    paused = await tenants.paused(tx)
    standing = Standing(tenant, in_force.version, person)
    return Stage(tenant, tx.now, standing, tenant.name in paused or tenants.ALL in paused)


async def _awaiting(tx: Tx, stage: Stage) -> list[Awaiting]:
    found: list[Awaiting] = []
    for review in await reviews.list_pending(tx, tenant=stage.tenant.name, limit=MOST):
        if review.state is not ReviewState.OPEN or review.problem or read_only_positions(review, stage.tenant):
            continue
        found += [
            Awaiting(review, action, stage, tool_settings(stage.tenant, action.tool).risk)
            for action in review.undecided
            if offered(review, action, stage)
        ]
    return found
