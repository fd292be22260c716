"""Policy texts and people with domain defaults, so that a test names only what it is about."""

from __future__ import annotations

from textwrap import indent
from typing import Any

from bot.policy.model import Person, Policy, RightsVerdict, TenantPolicy
from bot.policy.nodes import PolicyError, PolicyProblem
from bot.policy.rules import may
from bot.policy.source import parse

AGENT = {
    "url": '"http://127.0.0.1:2026"',
    "kind": "aegra",
    "users": "[approvals]",
    "assistant": "agent_platform",
}


def make_tenant_text(piece: str = "", *, name: str = "acme", **parts: str) -> str:
    """One tenant's entry; `piece` is written as it stands below `acme:`, `slack` and agent fields are overridden."""
    slack = parts.pop("slack", "{team: T0ACME, channel: C0APPROVALS}")
    agent = ", ".join(f"{key}: {value}" for key, value in {**AGENT, **parts}.items())
    head = f"{name}:\n  slack: {slack}\n  agent: {{{agent}}}\n"
    return indent(head + indent(piece, "  "), "  ")


def make_text(piece: str = "", *, operators: str = "[U0OPS]", **parts: str) -> str:
    return f"version: 1\noperators: {operators}\ntenants:\n{make_tenant_text(piece, **parts)}"


def make_policy(piece: str = "", **parts: str) -> Policy:
    return parse(make_text(piece, **parts))


def make_tenant(piece: str = "", **parts: str) -> TenantPolicy:
    return make_policy(piece, **parts).tenants["acme"]


def make_two(one: str, other: str) -> str:
    """A file of two tenants, from their entries."""
    return f"version: 1\noperators: [U0OPS]\ntenants:\n{one}{other}"


def make_person(user: str = "U0BEN", *groups: str, **facts: Any) -> Person:
    known = {"team": "T0ACME", "home_team": "T0ACME", "outsider": False, "known_as_of": 0, **facts}
    return Person(user=user, groups=dict.fromkeys(groups, 0), **known)


def ask(tenant: TenantPolicy, person: Person, decision: str = "approve", **asked: Any) -> RightsVerdict:
    """`may` with a plain call."""
    call = {
        "tool": "any",
        "proposed_args": {},
        "requester": "U0CLEO",
        "allowed": ("approve", "edit", "reject", "respond"),
    }
    return may(tenant, person=person, decision=decision, **{**call, **asked})


def problems_of(text: str) -> tuple[PolicyProblem, ...]:
    try:
        parse(text)
    except PolicyError as exc:
        return exc.problems
    return ()


def faults_in(piece: str, **parts: str) -> list[str]:
    """path: fault, of every problem of a policy with this piece."""
    return [
        f"{each.path.removeprefix('tenants.acme.')}: {each.fault}" for each in problems_of(make_text(piece, **parts))
    ]
