"""The workspaces that the app is installed in, and a client for each.

`auth.test` at start says whose each token is, and Bolt is told instead of asking again at every request. The team of a press
or an event chooses the client, so one workspace's request never speaks with another's token. This module must not know
tenants.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import structlog
from slack_bolt.authorization import AuthorizeResult
from slack_sdk.web.async_client import AsyncWebClient

from bot.errors import ConfigurationError, InstallationRevoked, RateLimited, SlackError, SlackUnavailable
from bot.slack.client import web_api

log = structlog.get_logger("placet")


@dataclass(frozen=True, slots=True)
class Installation:
    """One workspace with the app in it."""

    team: str
    bot_id: str
    bot_user: str
    client: AsyncWebClient
    enterprise: str | None = None


@dataclass(slots=True)
class Installations:
    """All of them, by team id."""

    by_team: dict[str, Installation] = field(default_factory=dict)

    def client(self, team: str) -> AsyncWebClient | None:
        """The client for a workspace, or for any of an organisation's; None where the app is not installed."""
        found = self.by_team.get(team)
        if found is None:
            found = next((one for one in self.by_team.values() if one.enterprise == team), None)
        return found.client if found else None

    def authorize(self, team_id: str | None) -> AuthorizeResult:
        """Bolt's question for each request. A press from a workspace without the app is let through to be refused."""
        found = self.by_team.get(team_id or "") or next(iter(self.by_team.values()))
        return AuthorizeResult(
            enterprise_id=None,
            team_id=found.team,
            bot_token=found.client.token,
            bot_id=found.bot_id,
            bot_user_id=found.bot_user,
        )


async def install(clients: Mapping[str, AsyncWebClient]) -> Installations:
    """Every workspace by its own client. A token that Slack refuses is left out, as long as another works.

    Raises `ConfigurationError` for a token of another workspace than the one it stands for, or when none works.
    """
    found = Installations()
    refused: list[ConfigurationError] = []
    for team, client in clients.items():
        try:
            one = await identify(client, f"PLACET_SLACK_TOKENS: the token for {team}")
        except ConfigurationError as exc:
            log.warning("A workspace's token is refused.", action="token_refused", team=team, fault=str(exc))
            refused.append(exc)
            continue
        if one.team != team:
            raise ConfigurationError(f"PLACET_SLACK_TOKENS: the token for {team} belongs to {one.team}.")
        found.by_team[team] = one
    if refused and not found.by_team:
        raise refused[0]
    return found


async def identify(client: AsyncWebClient, setting: str = "SLACK_BOT_TOKEN") -> Installation:
    """Ask Slack whose token this is; `setting` is where its token stands, as an operator knows it.

    Raises `ConfigurationError` when the token is refused, `SlackUnavailable` when Slack cannot be asked.
    """
    try:
        told = await web_api.call(client.auth_test())
    except InstallationRevoked as exc:
        raise ConfigurationError(
            f"{setting} is refused by Slack ({exc.code}): copy it again from the app's OAuth page."
        ) from exc
    except RateLimited as exc:
        raise SlackUnavailable("Slack asks us to wait before it says whose token this is", code=exc.code) from exc
    except SlackError as exc:
        if isinstance(exc, SlackUnavailable):
            raise
        raise ConfigurationError(
            f"{setting}: Slack answers auth.test with {exc.code}. Copy it again from the app's OAuth page."
        ) from exc
    return Installation(
        str(told["team_id"]),
        str(told.get("bot_id", "")),
        str(told.get("user_id", "")),
        client,
        told.get("enterprise_id"),
    )
