"""Our messages in a channel's history, found by the mark that every post of ours carries as metadata.

Slack has no idempotency key for posts: after one whose outcome is unknown, only the history tells whether it arrived, and
it may tell late. This module must not know what a message shows.
"""

from __future__ import annotations

import contextlib
from typing import Any

import structlog
from slack_sdk.web.async_client import AsyncWebClient

from bot.errors import MessageGone, SlackError
from bot.slack.client import web_api
from bot.store.messages import Message

log = structlog.get_logger("placet")
METADATA = "placet_message"
PAGE, MOST_PAGES = 200, 20
SLACK_IS_LATE_S = 60  # how far our clock may be ahead of Slack's
# The history scopes are optional and a thread may be gone: then nothing can be found, and a card twice beats none.
NOTHING_TO_READ = frozenset({"missing_scope", "thread_not_found"})


def mark(message_id: str) -> dict[str, Any]:
    """What a post carries. Everybody in the workspace can read it, so it is our row's id and nothing else."""
    return {"event_type": METADATA, "event_payload": {"message_id": message_id}}


async def copies(client: AsyncWebClient, message: Message, thread: str | None) -> list[str]:
    """Where posts of this row stand, oldest first. Raises `SlackError` where it cannot be told now."""
    found: list[str] = []
    cursor: str | None = None
    try:
        for _ in range(MOST_PAGES):
            answer = await _page(client, message, thread, cursor)
            found += [one["ts"] for one in answer.get("messages") or [] if _is_ours(one, message.id)]
            cursor = (answer.get("response_metadata") or {}).get("next_cursor")
            if not cursor:
                break
        else:
            log.warning("A channel's history is too long to be read.", action="long_history", message=message.id)
    except SlackError as exc:
        if exc.code not in NOTHING_TO_READ:
            raise
        log.warning("The channel's history cannot be read.", action="no_history", message=message.id, code=exc.code)
    return sorted(found)


async def _page(client: AsyncWebClient, message: Message, thread: str | None, cursor: str | None) -> dict[str, Any]:
    """Some of what was said since the post left: of a channel the newest first, of a thread the oldest."""
    oldest = f"{((message.posting_since or 0) / 1000) - SLACK_IS_LATE_S:.6f}"
    wanted: dict[str, Any] = {"oldest": oldest, "inclusive": True, "include_all_metadata": True, "limit": PAGE}
    if thread:
        reading = client.conversations_replies(channel=message.channel, ts=thread, cursor=cursor, **wanted)
        return await web_api.counted("conversations.replies", reading)
    reading = client.conversations_history(channel=message.channel, cursor=cursor, **wanted)
    return await web_api.counted("conversations.history", reading)


async def remove_others(client: AsyncWebClient, message: Message, thread: str | None) -> None:
    """Delete what a post that we took for lost left beside the message that we know. Raises `SlackError`."""
    for ts in await copies(client, message, thread):
        if ts != message.ts:
            with contextlib.suppress(MessageGone):
                await web_api.counted("chat.delete", client.chat_delete(channel=message.channel, ts=ts))
            log.warning("A card that stood there twice was removed.", action="copy_removed", message=message.id)


def _is_ours(one: dict[str, Any], message_id: str) -> bool:
    metadata = one.get("metadata") or {}
    payload = metadata.get("event_payload") or {}
    marked = metadata.get("event_type") == METADATA and payload.get("message_id") == message_id
    return marked and bool(one.get("bot_id"))
