"""What of a call stays hidden where many people look, and what a secret looks like.

What a secret looks like: the shapes of well-known credentials, and the names that secrets stand under. It exists
because people paste tokens where no policy expects them. A shape that is too wide only sends reviewers to a private
view; one that is too narrow leaks. Sources of shapes: the prefixes that issuers publish for secret scanning. Texts
may be long, so a shape is only tried where its first letters were found.

What of a call stays hidden where many people look: values declared secret by the policy, and values that look secret.
A declared value is named by its place, so it is hidden whatever it holds. A suspected one is found by its shape or by
the name that it stands under, so anything may be made to look like one: whoever decides is therefore sent to a
private view that shows it. Hiding is display only; what runs is never touched.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any

from bot.core.json import JsonProblem, Number, parse_kept

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


HIDDEN = "[hidden]"
LEAST = 4  # a shorter secret is only hidden in texts where it stands as a word of its own
DEEP = 60
REACH = 200_000  # characters; nothing shows more of a call than that

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Masked:
    """One value that stays hidden, by its path of names and indexes."""

    path: Path
    declared: bool


def masks_of(source: str | None, declared: Sequence[str] = ()) -> tuple[Masked, ...]:
    """What to hide in arguments given as source text. `declared`: argument names, or dotted paths, of the policy.

    The outermost place counts: nothing inside a hidden value is listed again. A list is passed through, so that `users.pin`
    hides the pin of every user. A declared name that stands deeper than an argument counts as suspected.
    """
    if source is None:
        return ()
    try:
        tree = parse_kept(source)
    except JsonProblem:
        return _of_text(source, declared)
    stated = sorted(set(_declared(tree, declared)), key=len)
    outer = [path for at, path in enumerate(stated) if not any(path[: len(one)] == one for one in stated[:at])]
    names = frozenset(name.split(".")[-1].casefold() for name in declared) - {"*"}
    found = _suspected(tree, frozenset(outer), names)
    return (*(Masked(path, declared=True) for path in outer), *(Masked(path, declared=False) for path in found))


def _of_text(source: str, declared: Sequence[str]) -> tuple[Masked, ...]:
    """Text that has no paths is hidden as a whole or not at all."""
    if any(name.split(".")[-1] in source for name in declared):
        return (Masked((), declared=True),)
    return (Masked((), declared=False),) if looks_secret(source) else ()


def _declared(tree: Any, declared: Sequence[str]) -> Iterator[Path]:
    for name in declared:
        if isinstance(tree, dict) and name in tree:
            yield (name,)
        elif "." in name:
            yield from _under(tree, name.split("."), ())


def _under(node: Any, steps: list[str], path: Path) -> Iterator[Path]:
    if not steps:
        yield path
        return
    step, rest = steps[0], steps[1:]
    if isinstance(node, dict):
        for name in node if step == "*" else [step]:
            if name in node:
                yield from _under(node[name], rest, (*path, name))
    elif isinstance(node, list):
        counted = step == "*" or step.isdigit()
        for at, item in enumerate(node):
            if not counted or step in ("*", str(at)):
                yield from _under(item, rest if counted else steps, (*path, at))


def _suspected(tree: Any, known: frozenset[Path], names: frozenset[str]) -> list[Path]:
    """One walk without recursion, in the order in which people read, as far as anything is ever shown."""
    found: list[Path] = []
    waiting: list[Iterator[tuple[Path, Any]]] = [iter([((), tree)])]
    reach = REACH
    while waiting and reach > 0:
        here = next(waiting[-1], None)
        if here is None:
            waiting.pop()
            continue
        path, node = here
        step = path[-1] if path else ""
        reach -= (len(node) if isinstance(node, str) else 0) + 2 * LEAST + (len(step) if isinstance(step, str) else 0)
        if path in known:
            continue
        if _is_secret(path, node, names):
            found.append(path)
        elif isinstance(node, dict | list):
            waiting.append(_inside(path, node))
    return found


def _inside(path: Path, node: dict[str, Any] | list[Any]) -> Iterator[tuple[Path, Any]]:
    """One by one, because most of a large value is never come to."""
    members = node.items() if isinstance(node, dict) else enumerate(node)
    return (((*path, step), value) for step, value in members)


def _is_secret(path: Path, node: Any, names: frozenset[str]) -> bool:
    if isinstance(node, dict) and any(map(secret_shaped_name, node)):
        return True  # a name cannot be hidden alone
    if len(path) > DEEP and isinstance(node, dict | list):
        return any(_leaf_is_secret(leaf) for leaf in leaves(node))
    name = path[-1] if path else ""
    if name and isinstance(name, str) and _named_secret(name, node, names):
        return True
    return isinstance(node, str) and looks_secret(node[:REACH])


def _named_secret(name: str, node: Any, names: frozenset[str]) -> bool:
    if name.casefold() in names:
        return node not in (None, "")
    if not may_name_secret(name):
        return False
    return any(secret_name(name, value) for value in leaves(node) if isinstance(value, str | Number))


def _leaf_is_secret(leaf: Any) -> bool:
    return isinstance(leaf, str) and looks_secret(leaf[:REACH])


def leaves(node: Any) -> Iterator[Any]:
    """Every value that holds no others, and every name, of a tree."""
    waiting = [node]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            waiting += item.values()
        elif isinstance(item, list):
            waiting += item
        else:
            yield item


def at_path(tree: Any, path: Path) -> Any:
    """What lies at a path, or None."""
    for step in path:
        if isinstance(tree, dict) and isinstance(step, str):
            tree = tree.get(step)
        elif isinstance(tree, list) and isinstance(step, int) and step < len(tree):
            tree = tree[step]
        else:
            return None
    return tree


def secrets_in(source: str | None, masks: Iterable[Masked]) -> tuple[str, ...]:
    """The hidden values themselves, longest first, for finding them in other texts. Never to be stored or logged."""
    masks = tuple(masks)
    if source is None or not masks:
        return ()
    try:
        tree = parse_kept(source)
    except JsonProblem:
        return (source,)
    held = {str(leaf) for one in masks for leaf in leaves(at_path(tree, one.path)) if isinstance(leaf, str | Number)}
    return tuple(sorted((text for text in held if text.strip()), key=lambda text: (-len(text), text)))


def redact_text(text: str | None, secrets: Sequence[str] = (), declared: Sequence[str] = ()) -> str | None:
    """A description, reason, answer, result or error with what is hidden in the arguments hidden there too.

    `declared` names are looked for as `name: value` and `name=value`, as a text may repeat arguments in any notation.
    """
    if not text:
        return text
    for secret in secrets:
        for form in _forms(secret):
            text = _without(text, form)
    for name in declared:
        text = _assigned(name.split(".")[-1]).sub(lambda match: f"{match[1]}{HIDDEN}", text)
    return shapes_hidden(text, HIDDEN)


def without_begun(text: str, secrets: Sequence[str]) -> str:
    """A text that was cut, without the beginning of a hidden value that the cut left at its end."""
    body, cut, rest = text.rpartition("… (")
    forms = [form for secret in secrets for form in _forms(secret)]
    begun = (
        size for form in forms for size in range(min(len(form) - 1, len(body)), 0, -1) if body.endswith(form[:size])
    )
    longest = max(begun, default=0)
    return f"{body[: len(body) - longest]}{HIDDEN}{cut}{rest}" if longest >= LEAST else text


def _forms(secret: str) -> list[str]:
    """A value as it is, as JSON writes it and as Python prints it."""
    forms = {secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1], repr(secret)[1:-1]}
    return sorted(forms, key=len, reverse=True)


def _without(text: str, secret: str) -> str:
    if len(secret) >= LEAST:
        return text.replace(secret, HIDDEN)
    return re.sub(rf"(?<!\w){re.escape(secret)}(?!\w)", lambda _: HIDDEN, text)


def _assigned(name: str) -> re.Pattern[str]:
    quoted = r""""(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'"""
    return re.compile(
        rf"""((?<!\w){re.escape(name)}["']?\s*[:=]\s*)(?:{quoted}|(?!\[hidden\])[^\s,;}}\])]+)""", re.IGNORECASE
    )
