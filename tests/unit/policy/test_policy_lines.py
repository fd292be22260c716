"""The line that is missing in a policy: pasted, it makes a policy that says what it should, whatever the tool is called."""

from __future__ import annotations

import pytest
import yaml

from bot.policy.explain import decisions_line
from bot.policy.matching import tool_settings
from tests.kit.policy_factories import make_tenant

NAMES = ["execute_sql", "yes", "null", "on", "7", "1e3", "a b", "x: y", '"', "'", "#x", "&a", "- x", "ünï", "\u202ex", "😀",
         "\u2028", "{a}", "<@U0ADA>", "a*b", "y" * 200]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_the_line_names_the_tool_exactly_in_printable_ascii(name):
    line = decisions_line(make_tenant(), name)

    assert line.yaml.isascii()
    assert line.yaml.replace("\n", "").isprintable()
    assert yaml.safe_load(line.yaml) == {"tenants": {"acme": {"tools": {name: {"decisions": ["approve", "reject"]}}}}}
    assert line.line.endswith(": {decisions: [approve, reject]}")


def test_in_a_policy_that_has_the_tool_the_line_belongs_under_it():
    line = decisions_line(make_tenant("tools: {refund: {title: Refund}}"), "refund")

    assert (line.under, line.line) == (("tenants", "acme", "tools", "refund"), "decisions: [approve, reject]")


@pytest.mark.parametrize("name", ["", "z" * 201, "a\nb"])
def test_a_name_that_no_policy_can_hold_is_met_by_the_pattern_for_all(name):
    assert decisions_line(make_tenant(), name).line == '"*": {decisions: [approve, reject]}'


def test_what_the_line_adds_is_what_the_policy_then_lists():
    told = decisions_line(make_tenant(), "run sql").line

    assert tool_settings(make_tenant(f"tools:\n  {told}"), "run sql").decisions == ("approve", "reject")
