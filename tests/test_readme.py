from __future__ import annotations

import os
import re
from pathlib import Path

import yaml
from typer.main import get_command

from bot.cli.main import app
from bot.core.states import mermaid
from bot.policy.reading import AGENT_KEYS, POLICY_KEYS, RULE_KEYS, SETTING_KEYS, SLACK_KEYS, TENANT_KEYS
from bot.policy.source import parse

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
STATES = re.compile(r"(<!-- states: .*? -->\n```mermaid\n)(.*?)(```\n<!-- /states -->)", re.DOTALL)


def test_the_state_diagram_is_drawn_from_the_transition_table():
    text = README.read_text()

    drawn = STATES.sub(lambda found: found[1] + mermaid() + "\n" + found[3], text)

    if os.environ.get("PLACET_UPDATE_SNAPSHOTS"):
        README.write_text(drawn)
    else:
        assert drawn == text


def test_every_command_is_named_in_the_readme():
    text = README.read_text()

    missing = [name for name in get_command(app).commands if f"placet {name}" not in text]

    assert missing == []


def test_the_policy_in_the_readme_is_valid():
    text = README.read_text()
    found = re.search(r"   ```yaml\n(   version: 1\n.*?)   ```", text, re.DOTALL)

    policy = parse("".join(line.removeprefix("   ") for line in found[1].splitlines(keepends=True)))

    assert list(policy.tenants) == ["acme"]


def test_every_setting_is_named_in_the_readme():
    source = (ROOT / "bot" / "settings.py").read_text()

    names = set(re.findall(r'"((?:SLACK|PLACET)_[A-Z_]+)"', source))

    assert sorted(name for name in names if name not in README.read_text()) == []


def test_the_http_variant_in_the_readme_changes_what_the_manifest_has():
    found = re.search(r"```yaml\n(features:\n.*?)```", README.read_text(), re.DOTALL)
    manifest = yaml.safe_load((ROOT / "manifest.yml").read_text())

    assert found is not None
    variant = yaml.safe_load(found[1])

    (command,) = variant["features"]["slash_commands"]
    assert command["command"] == manifest["features"]["slash_commands"][0]["command"]
    settings = variant["settings"]
    assert set(settings) <= set(manifest["settings"])
    assert settings["socket_mode_enabled"] is False
    addresses = {
        command["url"],
        settings["event_subscriptions"]["request_url"],
        settings["interactivity"]["request_url"],
    }
    assert addresses == {"https://approvals.example.com/slack/events"}


def test_the_readme_names_every_key_of_a_policy():
    section = README.read_text().split("## All keys of a policy")[1].split("\n## ")[0]
    named = set(re.findall(r"`\{?(\w+)", section)) | set(re.findall(r"(\w+):", section))

    # The parts of the file that the ten minutes' own example shows already.
    shown = {"version", "operators", "tenants", "reviewers", "tools"}
    assert {*POLICY_KEYS, *TENANT_KEYS, *SLACK_KEYS, *AGENT_KEYS, *RULE_KEYS, *SETTING_KEYS} - named - shown == set()
