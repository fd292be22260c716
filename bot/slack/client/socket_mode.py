"""Socket Mode: whether the app token opens one, asked once at start, and the connection itself.

slack_sdk tries to connect for ever, whatever Slack says; so a token that Slack refuses is found before it begins. This
module must not know what comes through the socket.
"""

from __future__ import annotations

from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.web.async_client import AsyncWebClient

from bot.errors import ConfigurationError, RateLimited, SlackError, SlackUnavailable
from bot.settings import Settings
from bot.slack.client import web_api

# A socket that dropped is noticed within this, one that went silent within four times as much; presses fail until then.
PING_S = 5.0


async def require_socket(settings: Settings) -> bool:
    """Ask for a connection's address, which Slack gives to a good token of an app whose Socket Mode is on.

    Raises `ConfigurationError` where Slack refuses it. False where Slack cannot be asked, which is no refusal.
    """
    try:
        await web_api.call(_client(settings).apps_connections_open(app_token=settings.slack_app_token))
    except (RateLimited, SlackUnavailable):
        return False
    except SlackError as exc:
        raise ConfigurationError(
            f"Slack refuses SLACK_APP_TOKEN ({exc.code}): generate one with connections:write under Basic Information → "
            "App-Level Tokens of this app, and switch its Socket Mode on. Without SLACK_APP_TOKEN the bot is served over HTTP."
        ) from exc
    return True


def make_socket(settings: Settings, bolt: AsyncApp) -> AsyncSocketModeHandler:
    """What connects, answers pings and reconnects."""
    return AsyncSocketModeHandler(bolt, settings.slack_app_token, web_client=_client(settings), ping_interval=PING_S)


def _client(settings: Settings) -> AsyncWebClient:
    return web_api.make_client(settings.slack_app_token, settings.slack_api_url)
