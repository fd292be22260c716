"""Decisions as they are stored, and what one person decided lately.

Decisions: at most one active per position, never deleted, each with its evidence in the record. The caller has judged
whether a person may decide; here it is only settled who was first. The final arguments of an edit stand in the table
until retention takes them; the record holds a salted hash of them.

What one person decided lately, in some tenants only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import and_, bindparam, delete, false, insert, or_, select, text, update

from bot.core.digest import salted
from bot.core.model import Action, Decision, PersonId, Review, ReviewState
from bot.store.approvals import (
    approval_event,
    insert_approvals,
    void_approvals,
    voided_event,
    withdraw,
    withdrawn_event,
)
from bot.store.audit import events as audit
from bot.store.dialects import insert_once
from bot.store.engine import Tx
from bot.store.reviews import load_review, make_move
from bot.store.rows import DECISION, decision_of, decision_row
from bot.store.tables import ACTIVE_DECISION, actions, decisions, deliveries, reviews, showings
from bot.store.transitions import Move, ref_of, revise

# Made once: to build a statement costs as much as to send it.
_INSERT = insert(decisions)
_ANSWER = select(deliveries.c.answer).where(deliveries.c.key == bindparam("key"))


@dataclass(frozen=True, slots=True)
class PastDecision:
    """One decision of a review's history; `voided_at` is None while it counts."""

    decision: Decision
    voided_at: int | None = None
    voided_by: str | None = None
    why: str | None = None


async def insert_decisions(
    tx: Tx, review: Review, decided: Sequence[Decision], *, delivery_key: str, shown: Mapping[str, str] | None = None
) -> Review | None:
    """Record decisions on open positions of one review, all or none; the last position makes the review decided.

    None: the review changed since it was loaded, or one of the positions is decided already. `shown` saves a look:
    the digests of the showings by id, if the caller has them.
    """
    if review.state is not ReviewState.OPEN or not _free(review, decided):
        return None
    evidence = _evidence(review, decided, await _shown(tx, decided) if shown is None else shown)
    following = await _advance(tx, _with(review, {made.position: made for made in decided}), evidence)
    if following is not None:
        await tx.conn.execute(_INSERT, [_row(review.id, made, delivery_key) for made in decided])
    return following


async def record_approvals(
    tx: Tx, review: Review, made: Sequence[Decision], *, voided: Sequence[int] = (), why: str = "replaced"
) -> Review | None:
    """Record approvals that do not decide by themselves, after those at `voided` have ceased to count.

    None: the review changed since it was loaded.
    """
    if not made and not voided:
        return review
    actor = audit.slack_actor(made[-1].by) if made else audit.PLACET
    events = [voided_event(review.tenant, review.id, position, why=why, actor=actor) for position in voided]
    events += [approval_event(review.tenant, review.id, one) for one in made]
    following = await _revised(tx, review, events)
    if following is None:
        return None
    await void_approvals(tx, review.id, voided, why=why)
    await insert_approvals(tx, review.id, made)
    return following.evolve(actions=tuple(_approved(action, made, voided) for action in following.actions))


async def withdraw_approval(tx: Tx, review: Review, position: int, by: PersonId, *, why: str) -> Review | None:
    """Let one person's approval of an undecided call count no more; everybody else's stands.

    None: the review changed since it was loaded, or this person has approved nothing there.
    """
    mine = next((one for one in review.actions[position].approvals if one.by == by), None)
    if mine is None or review.actions[position].decision is not None:
        return None
    following = await _revised(tx, review, [withdrawn_event(review.tenant, review.id, mine, why=why)])
    if following is None:
        return None
    await withdraw(tx, mine, why=why)
    return following.evolve(actions=tuple(_without(action, mine) for action in following.actions))


def _without(action: Action, approval: Decision) -> Action:
    return replace(action, approvals=tuple(one for one in action.approvals if one is not approval))


def _approved(action: Action, made: Sequence[Decision], voided: Sequence[int]) -> Action:
    kept = () if action.position in voided else action.approvals
    added = tuple(one for one in made if one.position == action.position)
    return replace(action, approvals=(*kept, *added))


def _free(review: Review, decided: Sequence[Decision]) -> bool:
    positions = [made.position for made in decided]
    waiting = {action.position for action in review.undecided}
    return bool(positions) and len(set(positions)) == len(positions) and waiting.issuperset(positions)


def _row(review_id: str, made: Decision, delivery_key: str) -> dict[str, Any]:
    voided = {"voided_at": None, "voided_by": None, "void_why": None}
    return decision_row(review_id, made) | voided | {"delivery_key": delivery_key}


async def _advance(tx: Tx, review: Review, evidence: Sequence[audit.Event]) -> Review | None:
    if not review.undecided:
        return await make_move(tx, review, Move(ReviewState.DECIDED, actor=evidence[-1].actor, before=evidence))
    return await _revised(tx, review, evidence)


async def _revised(tx: Tx, review: Review, events: Sequence[audit.Event]) -> Review | None:
    at = await revise(tx, ref_of(review), events)
    return None if at is None else review.evolve(version=at.version)


def _with(review: Review, made: Mapping[int, Decision | None]) -> Review:
    return review.evolve(actions=tuple(_decided(action, made) for action in review.actions))


def _decided(action: Action, made: Mapping[int, Decision | None]) -> Action:
    if action.position not in made:
        return action
    decision = made[action.position]
    # With its decision, a position loses every approval that led to it.
    return replace(action, decision=decision, approvals=action.approvals if decision else ())


async def _shown(tx: Tx, decided: Sequence[Decision]) -> dict[str, str]:
    ids = {made.showing_id for made in decided}
    found = await tx.conn.execute(select(showings.c.id, showings.c.digest).where(showings.c.id.in_(ids)))
    return {row.id: row.digest for row in found}


def _evidence(review: Review, decided: Sequence[Decision], shown: Mapping[str, str]) -> list[audit.Event]:
    proposed = {action.position: action.digest for action in review.actions}
    return [
        _event(review, made, proposed=proposed[made.position], shown=shown.get(made.showing_id)) for made in decided
    ]


def _event(review: Review, made: Decision, *, proposed: str, shown: str | None) -> audit.Event:
    content = {
        "decision": made.id,
        "type": made.type.value,
        "proposed": proposed,
        "showing": made.showing_id,
        "shown": shown,
        "decided": made.digest,
        "person": {"team": made.by.team, "user": made.by.user},
        "rule": made.rule,
        "policy_version": made.policy_version,
        "final_args_hash": None if made.final_args is None else salted(review.salt, made.final_args),
    }
    return audit.Event(review.tenant, "decision.made", review.id, made.position, audit.slack_actor(made.by), content)


async def void_decisions(
    tx: Tx, review: Review, *, why: str, actor: str, positions: Sequence[int] | None = None
) -> Review | None:
    """Take decisions back, all or those at `positions`; a decided or claimed review is open again.

    None: the review changed since it was loaded, or there is nothing to void.
    """
    active = [action.decision for action in review.actions if action.decision]
    voided = [made for made in active if positions is None or made.position in positions]
    if not voided:
        return None
    events = [_voided(review, made, why=why, actor=actor) for made in voided]
    following = await _back(tx, review, events, why)
    if following is None:
        return None
    await void_approvals(tx, review.id, [made.position for made in voided], why=why)
    marks = {"voided_at": tx.now, "voided_by": actor, "void_why": why}
    await tx.conn.execute(update(decisions).where(decisions.c.id.in_([made.id for made in voided])).values(**marks))
    places = [made.position for made in voided]
    here = (actions.c.review_id == review.id) & actions.c.position.in_(places)
    await tx.conn.execute(update(actions).where(here).values(void_why=why))
    following = _with(following, dict.fromkeys(places))
    told = [replace(one, void_why=why) if one.position in places else one for one in following.actions]
    return following.evolve(actions=tuple(told))


async def _back(tx: Tx, review: Review, events: Sequence[audit.Event], why: str) -> Review | None:
    if review.state is ReviewState.OPEN:
        return await _revised(tx, review, events)
    return await make_move(tx, review, Move(ReviewState.OPEN, why, events[-1].actor, before=events))


def _voided(review: Review, made: Decision, *, why: str, actor: str) -> audit.Event:
    content = {"decision": made.id, "why": why}
    return audit.Event(review.tenant, "decision.voided", review.id, made.position, actor, content)


async def history(tx: Tx, review_id: str) -> list[PastDecision]:
    """Every decision that was ever made on a review, in order, voided ones too."""
    columns = select(*(decisions.c[name] for name in (*DECISION, "voided_at", "voided_by", "void_why")))
    ordered = columns.where(decisions.c.review_id == review_id).order_by(decisions.c.at, decisions.c.position)
    return [PastDecision(decision_of(row[:-3]), *row[-3:]) for row in await tx.conn.execute(ordered)]


async def earlier_answer(tx: Tx, key: str) -> str | None:
    """What a delivery of Slack's with this key was answered before, None if it is new."""
    answer: str | None = await tx.conn.scalar(_ANSWER, {"key": key})
    return answer


async def remember_answer(tx: Tx, key: str, answer: str) -> bool:
    """Keep the answer for a delivery that comes again; False if one is kept already: answer with that instead."""
    return await insert_once(tx, deliveries, {"key": key, "answer": answer, "at": tx.now})


async def purge_answers(tx: Tx, *, older_than_ms: int = 86_400_000) -> int:
    """Forget answers older than Slack could still replay; returns how many."""
    return (await tx.conn.execute(delete(deliveries).where(deliveries.c.at < tx.now - older_than_ms))).rowcount


async def decided_lately(tx: Tx, who: Mapping[str, PersonId | None], *, limit: int) -> list[tuple[Review, int]]:
    """The newest decisions of a person that count, each as its review and position, newest first.

    `who` is the person's key in each tenant.
    """
    mine = [
        and_(reviews.c.tenant == tenant, decisions.c.team == key.team, decisions.c.user_id == key.user)
        for tenant, key in who.items()
        if key is not None
    ]
    columns = select(decisions.c.review_id, decisions.c.position).join(reviews, reviews.c.id == decisions.c.review_id)
    here = columns.where(or_(false(), *mine), text(ACTIVE_DECISION))
    rows = (await tx.conn.execute(here.order_by(decisions.c.at.desc()).limit(limit))).all()
    found = [(await load_review(tx, row.review_id), row.position) for row in rows]
    return [(review, position) for review, position in found if review is not None]
