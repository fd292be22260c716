"""Which conversations a bot may read and write, and with which error it learns that it may not."""

from bot.sandbox.slack.api.calling import ApiCall
from bot.sandbox.slack.errors import ApiError
from bot.sandbox.slack.posting import direct_channel
from bot.sandbox.slack.records import Channel

PREFIX = {"public": "channels", "private": "groups", "im": "im"}


def need_scope(call: ApiCall, *any_of: str) -> None:
    """Refuse with what would have been needed and what the token has."""
    scopes = call.installation.scopes
    if not scopes & set(any_of):
        raise ApiError("missing_scope", needed=",".join(any_of), provided=",".join(sorted(scopes)))


def visible(call: ApiCall, channel_id: str) -> Channel:
    """Return a conversation that exists for this bot: private ones exist for their members only."""
    channel = call.world.channels.get(channel_id)
    if channel is None or call.installation.team_id not in (channel.team_id, *channel.shared_with):
        raise ApiError("channel_not_found")
    if channel.kind != "public" and call.installation.bot_user not in channel.members:
        raise ApiError("channel_not_found")
    return channel


def readable(call: ApiCall, channel_id: str, right: str) -> Channel:
    """Return a conversation the bot may read; `right` is `read` or `history`, scoped by the kind of channel."""
    channel = visible(call, channel_id)
    need_scope(call, f"{PREFIX[channel.kind]}:{right}")
    if right == "history" and call.installation.bot_user not in channel.members:
        raise ApiError("not_in_channel")
    return channel


def writable(call: ApiCall, channel_id: str) -> Channel:
    """Return the conversation to post in; a person's id stands for the direct conversation with them."""
    if channel_id[:1] in ("U", "W"):
        return _direct(call, channel_id)
    channel = visible(call, channel_id)
    if channel.is_archived:
        raise ApiError("is_archived")
    member = call.installation.bot_user in channel.members
    if not member and "chat:write.public" not in call.installation.scopes:
        raise ApiError("not_in_channel")
    if channel.kind == "im":
        _need_messages_tab(call)
    return channel


def _direct(call: ApiCall, user: str) -> Channel:
    person = call.world.people.get(user)
    if person is None or person.deleted or person.is_bot:
        raise ApiError("channel_not_found")
    if person.team_id != call.installation.team_id and not _shares(call, user):
        raise ApiError("channel_not_found")
    _need_messages_tab(call)
    return direct_channel(call.world, call.installation, user)


def _shares(call: ApiCall, user: str) -> bool:
    return any(
        user in channel.members and call.installation.bot_user in channel.members
        for channel in call.world.channels.values()
    )


def _need_messages_tab(call: ApiCall) -> None:
    if not call.world.app.messages_tab:
        raise ApiError("messages_tab_disabled")
