"""Which settings hold for a tool: each one from the most specific pattern that sets it.

Settings fall through one by one, so that a title for one tool does not undo the caution that `"*"` asks for. Two
patterns that are equally specific, meet in some name and differ are refused when the file is read. This module must
not know about people.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from typing import Any

from bot.core.policy_match import matches, specificity
from bot.core.policy_model import NEVER, EffectiveSettings, TenantPolicy, ToolSettings

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
