"""What an owner does with a claim: arm, note the answer, give back, close.

Every change holds only for the owner's own token, and is made with the review's transition in one transaction. None
or False means that the claim is no longer ours: stop, send nothing. Whether a request was taken is not judged here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from sqlalchemy import Row, and_, or_, select, text, update

from bot.core.model import Outcome, ReviewState
from bot.store import audit
from bot.store.claims import Claim, adopt_orphan, claim_next, claim_of
from bot.store.engine import Tx
from bot.store.lookbacks import look_back
from bot.store.reviews import store_outcomes
from bot.store.tables import UNKNOWN_REVIEW, dispatches, reviews
from bot.store.tenants import is_paused
from bot.store.transitions import Move, Standing, shift, standing

__all__ = [
    "Claim",
    "accept",
    "adopt_orphan",
    "arm",
    "claim_next",
    "close",
    "load_claim",
    "not_taken",
    "raise_alarm",
    "release",
    "renew",
    "set_alive",
    "unknown_due",
]

UNKNOWN_ALARM, RAISED_ALARM = "unknown", "raised"
_OPEN_AGAIN = frozenset({ReviewState.DECIDED, ReviewState.OPEN, ReviewState.EXPIRED})
_NOTHING: Mapping[int, tuple[Outcome, str | None]] = MappingProxyType({})


async def _change(tx: Tx, claim: Claim, *states: str, **changes: Any) -> Row[Any] | None:
    """Change the dispatch if it is still ours and in one of `states`; every write renews the lease."""
    here = and_(
        dispatches.c.id == claim.dispatch_id,
        dispatches.c.token == claim.token,
        dispatches.c.live,
        dispatches.c.state.in_(states),
    )
    lease = {"lease_until": tx.now + dispatches.c.lease_ms}
    changed = update(dispatches).where(here).values(**(lease | changes)).returning(dispatches)
    row: Row[Any] | None = (await tx.conn.execute(changed)).one_or_none()
    return row


async def renew(tx: Tx, claim: Claim, *, lease_ms: int) -> Claim | None:
    """Keep the claim for longer. Not recorded: nothing but the clock moved."""
    row = await _change(tx, claim, "claimed", "armed", "accepted", lease_until=tx.now + lease_ms, lease_ms=lease_ms)
    return None if row is None else claim_of(row)


async def arm(tx: Tx, claim: Claim, *, body_hash: str) -> Claim | None:
    """Commit to sending: after this transaction the first byte may leave. None: it must not.

    A pause that came since the claim counts: this is the last place where it can.
    """
    at = await standing(tx, claim.review_id)
    if at is None or at.state is not ReviewState.CLAIMED or await is_paused(tx, claim.tenant):
        return None
    armed = {"attempt": dispatches.c.attempt + 1, "armed_at": tx.now, "alive_at": None, "sent_body_hash": body_hash}
    row = await _change(tx, claim, "claimed", state="armed", **armed)
    if row is None:
        return None
    content = _named(claim, attempt=row.attempt, body_hash=body_hash)
    await shift(tx, at, Move(ReviewState.ARMED, content=content))
    return claim_of(row)


async def accept(tx: Tx, claim: Claim, *, run_id: str | None) -> Claim | None:
    """Note that the server took the run; from here nothing is sent again."""
    at = await standing(tx, claim.review_id)
    row = await _change(tx, claim, "armed", state="accepted", accepted_at=tx.now, run_id=run_id)
    if row is None or at is None:
        return None
    await _follow(tx, at, ReviewState.SENT, content=_named(claim, run=run_id))
    return claim_of(row)


async def set_alive(tx: Tx, claim: Claim) -> Claim | None:
    """Note a quick look that found no trace of the attempt: the settling time runs from here."""
    row = await _change(tx, claim, "armed", alive_at=tx.now)
    if row is None:
        return None
    await _record(tx, claim, "dispatch.absent", _named(claim, attempt=claim.attempt))
    return claim_of(row)


async def not_taken(tx: Tx, claim: Claim, *, why: str, retry_at: int) -> bool:
    """The attempt is proven never to have reached the server: the review waits to be claimed again."""
    at = await standing(tx, claim.review_id)
    row = await _free(tx, claim, "armed", state="idle", why=why, alive_at=None, next_try_at=retry_at)
    if row is None or at is None:
        return False
    content = _named(claim, attempt=claim.attempt, not_taken=True)
    await _follow(tx, at, ReviewState.DECIDED, why=why, content=content, next_try_at=retry_at)
    return True


async def release(  # noqa: PLR0913 - how it goes on, each part named by the caller
    tx: Tx,
    claim: Claim,
    *,
    to: ReviewState,
    why: str,
    retry_at: int | None = None,
    outcomes: Mapping[int, tuple[Outcome, str | None]] = _NOTHING,
) -> bool:
    """Give the thread back with nothing sent. A review that has moved on meanwhile stays where it is.

    `outcomes`: what became of the calls by somebody else's answer.
    """
    at = await standing(tx, claim.review_id)
    again = to in _OPEN_AGAIN
    changes: dict[str, Any] = {"state": "idle" if again else "closed", "why": why}
    if to is ReviewState.OPEN:
        # People will decide anew: what was an expiry is one no longer.
        changes["expiry"] = False
    row = await _free(tx, claim, "claimed", **changes, closed_at=None if again else tx.now)
    if row is None or at is None:
        return False
    await store_outcomes(tx, claim.review_id, outcomes)
    theirs = {"outcomes": _told(outcomes)} if outcomes else {}
    await _follow(tx, at, to, why=why, content=_named(claim, **theirs), next_try_at=retry_at)
    return True


async def close(
    tx: Tx,
    claim: Claim,
    *,
    to: ReviewState,
    why: str,
    outcomes: Mapping[int, tuple[Outcome, str | None]] = _NOTHING,
) -> bool:
    """End a dispatch that was armed or accepted, with what became of each call."""
    at = await standing(tx, claim.review_id)
    row = await _free(tx, claim, "armed", "accepted", state="closed", why=why, outcome=to.value, closed_at=tx.now)
    if row is None or at is None:
        return False
    await store_outcomes(tx, claim.review_id, outcomes)
    if to is ReviewState.RESUMED and at.state is ReviewState.ARMED:
        at = await _follow(tx, at, ReviewState.SENT, content=_named(claim)) or at
    await _follow(tx, at, to, why=why, content=_named(claim, run=row.run_id, outcomes=_told(outcomes)))
    if to is not ReviewState.UNKNOWN:  # that is looked at again anyway
        await look_back(tx, claim.dispatch_id)
    return True


def _told(outcomes: Mapping[int, tuple[Outcome, str | None]]) -> dict[str, str]:
    """The outcomes as they stand in the record, without anybody's words."""
    return {str(position): outcome.value for position, (outcome, _) in outcomes.items()}


async def raise_alarm(tx: Tx, claim: Claim, *, alarm: str, runs: Sequence[str] = ()) -> bool:
    """Mark a dispatch for an operator's eyes ("unknown", "raised", "possibly_twice", "raced"); True only the first time.

    What was unknown, or failed, may turn out to have run twice: that is news, and the only alarm that follows another.
    """
    none, asked = dispatches.c.alarm.is_(None), (UNKNOWN_ALARM, RAISED_ALARM)
    fresh = none if alarm in asked else or_(none, dispatches.c.alarm.in_(asked))
    here = and_(dispatches.c.id == claim.dispatch_id, fresh)
    changed = await tx.conn.execute(update(dispatches).where(here).values(alarm=alarm, alarmed_at=tx.now))
    if changed.rowcount != 1:
        return False
    await _record(tx, claim, "dispatch.alarm", _named(claim, alarm=alarm, runs=list(runs)))
    return True


async def unknown_due(tx: Tx, *, every_ms: int, limit: int) -> list[Claim]:
    """Dispatches of unknown reviews whose next look is due, each put off by `every_ms` so that one worker looks."""
    due = select(reviews.c.id).where(text(UNKNOWN_REVIEW), reviews.c.next_try_at <= tx.now)
    ordered = due.order_by(reviews.c.next_try_at).limit(limit).with_for_update(skip_locked=True, key_share=True)
    ids = list(await tx.conn.scalars(ordered))
    if not ids:
        return []
    await tx.conn.execute(update(reviews).where(reviews.c.id.in_(ids)).values(next_try_at=tx.now + every_ms))
    found = await tx.conn.execute(select(dispatches).where(dispatches.c.review_id.in_(ids)).order_by(dispatches.c.id))
    return [claim_of(row) for row in found]


async def load_claim(tx: Tx, review_id: str) -> Claim | None:
    """The dispatch of one review as it stands, live or not, for looking at."""
    row = (await tx.conn.execute(select(dispatches).where(dispatches.c.review_id == review_id))).one_or_none()
    return None if row is None else claim_of(row)


async def _free(tx: Tx, claim: Claim, *states: str, **changes: Any) -> Row[Any] | None:
    return await _change(tx, claim, *states, live=False, **changes)


async def _follow(tx: Tx, at: Standing, to: ReviewState, **said: Any) -> Standing | None:
    """Move the review along with its dispatch, unless someone with another reason moved it first."""
    if at.state not in {ReviewState.CLAIMED, ReviewState.ARMED, ReviewState.SENT} or at.state is to:
        return None
    return await shift(tx, at, Move(to, **said))


def _named(claim: Claim, **content: Any) -> dict[str, Any]:
    return {"dispatch": claim.dispatch_id, "token": claim.token, **content}


async def _record(tx: Tx, claim: Claim, kind: str, content: dict[str, Any]) -> None:
    await audit.record(tx, tenant=claim.tenant, kind=kind, review_id=claim.review_id, content=content)
