"""What exactly was shown, in 32 bytes.

A digest binds one decision to one proposed call: SHA-256 over canonical JSON of the review's salt, the server, thread
and interrupt, the position, the tool, the arguments' source text and the allowed decisions. The salt (16 random
bytes, never shown) keeps short arguments from being guessed back out of it.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bot.core.json import canonical

SHOWN = 12


@dataclass(frozen=True, slots=True)
class CallAddress:
    """Where a call waits: the salted address that every digest of a review shares."""

    salt: bytes
    server: str
    thread_id: str
    interrupt_id: str


def call_digest(place: CallAddress, position: int, tool: str | None, args: str | None, allowed: Sequence[str]) -> str:
    """64 hex characters for one call; `args` is source text, None when the interrupt carried none."""
    content: list[Any] = [
        place.salt.hex(),
        place.server,
        place.thread_id,
        place.interrupt_id,
        position,
        tool,
        args,
        list(allowed),
    ]
    return hashlib.sha256(canonical(content)).hexdigest()


def content_hash(value: Any) -> str:
    """64 hex characters of an interrupt's value: tells a changed interrupt from a re-read one."""
    return hashlib.sha256(canonical(value)).hexdigest()


def salted(salt: bytes, content: str | bytes) -> str:
    """64 hex characters for the record: without the review's salt, which retention erases, nobody can test a guess."""
    raw = content.encode() if isinstance(content, str) else content
    return hmac.new(salt, raw, hashlib.sha256).hexdigest()


def shown(digest: str) -> str:
    """Twelve base32 characters for people to compare by eye; never used to compare in code."""
    return base64.b32encode(bytes.fromhex(digest)).decode().lower()[:SHOWN]
