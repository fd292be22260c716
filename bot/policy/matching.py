"""Patterns of names, and which settings hold for a tool by them.

Tool and identity patterns: names in which `*` stands for any run of characters, also an empty one. Nothing else is a
wildcard, and case counts, because a tool's name comes from the agent: whatever is not matched literally is not
matched. Every function takes time proportional to the product of both lengths at worst, so a hostile name cannot
stall the bot.

Which settings hold for a tool: each one from the most specific pattern that sets it. Settings fall through one by
one, so that a title for one tool does not undo the caution that `"*"` asks for. Two patterns that are equally
specific, meet in some name and differ are refused when the file is read.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from typing import Any

from bot.policy.model import NEVER, EffectiveSettings, TenantPolicy, ToolSettings

STAR = "*"


def matches(pattern: str, name: str) -> bool:
    """Whether the whole name fits the pattern."""
    first, *rest = pattern.split(STAR)
    if not rest:
        return name == pattern
    *middle, last = rest
    if len(name) < len(first) + len(last) or not name.startswith(first) or not name.endswith(last):
        return False
    # Leftmost fits are enough: taking a later one only leaves less room for the pieces behind it.
    at, end = len(first), len(name) - len(last)
    for piece in middle:
        found = name.find(piece, at, end)
        if found < 0:
            return False
        at = found + len(piece)
    return True


def covers(wide: str, narrow: str) -> bool:
    """Whether every name that fits `narrow` also fits `wide`.

    A pattern read as a name is its own hardest example: its star is a character that only a star can match.
    """
    return matches(wide, narrow)


def overlap(one: str, other: str) -> bool:
    """Whether some name fits both patterns."""
    # reach[j]: the part of `one` read so far and other[:j] can produce the same text.
    reach = [True]
    for char in other:
        reach.append(reach[-1] and char == STAR)
    for char in one:
        row = [reach[0] and char == STAR]
        for index, facing in enumerate(other):
            if STAR in (char, facing):
                # A star is left empty, or goes on taking the other side's next character.
                row.append(row[index] or reach[index + 1])
            else:
                row.append(char == facing and reach[index])
        reach = row
    return reach[-1]


def specificity(pattern: str) -> tuple[bool, int]:
    """Sorts patterns: an exact name first, then by literal characters. The greater is the more specific."""
    return STAR not in pattern, len(pattern) - pattern.count(STAR)


SETTINGS = tuple(field.name for field in fields(ToolSettings))


def tool_settings(tenant: TenantPolicy, tool: str) -> EffectiveSettings:
    """Everything that holds for this tool, defaults filled in from the tenant."""
    found = _defaults(tenant)
    fitting = (pattern for pattern in tenant.tools if matches(pattern, tool))
    for pattern in sorted(fitting, key=specificity):
        found.update(explicit(tenant.tools[pattern]))
    if found["decide_within_ms"] == NEVER:
        found["decide_within_ms"] = None
    return EffectiveSettings(**found)


def card_channel(tenant: TenantPolicy, tools: Iterable[str]) -> str:
    """Where the messages of one review belong: the channel of its tools, the tenant's where they name different ones."""
    named = {tool_settings(tenant, tool).channel for tool in tools}
    return named.pop() if len(named) == 1 else tenant.slack_channel


def channels_of(tenant: TenantPolicy) -> tuple[str, ...]:
    """Every channel that the tenant's messages may go to, its own first."""
    named = (settings.channel for settings in tenant.tools.values() if settings.channel)
    return tuple(dict.fromkeys((tenant.slack_channel, *named)))


def explicit(settings: ToolSettings) -> dict[str, Any]:
    """Only what a pattern really sets, by name."""
    values = {name: getattr(settings, name) for name in SETTINGS}
    return {name: value for name, value in values.items() if value is not None}


def _defaults(tenant: TenantPolicy) -> dict[str, Any]:
    return {
        "title": None,
        "risk": "normal",
        "approvals": 1,
        "requester_may": None,
        "decide_within_ms": tenant.decide_within_ms,
        "on_expiry": tenant.on_expiry,
        "redact": (),
        "result": "status",
        "mention": (),
        "channel": tenant.slack_channel,
        "schema": None,
        "after_unknown": "proceed",
        "resend": tenant.resend,
        "decisions": None,
    }
