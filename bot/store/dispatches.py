"""Claims, attempts and ends of dispatches, and which of them are looked at once more.

What is known of single attempts of a dispatch, where there is more to know than their number. Written with the arming
or the end of the attempt and never undone: whether one may be declared not taken by deleting its assistant hangs on
what was sent, not on what the policy says by then.

Taking the exclusive right to dispatch on a thread, and taking it over from an owner that died. The right is a row: at
most one live dispatch per thread across all tenants, by a partial unique index; a token that rises with every owner
fences off the ones before.

Closed dispatches whose thread is looked at once more, soon after and beside the way of a click. The quick end of a
dispatch reads the thread's state only; whether somebody else answered at the same moment stands in the list of runs.
So each closed dispatch leaves a row here in the very transaction that closes it, and a crash loses none.

What an owner does with a claim: arm, note the answer, give back, close. Every change holds only for the owner's own
token, and is made with the review's transition in one transaction. None or False means that the claim is no longer
ours: stop, send nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from types import MappingProxyType
from typing import Any

from sqlalchemy import Row, Select, and_, delete, exists, func, insert, literal, not_, or_, select, text, update
from sqlalchemy.exc import IntegrityError

from bot.core.model import Outcome, ReviewState
from bot.store.audit import events
from bot.store.dialects import insert_once, upsert
from bot.store.engine import Tx, new_id
from bot.store.reviews import store_outcomes
from bot.store.tables import (
    DUE_REVIEW,
    LIVE_DISPATCH,
    UNKNOWN_REVIEW,
    attempts,
    dispatches,
    lookbacks,
    reviews,
    tenants,
)
from bot.store.tenants import is_paused
from bot.store.transitions import Move, ReviewRef, lock_ref, shift


async def note_fence(tx: Tx, armed: Claim, *, assistant_id: str) -> None:
    """Record, in the arming's own transaction, the assistant that was made for this attempt alone."""
    row = {"dispatch_id": armed.dispatch_id, "attempt": armed.attempt, "assistant_id": assistant_id}
    await tx.conn.execute(insert(attempts).values(**row, dead=False, refused=False))


async def note_dead(tx: Tx, claim: Claim) -> None:
    """Record that no copy of the claim's last attempt can run: it never left, or the server refused it."""
    await _note(tx, claim, dead=True)


async def note_refused(tx: Tx, claim: Claim) -> None:
    """Record that the server refused the claim's last attempt, which says nothing of another copy of it."""
    await _note(tx, claim, refused=True)


async def _note(tx: Tx, claim: Claim, **what: bool) -> None:
    here = and_(attempts.c.dispatch_id == claim.dispatch_id, attempts.c.attempt == claim.attempt)
    changed = await tx.conn.execute(update(attempts).where(here).values(**what))
    if changed.rowcount == 0:
        row = {"dispatch_id": claim.dispatch_id, "attempt": claim.attempt, "dead": False, "refused": False}
        await tx.conn.execute(insert(attempts).values(**row | what))


@dataclass(frozen=True, slots=True)
class AttemptTally:
    """How the attempts of a dispatch ended: `refused` by the server, and of which nobody can say why they got lost."""

    refused: int
    lost: int


async def tally(tx: Tx, claim: Claim) -> AttemptTally:
    """Count the attempts, the last one too."""
    here = attempts.c.dispatch_id == claim.dispatch_id
    found = [(row.dead, row.refused) for row in await tx.conn.execute(select(attempts).where(here))]
    known = sum(dead or refused for dead, refused in found)
    return AttemptTally(sum(refused for _, refused in found), claim.attempt - known)


async def fence_of(tx: Tx, claim: Claim) -> str | None:
    """The assistant of the claim's last attempt; None where that went to the thread's own."""
    here = and_(attempts.c.dispatch_id == claim.dispatch_id, attempts.c.attempt == claim.attempt)
    found: str | None = await tx.conn.scalar(select(attempts.c.assistant_id).where(here))
    return found


async def first_alive(tx: Tx, claim: Claim) -> int:
    """The first attempt that is not known to be dead, at most the next one: its copies and later ones may still meet."""
    here = and_(attempts.c.dispatch_id == claim.dispatch_id, attempts.c.dead)
    dead = set(await tx.conn.scalars(select(attempts.c.attempt).where(here)))
    return next(number for number in count(1) if number not in dead)


# Candidates of one tenant that a claim looks at before it leaves the rest to the next poll.
CANDIDATES = 8


@dataclass(frozen=True, slots=True)
class Claim:
    """A live dispatch as its owner holds it. `expiry`: nobody decided in time, so every position is rejected."""

    dispatch_id: str
    review_id: str
    tenant: str
    url: str
    thread_id: str
    token: int
    attempt: int
    state: str  # claimed | armed | accepted | closed | idle
    armed_at: int | None
    alive_at: int | None
    run_id: str | None
    lease_until: int
    owner: str
    expiry: bool
    accepted_at: int | None = None


def claim_of(row: Row[Any]) -> Claim:
    """A claim from its dispatch row."""
    return Claim(
        dispatch_id=row.id,
        review_id=row.review_id,
        tenant=row.tenant,
        url=row.server_url,
        thread_id=row.thread_id,
        token=row.token,
        attempt=row.attempt,
        state=row.state,
        armed_at=row.armed_at,
        alive_at=row.alive_at,
        run_id=row.run_id,
        lease_until=row.lease_until,
        owner=row.owner,
        expiry=row.expiry,
        accepted_at=row.accepted_at,
    )


async def claim_next(tx: Tx, *, owner: str, lease_ms: int, skip_tenants: Sequence[str] = ()) -> Claim | None:
    """Claim the oldest due review of the tenant that has waited longest for a claim; None when nothing is due.

    Skips paused tenants, threads with a live dispatch, and rows that another transaction is claiming.
    """
    for tenant in await _waiting_tenants(tx, skip_tenants):
        found = await tx.conn.execute(due_reviews(tenant, now=tx.now))
        for row in found.all():
            claim = await _claim(tx, row, owner=owner, lease_ms=lease_ms)
            if claim:
                return claim
    return None


async def _waiting_tenants(tx: Tx, skip: Sequence[str]) -> list[str]:
    names = [row.tenant for row in await tx.conn.execute(waiting_tenants())]
    if not names:
        return []
    paused = set(await tx.conn.scalars(select(tenants.c.name).where(tenants.c.paused_at.is_not(None))))
    skipped = paused | set(skip)
    return [] if events.EVERYONE in paused else [name for name in names if name not in skipped]


def waiting_tenants() -> Select[tuple[str]]:
    """Tenants with a due review, by their last claim. Hops through the index: the cost is one step a tenant."""
    first = select(func.min(reviews.c.tenant)).where(text(DUE_REVIEW)).scalar_subquery()
    hop = select(first.label("tenant")).cte("waiting", recursive=True)
    following = select(func.min(reviews.c.tenant)).where(text(DUE_REVIEW), reviews.c.tenant > hop.c.tenant)
    hop = hop.union_all(select(following.scalar_subquery()).where(hop.c.tenant.is_not(None)))
    last = select(func.max(dispatches.c.claimed_at)).where(dispatches.c.tenant == hop.c.tenant).scalar_subquery()
    return select(hop.c.tenant).where(hop.c.tenant.is_not(None)).order_by(func.coalesce(last, 0), hop.c.tenant)


def due_reviews(tenant: str, *, now: int) -> Select[Any]:
    """Due reviews of one tenant whose threads nobody holds, oldest first, skipping rows locked elsewhere."""
    taken = exists(literal(1)).where(
        dispatches.c.server_url == reviews.c.server_url,
        dispatches.c.thread_id == reviews.c.thread_id,
        text(LIVE_DISPATCH),
    )
    columns = (reviews.c.id, reviews.c.tenant, reviews.c.state, reviews.c.version)
    statement = select(*columns, reviews.c.server_url, reviews.c.thread_id).where(
        text(DUE_REVIEW), reviews.c.tenant == tenant, reviews.c.next_try_at <= now, not_(taken)
    )
    ordered = statement.order_by(reviews.c.next_try_at, reviews.c.id).limit(CANDIDATES)
    return ordered.with_for_update(skip_locked=True, key_share=True, of=reviews)


async def _claim(tx: Tx, row: Row[Any], *, owner: str, lease_ms: int) -> Claim | None:
    held = {"owner": owner, "lease_ms": lease_ms, "lease_until": tx.now + lease_ms, "claimed_at": tx.now}
    if not (await _first(tx, row, held) or await _again(tx, row, held)):
        return None
    taken = (await tx.conn.execute(select(dispatches).where(dispatches.c.review_id == row.id))).one()
    claim = claim_of(taken)
    content = {"dispatch": claim.dispatch_id, "token": claim.token, "attempt": claim.attempt, "owner": owner}
    at = ReviewRef(row.id, row.tenant, ReviewState(row.state), row.version)
    await shift(tx, at, Move(ReviewState.CLAIMED, content=content))
    return claim


async def _first(tx: Tx, row: Row[Any], held: dict[str, Any]) -> bool:
    fresh = {
        "id": new_id("d"),
        "review_id": row.id,
        "tenant": row.tenant,
        "server_url": row.server_url,
        "thread_id": row.thread_id,
        "state": "claimed",
        "live": True,
        "expiry": row.state == ReviewState.EXPIRED.value,
        "token": 1,
        "attempt": 0,
        "next_try_at": 0,
        "why": "",
    }
    return await insert_once(tx, dispatches, fresh | held)


async def _again(tx: Tx, row: Row[Any], held: dict[str, Any]) -> bool:
    """Claim with the dispatch that the review has already: its id must stay, because the server may know it."""
    expiry = or_(dispatches.c.expiry, literal(row.state == ReviewState.EXPIRED.value))
    renewed = held | {"token": dispatches.c.token + 1, "state": "claimed", "live": True, "expiry": expiry, "why": ""}
    cleared = {"armed_at": None, "alive_at": None, "accepted_at": None, "run_id": None, "outcome": None}
    here = and_(dispatches.c.review_id == row.id, not_(dispatches.c.live))
    try:
        async with tx.conn.begin_nested():
            changed = await tx.conn.execute(update(dispatches).where(here).values(**renewed, **cleared))
    except IntegrityError:
        # Another review of the thread was claimed since we looked.
        return False
    return changed.rowcount == 1


async def adopt_orphan(tx: Tx, *, owner: str, lease_ms: int) -> Claim | None:
    """Take over one live dispatch whose lease has run out, as it stands, under a new token."""
    lapsed = select(dispatches.c.id).where(text(LIVE_DISPATCH), dispatches.c.lease_until < tx.now)
    one = lapsed.order_by(dispatches.c.lease_until).limit(1).with_for_update(skip_locked=True).scalar_subquery()
    held = {"owner": owner, "lease_ms": lease_ms, "lease_until": tx.now + lease_ms, "token": dispatches.c.token + 1}
    changed = update(dispatches).where(dispatches.c.id == one, text(LIVE_DISPATCH)).values(**held)
    row = (await tx.conn.execute(changed.returning(dispatches))).one_or_none()
    if row is None:
        return None
    content = {"dispatch": row.id, "token": row.token, "state": row.state, "owner": owner}
    await events.record(tx, tenant=row.tenant, kind="dispatch.adopted", review_id=row.review_id, content=content)
    return claim_of(row)


# The window within which two answers count as racing, so that the other one's row is sure to be listed.
FIRST_LOOK_MS = 1_000


@dataclass(frozen=True, slots=True)
class LookbackDue:
    """A dispatch to look back at: closed when (ms), and the alarm that was raised for it already, if any."""

    claim: Claim
    closed_at: int
    alarm: str | None


async def look_back(tx: Tx, dispatch_id: str, *, after_ms: int = FIRST_LOOK_MS) -> None:
    """Have a dispatch looked at so much later."""
    await upsert(tx, lookbacks, {"dispatch_id": dispatch_id, "look_at": tx.now + after_ms})


async def any_due(tx: Tx) -> bool:
    """Whether something is due: asked in a reading transaction, so that an idle bot writes nothing."""
    first = await tx.conn.scalar(select(func.min(lookbacks.c.look_at)))
    return first is not None and first <= tx.now


async def take_due(tx: Tx, *, lease_ms: int, limit: int) -> list[LookbackDue]:
    """What is due, put off by `lease_ms` so that one worker looks."""
    here = select(lookbacks.c.dispatch_id).where(lookbacks.c.look_at <= tx.now).order_by(lookbacks.c.look_at)
    ids = list(await tx.conn.scalars(here.limit(limit).with_for_update(skip_locked=True)))
    if not ids:
        return []
    await tx.conn.execute(update(lookbacks).where(lookbacks.c.dispatch_id.in_(ids)).values(look_at=tx.now + lease_ms))
    found = await tx.conn.execute(select(dispatches).where(dispatches.c.id.in_(ids)).order_by(dispatches.c.id))
    return [LookbackDue(claim_of(row), row.closed_at or tx.now, row.alarm) for row in found]


async def put_off(tx: Tx, again: Mapping[str, int], done: Collection[str]) -> None:
    """Look at some again, so many ms from now by dispatch, and at those that are done no more."""
    for dispatch_id, after_ms in again.items():
        await look_back(tx, dispatch_id, after_ms=after_ms)
    if done:
        await tx.conn.execute(delete(lookbacks).where(lookbacks.c.dispatch_id.in_(done)))


async def known_dispatches(tx: Tx, marks: Collection[str]) -> frozenset[str]:
    """Which of these marks are dispatches of ours: their runs answer other interrupts, one after the other."""
    return frozenset(await tx.conn.scalars(select(dispatches.c.id).where(dispatches.c.id.in_(marks))))


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
    at = await lock_ref(tx, claim.review_id)
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
    at = await lock_ref(tx, claim.review_id)
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
    at = await lock_ref(tx, claim.review_id)
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
    at = await lock_ref(tx, claim.review_id)
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
    at = await lock_ref(tx, claim.review_id)
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


async def _follow(tx: Tx, at: ReviewRef, to: ReviewState, **said: Any) -> ReviewRef | None:
    """Move the review along with its dispatch, unless someone with another reason moved it first."""
    if at.state not in {ReviewState.CLAIMED, ReviewState.ARMED, ReviewState.SENT} or at.state is to:
        return None
    return await shift(tx, at, Move(to, **said))


def _named(claim: Claim, **content: Any) -> dict[str, Any]:
    return {"dispatch": claim.dispatch_id, "token": claim.token, **content}


async def _record(tx: Tx, claim: Claim, kind: str, content: dict[str, Any]) -> None:
    await events.record(tx, tenant=claim.tenant, kind=kind, review_id=claim.review_id, content=content)
