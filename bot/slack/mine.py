"""What awaits one person: every open call that they may decide, in the tenants of their workspace.

The command and the Home tab are drawn from this. Nothing here is a right: whoever presses is judged again. A workspace's
person never sees another workspace's tenant.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from blocks import words
from blocks.queue import ask_whom
from bot.access.context import standings
from bot.access.person import Presser
from bot.core.model import Action, Review, ReviewState
from bot.core.policy import tool_settings
from bot.core.undo import authors
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
    approved: tuple[Awaiting, ...] = ()  # what they have approved and what waits for others
    cut: bool = False  # a tenant has more reviews than are looked through


async def mine(tx: Tx, in_force: InForce, presser: Presser) -> Mine:
    """Read what awaits this person."""
    paused = await tenants.paused(tx)
    stages = [
        Stage(each.tenant, tx.now, each, each.tenant.name in paused or tenants.ALL in paused)
        for each in await standings(tx, in_force, presser)
    ]
    if not stages:
        return Mine((), (), words.NO_TENANT_HERE)
    found = [await _pending(tx, stage) for stage in stages]
    calls = sorted((one for each in found for one in each.calls), key=_first)
    awaiting = [
        one
        for one in calls
        if one.stage.viewed_by not in authors(one.action) and offered(one.review, one.action, one.stage)
    ]
    told = _told(in_force, stages, awaiting)
    approved = tuple(one for one in calls if one.stage.viewed_by in authors(one.action))
    return replace(told, approved=approved, cut=any(each.cut for each in found))


def _first(one: Awaiting) -> tuple[bool, int, str, int]:
    """Riskiest first, then oldest."""
    return one.risk != "high", one.review.opened_at, one.review.id, one.action.position


def _told(in_force: InForce, stages: Sequence[Stage], calls: Sequence[Awaiting]) -> Mine:
    viewers = [stage.viewer.person for stage in stages if stage.viewer is not None]
    unsure = any(person.unconfirmed for person in viewers)
    not_sure = words.NEVER_SURE if any(person.unreadable for person in viewers) else words.NOT_SURE
    if calls or any(_is_reviewer(stage) for stage in stages):
        return Mine(tuple(calls), tuple(stages), not_sure if unsure and not calls else None, unsure)
    operators = in_force.policy.operators if in_force.policy else ()
    return Mine((), tuple(stages), not_sure if unsure else ask_whom(operators), unsure)


def _is_reviewer(stage: Stage) -> bool:
    person = stage.viewer.person if stage.viewer else None
    return person is not None and any(
        rule.may and (rule.user in person.ids or rule.group in person.groups) for rule in stage.tenant.reviewers
    )


@dataclass(frozen=True, slots=True)
class _Pending:
    """One tenant's undecided calls, as far as they are looked through."""

    calls: tuple[Awaiting, ...]
    cut: bool


async def _pending(tx: Tx, stage: Stage) -> _Pending:
    found = await reviews.list_pending(tx, tenant=stage.tenant.name, limit=MOST)
    waiting = [review for review in found if review.state is ReviewState.OPEN and not review.problem]
    calls = tuple(
        Awaiting(review, action, stage, tool_settings(stage.tenant, action.tool).risk)
        for review in waiting
        if not read_only_positions(review, stage.tenant)
        for action in review.undecided
    )
    return _Pending(calls, len(found) == MOST)
