"""The file of bot tokens for several workspaces: one line for each, a team id and its token or where it stands.

`T0ACME: xoxb-…` or `T0ACME: env:SLACK_BOT_TOKEN_ACME`, as YAML or JSON. What a later way of installing would store
belongs here too. This module must not reach Slack, nor read the environment itself.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import yaml

from bot.errors import ConfigurationError

NAME = "PLACET_SLACK_TOKENS"
TEAM = re.compile(r"[TE][A-Z0-9]{2,30}")
VARIABLE = re.compile(r"SLACK_[A-Z0-9_]+")
PREFIX = "env:"


def read_tokens(path: Path, environ: Mapping[str, str]) -> dict[str, str]:
    """Bot tokens by team id. Raises `ConfigurationError`, never with a token in its words."""
    try:
        read = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as exc:
        raise ConfigurationError(f"{NAME}: {path} cannot be read ({exc.strerror}).") from exc
    except (yaml.YAMLError, UnicodeDecodeError):
        # The parser's own words would quote the line, and a token with it.
        raise ConfigurationError(f"{NAME}: {path} is neither YAML nor JSON.") from None
    if not isinstance(read, dict) or not read:
        raise ConfigurationError(
            f"{NAME}: {path} must map team ids to bot tokens, like `T0ACME: env:SLACK_BOT_TOKEN_ACME`."
        )
    found = {str(team): _token(str(team), told, environ) for team, told in read.items()}
    if len(set(found.values())) != len(found):
        raise ConfigurationError(f"{NAME}: two teams have the same token; each workspace has its own.")
    return found


def _token(team: str, told: object, environ: Mapping[str, str]) -> str:
    if not TEAM.fullmatch(team):
        raise ConfigurationError(f"{NAME}: {team[:40]!r} is not a team id: it begins with T, like T0ACME.")
    token = told if isinstance(told, str) else ""
    if token.startswith(PREFIX):
        token = _from_environment(team, token.removeprefix(PREFIX), environ)
    if not token.startswith("xoxb-"):
        raise ConfigurationError(f"{NAME}: what stands for {team} is not a bot token: it must start with xoxb-.")
    return token


def _from_environment(team: str, name: str, environ: Mapping[str, str]) -> str:
    if not VARIABLE.fullmatch(name):
        raise ConfigurationError(f"{NAME}: {team} names a variable that does not begin with SLACK_.")
    if not environ.get(name):
        raise ConfigurationError(f"{NAME}: {team} refers to {name}, which is not set.")
    return environ[name]
