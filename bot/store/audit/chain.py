"""The hash chain that makes a changed record show.

Each event is sealed with its number, the hash of the one before it and its own hash over both and its content, so
that nothing before a known head can be changed, removed, moved or put in without a hash that no longer fits. The hash
needs no secret: whoever can write the table can also rewrite it from some event on, and only a head that was kept
elsewhere proves that nobody did. This module must not know where events are stored.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import StrEnum

from bot.core.json import canonical

GENESIS = "0" * 64


@dataclass(frozen=True, slots=True)
class Entry:
    """What an event says; `content` is the canonical JSON text as stored."""

    tenant: str
    id: int
    at: int
    kind: str
    review_id: str | None
    position: int | None
    actor: str
    content: str


@dataclass(frozen=True, slots=True)
class Link:
    """A sealed event."""

    entry: Entry
    seq: int
    prev_hash: str
    hash: str

    @property
    def head(self) -> Head:
        """The chain's head when this is its last event."""
        return Head(self.seq, self.hash)


@dataclass(frozen=True, slots=True)
class Head:
    """How far a chain goes, and the hash that everything before it leads to."""

    seq: int
    hash: str

    def __str__(self) -> str:
        return f"{self.seq}:{self.hash}"


START = Head(0, GENESIS)


class Breach(StrEnum):
    """How an event fails to fit its chain."""

    CHANGED = "changed"
    MISSING = "missing"
    REORDERED = "reordered"
    INSERTED = "inserted"


@dataclass(frozen=True, slots=True)
class ChainFault:
    """The first event that does not fit, as far as the chain itself can tell what was done."""

    breach: Breach
    seq: int
    text: str


def link_hash(entry: Entry, seq: int, prev_hash: str) -> str:
    """64 hex characters over canonical JSON of everything that an event says and where it stands."""
    content = [
        entry.tenant,
        seq,
        entry.id,
        entry.at,
        entry.kind,
        entry.review_id,
        entry.position,
        entry.actor,
        entry.content,
        prev_hash,
    ]
    return hashlib.sha256(canonical(content)).hexdigest()


def seal(entries: Iterable[Entry], after: Head) -> list[Link]:
    """Chain events on in this order."""
    links: list[Link] = []
    for entry in entries:
        seq = after.seq + 1
        links.append(Link(entry, seq, after.hash, link_hash(entry, seq, after.hash)))
        after = links[-1].head
    return links


def head_mac(secret: str, tenant: str, head: Head) -> str:
    """HMAC-SHA-256 of a head: a logged head that carries it was logged by a holder of the secret."""
    message = b"placet audit head\n" + canonical([tenant, head.seq, head.hash])
    return hmac.new(secret.encode(), message, hashlib.sha256).hexdigest()


def follow(links: Iterable[Link], after: Head) -> tuple[Head, Link | None]:
    """Walk a chain: the last head that holds, and the first link that does not fit, if any."""
    for link in links:
        if not _fits(link, after):
            return after, link
        after = link.head
    return after, None


def _fits(link: Link, after: Head) -> bool:
    placed = link.seq == after.seq + 1 and link.prev_hash == after.hash
    return placed and link_hash(link.entry, link.seq, link.prev_hash) == link.hash


def explain(link: Link, after: Head, *, hashes: Collection[str], last: int) -> ChainFault:
    """What was done to a chain whose link does not fit after `after`.

    `hashes` are all stored hashes of the chain and `last` its highest number: a hash still tells under which number
    its event was sealed.
    """
    if link.seq > after.seq + 1:
        return ChainFault(Breach.MISSING, after.seq + 1, _gap(after.seq + 1, link.seq - 1))
    if link.seq <= after.seq:
        return ChainFault(Breach.INSERTED, link.seq, f"event {link.seq} stands there twice")
    was = next((seq for seq in range(1, last + 2) if link_hash(link.entry, seq, link.prev_hash) == link.hash), None)
    if was is None:
        return ChainFault(Breach.CHANGED, link.seq, f"event {link.seq} no longer says what was sealed")
    return _moved(link, was, known=link.prev_hash in hashes)


def _moved(link: Link, was: int, *, known: bool) -> ChainFault:
    seq = link.seq
    if was == seq and not known and seq == 1:
        return ChainFault(Breach.MISSING, seq, "the chain's first event was sealed after one that is not there")
    if was == seq:
        return ChainFault(Breach.CHANGED, seq - 1, f"event {seq - 1} is not the one that event {seq} was sealed after")
    if was < seq:
        return ChainFault(Breach.INSERTED, seq - 1, f"event {seq} was sealed as {was}: something was put in before it")
    if known:
        return ChainFault(Breach.REORDERED, seq, f"event {seq} was sealed as {was}: its place was changed")
    return ChainFault(Breach.MISSING, seq, f"event {seq} was sealed as {was}: {was - seq} before it are gone")


def _gap(first: int, last: int) -> str:
    return f"event {first} is missing" if first == last else f"events {first} to {last} are missing"
