"""How settings differ between two versions of a tenant: the tenant's own, and those that a pattern sets.

A tool's values are compared as they hold, so that a setting which only moved to another pattern shows what it means.
This module must not know rights.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from bot.core.policy_model import TenantPolicy, ToolSettings
from bot.core.policy_settings import explicit, tool_settings

TENANT_SETTINGS = (
    "intake_token_env",
    "watch_every_ms",
    "resend",
    "settle_for_ms",
    "decide_within_ms",
    "on_expiry",
    "requester_path",
    "retain_arguments_ms",
    "retain_audit_ms",
)
UNITS = (("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000))
# What each setting means when it is not there.
UNSET = {"requester_may": "the default", "decide_within_ms": "never", "decisions": "what the server says"}


RESULTS = ("none", "status", "first_lines")
RESEND = ("settle", "fence", "never")  # ever less may run twice


def _more(before: Collection[str] | None, after: Collection[str] | None) -> bool:
    return not set(after or ()) <= set(before or ())


# Whether a change makes the gate weaker. Settings that are not here only change.
LOOSENS: Mapping[str, Callable[[Any, Any], bool]] = {
    "risk": lambda _, after: after == "normal",
    "approvals": lambda before, after: after < before,
    # Left to the default, the rule no longer holds approve back when the requester is unknown.
    "requester_may": lambda before, after: after is None or _more(before or ("reject",), after),
    "redact": lambda before, after: _more(after, before),
    "result": lambda before, after: RESULTS.index(after) > RESULTS.index(before),
    "resend": lambda before, after: RESEND.index(after) < RESEND.index(before),
    "decisions": lambda before, after: after is None or (before is not None and _more(before, after)),
    "after_unknown": lambda _, after: after == "proceed",
}


def setting_changes(old: TenantPolicy, new: TenantPolicy) -> Iterator[tuple[bool, str]]:
    """Each changed setting as one line, old value first; with it, whether the change makes the gate weaker."""
    for name in TENANT_SETTINGS:
        yield from _line("", name, getattr(old, name), getattr(new, name))
    for pattern in dict.fromkeys([*old.tools, *new.tools]):
        before, after = tool_settings(old, pattern), tool_settings(new, pattern)
        set_here = {**_explicit(old, pattern), **_explicit(new, pattern)}
        for name in set_here:
            yield from _line(f"{pattern}: ", name, getattr(before, name), getattr(after, name))


def _explicit(tenant: TenantPolicy, pattern: str) -> dict[str, Any]:
    return explicit(tenant.tools.get(pattern, ToolSettings()))


def _line(prefix: str, name: str, before: Any, after: Any) -> Iterator[tuple[bool, str]]:
    if before != after:
        looser = name in LOOSENS and LOOSENS[name](before, after)
        yield looser, f"{prefix}{name.removesuffix('_ms')} changes from {_shown(name, before)} to {_shown(name, after)}"


def _shown(name: str, value: Any) -> str:
    if value is None:
        return UNSET.get(name, "none")
    if name.endswith("_ms"):
        return duration_text(value)
    return f"[{', '.join(value)}]" if isinstance(value, tuple) else str(value)


def duration_text(milliseconds: int) -> str:
    """The shortest way to write it in a policy file."""
    unit, size = next((unit, size) for unit, size in UNITS if milliseconds % size == 0)
    return f"{milliseconds // size}{unit}"
