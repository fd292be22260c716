"""The single values of a policy file: ids, durations, addresses, names of environment variables, choices.

Each reader takes a place and answers the value, or notes what is wrong with it and answers something harmless, which
never leaves `parse` because a file with a fault is not used. This module must not know where the values stand.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Collection
from typing import NamedTuple, TypeVar
from urllib.parse import SplitResult, urlsplit

from bot.policy.nodes import PolicyNode

T = TypeVar("T")

UNITS = {"s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "y": 365 * 86_400_000}
DURATION = re.compile(r"([1-9][0-9]{0,5})([smhdy])")
HOST = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?\.?")
DEFAULT_PORTS = {"https": 443, "http": 80}


class Form(NamedTuple):
    """How a kind of text looks, and how to say so."""

    pattern: re.Pattern[str]
    what: str
    mend: str


TEAM = Form(re.compile(r"[TE][A-Z0-9]{1,30}"), "a Slack workspace id", "It begins with T (or E), like T0ACME")
ENTERPRISE = Form(re.compile(r"E[A-Z0-9]{1,30}"), "a Slack enterprise id", "It begins with E, like E0ACME")
CHANNEL = Form(re.compile(r"[CG][A-Z0-9]{1,30}"), "a Slack channel id", "It begins with C or G, like C0APPROVALS")
USER = Form(
    re.compile(r"[UW][A-Z0-9]{1,30}"), "a Slack user id", "It begins with U or W, like U0LEAD; names are not ids"
)
GROUP = Form(re.compile(r"S[A-Z0-9]{1,30}"), "a Slack user group id", "It begins with S, like S0SUPPORT")
MENTIONED = Form(re.compile(r"[UWS][A-Z0-9]{1,30}"), "a user or user group id", "It begins with U, W or S")
TENANT = Form(re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}"), "a tenant's name", "Use letters, digits, - and _")
AGENT_KEY = Form(
    re.compile(r"PLACET_AGENT_KEY_[A-Z0-9_]+"), "a name that a policy may refer to", "Use PLACET_AGENT_KEY_… and set it"
)
INTAKE = Form(
    re.compile(r"PLACET_INTAKE_[A-Z0-9_]+"), "a name that a policy may refer to", "Use PLACET_INTAKE_… and set it"
)
IDENTITY = Form(re.compile(r"[\x21-\x7e]{1,200}"), "an identity", "Use visible ASCII characters without blanks")
ASSISTANT = Form(re.compile(r"[\x21-\x7e]{1,200}"), "an assistant", "Write its id or its graph's name")
THREAD_URL = Form(
    re.compile(
        r"https://(?![^/]{254})[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[1-9][0-9]{0,4})?/"
        r"[A-Za-z0-9._~/?#&=%+-]{0,60}\{thread_id\}[A-Za-z0-9._~/?#&=%+-]{0,60}",
        re.IGNORECASE,
    ),
    "the address of a thread's page",
    "Write https://host/path/{thread_id}, with {thread_id} once and after the host",
)
CONTEXT_NAME = Form(
    re.compile(r"(?!__|langgraph_)[A-Za-z_][A-Za-z0-9_-]{0,39}"),
    "a name of a run's context that can be shown",
    "Write a name like org: letters, digits, _ and -, not one that the agent server sets itself",
)
TOOL = Form(re.compile(r"[^\x00-\x1f\x7f]{1,200}"), "a tool's name or pattern", "Write the name, * for any characters")
TITLE = Form(re.compile(r"(?! )[^\x00-\x1f\x7f]{1,80}(?<! )"), "a title", "Use one line of at most 80 characters")
DOTTED = Form(re.compile(r"[^.\x00-\x1f]+(\.[^.\x00-\x1f]+)*"), "a dotted path", "Write it like order.total")
REQUESTER = Form(
    re.compile(r"metadata(\.[^.\s\x00-\x1f]+)+"),
    "a path into the thread's metadata",
    "Write it like metadata.slack_user",
)


def word(place: PolicyNode | None, form: Form, default: str = "") -> str:
    """A text of this form."""
    return optional_word(place, form) or default


def optional_word(place: PolicyNode | None, form: Form) -> str | None:
    """A text of this form, None where it is not given."""
    if place is None:
        return None
    text = place.text()
    if text is not None and not form.pattern.fullmatch(text):
        place.blame(f"{_short(text)} is not {form.what}", form.mend)
    return text


def choice(place: PolicyNode | None, options: Collection[str]) -> str | None:
    """One of a few words, None where it is not given."""
    if place is None:
        return None
    text = place.text()
    if text is not None and text not in options:
        place.blame(f"{_short(text)} is not known here", f"Choose one of: {', '.join(options)}")
    return text


def several(place: PolicyNode | None, read: Callable[[PolicyNode], T | None]) -> tuple[T, ...]:
    """A list without repetitions; empty where it is not given."""
    found: dict[T, None] = {}
    for item in place.items() if place else ():
        value = read(item)
        if value is None:
            continue
        if value in found:
            item.blame("this stands in the list already", "Keep one of the two")
        found[value] = None
    return tuple(found)


def words(place: PolicyNode | None, form: Form) -> tuple[str, ...]:
    """A list of texts of this form."""
    return several(place, lambda item: optional_word(item, form))


def choices(place: PolicyNode | None, options: Collection[str]) -> tuple[str, ...]:
    """A list out of a few words."""
    return several(place, lambda item: choice(item, options))


def at_least_one(place: PolicyNode | None, found: tuple[T, ...]) -> tuple[T, ...]:
    """The same list; an empty one is a fault, unless its members were already."""
    if place is not None and not found and not list(_silent(place)):
        place.blame("the list is empty", "Name at least one")
    return found


def _silent(place: PolicyNode) -> list[object]:
    held = place.node.value
    return held if isinstance(held, list) else [held]


def duration(place: PolicyNode | None) -> int | None:
    """Milliseconds of a duration such as 5s, 24h, 90d or 7y (365 days each), None where it is not given."""
    if place is None:
        return None
    text = place.plain()
    fits = DURATION.fullmatch(text) if text is not None else None
    if fits is None:
        place.blame(f"{_short(text)} is not a duration", "Write a whole number and s, m, h, d or y, like 24h")
        return None
    return int(fits[1]) * UNITS[fits[2]]


def whole(place: PolicyNode | None, *, most: int) -> int | None:
    """A whole number from 1 on, None where it is not given."""
    if place is None:
        return None
    text = place.plain() or ""
    if place.kind == "int" and re.fullmatch(r"[1-9][0-9]{0,8}", text) and int(text) <= most:
        return int(text)
    wanted = "1" if most == 1 else f"a whole number from 1 to {most}"
    place.blame(f"{_short(text)} is not {wanted}", "Write 1" if most == 1 else "Write it in digits, without quotes")
    return None


def url(place: PolicyNode | None) -> str:
    """An agent server's address, normalised: lower-case host, no default port, no slash at the end."""
    text = place.text() if place else None
    if place is None or text is None:
        return ""
    try:
        parts = urlsplit(text)
        fault = _url_fault(text, parts)
    except ValueError:
        fault = "it is not an address"
    if fault:
        place.blame(f"{_short(text)} cannot be used: {fault}", "Write https://host/path, or http:// on loopback")
        return ""
    return _normal(parts)


def _url_fault(text: str, parts: SplitResult) -> str | None:
    host = parts.hostname or ""
    faults = (
        (not re.fullmatch(r"[\x21-\x7e]+", text) or "\\" in text, "it holds characters that an address cannot"),
        (parts.scheme not in DEFAULT_PORTS, "only http and https are spoken"),
        (not (HOST.fullmatch(host) or _address(host)), "it names no host"),
        ("@" in parts.netloc, "a name or password may not stand in it"),
        ("?" in text or "#" in text, "it may have no query and no fragment"),
        (parts.port == 0, "its port is 0"),
        (not re.fullmatch(r"(/[A-Za-z0-9._~-]+)*/?", parts.path) or _climbs(parts.path), "its path is not plain"),
        (is_no_server(host), "link-local addresses are not agent servers"),
        (parts.scheme == "http" and not is_loopback(host), "plain http is only for this machine"),
    )
    return next((fault for holds, fault in faults if holds), None)


def _climbs(path: str) -> bool:
    return any(part in (".", "..") for part in path.split("/"))


def _normal(parts: SplitResult) -> str:
    host = (parts.hostname or "").rstrip(".")
    shown = f"[{host}]" if ":" in host else host
    port = "" if parts.port in (None, DEFAULT_PORTS[parts.scheme]) else f":{parts.port}"
    return f"{parts.scheme}://{shown}{port}{parts.path.rstrip('/')}"


def is_loopback(host: str) -> bool:
    """Whether the host, as written and without asking a resolver, is this machine."""
    address = _address(host)
    return address.is_loopback if address else host == "localhost"


def is_no_server(host: str) -> bool:
    """Whether the host, as written, is an address at which no agent server can be: link-local, unspecified, multicast."""
    address = _address(host)
    return address is not None and (address.is_link_local or address.is_unspecified or address.is_multicast)


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return mapped or address


def _short(text: str | None) -> str:
    if text is None:
        return "this"
    return repr(text if len(text) <= 60 else text[:60] + "…")
