"""What is known of single attempts of a dispatch, where there is more to know than their number.

Written with the arming or the end of the attempt and never undone: whether one may be declared not taken by deleting its
assistant hangs on what was sent, not on what the policy says by then. The agent server is not known here.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count

from sqlalchemy import and_, insert, select, update

from bot.store.claims import Claim
from bot.store.engine import Tx
from bot.store.tables import attempts


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
class Tally:
    """How the attempts of a dispatch ended: `refused` by the server, and of which nobody can say why they got lost."""

    refused: int
    lost: int


async def tally(tx: Tx, claim: Claim) -> Tally:
    """Count the attempts, the last one too."""
    here = attempts.c.dispatch_id == claim.dispatch_id
    found = [(row.dead, row.refused) for row in await tx.conn.execute(select(attempts).where(here))]
    known = sum(dead or refused for dead, refused in found)
    return Tally(sum(refused for _, refused in found), claim.attempt - known)


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
