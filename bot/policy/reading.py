"""From the nodes of a policy file to its records: tenants, rules, settings of tools.

From the nodes of a policy file to its records: what may stand where, and what is the default. Faults are collected,
never raised: the caller looks whether there were any before it uses the result. Faults that lie between two places
(two tenants, two patterns) are found elsewhere.

Reading reviewer rules with their conditions, and the settings of tools. Conditions keep numbers as decimal values of
their source text, never as floats. A schema is kept as JSON text, so that the record stays frozen.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from decimal import Decimal
from typing import Any

import yaml

from bot.core.response_schema import schema_fault
from bot.policy import values
from bot.policy.conditions import COMPARE, Condition, from_text
from bot.policy.model import (
    DECISIONS,
    HOUR,
    NEVER,
    POWERS,
    SECOND,
    AgentTarget,
    FrozenMap,
    Policy,
    ReviewerRule,
    TenantPolicy,
    ToolSettings,
)
from bot.policy.nodes import PolicyNode

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

Fields = Mapping[str, PolicyNode]


def read_policy(root: PolicyNode) -> Policy:
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


def read_tenant(name: str, place: PolicyNode) -> TenantPolicy:
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


def _slack(place: PolicyNode | None) -> dict[str, Any]:
    found = place.fields(SLACK_KEYS, required=("team", "channel")) if place else {}
    return {
        "slack_team": values.word(found.get("team"), values.TEAM),
        "slack_channel": values.word(found.get("channel"), values.CHANNEL),
        "slack_enterprise": values.optional_word(found.get("enterprise"), values.ENTERPRISE),
    }


def _agent(place: PolicyNode | None) -> AgentTarget:
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


def _few(place: PolicyNode | None) -> tuple[str, ...]:
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


def _decide_within(place: PolicyNode | None) -> int | None:
    if place is not None and place.plain() == "never":
        return None
    return values.duration(place) or 24 * HOUR


def _retain(place: PolicyNode | None) -> dict[str, Any]:
    found = place.fields(("arguments", "audit")) if place else {}
    return {
        "retain_arguments_ms": values.duration(found.get("arguments")),
        "retain_audit_ms": values.duration(found.get("audit")),
    }


def _outsiders(place: PolicyNode | None) -> tuple[tuple[str, str], ...]:
    found: dict[str, str] = {}
    for item in place.items() if place else ():
        listed = item.fields(("team", "user"), required=("team", "user"))
        team, user = values.word(listed.get("team"), values.TEAM), values.word(listed.get("user"), values.USER)
        if user in found:
            # Rules name people by user id alone: two outsiders of one id could not be told apart.
            item.blame(f"{user} is listed twice", "Keep one; ids of two workspaces cannot be admitted side by side")
        found[user] = team
    return tuple((team, user) for user, team in found.items())


def _tools(found: Fields) -> dict[str, PolicyNode]:
    tools = found["tools"].entries() if "tools" in found else {}
    for key, place in tools.items():
        if not values.TOOL.pattern.fullmatch(key):
            place.blame_key(f"{key!r} is not {values.TOOL.what}", values.TOOL.mend)
    return tools


RULE_KEYS = ("group", "user", "tools", "may", "deny", "when")
SETTING_KEYS = tuple(
    "decide_within" if field.name == "decide_within_ms" else field.name for field in fields(ToolSettings)
)
MOST_APPROVALS = 20


def read_reviewer(index: int, place: PolicyNode) -> ReviewerRule:
    """One line of `reviewers`."""
    found = place.fields(RULE_KEYS, required=("tools",))
    if ("group" in found) == ("user" in found):
        place.blame("a rule is about one group or one user", "Write either group: S… or user: U…")
    if "may" not in found and "deny" not in found:
        place.blame("the rule neither allows nor denies anything", "Add may: [approve, …] or deny: [approve, …]")
    return ReviewerRule(
        index=index,
        group=values.optional_word(found.get("group"), values.GROUP),
        user=None if "group" in found else values.optional_word(found.get("user"), values.USER),
        tools=values.at_least_one(found.get("tools"), values.words(found.get("tools"), values.TOOL)),
        may=_powers(found.get("may")),
        deny=_powers(found.get("deny")),
        when=_when(found.get("when")),
    )


def _powers(place: PolicyNode | None) -> tuple[str, ...]:
    return values.at_least_one(place, values.choices(place, POWERS))


def _when(place: PolicyNode | None) -> tuple[Condition, ...]:
    conditions: list[Condition] = []
    found = place.entries() if place else {}
    if place is not None and not found and isinstance(place.node, yaml.MappingNode) and not place.node.value:
        place.blame("the condition is empty", "Leave when out, or write one like {amount: {lt: 500}}")
    for key, item in found.items():
        if not values.DOTTED.pattern.fullmatch(key):
            item.blame_key(f"{key!r} is not {values.DOTTED.what}", values.DOTTED.mend)
        conditions.extend(_comparisons(tuple(key.split(".")), item))
    return tuple(conditions)


def _comparisons(path: tuple[str, ...], place: PolicyNode) -> list[Condition]:
    if not isinstance(place.node, yaml.MappingNode):
        operand = _operand(place)
        return [] if operand is None else [Condition(path, "eq", operand)]
    found = place.fields(tuple(COMPARE))
    if not place.node.value:
        place.blame("there is nothing to compare with", "Write one like {lt: 500}")
    read = [(name, _operand(item), item) for name, item in found.items()]
    for name, operand, item in read:
        if name != "eq" and operand is not None and not isinstance(operand, Decimal):
            item.blame(f"{name} compares numbers only", "Write a number, or use eq")
    return [Condition(path, name, operand) for name, operand, _ in read if operand is not None]


def _operand(place: PolicyNode) -> Decimal | str | bool | None:
    text = place.plain()
    if text is not None and place.kind == "str":
        return text
    if text is not None and place.kind == "bool":
        return text.lower() in ("true", "yes", "on")
    number = from_text(text) if text is not None and place.kind in ("int", "float") else None
    if number is None:
        place.blame("this cannot be compared with", "Write a plain number, a text in quotes, true or false")
    return number


def read_tool(place: PolicyNode) -> ToolSettings:
    """What one name or pattern sets."""
    found = place.fields(SETTING_KEYS)
    return ToolSettings(
        title=values.optional_word(found.get("title"), values.TITLE),
        risk=values.choice(found.get("risk"), ("normal", "high")),
        approvals=values.whole(found.get("approvals"), most=MOST_APPROVALS),
        requester_may=_listed(found.get("requester_may"), DECISIONS),
        decide_within_ms=_tool_decide_within(found.get("decide_within")),
        on_expiry=values.choice(found.get("on_expiry"), ("reject", "hold")),
        redact=values.words(found["redact"], values.DOTTED) if "redact" in found else None,
        result=values.choice(found.get("result"), ("none", "status", "first_lines")),
        mention=_mention(found.get("mention")),
        channel=values.optional_word(found.get("channel"), values.CHANNEL),
        schema=_schema(found.get("schema")),
        after_unknown=values.choice(found.get("after_unknown"), ("proceed", "hold")),
        resend=values.choice(found.get("resend"), ("settle", "fence", "never")),
        decisions=values.at_least_one(found.get("decisions"), _listed(found.get("decisions"), DECISIONS) or ()) or None,
    )


def _listed(place: PolicyNode | None, options: tuple[str, ...]) -> tuple[str, ...] | None:
    return None if place is None else values.choices(place, options)


def _tool_decide_within(place: PolicyNode | None) -> int | None:
    return NEVER if place is not None and place.plain() == "never" else values.duration(place)


def _mention(place: PolicyNode | None) -> tuple[str, ...] | None:
    if place is None:
        return None
    if place.plain() is not None:
        return (values.word(place, values.MENTIONED),)
    return values.words(place, values.MENTIONED)


def _schema(place: PolicyNode | None) -> str | None:
    if place is None:
        return None
    if not isinstance(place.node, yaml.MappingNode):
        place.blame("a schema is a JSON Schema object", "Write it as a mapping: {type: object, properties: …}")
        return None
    text = json.dumps(_json(place), ensure_ascii=True, separators=(",", ":"))
    fault = schema_fault(text)
    if fault is not None:
        place.blame(f"this is not a JSON Schema, at {fault}", "Correct it: edits are checked against it")
    return text


def _json(place: PolicyNode) -> Any:
    if isinstance(place.node, yaml.MappingNode):
        return {key: _json(item) for key, item in place.entries().items()}
    if isinstance(place.node, yaml.SequenceNode):
        return [_json(item) for item in place.items()]
    text = place.plain() or ""
    if place.kind == "null":
        return None
    if place.kind == "bool":
        return text.lower() in ("true", "yes", "on")
    if place.kind in ("int", "float"):
        return _json_number(place, text)
    return text


def _json_number(place: PolicyNode, text: str) -> int | float:
    if from_text(text) is None:
        place.blame(f"{text!r} is not a JSON number", "Write it plainly in decimal digits")
        return 0
    return int(text) if place.kind == "int" else float(text)
