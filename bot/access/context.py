"""What a click is about and who makes it, read in one place for every way in.

Also here: buttons and windows that this database never drew: another deployment on the same Slack app has, or a lost
database. Slack gives each press to one of the connections that an app has. Where two deployments share an app, half
of the presses come to the one that knows nothing of them, which nobody would guess from "too old".

What a click is about and who makes it, read in one place for every way in. Buttons, windows when they open and when
they are sent, the Home tab, commands and operators all ask here which tenant a press may touch and who its actor is
there, so that all of them get the same answer. Nothing is decided and nothing is drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import structlog

from blocks import ids
from bot.access.person import Actor, TenantPerson, known_account, known_person
from bot.core.decide import Refusal, Refused
from bot.core.model import Review, Showing
from bot.policy.model import Policy, touches
from bot.store import messages, people, reviews, showings
from bot.store.engine import Tx
from bot.store.policies import InForce, Policies
from bot.store.reviews import bearing_of

log = structlog.get_logger("placet")
ELSEWHERE = "elsewhere"  # the fact that the refusal carries, into the sentence and the record


async def untraced(tx: Tx, showing_id: str, *, channel: str | None = None, ts: str | None = None) -> Refused:
    """Why a showing leads to nothing: of our form and unknown, on no message of ours, it is another deployment's."""
    drawn = ids.decode_showing(showing_id) is not None and await showings.load_showing(tx, showing_id) is None
    if not drawn or (channel and ts and await messages.is_ours(tx, channel, ts)):
        return Refused(Refusal.UNKNOWN_SHOWING)
    log.warning(
        "A press came for a card or window that this database never drew. If another deployment of Placet uses this "
        "Slack app, each takes the other's presses: give each deployment an app of its own.",
        action="not_ours",
        channel=channel,
        ts=ts,
    )
    return Refused(Refusal.UNKNOWN_SHOWING, facts={ELSEWHERE: "yes"})


FRESH_MS = 120_000


@dataclass(frozen=True, slots=True)
class ClickContext:
    """A press that touches a tenant: what it names, and who makes it with which authority.

    `presser` carries the key and speaks through the tenant's own workspace. `answer` is what the delivery was answered before.
    """

    review: Review
    showing: Showing
    policy: Policy
    tenant_person: TenantPerson
    actor: Actor
    answer: str | None = None


@dataclass(frozen=True, slots=True)
class NoClickContext:
    """Why a press touches nothing. `review` is the one that it names all the same, for the record."""

    refused: Refused
    actor: Actor
    review: Review | None = None
    answer: str | None = None


async def load_context(  # noqa: PLR0913 - what is asked for, each by name
    tx: Tx,
    policies: Policies,
    actor: Actor,
    showing_id: str,
    *,
    delivery_key: str = "",
    lock: bool = False,
    operator: bool = False,
) -> ClickContext | NoClickContext:
    """Read a press's context; with `lock`, nobody else changes the review before this transaction ends.

    `operator`: who an operator is rests on a reading of their own account, since no rule about reviewers names them.
    """
    showing = await showings.load_showing(tx, showing_id)
    review = await reviews.load_review(tx, showing.review_id, lock=lock) if showing else None
    # Read under the lock: another replica may be answering the same delivery at this moment. Whose workspace it is says the
    # policy that was in force last, so that most presses need no second look at the account.
    guess = policies.latest.tenant(review.tenant) if review else None
    team = guess.slack_team if guess else actor.team
    click_facts = await bearing_of(tx, delivery_key, replace(actor, team=team).account)

    def none(reason: Refusal, by: Actor = actor) -> NoClickContext:
        return NoClickContext(Refused(reason), by, review, click_facts.answer)

    if showing is None or review is None:
        return none(Refusal.UNKNOWN_SHOWING)
    in_force = await policies.in_force(tx, known=click_facts.policy_version)
    tenant = in_force.tenant(review.tenant)
    if tenant is None or in_force.policy is None:
        return none(Refusal.GONE)
    if not touches(tenant, actor.team):
        return none(Refusal.OTHER_WORKSPACE)
    since = tx.now - FRESH_MS
    account = (
        click_facts.account if team == tenant.slack_team else await people.account(tx, tenant.slack_team, actor.user)
    )
    if operator:
        person = known_account(tenant, actor, account, fresh_since=since)
    else:
        person = await known_person(tx, tenant, actor, fresh_since=since, account=account)
    tenant_person = TenantPerson(tenant, in_force.version, person)
    named = replace(actor, team=tenant.slack_team, key=tenant_person.who)
    if showing.to not in (None, tenant_person.who):
        return none(Refusal.UNKNOWN_SHOWING, named)
    return ClickContext(review, showing, in_force.policy, tenant_person, named, click_facts.answer)


async def standings(tx: Tx, in_force: InForce, actor: Actor) -> Sequence[TenantPerson]:
    """What somebody is in each tenant that their workspace or organisation touches."""
    since = tx.now - FRESH_MS
    return [
        TenantPerson(tenant, in_force.version, await known_person(tx, tenant, actor, fresh_since=since))
        for tenant in in_force.tenants()
        if touches(tenant, actor.team)
    ]
