"""What the database holds at the end of a run, in the verdict's terms. Reads only."""

from __future__ import annotations

import json
from collections.abc import Sequence

from sqlalchemy import exists, func, select, text

from bot.core.model import DecisionType
from bot.store.audit.events import events_of
from bot.store.engine import Store, Tx
from bot.store.reviews import load_review
from bot.store.tables import DUE_MESSAGE, actions, audit_events, decisions, dispatches, messages, reviews
from tests.chaos.plan import Call
from tests.chaos.verdict import Stored

MOVING = ("decided", "claimed", "armed", "sent", "expired")
MADE, REFUSED = "decision.made", "press.refused"


async def is_decided(store: Store, call: str) -> bool:
    """Whether a call has a decision in force."""
    made = select(decisions.c.id).join(
        actions, (actions.c.review_id == decisions.c.review_id) & (actions.c.position == decisions.c.position)
    )
    wanted = made.where(decisions.c.voided_at.is_(None), actions.c.args.contains(call, autoescape=True))
    async with store.read() as tx:
        return bool(await tx.conn.scalar(select(exists(wanted))))


async def stored_calls(store: Store, calls: Sequence[Call]) -> list[Stored]:
    """Every call of every review, by the id that the plan gave it."""
    by_token = {call.token: call.id for call in calls}
    found: list[Stored] = []
    async with store.read() as tx:
        for id_ in list(await tx.conn.scalars(select(reviews.c.id).order_by(reviews.c.opened_at))):
            found += await _of(tx, id_, by_token)
    return found


async def _of(tx: Tx, id_: str, by_token: dict[str, str]) -> list[Stored]:
    review = await load_review(tx, id_)
    assert review is not None
    sent = (await tx.conn.execute(select(dispatches).where(dispatches.c.review_id == id_))).one_or_none()
    made = []
    for action in review.actions:
        call = next((call for token, call in by_token.items() if token in (action.args or "")), str(action.args))
        decision = action.decision
        edited = decision is not None and decision.type is DecisionType.EDIT
        made.append(
            Stored(
                call,
                id_,
                review.state.value,
                review.why,
                decision.type.value if decision and not review.undecided else None,
                decision.final_args if edited and decision else action.args,
                action.outcome.value if action.outcome else None,
                attempts=sent.attempt if sent else 0,
                alarm=(sent.alarm or "") if sent else "",
            )
        )
    return made


async def answered(store: Store) -> frozenset[tuple[str, str]]:
    """Who has a decision or a refusal on record, on which review."""
    return frozenset((user, review) for _, user, review, _ in await _answers(store) if review)


async def refused(store: Store) -> list[tuple[str, float]]:
    """Who was refused, and when, in seconds; one event may stand for all of a person's minute."""
    return [(user, at / 1000) for kind, user, _, at in await _answers(store) if kind == REFUSED]


async def _answers(store: Store) -> list[tuple[str, str, str | None, int]]:
    columns = (audit_events.c.kind, audit_events.c.actor, audit_events.c.review_id, audit_events.c.at)
    async with store.read() as tx:
        rows = await tx.conn.execute(select(*columns).where(audit_events.c.kind.in_((MADE, REFUSED))))
        return [(row.kind, row.actor.rpartition("/")[2], row.review_id, row.at) for row in rows]


async def followed(store: Store) -> list[tuple[str, str, str]]:
    """Review, thread and run of every answer that was accepted and whose run has not been seen to end."""
    columns = (dispatches.c.review_id, dispatches.c.thread_id, dispatches.c.run_id)
    taken = select(*columns).join(reviews, reviews.c.id == dispatches.c.review_id)
    here = taken.where(reviews.c.state == "sent", dispatches.c.run_id.is_not(None))
    async with store.read() as tx:
        return [(row.review_id, row.thread_id, row.run_id) for row in await tx.conn.execute(here)]


async def waiting(store: Store, *, less: int = 0) -> str:
    """What is still under way, in words; empty once everything has come to rest. `less`: so many stay `sent`."""
    moving = select(reviews.c.state, func.count()).where(reviews.c.state.in_(MOVING)).group_by(reviews.c.state)
    behind = select(func.count()).select_from(messages).where(text(DUE_MESSAGE))
    unsealed = select(func.count()).select_from(audit_events).where(audit_events.c.seq.is_(None))
    async with store.read() as tx:
        states = [tuple(row) for row in await tx.conn.execute(moving)]
        cards, events = await tx.conn.scalar(behind), await tx.conn.scalar(unsealed)
    return ", ".join(
        [
            *(f"{count} {state}" for state, count in states if not (state == "sent" and count <= less)),
            *([f"{cards} cards behind"] if cards else []),
            *([f"{events} events unsealed"] if events else []),
        ]
    )


async def count_events(store: Store, kind: str) -> int:
    """How many events of a kind are on record."""
    counted = select(func.count()).select_from(audit_events).where(audit_events.c.kind == kind)
    async with store.read() as tx:
        return int(await tx.conn.scalar(counted) or 0)


async def story(store: Store, review: str) -> list[str]:
    """What is on record of one review, a line an event."""
    async with store.read() as tx:
        found = await events_of(tx, review)
    return [f"  {one.at / 1000:.3f} {one.kind} {one.actor} {_short(one.content)}" for one in found]


def _short(content: str) -> str:
    told = json.loads(content)
    kept = ("from", "why", "reason", "token", "attempt", "state", "run", "outcomes", "type", "alarm", "not_taken")
    return " ".join(f"{name}={told[name]}" for name in kept if name in told)
