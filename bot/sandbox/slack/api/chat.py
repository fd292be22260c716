"""chat.*: posting, updating, deleting, whispering."""

import json
from dataclasses import replace

from bot.sandbox.slack.api.calling import ApiCall, Method
from bot.sandbox.slack.api.places import visible, writable
from bot.sandbox.slack.blockkit import limits
from bot.sandbox.slack.blockkit.messages import problems_in_message
from bot.sandbox.slack.blockkit.weight import mrkdwn_weight
from bot.sandbox.slack.errors import ApiError, refuse
from bot.sandbox.slack.posting import PostRequest, erase, post_message, rewrite, whisper
from bot.sandbox.slack.records import Channel, Json, PostedMessage
from bot.sandbox.slack.shapes import message_json

NOT_MODELLED = ("attachments", "markdown_text")


def _post(call: ApiCall, *, update: bool = False) -> PostRequest:
    """Read and judge what is to be shown."""
    for name in NOT_MODELLED:
        if call.args.get(name):
            raise ApiError("invalid_arguments", messages=[f"[ERROR] {name} is not modelled [json-pointer:/{name}]"])
    blocks = call.structure("blocks", "invalid_blocks_format")
    blocks = [] if blocks is None else blocks
    text = call.string("text") or ""
    refuse(problems_in_message(blocks, text, update=update))
    return PostRequest(text, tuple(blocks), call.string("thread_ts"), _metadata(call), call.flag("reply_broadcast"))


def _metadata(call: ApiCall) -> Json | None:
    metadata = call.structure("metadata", "invalid_metadata_format")
    if not metadata:
        return None
    if not isinstance(metadata, dict) or set(metadata) - {"event_type", "event_payload", "entities"}:
        raise ApiError("invalid_metadata_format")
    event_type, payload = metadata.get("event_type"), metadata.get("event_payload")
    if not isinstance(event_type, str) or not event_type or not isinstance(payload, dict):
        raise ApiError("invalid_metadata_format")
    if not all(_flat(value) for value in payload.values()):
        raise ApiError("invalid_metadata_schema")
    if len(json.dumps(metadata)) > limits.METADATA_BYTES:
        raise ApiError("metadata_too_large")
    return metadata


def _flat(value: object) -> bool:
    """A property of event metadata is no object and holds none."""
    if isinstance(value, list):
        return not any(isinstance(item, dict | list) for item in value)
    return not isinstance(value, dict)


def _in_thread(call: ApiCall, channel: Channel, thread_ts: str | None) -> None:
    parent = call.world.messages.get(channel.id, {}).get(thread_ts or "")
    if thread_ts is not None and (parent is None or parent.thread_ts is not None):
        raise ApiError("cannot_reply_to_message")


def chat_post_message(call: ApiCall) -> Json:
    """Post; text over 40,000 is cut, with a warning."""
    channel = writable(call, call.required("channel"))
    post = _post(call)
    _in_thread(call, channel, post.thread_ts)
    cut = replace(post, text=post.text[: limits.MESSAGE_TEXT])
    message = post_message(call.world, call.installation, channel.id, cut)
    body: Json = {"ok": True, "channel": channel.id, "ts": message.ts, "message": _own_json(call, message)}
    if cut != post:
        body |= {"warning": "message_truncated", "response_metadata": {"warnings": ["message_truncated"]}}
    return body


def _own_json(call: ApiCall, message: PostedMessage) -> Json:
    return message_json(call.world, message, metadata="all")


def _own(call: ApiCall, error: str) -> PostedMessage:
    """Find the message that `channel` and `ts` name; `error` where it is somebody else's."""
    channel = visible(call, call.required("channel"))
    message = call.world.message(channel.id, call.required("ts"))
    if message is None:
        raise ApiError("message_not_found")
    if message.bot_id != call.installation.bot_id:
        raise ApiError(error)
    return message


def chat_update(call: ApiCall) -> Json:
    """Replace text and blocks: text alone deletes the blocks; metadata left out is kept, `{}` removes it."""
    message = _own(call, "cant_update_message")
    if call.world.channels[message.channel].is_archived:
        raise ApiError("is_inactive")
    post = _post(call, update=True)
    if call.world.rules.block_mismatch and _rich(message.blocks) and not _rich(post.blocks):
        raise ApiError("block_mismatch")
    if call.args.get("metadata") is None:
        post = replace(post, metadata=message.metadata)
    message = rewrite(call.world, message, post)
    shown = _own_json(call, message)
    return {"ok": True, "channel": message.channel, "ts": message.ts, "text": message.text, "message": shown}


def _rich(blocks: tuple[Json, ...]) -> bool:
    return any(block["type"] == "rich_text" for block in blocks)


def chat_delete(call: ApiCall) -> Json:
    """Delete one of the bot's own messages."""
    message = _own(call, "cant_delete_message")
    erase(call.world, message)
    return {"ok": True, "channel": message.channel, "ts": message.ts}


def chat_post_ephemeral(call: ApiCall) -> Json:
    """Show something to one member of the channel."""
    channel = writable(call, call.required("channel"))
    user = call.required("user")
    if user not in channel.members:
        raise ApiError("user_not_in_channel")
    post = _post(call)
    if mrkdwn_weight(post.text) > limits.EPHEMERAL_TEXT:
        raise ApiError("msg_too_long")
    _in_thread(call, channel, post.thread_ts)
    ephemeral = whisper(call.world, call.installation.team_id, channel.id, user=user, post=post)
    return {"ok": True, "message_ts": ephemeral.ts}


def chat_get_permalink(call: ApiCall) -> Json:
    """Return the address of a message in its workspace."""
    channel = visible(call, call.required("channel"))
    ts = call.required("message_ts")
    if call.world.message(channel.id, ts) is None:
        raise ApiError("message_not_found")
    domain = call.world.teams[call.installation.team_id].domain
    link = f"https://{domain}.slack.com/archives/{channel.id}/p{ts.replace('.', '')}"
    return {"ok": True, "channel": channel.id, "permalink": link}


METHODS = {
    "chat.postMessage": Method(chat_post_message, ("chat:write",)),
    "chat.update": Method(chat_update, ("chat:write",), 3),
    "chat.delete": Method(chat_delete, ("chat:write",), 3),
    "chat.postEphemeral": Method(chat_post_ephemeral, ("chat:write",), 4),
    "chat.getPermalink": Method(chat_get_permalink),
}
