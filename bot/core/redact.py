"""What of a call stays hidden where many people look: values declared secret by the policy, and values that look secret.

A declared value is named by its place, so it is hidden whatever it holds. A suspected one is found by its shape or by
the name that it stands under, so anything may be made to look like one: whoever decides is therefore sent to a private view
that shows it. Hiding is display only; what runs is never touched. This module must not know where anything is shown.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from bot.core.lossless import JsonProblem, Number, parse_kept
from bot.core.secret_shapes import looks_secret, may_name_secret, secret_name, secret_shaped_name, shapes_hidden

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
