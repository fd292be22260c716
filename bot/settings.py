"""The one reader of the environment, and of the file of bot tokens.

The file of bot tokens for several workspaces: one line for each, a team id and its token or where it stands. `T0ACME:
xoxb-…` or `T0ACME: env:SLACK_BOT_TOKEN_ACME`, as YAML or JSON. What a later way of installing would store belongs
here too.

Slack's own names for Slack's own things, `PLACET_*` for ours. A missing or contradictory setting is one line that
names it and its mend. Nothing else in the program reads `os.environ`.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

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


SLACK_API = "https://slack.com/api/"
SECRET_NAME = re.compile(r"^PLACET_(AGENT_KEY|INTAKE)_[A-Z0-9_]+$")


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything the environment says, checked."""

    database_url: str
    policy_path: Path | None
    slack_bot_token: str
    slack_app_token: str
    slack_signing_secret: str
    slack_api_url: str
    host: str
    port: int
    secret_key: str
    log_format: str
    secrets: Mapping[str, str] = field(repr=False)
    slack_tokens: Mapping[str, str] = field(default_factory=dict, repr=False)  # by team id, for several workspaces

    @property
    def socket_mode(self) -> bool:
        """Socket Mode when there is an app-level token, else HTTP."""
        return bool(self.slack_app_token)

    def secret(self, name: str) -> str | None:
        """A secret that a policy refers to by name; only `PLACET_AGENT_KEY_*` and `PLACET_INTAKE_*` exist."""
        return self.secrets.get(name)


def is_loopback(host: str) -> bool:
    """Whether a host name or address is this machine."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def read(environ: Mapping[str, str]) -> Settings:
    """Settings for any command; what only `serve` needs is checked by `require_slack`."""
    return Settings(
        database_url=_database(environ.get("PLACET_DATABASE_URL", "")),
        policy_path=Path(path) if (path := environ.get("PLACET_POLICY")) else None,
        slack_bot_token=environ.get("SLACK_BOT_TOKEN", ""),
        slack_app_token=environ.get("SLACK_APP_TOKEN", ""),
        slack_signing_secret=environ.get("SLACK_SIGNING_SECRET", ""),
        slack_api_url=_slack_api(environ.get("PLACET_SLACK_API_URL", SLACK_API)),
        host=environ.get("PLACET_HOST", "127.0.0.1"),
        port=_port(environ.get("PLACET_PORT", "8420")),
        secret_key=environ.get("PLACET_SECRET_KEY", ""),
        log_format=_log(environ.get("PLACET_LOG", "text")),
        secrets={name: value for name, value in environ.items() if SECRET_NAME.match(name)},
        slack_tokens=read_tokens(Path(tokens), environ) if (tokens := environ.get("PLACET_SLACK_TOKENS")) else {},
    )


def require_slack(settings: Settings) -> None:
    """Raise unless the settings can reach Slack."""
    if settings.slack_tokens and settings.slack_bot_token:
        raise ConfigurationError(
            "SLACK_BOT_TOKEN and PLACET_SLACK_TOKENS are both set: name every workspace's token in the file, and unset the other."
        )
    if not settings.slack_tokens and not settings.slack_bot_token:
        raise ConfigurationError(
            "SLACK_BOT_TOKEN is not set: copy the Bot User OAuth Token (xoxb-…) from the app's page."
        )
    if not settings.slack_tokens and not settings.slack_bot_token.startswith("xoxb-"):
        raise ConfigurationError("SLACK_BOT_TOKEN is not a bot token: it must start with xoxb-.")
    if settings.slack_app_token and not settings.slack_app_token.startswith("xapp-"):
        raise ConfigurationError("SLACK_APP_TOKEN is not an app-level token: it must start with xapp-.")
    if not settings.slack_app_token and not settings.slack_signing_secret:
        raise ConfigurationError(
            "SLACK_SIGNING_SECRET is not set and there is no SLACK_APP_TOKEN: set the secret for HTTP, or the token for Socket Mode."
        )


def _database(url: str) -> str:
    if not url:
        return "sqlite+aiosqlite:///placet.db"
    scheme, _, rest = url.partition("://")
    known = {
        "sqlite": "sqlite+aiosqlite",
        "sqlite+aiosqlite": "sqlite+aiosqlite",
        "postgres": "postgresql+asyncpg",
        "postgresql": "postgresql+asyncpg",
        "postgresql+asyncpg": "postgresql+asyncpg",
    }
    if scheme not in known:
        raise ConfigurationError("PLACET_DATABASE_URL must start with sqlite:// or postgresql://.")
    return f"{known[scheme]}://{rest}"


def _slack_api(url: str) -> str:
    parts = urlsplit(url)
    secure = parts.scheme == "https" or (parts.scheme == "http" and is_loopback(parts.hostname or ""))
    if not secure:
        raise ConfigurationError("PLACET_SLACK_API_URL must be https, or http on loopback.")
    return url if url.endswith("/") else f"{url}/"


def _port(text: str) -> int:
    if not text.isdigit() or not 0 <= int(text) <= 65535:
        raise ConfigurationError("PLACET_PORT must be a number from 0 to 65535.")
    return int(text)


def _log(text: str) -> str:
    if text not in {"json", "text"}:
        raise ConfigurationError("PLACET_LOG must be json or text.")
    return text
