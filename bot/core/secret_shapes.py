"""What a secret looks like: the shapes of well-known credentials, and the names that secrets stand under.

It exists because people paste tokens where no policy expects them. A shape that is too wide only sends reviewers to a
private view; one that is too narrow leaks. The module must not know arguments or masks. Sources of shapes: the prefixes
that issuers publish for secret scanning. Texts may be long, so a shape is only tried where its first letters were found.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import Any

_NAMES = (
    "password", "passwd", "passphrase", "passcode", "pwd", "secret", "token", "credential", "api_key", "api-key", "apikey",
    "access_key", "access-key", "accesskey", "private_key", "private-key", "secret_key", "authorization", "signature", "sig",
)  # fmt: skip
_ASSIGNED = (
    r"(?i:[a-z0-9_-]{1,60})[\"']?\s*(?:=\s*(?:\"[^\"\n]+\"|'[^'\n]+'|[^\s\"'&,;]{3,2000})"
    r"|:\s*(?:\"[^\"\n]+\"|'[^'\n]+'|(?=[^\s\d!@#$%^*]{0,99}[\d!@#$%^*])[^\s\"',;]{6,2000}))"
)
# First letters in lower case, and what must follow from there on.
_SHAPES: tuple[tuple[tuple[str, ...], re.Pattern[str]], ...] = tuple(
    (firsts, re.compile(shape))
    for firsts, shape in (
        (("-----begin",), r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----(?:[\s\S]*?-----END [A-Z0-9 ]*PRIVATE KEY-----|[\s\S]*)"),
        (("eyj",), r"\beyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]*"),
        (("akia", "asia", "agpa", "aida", "aroa", "aipa", "anpa", "anva", "a3t"), r"\bA(?:3T[A-Z0-9]|KIA|SIA|GPA|IDA|ROA|IPA|NPA|NVA)[A-Z0-9]{12,20}\b"),
        (("gho_", "ghp_", "ghr_", "ghs_", "ghu_"), r"\bgh[oprsu]_[A-Za-z0-9]{20,}"),
        (("github_pat_", "glpat-", "npm_", "hf_", "pypi-"), r"\b(?:github_pat_|glpat-|npm_|hf_|pypi-)[\w-]{16,}"),
        (("xox", "xapp-"), r"\b(?:xox[abeoprs][-.]|xapp-)[\w.-]{8,}"),
        (("sk-", "sk_", "rk_", "pk_"), r"\b(?:[srp]k[-_](?:live|test|proj|ant)[-_][\w-]{8,}|sk-[A-Za-z0-9]{20,})"),
        (("aiza", "ya29.", "sg."), r"\b(?:AIza[\w-]{30,}|ya29\.[\w-]{10,}|SG\.[\w-]{10,}\.[\w-]{10,})"),
        (("bearer", "basic"), r"\b(?i:bearer|basic)\s+(?=[^\s\d=+/_-]{0,99}[\d=+/_-])[A-Za-z0-9._~+/=-]{8,}"),
        (("://",), r"://[^\s/:@?#]{0,200}:[^\s/@]{1,200}@"),
        (_NAMES, _ASSIGNED),
        (("--password", "--passwd", "--token", "--secret", "--api-key"), r"--[a-zA-Z-]+[ =]\S{3,2000}"),
    )
)  # fmt: skip
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_SECRET_WORDS = frozenset(
    ["password", "passwd", "pwd", "passphrase", "passcode", "secret", "secrets", "apikey", "credential", "credentials"]
)
_LAST_WORDS = frozenset(["authorization", "token", "cookie", "otp", "pin", "cvv", "cvc", "jwt", "bearer", "auth"])
_NUMBERS_TOO = frozenset(["pin", "otp", "cvv", "cvc"])
_PAIRS = frozenset({("api", "key"), ("access", "key"), ("private", "key"), ("secret", "key"), ("session", "id")})
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_TOKEN = re.compile(r"[A-Za-z0-9+/=_.~-]{20,}")
_BITS = 3.5
_KEY_LIKE = frozenset(["key", "hash", "signature", "code"])
SHORTEST = 7


def looks_secret(text: str) -> bool:
    """Whether something in the text has the shape of a credential."""
    return len(text) >= SHORTEST and next(_spans(text), None) is not None


@lru_cache(maxsize=4_096)
def secret_shaped_name(name: str) -> bool:
    """As `looks_secret`, for names, of which a few come again and again."""
    return looks_secret(name)


def shapes_hidden(text: str, hidden: str) -> str:
    """The text with everything of such a shape replaced."""
    kept: list[str] = []
    at = 0
    for start, end in sorted(_spans(text)):
        if start >= at and not text[start:end].rstrip("])}").endswith(hidden.rstrip("]")):
            kept += [text[at:start], hidden]
        elif start >= at:
            kept.append(text[at:end])
        at = max(at, end)
    return "".join([*kept, text[at:]])


def _spans(text: str) -> Iterator[tuple[int, int]]:
    # One letter for one, so that places in it are places in the text.
    low = (text if text.isascii() else text.encode("ascii", "replace").decode()).lower()
    for firsts, shape in _SHAPES:
        for first in firsts:
            at = low.find(first)
            while at >= 0:
                match = shape.match(text, at)
                if match:
                    yield match.span()
                at = low.find(first, match.end() if match else at + 1)


def secret_name(name: str, value: Any) -> bool:
    """Whether a value under this name is taken for a secret: by the name, or by a key-like name and a random value."""
    text = str(value)
    certain, last = _read_name(name)
    if not text.strip():
        return False
    if certain or last in _LAST_WORDS:
        return certain or isinstance(value, str) or last in _NUMBERS_TOO
    return last in _KEY_LIKE and _is_random(text)


def may_name_secret(name: str) -> bool:
    """Whether anything at all under this name could be taken for a secret because of it."""
    certain, last = _read_name(name)
    return certain or last in _LAST_WORDS or last in _KEY_LIKE


@lru_cache(maxsize=4_096)
def _read_name(name: str) -> tuple[bool, str]:
    """Whether it names a secret whatever stands there, and its last word."""
    words = [word.lower() for word in _WORD.findall(name)]
    certain = bool(_SECRET_WORDS & set(words)) or any(pair in _PAIRS for pair in pairwise(words))
    return certain, words[-1] if words else ""


def _is_random(text: str) -> bool:
    if not _TOKEN.fullmatch(text) or _UUID.fullmatch(text):
        return False
    counted = Counter(text)
    bits = -sum(many / len(text) * math.log2(many / len(text)) for many in counted.values())
    return bits >= _BITS and any(char.isdigit() for char in text)
