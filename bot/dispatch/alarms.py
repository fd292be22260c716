"""Alarms: what a person must look at, said once, whoever sees it first and however often it is seen.

The row of the dispatch decides who is first, in the transaction that also leaves the messages; so a crash neither loses an
alarm nor doubles it. It is told where the card is, to each operator alone, in the log and in a counter. Whether there is
reason for one is not judged here.
"""

from __future__ import annotations

from dataclasses import dataclass

import structlog

from blocks import notices as said
from bot.metrics import ALARMS
from bot.policy.matching import card_channel
from bot.runtimes.langgraph.verdict import Verdict
from bot.store import dispatches, messages, notices, reviews
from bot.store.dispatches import Claim
from bot.store.engine import Tx
from bot.store.policies import InForce
from bot.store.threads import Unreadable, count_told, note_told

log = structlog.get_logger("placet")
MOST_THREADS = 5  # unreadable threads of one tenant that operators hear of one by one


@dataclass(frozen=True, slots=True)
class Alarm:
    """Its kind (`unknown`, `possibly_twice`, `raced`), and the runs of others behind it."""

    kind: str
    runs: tuple[str, ...] = ()

    @classmethod
    def of(cls, verdict: Verdict) -> Alarm:
        """The gravest alarm of a verdict that has one."""
        return cls(verdict.alarms[0], verdict.raced_by)


async def raise_once(tx: Tx, claim: Claim, alarm: Alarm, in_force: InForce) -> bool:
    """Tell everybody who must know; False where that was done before."""
    if not await dispatches.raise_alarm(tx, claim, alarm=alarm.kind, runs=alarm.runs):
        return False
    ALARMS.labels(kind=alarm.kind).inc()
    log.error(
        "Somebody must look whether a call ran, and how often.",
        action="alarm",
        kind=alarm.kind,
        review=claim.review_id,
        runs=list(alarm.runs),
    )
    await _tell(tx, claim, alarm, in_force)
    return True


async def _tell(tx: Tx, claim: Claim, alarm: Alarm, in_force: InForce) -> None:
    tenant = in_force.tenant(claim.tenant)
    cards = await messages.messages_of(tx, claim.review_id)
    posted = cards[0] if cards and cards[0].ts else None
    if posted is not None:
        channel = posted.channel
    elif tenant is not None:
        review = await reviews.load_review(tx, claim.review_id)
        channel = card_channel(tenant, (action.tool for action in review.actions) if review else ())
    else:
        return
    text = said.alarm_text(alarm.kind, review=claim.review_id, runs=alarm.runs)
    key = f"{alarm.kind}:{claim.review_id}:{claim.attempt}"
    thread = posted.ts if posted else None
    await notices.add_notice(tx, tenant=claim.tenant, channel=channel, user=None, thread_ts=thread, text=text, key=key)
    direct = said.operator_text(text, review=claim.review_id, tenant=claim.tenant, channel=channel)
    for user in in_force.policy.operators if in_force.policy else ():
        await notices.add_notice(
            tx, tenant=claim.tenant, channel=user, user=None, thread_ts=None, text=direct, key=f"{key}:{user}"
        )


async def tell_unreadable(tx: Tx, one: Unreadable, in_force: InForce) -> None:
    """Tell operators, once, of a thread whose state cannot be read: whatever waits there has no card.

    Of many in one tenant only the first are told one by one; `placet doctor` names all.
    """
    if await count_told(tx, one.tenant) >= MOST_THREADS or not await note_told(tx, one):
        return
    ALARMS.labels(kind="unreadable_thread").inc()
    tenant = in_force.tenant(one.tenant)
    operators = in_force.policy.operators if in_force.policy else ()
    channels = operators or ((tenant.slack_channel,) if tenant else ())
    text = said.unreadable_text(tenant=one.tenant, thread=one.thread_id, identity=one.identity, fault=one.fault)
    for channel in channels:
        key = f"unreadable:{one.tenant}:{one.identity!a}:{one.thread_id!a}:{one.since}:{channel}"
        await notices.add_notice(tx, tenant=one.tenant, channel=channel, user=None, thread_ts=None, text=text, key=key)
