"""conversations.*: what a channel is, who is in it, and what was said there."""

import base64
import re
from collections.abc import Sequence
from typing import TypeVar

from bot.sandbox.slack.api.calling import ApiCall, Method
from bot.sandbox.slack.api.places import PREFIX, need_scope, readable
from bot.sandbox.slack.errors import ApiError
from bot.sandbox.slack.posting import direct_channel
from bot.sandbox.slack.records import Json, PostedMessage
from bot.sandbox.slack.shapes import channel_json, message_json

READ = tuple(f"{prefix}:read" for prefix in (*PREFIX.values(), "mpim"))
HISTORY = tuple(f"{prefix}:history" for prefix in (*PREFIX.values(), "mpim"))
PAGE = 100
LARGEST_PAGE = 999
T = TypeVar("T")
_TS = re.compile(r"\d+(?:\.\d{1,6})?")


def conversations_info(call: ApiCall) -> Json:
    """Return one conversation."""
    channel = readable(call, call.required("channel"), "read")
    member = call.installation.bot_user in channel.members
    body = {**channel_json(channel), "is_member": member}
    if call.flag("include_num_members"):
        body["num_members"] = len(channel.members)
    return {"ok": True, "channel": body}


def conversations_members(call: ApiCall) -> Json:
    """Return the ids of a conversation's members, a page at a time."""
    channel = readable(call, call.required("channel"), "read")
    page, following = _page(call, sorted(channel.members))
    return {"ok": True, "members": page, "response_metadata": {"next_cursor": following}}


def conversations_open(call: ApiCall) -> Json:
    """Open the direct conversation with one person."""
    need_scope(call, "im:write", "mpim:write", "channels:manage", "groups:write")
    users = (call.string("users") or "").split(",")
    if users == [""]:
        raise ApiError("users_list_not_supplied")
    if len(users) > 1:
        raise ApiError("too_many_users")
    person = call.world.people.get(users[0])
    if person is None:
        raise ApiError("user_not_found")
    if person.deleted:
        raise ApiError("user_disabled")
    return {"ok": True, "channel": {"id": direct_channel(call.world, call.installation, person.id).id}}


def conversations_history(call: ApiCall) -> Json:
    """Return top-level messages, newest first; `oldest` and `latest` are exclusive unless `inclusive`."""
    channel = readable(call, call.required("channel"), "history")
    everything = call.world.messages.get(channel.id, {}).values()
    roots = [m for m in everything if m.thread_ts is None or m.broadcast]
    found = sorted(_between(call, roots), key=lambda m: m.ts, reverse=True)
    return _messages(call, found)


def conversations_replies(call: ApiCall) -> Json:
    """Return a thread, its parent first, oldest first."""
    channel = readable(call, call.required("channel"), "history")
    parent = call.world.messages.get(channel.id, {}).get(call.required("ts"))
    if parent is None:
        raise ApiError("thread_not_found")
    return _messages(call, [parent, *_between(call, call.world.replies(channel.id, parent.ts))])


def _messages(call: ApiCall, found: Sequence[PostedMessage]) -> Json:
    everything = call.flag("include_all_metadata")
    page, following = _page(call, found)
    messages = [message_json(call.world, m, metadata="all" if everything else "type") for m in page]
    body: Json = {"ok": True, "messages": messages, "has_more": bool(following)}
    if following:
        body["response_metadata"] = {"next_cursor": following}
    return body


def _between(call: ApiCall, messages: Sequence[PostedMessage]) -> list[PostedMessage]:
    oldest, latest = _moment(call, "oldest", "0"), _moment(call, "latest", "9999999999.999999")
    inclusive = call.flag("inclusive")
    return [m for m in messages if oldest < m.ts < latest or (inclusive and m.ts in (oldest, latest))]


def _moment(call: ApiCall, name: str, default: str) -> str:
    """Return a ts in the form in which messages carry it, so that strings compare as times do."""
    value = call.string(name) or default
    if not _TS.fullmatch(value):
        raise ApiError(f"invalid_ts_{name}")
    seconds, _, fraction = value.partition(".")
    return f"{int(seconds):010d}.{fraction.ljust(6, '0')}"


def _page(call: ApiCall, found: Sequence[T]) -> tuple[list[T], str]:
    limit = call.number("limit", PAGE)
    if not 1 <= limit <= LARGEST_PAGE:
        raise ApiError("invalid_limit")
    start = _start(call.string("cursor"))
    end = start + limit
    following = base64.b64encode(f"at:{end}".encode()).decode() if end < len(found) else ""
    return list(found[start:end]), following


def _start(cursor: str | None) -> int:
    if cursor is None:
        return 0
    try:
        return int(base64.b64decode(cursor, validate=True).decode().removeprefix("at:"))
    except ValueError:
        raise ApiError("invalid_cursor") from None


METHODS = {
    "conversations.info": Method(conversations_info, READ, 3),
    "conversations.members": Method(conversations_members, READ, 4),
    "conversations.open": Method(conversations_open, tier=3),
    "conversations.history": Method(conversations_history, HISTORY, 3),
    "conversations.replies": Method(conversations_replies, HISTORY, 3),
}
