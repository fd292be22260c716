"""What the audit proves, and whether the tables tell the same as the record.

Whether the decisions in force are the ones on record, and whether the record's numbers have holes. The tables say
what is true now, the record says how it came about: a decision or an approval that only one of them knows, or that
they tell differently, was written by somebody else than Placet. Reads only.

What the audit proves: every chain walked from its beginning, and what nobody can know from the table alone. A chain
shows what was changed inside it. That its tail was not cut, or all of it written anew, only a head kept elsewhere can
show: what stays unproven is said, not passed over. Nothing here repairs or seals.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row, Table, func, select, text

from bot.store.audit.chain import GENESIS, START, Breach, Head, Link, explain, follow, head_mac
from bot.store.audit.seal import chains, hashes, links, waiting
from bot.store.connection import SQLITE
from bot.store.engine import Tx
from bot.store.tables import approvals, audit_events, decisions, reviews

PRUNED = "audit.pruned"
PAGE = 500
HOLES_NAMED = 5


@dataclass(frozen=True, slots=True)
class AuditFinding:
    """Something that is wrong, by our own word for its kind; None where it does not apply."""

    kind: str
    tenant: str | None
    text: str
    seq: int | None = None
    event_id: int | None = None
    review_id: str | None = None


@dataclass(frozen=True, slots=True)
class Pruned:
    """What retention took from a chain: everything up to `head`, written before `before` (ms), ids to `through`."""

    head: Head
    before: int
    through: int


async def pruned(tx: Tx, tenant: str) -> Pruned | None:
    """The newest note that retention took the beginning of a chain."""
    notes = select(audit_events.c.content).where(audit_events.c.tenant == tenant, audit_events.c.kind == PRUNED)
    content = await tx.conn.scalar(notes.order_by(audit_events.c.id.desc()).limit(1))
    if content is None:
        return None
    told = json.loads(content)
    return Pruned(Head(told["seq"], told["hash"]), told["before"], told["through"])


@dataclass(frozen=True, slots=True)
class EvidenceTable:
    """One table whose rows the record bears out: the kind of their events, and what an event calls row and digest."""

    name: str
    table: Table
    kind: str
    digest: str

    def told(self, row: Row[Any]) -> dict[str, Any]:
        """What the event of this row must say."""
        return {
            "type": row.type,
            self.digest: row.digest,
            "showing": row.showing_id,
            "person": {"team": row.team, "user": row.user_id},
            "rule": row.rule,
            "policy_version": row.policy_version,
            "position": row.position,
        }


BOOKS = (
    EvidenceTable("decision", decisions, "decision.made", "decided"),
    EvidenceTable("approval", approvals, "approval.made", "approved"),
)


async def evidence(tx: Tx, *, tenant: str | None, cuts: Mapping[str, Pruned | None]) -> list[AuditFinding]:
    """Decisions and approvals without their event, those that it tells differently, and events without their row."""
    found: list[AuditFinding] = []
    for book in BOOKS:
        async for rows in _rows(tx, book, tenant):
            found += await _compare(tx, book, rows, cuts)
        async for events in _events(tx, book, tenant):
            found += await _reverse(tx, book, events)
    return found


async def _rows(tx: Tx, book: EvidenceTable, tenant: str | None) -> AsyncIterator[Sequence[Row[Any]]]:
    columns = select(book.table, reviews.c.tenant).join(reviews, reviews.c.id == book.table.c.review_id)
    after = ""
    while True:
        here = columns.where(book.table.c.id > after)
        if tenant is not None:
            here = here.where(reviews.c.tenant == tenant)
        rows = (await tx.conn.execute(here.order_by(book.table.c.id).limit(PAGE))).all()
        if not rows:
            return
        yield rows
        after = rows[-1].id


async def _events(tx: Tx, book: EvidenceTable, tenant: str | None) -> AsyncIterator[Sequence[Row[Any]]]:
    columns = select(*(audit_events.c[name] for name in ("id", "tenant", "review_id", "seq", "content")))
    after = 0
    while True:
        here = columns.where(audit_events.c.kind == book.kind, audit_events.c.id > after)
        if tenant is not None:
            here = here.where(audit_events.c.tenant == tenant)
        rows = (await tx.conn.execute(here.order_by(audit_events.c.id).limit(PAGE))).all()
        if not rows:
            return
        yield rows
        after = rows[-1].id


async def _compare(
    tx: Tx, book: EvidenceTable, rows: Sequence[Row[Any]], cuts: Mapping[str, Pruned | None]
) -> list[AuditFinding]:
    told = await _made(tx, book, sorted({row.review_id for row in rows}))
    found: list[AuditFinding] = []
    for row in rows:
        cut = cuts.get(row.tenant)
        if cut is not None and row.at < cut.before:
            continue
        event, wanted = told.get(row.id), book.told(row)
        if event is None:
            text_ = f"{book.name} {row.id} by {row.team}/{row.user_id} has no event"
            found.append(AuditFinding("no_event", row.tenant, text_, review_id=row.review_id))
        elif wanted != {name: event.get(name) for name in wanted}:
            text_ = f"{book.name} {row.id} is not what its event says"
            found.append(AuditFinding("differs", row.tenant, text_, review_id=row.review_id))
    return found


async def _made(tx: Tx, book: EvidenceTable, review_ids: Sequence[str]) -> dict[str, dict[str, Any]]:
    """What the record says of the rows of some reviews, by row."""
    columns = select(audit_events.c.content, audit_events.c.position)
    made = columns.where(audit_events.c.review_id.in_(review_ids), audit_events.c.kind == book.kind)
    events = [json.loads(row.content) | {"position": row.position} for row in await tx.conn.execute(made)]
    return {event[book.name]: event for event in events if book.name in event}


async def _reverse(tx: Tx, book: EvidenceTable, events: Sequence[Row[Any]]) -> list[AuditFinding]:
    """Events whose row is gone: rows are voided, never deleted."""
    named = {json.loads(event.content).get(book.name): event for event in events}
    held = select(book.table.c.id).where(book.table.c.id.in_([name for name in named if name is not None]))
    there = set(await tx.conn.scalars(held))
    return [
        AuditFinding(
            "no_row",
            event.tenant,
            f"{book.name} {name} is on record and not in the table",
            seq=event.seq,
            event_id=event.id,
            review_id=event.review_id,
        )
        for name, event in named.items()
        if name not in there
    ]


async def numbering(tx: Tx, cuts: Sequence[Pruned | None]) -> tuple[list[AuditFinding], list[str]]:
    """Numbers that were given out and stand in no event.

    SQLite gives a number out only with its event, so a hole is an event that was removed, sealed or not. PostgreSQL
    loses the numbers of transactions that failed, so there a hole proves nothing.
    """
    start = max((cut.through for cut in cuts if cut is not None), default=0)
    holes = await _holes(tx, start)
    if not holes:
        return [], []
    shown = ", ".join(holes[:HOLES_NAMED]) + (
        f" and {len(holes) - HOLES_NAMED} more" if len(holes) > HOLES_NAMED else ""
    )
    if tx.dialect == SQLITE:
        return [AuditFinding("missing", None, f"events were removed from the table: ids {shown}")], []
    return [], [f"that nothing was removed before it was sealed: ids {shown} were given out and stand in no event"]


async def _holes(tx: Tx, start: int) -> list[str]:
    previous = func.lag(audit_events.c.id, 1, start).over(order_by=audit_events.c.id).label("previous")
    numbered = select(audit_events.c.id, previous).where(audit_events.c.id > start).subquery()
    gaps = select(numbered).where(numbered.c.id > numbered.c.previous + 1).order_by(numbered.c.id).limit(100)
    holes = [(row.previous + 1, row.id - 1) for row in await tx.conn.execute(gaps)]
    newest = max(await tx.conn.scalar(select(func.max(audit_events.c.id))) or 0, start)
    given = await _given(tx)
    if given > newest:
        holes.append((newest + 1, given))
    return [str(first) if first == last else f"{first}-{last}" for first, last in holes]


async def _given(tx: Tx) -> int:
    """The highest number that was ever given out."""
    if tx.dialect == SQLITE:
        counter = "SELECT seq FROM sqlite_sequence WHERE name = 'audit_events'"
    else:
        counter = "SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM audit_events_id_seq"
    return int(await tx.conn.scalar(text(counter)) or 0)


SEAL_WITHIN_MS = 60_000


@dataclass(frozen=True, slots=True)
class GivenHead:
    """A head that was kept elsewhere: `SEQ:HASH`, or with the logged MAC `SEQ:HASH:MAC`."""

    seq: int
    hash: str
    mac: str | None = None

    @staticmethod
    def read(text: str) -> GivenHead | None:
        """None for a text that is no head."""
        seq, _, rest = text.strip().partition(":")
        digest, _, mac = rest.partition(":")
        if not seq.isdigit() or len(digest) != len(GENESIS) or not set(digest) <= set("0123456789abcdef"):
            return None
        return GivenHead(int(seq), digest, mac or None)


@dataclass(frozen=True, slots=True)
class VerifyRequest:
    """What to verify: one tenant's chain or all, against which heads, with which secret for their MACs."""

    tenant: str | None = None
    heads: Sequence[GivenHead] = ()
    secret: str = ""


@dataclass(frozen=True, slots=True)
class ChainReport:
    """One chain: how far it holds, and how many of its events are not sealed yet."""

    tenant: str
    head: Head
    unsealed: int
    met: tuple[GivenHead, ...]  # the given heads that it leads to

    @property
    def proven(self) -> int:
        """Up to which event a given head proves it, 0: none does."""
        return max((one.seq for one in self.met), default=0)


@dataclass(frozen=True, slots=True)
class Report:
    """The whole answer."""

    chains: tuple[ChainReport, ...]
    findings: tuple[AuditFinding, ...]
    unproven: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Whether nothing was found wrong."""
        return not self.findings


async def verify(tx: Tx, asked: VerifyRequest) -> Report:
    """Walk the chains, compare the given heads, and look for decisions that the record does not bear out."""
    names = [asked.tenant] if asked.tenant else await chains(tx)
    cuts = {name: await pruned(tx, name) for name in names}
    walks = [await _walk(tx, name, cuts[name], asked.heads) for name in names]
    walked = tuple(walk for walk, _ in walks)
    findings = [one for _, found in walks for one in found]
    findings += _heads(asked, walked)
    findings += await evidence(tx, tenant=asked.tenant, cuts=cuts)
    gaps, doubts = await numbering(tx, list(cuts.values())) if asked.tenant is None else ([], [])
    return Report(walked, (*findings, *gaps), (*_unproven(walked), *doubts))


async def _walk(
    tx: Tx, tenant: str, cut: Pruned | None, given: Sequence[GivenHead]
) -> tuple[ChainReport, list[AuditFinding]]:
    reached, wrong = await _beginning(tx, tenant, cut), None
    met = _met([reached], given)
    async for page in links(tx, tenant):
        reached, wrong = follow(page, reached)
        met += _met([link.head for link in page if link.seq <= reached.seq], given)
        if wrong is not None:
            break
    late, count = await _unsealed(tx, tenant)
    found = [] if wrong is None else [await _fault(tx, tenant, wrong, reached)]
    return ChainReport(tenant, reached, count, tuple(met)), [*found, *late]


async def _beginning(tx: Tx, tenant: str, cut: Pruned | None) -> Head:
    """Where a chain begins: at its first event, or after those that retention took, as the record of that says."""
    if cut is None:
        return START
    first = await tx.conn.scalar(select(func.min(audit_events.c.seq)).where(audit_events.c.tenant == tenant))
    return cut.head if first == cut.head.seq + 1 else START


def _met(heads: Sequence[Head], given: Sequence[GivenHead]) -> list[GivenHead]:
    sound = {(head.seq, head.hash) for head in heads}
    return [one for one in given if (one.seq, one.hash) in sound]


async def _fault(tx: Tx, tenant: str, wrong: Link, after: Head) -> AuditFinding:
    last = await tx.conn.scalar(select(func.max(audit_events.c.seq)).where(audit_events.c.tenant == tenant))
    fault = explain(wrong, after, hashes=await hashes(tx, tenant), last=int(last or 0))
    event = None if fault.breach is Breach.MISSING else wrong.entry.id
    return AuditFinding(fault.breach.value, tenant, fault.text, seq=fault.seq, event_id=event)


async def _unsealed(tx: Tx, tenant: str) -> tuple[list[AuditFinding], int]:
    count, oldest = await waiting(tx, tenant)
    if oldest is None or tx.now - oldest <= SEAL_WITHIN_MS:
        return [], count
    text = f"{count} events are not sealed, the oldest since {(tx.now - oldest) // 1000} seconds: is a server running?"
    return [AuditFinding("unsealed", tenant, text)], count


def _heads(asked: VerifyRequest, walked: Sequence[ChainReport]) -> list[AuditFinding]:
    """Heads that no chain leads to: what they stood for was cut off or written anew."""
    found: list[AuditFinding] = []
    for given in asked.heads:
        tenant = next((walk.tenant for walk in walked if given in walk.met), None)
        if tenant is None:
            text = f"no chain leads to {given.seq}:{given.hash}: its tail was cut off, or it was written anew"
            found.append(AuditFinding("head", asked.tenant, text, seq=given.seq))
        elif given.mac is not None and not _signed(asked.secret, tenant, given):
            found.append(
                AuditFinding("head_mac", tenant, f"the MAC of head {given.seq} was not made with this secret key")
            )
    return found


def _signed(secret: str, tenant: str, given: GivenHead) -> bool:
    return hmac.compare_digest(head_mac(secret, tenant, Head(given.seq, given.hash)), given.mac or "")


def _unproven(walked: Sequence[ChainReport]) -> list[str]:
    """What the table alone cannot show."""
    told: list[str] = []
    for walk in walked:
        newest = walk.head.seq + walk.unsealed
        if walk.proven == 0 and newest:
            told.append(
                f"{walk.tenant}: that no event after the last one was cut off, and that the chain was not written "
                "anew as a whole: only a head kept elsewhere shows that (--head SEQ:HASH)"
            )
        elif walk.proven < newest:
            told.append(
                f"{walk.tenant}: that nothing was cut off or changed after event {walk.proven}: give a newer head"
            )
    return told


def as_json(report: Report) -> str:
    """The report as the command prints it."""
    told = {
        "ok": report.holds,
        "chains": [
            {
                "tenant": walk.tenant,
                "events": walk.head.seq,
                "head": str(walk.head),
                "unsealed": walk.unsealed,
                "proven_by_head": walk.proven,
            }
            for walk in report.chains
        ],
        "findings": [{name: getattr(one, name) for name in AuditFinding.__slots__} for one in report.findings],
        "unproven": list(report.unproven),
    }
    return json.dumps(told, indent=2)
