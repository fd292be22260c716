"""The manifest against Slack's schema: what stands here is the part that ours uses, written from Slack's reference."""

from __future__ import annotations

import ast
from pathlib import Path

import jsonschema
import pytest
import yaml

from bot.sandbox.slack.seed import EVENTS, SCOPES

ROOT = Path(__file__).parents[1]
TEXT = {"type": "string"}
FLAG = {"type": "boolean"}


def strict(properties, *required):
    return {"type": "object", "properties": properties, "additionalProperties": False, "required": list(required)}


def text(least, most):
    return {"type": "string", "minLength": least, "maxLength": most}


def listing(items, most, least=0):
    return {"type": "array", "items": items, "maxItems": most, "minItems": least, "uniqueItems": True}


COMMAND = strict(
    {
        "command": {**text(2, 32), "pattern": "^/"},
        "description": text(1, 2000),
        "url": text(1, 3000),
        "usage_hint": text(1, 1000),
        "should_escape": FLAG,
    },
    "command",
    "description",
)
SCHEMA = strict(
    {
        "_metadata": strict({"major_version": {"enum": [1, 2]}, "minor_version": {"type": "integer"}}),
        "display_information": strict(
            {
                "name": text(1, 35),
                "description": text(1, 140),
                "long_description": text(175, 4000),
                "background_color": {"type": "string", "pattern": "^#([0-9A-Fa-f]{3}){1,2}$"},
            },
            "name",
        ),
        "features": strict(
            {
                "app_home": strict(
                    {"home_tab_enabled": FLAG, "messages_tab_enabled": FLAG, "messages_tab_read_only_enabled": FLAG}
                ),
                "bot_user": strict({"display_name": text(1, 80), "always_online": FLAG}, "display_name"),
                "slash_commands": listing(COMMAND, 50, least=1),
            }
        ),
        "oauth_config": strict(
            {
                "redirect_urls": listing(text(1, 2500), 1000),
                "scopes": strict({"bot": listing(TEXT, 255), "bot_optional": listing(TEXT, 255)}),
            }
        ),
        "settings": strict(
            {
                "event_subscriptions": strict({"request_url": text(1, 3500), "bot_events": listing(TEXT, 100)}),
                "interactivity": strict(
                    {"is_enabled": FLAG, "request_url": TEXT, "message_menu_options_url": TEXT}, "is_enabled"
                ),
                "org_deploy_enabled": FLAG,
                "socket_mode_enabled": FLAG,
                "token_rotation_enabled": FLAG,
            }
        ),
    },
    "display_information",
)


@pytest.fixture
def manifest():
    return yaml.safe_load((ROOT / "manifest.yml").read_text())


def test_the_manifest_fits_slacks_schema(manifest):
    jsonschema.validate(manifest, SCHEMA)


def test_optional_scopes_are_scopes_too(manifest):
    scopes = manifest["oauth_config"]["scopes"]

    assert set(scopes["bot_optional"]) <= set(scopes["bot"])


def test_every_scope_says_why():
    lines = (ROOT / "manifest.yml").read_text().split("bot:\n")[1].split("    bot_optional")[0].splitlines()

    assert [line for line in lines if line.strip().startswith("-") and "#" not in line] == []


def test_the_manifest_subscribes_to_exactly_the_events_that_are_listened_to(manifest):
    tree = ast.parse((ROOT / "bot" / "slack" / "inbound" / "events.py").read_text())
    words = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}

    subscribed = set(manifest["settings"]["event_subscriptions"]["bot_events"])

    assert subscribed == {word for word in words if word in KNOWN_EVENTS}


def test_the_sandbox_installs_the_app_with_the_manifest_s_scopes_and_events(manifest):
    assert frozenset(manifest["oauth_config"]["scopes"]["bot"]) == SCOPES
    assert frozenset(manifest["settings"]["event_subscriptions"]["bot_events"]) == EVENTS


KNOWN_EVENTS = {
    "app_home_opened",
    "app_uninstalled",
    "tokens_revoked",
    "user_change",
    "subteam_members_changed",
    "subteam_updated",
    "channel_archive",
    "group_archive",
    "channel_shared",
    "channel_unshared",
}


def test_socket_mode_is_the_default(manifest):
    assert manifest["settings"]["socket_mode_enabled"] is True
    assert "request_url" not in str(manifest)
