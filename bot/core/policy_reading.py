"""From the nodes of a policy file to its records: what may stand where, and what is the default.

Faults are collected, never raised: the caller looks whether there were any before it uses the result. Faults that
lie between two places (two tenants, two patterns) are found elsewhere. This module must not judge who may do what.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from bot.core import policy_values as values
from bot.core.policy_model import (
    HOUR,
    SECOND,
    AgentTarget,
    FrozenMap,
    Policy,
    TenantPolicy,
)
from bot.core.policy_reading_rules import read_reviewer, read_tool
from bot.core.policy_yaml import Place

POLICY_KEYS = ("version", "operators", "tenants")
SLACK_KEYS = ("team", "channel", "enterprise")
AGENT_KEYS = tuple(field.name for field in fields(AgentTarget))
TENANT_KEYS = (
    "slack",
    "agent",
    "intake_token_env",
    "watch",
    "resend",
    "settle_for",
    "decide_within",
    "on_expiry",
    "requester",
    "guests",
    "outsiders",
    "retain",
    "reviewers",
    "tools",
)
KINDS = ("aegra", "langgraph")
ROUTES = ("runs", "commands")
RESEND = ("settle", "fence", "never")
ON_EXPIRY = ("reject", "hold")
SHOWN_MOST = 5

Fields = Mapping[str, Place]


def read_policy(root: Place) -> Policy:
    """The whole file; faults are in `root.faults`."""
    found = root.fields(POLICY_KEYS, required=("version", "tenants"))
    version = values.whole(found.get("version"), most=1)
    tenants = found["tenants"].entries() if "tenants" in found else {}
    for name, place in tenants.items():
        if not values.TENANT.pattern.fullmatch(name):
            place.blame_key(f"{name!r} is not {values.TENANT.what}", values.TENANT.mend)
    return Policy(
        version=version or 1,
        operators=values.words(found.get("operators"), values.USER),
        tenants=FrozenMap({name: read_tenant(name, place) for name, place in tenants.items()}),
    )


def read_tenant(name: str, place: Place) -> TenantPolicy:
    """One tenant with all defaults filled in."""
    found = place.fields(TENANT_KEYS, required=("slack", "agent"))
    reviewers = found["reviewers"].items() if "reviewers" in found else ()
    return TenantPolicy(
        name=name,
        agent=_agent(found.get("agent")),
        intake_token_env=values.optional_word(found.get("intake_token_env"), values.INTAKE),
        requester_path=values.word(found.get("requester"), values.REQUESTER, "metadata.slack_user"),
        guests=values.words(found.get("guests"), values.USER),
        outsiders=_outsiders(found.get("outsiders")),
        reviewers=tuple(read_reviewer(index, item) for index, item in enumerate(reviewers)),
        tools=FrozenMap({key: read_tool(item) for key, item in _tools(found).items()}),
        **_slack(found.get("slack")),
        **_timing(found),
        **_retain(found.get("retain")),
    )


def _slack(place: Place | None) -> dict[str, Any]:
    found = place.fields(SLACK_KEYS, required=("team", "channel")) if place else {}
    return {
        "slack_team": values.word(found.get("team"), values.TEAM),
        "slack_channel": values.word(found.get("channel"), values.CHANNEL),
        "slack_enterprise": values.optional_word(found.get("enterprise"), values.ENTERPRISE),
    }


def _agent(place: Place | None) -> AgentTarget:
    required = ("url", "kind", "users", "assistant")
    found: Fields = place.fields(AGENT_KEYS, required=required) if place else {}
    users = found.get("users")
    return AgentTarget(
        url=values.url(found.get("url")),
        kind=values.choice(found.get("kind"), KINDS) or "",
        assistant=values.word(found.get("assistant"), values.ASSISTANT),
        users=values.at_least_one(users, values.words(users, values.IDENTITY)),
        resume=values.choice(found.get("resume"), ROUTES) or "runs",
        api_key_env=values.optional_word(found.get("api_key_env"), values.AGENT_KEY),
        show_context=_few(found.get("show_context")),
        thread_url=values.optional_word(found.get("thread_url"), values.THREAD_URL),
    )


def _few(place: Place | None) -> tuple[str, ...]:
    """What stands on every card is kept short."""
    names = values.words(place, values.CONTEXT_NAME)
    if place is not None and len(names) > SHOWN_MOST:
        place.blame(f"{len(names)} names are too many for a card", f"Name at most {SHOWN_MOST}")
    return names


def _timing(found: Fields) -> dict[str, Any]:
    watch = found["watch"].fields(("every",)) if "watch" in found else {}
    return {
        "watch_every_ms": values.duration(watch.get("every")) or 5 * SECOND,
        "resend": values.choice(found.get("resend"), RESEND) or "settle",
        "settle_for_ms": values.duration(found.get("settle_for")) or 5 * SECOND,
        "decide_within_ms": _decide_within(found.get("decide_within")),
        "on_expiry": values.choice(found.get("on_expiry"), ON_EXPIRY) or "reject",
    }


def _decide_within(place: Place | None) -> int | None:
    if place is not None and place.plain() == "never":
        return None
    return values.duration(place) or 24 * HOUR


def _retain(place: Place | None) -> dict[str, Any]:
    found = place.fields(("arguments", "audit")) if place else {}
    return {
        "retain_arguments_ms": values.duration(found.get("arguments")),
        "retain_audit_ms": values.duration(found.get("audit")),
    }


def _outsiders(place: Place | None) -> tuple[tuple[str, str], ...]:
    found: dict[str, str] = {}
    for item in place.items() if place else ():
        listed = item.fields(("team", "user"), required=("team", "user"))
        team, user = values.word(listed.get("team"), values.TEAM), values.word(listed.get("user"), values.USER)
        if user in found:
            # Rules name people by user id alone: two outsiders of one id could not be told apart.
            item.blame(f"{user} is listed twice", "Keep one; ids of two workspaces cannot be admitted side by side")
        found[user] = team
    return tuple((team, user) for user, team in found.items())


def _tools(found: Fields) -> dict[str, Place]:
    tools = found["tools"].entries() if "tools" in found else {}
    for key, place in tools.items():
        if not values.TOOL.pattern.fullmatch(key):
            place.blame_key(f"{key!r} is not {values.TOOL.what}", values.TOOL.mend)
    return tools
