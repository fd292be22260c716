"""What a press is about and who makes it, read in one place for every way in.

Buttons, windows when they open and when they are sent, the Home tab, commands and operators all ask here which tenant a press
may touch and who its presser is there, so that all of them get the same answer. Nothing is decided and nothing is drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from bot.access.authority import Standing
from bot.access.person import Presser, known_account, known_person
from bot.core.decide import Refusal, Refused
from bot.core.model import Review, Showing
from bot.core.policy import Policy, touches
from bot.policies import InForce, Policies
from bot.store import people, reviews, showings
from bot.store.bearings import bearing_of
from bot.store.engine import Tx

FRESH_MS = 120_000


@dataclass(frozen=True, slots=True)
class Context:
    """A press that touches a tenant: what it names, and who makes it with which standing.

    `presser` carries the key and speaks through the tenant's own workspace. `answer` is what the delivery was answered before.
    """

    review: Review
    showing: Showing
    policy: Policy
    standing: Standing
    presser: Presser
    answer: str | None = None


@dataclass(frozen=True, slots=True)
class NoContext:
    """Why a press touches nothing. `review` is the one that it names all the same, for the record."""

    refused: Refused
    presser: Presser
    review: Review | None = None
    answer: str | None = None


async def load_context(  # noqa: PLR0913 - what is asked for, each by name
    tx: Tx,
    policies: Policies,
    presser: Presser,
    showing_id: str,
    *,
    delivery_key: str = "",
    lock: bool = False,
    operator: bool = False,
) -> Context | NoContext:
    """Read a press's context; with `lock`, nobody else changes the review before this transaction ends.

    `operator`: who an operator is rests on a reading of their own account, since no rule about reviewers names them.
    """
    showing = await showings.load_showing(tx, showing_id)
    review = await reviews.load_review(tx, showing.review_id, lock=lock) if showing else None
    # Read under the lock: another replica may be answering the same delivery at this moment. Whose workspace it is says the
    # policy that was in force last, so that most presses need no second look at the account.
    guess = policies.latest.tenant(review.tenant) if review else None
    team = guess.slack_team if guess else presser.team
    bearing = await bearing_of(tx, delivery_key, replace(presser, team=team).account)

    def none(reason: Refusal, by: Presser = presser) -> NoContext:
        return NoContext(Refused(reason), by, review, bearing.answer)

    if showing is None or review is None:
        return none(Refusal.UNKNOWN_SHOWING)
    in_force = await policies.in_force(tx, known=bearing.policy_version)
    tenant = in_force.tenant(review.tenant)
    if tenant is None or in_force.policy is None:
        return none(Refusal.GONE)
    if not touches(tenant, presser.team):
        return none(Refusal.OTHER_WORKSPACE)
    since = tx.now - FRESH_MS
    account = (
        bearing.account if team == tenant.slack_team else await people.account(tx, tenant.slack_team, presser.user)
    )
    if operator:
        person = known_account(tenant, presser, account, fresh_since=since)
    else:
        person = await known_person(tx, tenant, presser, fresh_since=since, account=account)
    standing = Standing(tenant, in_force.version, person)
    named = replace(presser, team=tenant.slack_team, key=standing.who)
    if showing.to not in (None, standing.who):
        return none(Refusal.UNKNOWN_SHOWING, named)
    return Context(review, showing, in_force.policy, standing, named, bearing.answer)


async def standings(tx: Tx, in_force: InForce, presser: Presser) -> Sequence[Standing]:
    """What somebody is in each tenant that their workspace or organisation touches."""
    since = tx.now - FRESH_MS
    return [
        Standing(tenant, in_force.version, await known_person(tx, tenant, presser, fresh_since=since))
        for tenant in in_force.tenants()
        if touches(tenant, presser.team)
    ]
