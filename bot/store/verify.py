"""What the audit proves: every chain walked from its beginning, and what nobody can know from the table alone.

A chain shows what was changed inside it. That its tail was not cut, or all of it written anew, only a head kept
elsewhere can show: what stays unproven is said, not passed over. Nothing here repairs or seals.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import func, select

from bot.core.chain import GENESIS, START, Breach, Head, Link, explain, follow, head_mac
from bot.store.engine import Tx
from bot.store.evidence import Finding, Pruned, evidence, numbering, pruned
from bot.store.registers import audit_events
from bot.store.seal import chains, hashes, links, waiting

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
class Asked:
    """What to verify: one tenant's chain or all, against which heads, with which secret for their MACs."""

    tenant: str | None = None
    heads: Sequence[GivenHead] = ()
    secret: str = ""


@dataclass(frozen=True, slots=True)
class Walked:
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

    chains: tuple[Walked, ...]
    findings: tuple[Finding, ...]
    unproven: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Whether nothing was found wrong."""
        return not self.findings


async def verify(tx: Tx, asked: Asked) -> Report:
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


async def _walk(tx: Tx, tenant: str, cut: Pruned | None, given: Sequence[GivenHead]) -> tuple[Walked, list[Finding]]:
    reached, wrong = await _beginning(tx, tenant, cut), None
    met = _met([reached], given)
    async for page in links(tx, tenant):
        reached, wrong = follow(page, reached)
        met += _met([link.head for link in page if link.seq <= reached.seq], given)
        if wrong is not None:
            break
    late, count = await _unsealed(tx, tenant)
    found = [] if wrong is None else [await _fault(tx, tenant, wrong, reached)]
    return Walked(tenant, reached, count, tuple(met)), [*found, *late]


async def _beginning(tx: Tx, tenant: str, cut: Pruned | None) -> Head:
    """Where a chain begins: at its first event, or after those that retention took, as the record of that says."""
    if cut is None:
        return START
    first = await tx.conn.scalar(select(func.min(audit_events.c.seq)).where(audit_events.c.tenant == tenant))
    return cut.head if first == cut.head.seq + 1 else START


def _met(heads: Sequence[Head], given: Sequence[GivenHead]) -> list[GivenHead]:
    sound = {(head.seq, head.hash) for head in heads}
    return [one for one in given if (one.seq, one.hash) in sound]


async def _fault(tx: Tx, tenant: str, wrong: Link, after: Head) -> Finding:
    last = await tx.conn.scalar(select(func.max(audit_events.c.seq)).where(audit_events.c.tenant == tenant))
    fault = explain(wrong, after, hashes=await hashes(tx, tenant), last=int(last or 0))
    event = None if fault.breach is Breach.MISSING else wrong.entry.id
    return Finding(fault.breach.value, tenant, fault.text, seq=fault.seq, event_id=event)


async def _unsealed(tx: Tx, tenant: str) -> tuple[list[Finding], int]:
    count, oldest = await waiting(tx, tenant)
    if oldest is None or tx.now - oldest <= SEAL_WITHIN_MS:
        return [], count
    text = f"{count} events are not sealed, the oldest since {(tx.now - oldest) // 1000} seconds: is a server running?"
    return [Finding("unsealed", tenant, text)], count


def _heads(asked: Asked, walked: Sequence[Walked]) -> list[Finding]:
    """Heads that no chain leads to: what they stood for was cut off or written anew."""
    found: list[Finding] = []
    for given in asked.heads:
        tenant = next((walk.tenant for walk in walked if given in walk.met), None)
        if tenant is None:
            text = f"no chain leads to {given.seq}:{given.hash}: its tail was cut off, or it was written anew"
            found.append(Finding("head", asked.tenant, text, seq=given.seq))
        elif given.mac is not None and not _signed(asked.secret, tenant, given):
            found.append(Finding("head_mac", tenant, f"the MAC of head {given.seq} was not made with this secret key"))
    return found


def _signed(secret: str, tenant: str, given: GivenHead) -> bool:
    return hmac.compare_digest(head_mac(secret, tenant, Head(given.seq, given.hash)), given.mac or "")


def _unproven(walked: Sequence[Walked]) -> list[str]:
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
        "findings": [{name: getattr(one, name) for name in Finding.__slots__} for one in report.findings],
        "unproven": list(report.unproven),
    }
    return json.dumps(told, indent=2)
