"""A private word to one person: ephemeral where they are, else a direct message.

Delivery of ephemerals is not guaranteed by Slack and they are never stored, so nothing may depend on one. This module must
not know why the person is told.
"""

from __future__ import annotations

from typing import Any

import structlog
from slack_sdk.web.async_client import AsyncWebClient

from blocks.notices import private_notice
from bot.errors import SlackError
from bot.slack import api

log = structlog.get_logger("placet")

# The person or the bot cannot be met in that channel; a direct message needs neither to be there.
ELSEWHERE = frozenset(
    {"user_not_in_channel", "not_in_channel", "channel_not_found", "is_archived", "cannot_reply_to_message"}
)


async def tell(client: AsyncWebClient, *, channel: str | None, user: str, thread_ts: str | None, text: str) -> None:
    """Say it once; without a channel by direct message. Raises `SlackError` when neither way is open."""
    rendered = private_notice(text)
    content: dict[str, Any] = {"blocks": rendered.blocks, "text": rendered.text}
    if channel is not None:
        try:
            await api.call(client.chat_postEphemeral(channel=channel, user=user, thread_ts=thread_ts, **content))
        except SlackError as exc:
            if exc.code not in ELSEWHERE:
                raise
        else:
            return
    await api.call(client.chat_postMessage(channel=user, **content))


async def try_to_tell(
    client: AsyncWebClient, *, channel: str | None, user: str, thread_ts: str | None, text: str
) -> None:
    """As `tell`, for a word on which nothing depends: that it could not be said is only logged."""
    try:
        await tell(client, channel=channel, user=user, thread_ts=thread_ts, text=text)
    except SlackError as exc:
        log.warning("Somebody could not be told.", action="slack_fault", code=exc.code)
