"""Reviews as they are stored, and all that a click is judged by beside one.

Reviews: stored once per interrupt, loaded whole, moved by conditional updates. A loaded review carries its actions
and their active decisions. A function that returns None or False changed nothing: somebody else was first, and the
caller loads again.

All that a click is judged by beside its review, in one statement: each one less is a journey to the database less.

Reviews whose time is nearly up: their cards lose Approve in the last minute.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import ColumnElement, Row, and_, bindparam, exists, func, insert, select, text, true, update

from bot.core.digest import salted
from bot.core.model import Action, Decision, Outcome, PersonId, Review, ReviewState, Target
from bot.core.states import TERMINAL
from bot.store.approvals import load_approvals
from bot.store.audit import events
from bot.store.dialects import insert_once
from bot.store.engine import Tx
from bot.store.people import ACCOUNT, Account, account_joined, account_of
from bot.store.rows import DECISION, action_of, action_row, decision_of, review_of, review_row
from bot.store.tables import (
    EXPIRABLE,
    LIVE_REVIEW,
    UNKNOWN_REVIEW,
    actions,
    approvals,
    decisions,
    deliveries,
    dispatches,
    policy_versions,
    reviews,
)
from bot.store.transitions import Move, ref_of, revise, shift, want_redraw

# Ids in one IN list: well below what either engine takes.
CHUNK = 500

# Ends after which the same interrupt, pending again, is asked anew; some only where no answer was ever armed.
_UNANSWERED = frozenset(
    {
        (ReviewState.SUPERSEDED.value, "thread_moved_on"),
        (ReviewState.SUPERSEDED.value, "surroundings_changed"),
        (ReviewState.SUPERSEDED.value, "allowed_changed"),
        (ReviewState.SUPERSEDED.value, "moved_server"),
        (ReviewState.BROKEN.value, "unanswerable"),
    }
)
_ONLY_UNSENT = ("moved_server", "unanswerable")

_APPROVED = exists().where(
    approvals.c.review_id == actions.c.review_id,
    approvals.c.position == actions.c.position,
    approvals.c.voided_at.is_(None),
)
_MADE = [decisions.c[name].label(f"made_{name}") for name in DECISION]
_DECIDED = and_(
    decisions.c.review_id == actions.c.review_id,
    decisions.c.position == actions.c.position,
    decisions.c.voided_at.is_(None),
)
_ACTIONS = select(actions, *_MADE).outerjoin(decisions, _DECIDED)

_HELD = [reviews.c[name] for name in ("id", "thread_id", "server_url", "server_kind", "identity", "assistant", "route")]

# What every press reads, made once: to build a statement costs as much as to send it.
_REVIEW = select(reviews).where(reviews.c.id == bindparam("review"))
_LOCKED = _REVIEW.with_for_update(key_share=True)
_ITS_ACTIONS = (
    select(actions, _APPROVED.label("approved"), *_MADE)
    .outerjoin(decisions, _DECIDED)
    .where(actions.c.review_id == bindparam("review"))
    .order_by(actions.c.position)
)


async def insert_review(tx: Tx, review: Review, *, policy_version: int, generation: int = 0) -> bool:
    """Store a new review with its actions; False if this very interrupt is known already.

    `generation` tells a later review of the same interrupt from those before it (`next_generation`).
    """
    row = review_row(review) | {
        "generation": generation,
        "policy_version": policy_version,
        "next_try_at": 0,
        "erased_at": None,
    }
    if not await insert_once(tx, reviews, row):
        return False
    if review.actions:
        await tx.conn.execute(insert(actions), [action_row(review.id, action) for action in review.actions])
    content = {
        "interrupt": review.interrupt_id,
        "thread": review.thread_id,
        "server": review.target.url,
        "identity": review.target.identity,
        "content_hash": salted(review.salt, review.content_hash),
        "digests": [action.digest for action in review.actions],
        "policy_version": policy_version,
    }
    await events.record(tx, tenant=review.tenant, kind="review.opened", review_id=review.id, content=content)
    return True


async def load_review(tx: Tx, review_id: str, *, tenant: str | None = None, lock: bool = False) -> Review | None:
    """One whole review; with `lock`, nobody else changes it before this transaction ends."""
    statement = _LOCKED if lock else _REVIEW
    if tenant is not None:
        statement = statement.where(reviews.c.tenant == tenant)
    found = await tx.conn.execute(statement, {"review": review_id})
    return next(iter(await _whole(tx, found.all())), None)


async def is_known(tx: Tx, review: Review) -> bool:
    """Whether this very interrupt has a review, of whatever end."""
    return await tx.conn.scalar(select(reviews.c.id).where(_same_interrupt(review)).limit(1)) is not None


async def next_generation(tx: Tx, review: Review, *, began: int, waits: bool) -> tuple[int, bool]:
    """Which review of this very interrupt the next would be, 0 if it is not to be asked anew; and whether it is too early.

    It is asked anew where the last one ended without an answer (the thread had moved on or took none for a time, the
    policy led elsewhere, what the run was started with changed), and where an answer is over and the interrupt still
    listed: LangGraph before 1.2 gives each question of a task one id. Only a reading that `began` after that end can
    know that it waits (again). `waits`: it is listed without an error, on a thread that takes answers.
    """
    tried = exists().where(dispatches.c.review_id == reviews.c.id, dispatches.c.attempt > 0)
    columns = select(reviews.c.generation, reviews.c.state, reviews.c.why, reviews.c.settled_at, tried.label("tried"))
    newest = columns.where(_same_interrupt(review)).order_by(reviews.c.generation.desc()).limit(1)
    last = (await tx.conn.execute(newest)).one_or_none()
    if last is None or last.settled_at is None:
        return 0, False
    unanswered = (last.state, last.why) in _UNANSWERED and not (last.why in _ONLY_UNSENT and last.tried)
    over = last.state == ReviewState.RESUMED.value
    if not (unanswered or over) or (not waits and last.state != ReviewState.SUPERSEDED.value):
        return 0, False
    early = bool(last.settled_at >= began)
    return (0 if early else int(last.generation) + 1), early


def _same_interrupt(review: Review) -> ColumnElement[bool]:
    return and_(
        reviews.c.server_url == review.target.url,
        reviews.c.thread_id == review.thread_id,
        reviews.c.interrupt_id == review.interrupt_id,
        reviews.c.content_hash == review.content_hash,
    )


async def note_missing(tx: Tx, review_id: str) -> int:
    """Note that a reading did not list the review's interrupt; answers when the first one in a row was noted."""
    first = update(reviews).where(reviews.c.id == review_id, reviews.c.missing_since.is_(None))
    await tx.conn.execute(first.values(missing_since=tx.now))
    since = await tx.conn.scalar(select(reviews.c.missing_since).where(reviews.c.id == review_id))
    return tx.now if since is None else int(since)


async def note_listed(tx: Tx, review_id: str) -> None:
    """Note that a reading listed the review's interrupt: those that did not count no more."""
    missing = update(reviews).where(reviews.c.id == review_id, reviews.c.missing_since.is_not(None))
    await tx.conn.execute(missing.values(missing_since=None))


async def reviews_on_thread(tx: Tx, *, url: str, thread_id: str) -> list[Review]:
    """What is not settled yet on one thread, of whichever tenant."""
    return await _load(tx, text(LIVE_REVIEW), reviews.c.server_url == url, reviews.c.thread_id == thread_id)


async def attempted(tx: Tx, found: Sequence[Review]) -> frozenset[str]:
    """The ids of those for which an answer was armed at least once, however that ended."""
    columns = select(dispatches.c.review_id).where(dispatches.c.attempt > 0)
    return frozenset(await tx.conn.scalars(columns.where(dispatches.c.review_id.in_([one.id for one in found]))))


@dataclass(frozen=True, slots=True)
class UnsettledReview:
    """A review that is not settled, without what it asks: of ten thousand the places alone are read at every poll."""

    id: str
    thread_id: str
    target: Target


async def held_reviews(tx: Tx, *, tenant: str) -> list[UnsettledReview]:
    """As `live_reviews`, the places alone."""
    return await _held(tx, reviews.c.tenant == tenant)


async def stray_reviews(tx: Tx, *, tenants: Sequence[str]) -> list[UnsettledReview]:
    """What is not settled yet in any other tenant than these, oldest first, the places alone."""
    return await _held(tx, reviews.c.tenant.not_in(tenants))


async def _held(tx: Tx, where: ColumnElement[bool]) -> list[UnsettledReview]:
    statement = select(*_HELD).where(text(LIVE_REVIEW), where)
    targets: dict[tuple[str, ...], Target] = {}
    found = await tx.conn.execute(statement.order_by(reviews.c.opened_at, reviews.c.id))
    return [UnsettledReview(row[0], row[1], targets.setdefault(tuple(row[2:]), Target(*row[2:]))) for row in found]


async def live_reviews(tx: Tx, *, tenant: str) -> list[Review]:
    """What is not settled yet in one tenant, oldest first."""
    return await _load(tx, text(LIVE_REVIEW), reviews.c.tenant == tenant)


async def unknown_reviews(tx: Tx, *, tenant: str) -> list[Review]:
    """What was sent in one tenant and nobody can tell what became of, oldest first."""
    return await _load(tx, text(UNKNOWN_REVIEW), reviews.c.tenant == tenant)


async def list_pending(tx: Tx, *, tenant: str | None = None, limit: int) -> list[Review]:
    """The oldest reviews that are not settled, of one tenant or of all."""
    return await _load(tx, text(LIVE_REVIEW), true() if tenant is None else reviews.c.tenant == tenant, limit=limit)


async def count_open(tx: Tx) -> dict[str, int]:
    """How many reviews wait for people, by tenant."""
    waiting = select(reviews.c.tenant, func.count().label("number")).group_by(reviews.c.tenant)
    found = await tx.conn.execute(waiting.where(text(LIVE_REVIEW), reviews.c.state == ReviewState.OPEN.value))
    return {row.tenant: row.number for row in found}


async def _load(tx: Tx, *conditions: Any, limit: int | None = None) -> list[Review]:
    statement = select(reviews).where(*conditions).order_by(reviews.c.opened_at, reviews.c.id).limit(limit)
    return await _whole(tx, (await tx.conn.execute(statement)).all())


async def _whole(tx: Tx, rows: Sequence[Any]) -> list[Review]:
    found: dict[str, list[Action]] = defaultdict(list)
    for start in range(0, len(rows), CHUNK):
        ids = [row.id for row in rows[start : start + CHUNK]]
        rows_of_actions, maybe_approved = await _actions(tx, ids)
        approved = await load_approvals(tx, maybe_approved) if maybe_approved else {}
        for row in rows_of_actions:
            made = approved.get((row.review_id, row.position), ())
            found[row.review_id].append(replace(action_of(row, _active(row)), approvals=made))
    return [review_of(row, found[row.id]) for row in rows]


async def _actions(tx: Tx, ids: Sequence[str]) -> tuple[Sequence[Row[Any]], Sequence[str]]:
    """The rows, and the reviews that may have approvals which await others."""
    if len(ids) == 1:
        rows = (await tx.conn.execute(_ITS_ACTIONS, {"review": ids[0]})).all()
        return rows, ids if any(row.approved for row in rows) else ()
    several = _ACTIONS.where(actions.c.review_id.in_(ids))
    return (await tx.conn.execute(several.order_by(actions.c.review_id, actions.c.position))).all(), ids


def _active(row: Row[Any]) -> Decision | None:
    return None if row.made_id is None else decision_of(row[-len(DECISION) :])


async def rename_requester(tx: Tx, review_id: str, named: str | None) -> bool:
    """Note whom the thread names as requester now; False if nothing had to be noted or it is too late."""
    review = await load_review(tx, review_id, lock=True)
    if review is None or review.requester_now == named or review.state not in (ReviewState.OPEN, ReviewState.DECIDED):
        return False
    content = {"before": review.requester_now, "now": named}
    event = events.Event(review.tenant, "requester.changed", review.id, None, events.PLACET, content)
    renamed = None if named == review.requester else named or ""
    return await revise(tx, ref_of(review), [event], renamed=renamed) is not None


async def move(  # noqa: PLR0913 - what the record of a move says, each named by the caller
    tx: Tx,
    review: Review,
    to: ReviewState,
    *,
    why: str = "",
    actor: str = events.PLACET,
    content: Mapping[str, Any] | None = None,
    next_try_at: int | None = None,
) -> Review | None:
    """Move a review on, as it was loaded; None if it changed meanwhile. Raises `IllegalTransition`."""
    return await make_move(tx, review, Move(to, why, actor, content, next_try_at))


async def make_move(tx: Tx, review: Review, made: Move) -> Review | None:
    """As `move`, for a caller that has more to record with it."""
    at = await shift(tx, ref_of(review), made)
    if at is None:
        return None
    settled = tx.now if made.to in TERMINAL else review.settled_at
    return review.evolve(state=made.to, why=made.why, version=at.version, settled_at=settled)


async def touch(tx: Tx, review_id: str) -> None:
    """Have a review's messages drawn again; nothing else changes."""
    await want_redraw(tx, review_id)


async def reopen(tx: Tx, review: Review, *, decide_within_ms: int | None, actor: str, why: str = "") -> Review | None:
    """Give a held review a new deadline and open it again."""
    decide_by = None if decide_within_ms is None else tx.now + decide_within_ms
    opened = await move(tx, review, ReviewState.OPEN, why=why, actor=actor, content={"decide_by": decide_by})
    if opened is None:
        return None
    await tx.conn.execute(update(reviews).where(reviews.c.id == review.id).values(decide_by=decide_by))
    return opened.evolve(decide_by=decide_by)


async def set_outcomes(tx: Tx, review: Review, outcomes: Mapping[int, tuple[Outcome, str | None]]) -> None:
    """Store what became of the calls, by the agent server's word."""
    await store_outcomes(tx, review.id, outcomes)
    content = {"outcomes": {str(position): outcome.value for position, (outcome, _) in outcomes.items()}}
    await events.record(tx, tenant=review.tenant, kind="review.outcomes", review_id=review.id, content=content)
    await want_redraw(tx, review.id)


async def store_outcomes(tx: Tx, review_id: str, outcomes: Mapping[int, tuple[Outcome, str | None]]) -> None:
    """As `set_outcomes`, for a caller that records them in an event of its own."""
    for position, (outcome, result) in outcomes.items():
        here = and_(actions.c.review_id == review_id, actions.c.position == position)
        await tx.conn.execute(update(actions).where(here).values(outcome=outcome.value, outcome_text=result))


async def set_delivered(tx: Tx, review_id: str, *, decide_within_ms: int | None) -> bool:
    """Start the review's time to decide, at the first delivery of its card only."""
    decide_by = None if decide_within_ms is None else tx.now + decide_within_ms
    here = (reviews.c.id == review_id) & reviews.c.delivered_at.is_(None)
    changed = await tx.conn.execute(update(reviews).where(here).values(delivered_at=tx.now, decide_by=decide_by))
    if changed.rowcount != 1:
        return False
    tenant = events.tenant_of(review_id)
    content = {"decide_by": decide_by}
    await events.record(tx, tenant=tenant, kind="review.delivered", review_id=review_id, content=content)
    return True


async def due_to_expire(tx: Tx, *, limit: int) -> list[str]:
    """Reviews whose time to decide has passed and of which nothing was sent, longest passed first."""
    statement = select(reviews.c.id).where(text(EXPIRABLE), reviews.c.decide_by <= tx.now)
    return list(await tx.conn.scalars(statement.order_by(reviews.c.decide_by).limit(limit)))


@dataclass(frozen=True, slots=True)
class ClickFacts:
    """The answer that this delivery was given before, the policy in force, and its actor as Slack last told of them."""

    answer: str | None
    policy_version: int  # 0: none is stored
    account: Account


_POLICY = select(func.coalesce(func.max(policy_versions.c.version), 0).label("version")).subquery("policy")
_ANSWER = select(deliveries.c.answer).where(deliveries.c.key == bindparam("key")).scalar_subquery()
# One row at least: what is not there is joined as nulls.
_BEARING = select(_ANSWER.label("answer"), _POLICY.c.version, *ACCOUNT).select_from(account_joined(_POLICY))


async def bearing_of(tx: Tx, key: str, who: PersonId) -> ClickFacts:
    """As this transaction sees it now; `key` is the delivery's."""
    rows = (await tx.conn.execute(_BEARING, {"key": key, "team": who.team, "user": who.user})).all()
    return ClickFacts(rows[0].answer, rows[0].version, account_of(who.user, rows))


async def near_expiry(tx: Tx, *, within_ms: int, limit: int) -> list[str]:
    """Ids of reviews with less than `within_ms` left, and some."""
    left = (reviews.c.decide_by > tx.now) & (reviews.c.decide_by <= tx.now + within_ms)
    statement = select(reviews.c.id).where(text(EXPIRABLE), left, reviews.c.state == "open")
    return list(await tx.conn.scalars(statement.order_by(reviews.c.decide_by).limit(limit)))
