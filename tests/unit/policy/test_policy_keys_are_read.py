"""Every key of a policy does something: what only reads, checks, plans or explains the file does not count.

A key is taken to be read where its attribute is taken from what holds it: from `tool_settings(…)` or a name for that,
from `tenant`, `agent`, `policy` or `rule`. The attribute's name alone would not do: messages have channels too.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest

from bot.policy.model import AgentTarget, EffectiveSettings, Policy, ReviewerRule, TenantPolicy

BOT = Path(__file__).parents[3] / "bot"
# The file's own readers: they know every key and act on none.
FILE_ONLY = (
    "policy/nodes",
    "policy/values",
    "policy/reading",
    "policy/source",
    "policy/lint",
    "policy/diff",
    "policy/explain",
)
FILE_ONLY_FOLDERS = ("cli", "doctor")
HOLDERS = {
    "tenant": ("tenant", "_tenant"),
    "agent": ("agent",),
    "policy": ("policy",),
    "rule": ("rule",),
}
NO_KEYS = {"policy.version"}  # of the file's format


def reads(source: str) -> set[str]:
    """Each attribute that some code takes from a holder of policy keys, as `holder.key`."""
    found: set[str] = set()
    for scope in _scopes(ast.parse(source)):
        settings = {name for name, value in _bound(scope) if _calls(value, "tool_settings")}
        for node in ast.walk(scope):
            if not isinstance(node, ast.Attribute):
                continue
            base = node.value
            if _calls(base, "tool_settings") or (isinstance(base, ast.Name) and base.id in settings):
                found.add(f"tool.{node.attr}")
            name = base.id if isinstance(base, ast.Name) else base.attr if isinstance(base, ast.Attribute) else ""
            found.update(f"{holder}.{node.attr}" for holder, names in HOLDERS.items() if name in names)
    return found


def _scopes(tree: ast.Module) -> Iterator[ast.AST]:
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    yield from functions


def _bound(scope: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    for node in ast.walk(scope):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                names = target.elts if isinstance(target, ast.Tuple) else [target]
                values = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value] * len(names)
                yield from (
                    (name.id, value) for name, value in zip(names, values, strict=False) if isinstance(name, ast.Name)
                )


def _calls(node: ast.AST, function: str) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == function


def all_reads() -> set[str]:
    modules = (
        one
        for one in BOT.rglob("*.py")
        if one.relative_to(BOT).parts[0] not in FILE_ONLY_FOLDERS
        and one.relative_to(BOT).with_suffix("").as_posix() not in FILE_ONLY
    )
    return {read for module in modules for read in reads(module.read_text())}


KEYS = [
    *(f"tool.{one.name}" for one in fields(EffectiveSettings)),
    *(f"tenant.{one.name}" for one in fields(TenantPolicy)),
    *(f"agent.{one.name}" for one in fields(AgentTarget)),
    *(f"rule.{one.name}" for one in fields(ReviewerRule)),
    *(f"policy.{one.name}" for one in fields(Policy)),
]


@pytest.fixture(scope="module")
def known() -> set[str]:
    return all_reads()


@pytest.mark.parametrize("key", [key for key in KEYS if key not in NO_KEYS])
def test_something_outside_the_policy_acts_on_each_of_its_keys(key, known):
    assert key in known, f"nothing but the policy's own readers reads {key}"


def test_a_key_of_the_same_name_elsewhere_does_not_count():
    assert reads("def sync(message, tenant):\n    return message.channel, tenant.slack_team") == {"tenant.slack_team"}


def test_a_name_for_the_settings_of_a_tool_counts():
    assert "tool.risk" in reads(
        "def draw(tenant):\n    settings = tool_settings(tenant, 'x')\n    return settings.risk"
    )
