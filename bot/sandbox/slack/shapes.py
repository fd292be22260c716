"""People, channels, groups and messages as Slack's answers and payloads show them."""

from typing import Literal

from bot.sandbox.slack.records import AppInstallation, Channel, Group, Json, Member, PostedMessage
from bot.sandbox.slack.world import World


def team_json(world: World, team_id: str) -> Json:
    """Return the `team` of an interaction payload: where the app is installed."""
    team = world.teams[team_id]
    body: Json = {"id": team.id, "domain": team.domain}
    if team.enterprise_id:
        body |= {"enterprise_id": team.enterprise_id, "enterprise_name": team.enterprise_id}
    return body


def user_json(world: World, person: Member, *, seen_from: str) -> Json:
    """Return a user object; for a person of another workspace it says whether any channel is shared."""
    body: Json = {
        "id": person.id,
        "team_id": person.team_id,
        "name": person.name.lower(),
        "real_name": person.name,
        "deleted": person.deleted,
        "is_bot": person.is_bot,
        "is_app_user": False,
        "updated": person.updated,
        "profile": {"display_name": person.name, "real_name": person.name, "team": person.team_id},
    }
    if not person.deleted:
        body |= {"is_restricted": person.is_restricted, "is_ultra_restricted": person.is_ultra_restricted}
    if person.team_id != seen_from:
        body["is_stranger"] = not shares_channel(world, person, seen_from)
    enterprise_id = world.teams[person.team_id].enterprise_id
    if enterprise_id:
        teams = [team.id for team in world.teams.values() if team.enterprise_id == enterprise_id]
        body["enterprise_user"] = {"id": person.org_id or person.id, "enterprise_id": enterprise_id, "teams": teams}
    return body


def shares_channel(world: World, person: Member, team_id: str) -> bool:
    """Return whether somebody from outside is in any channel that this workspace has a part in."""
    return any(
        person.id in channel.members and team_id in (channel.team_id, *channel.shared_with)
        for channel in world.channels.values()
    )


def channel_json(channel: Channel) -> Json:
    """Return a conversation object as conversations.info gives it."""
    shared = bool(channel.shared_with)
    body: Json = {
        "id": channel.id,
        "is_channel": channel.kind == "public",
        "is_group": channel.kind == "private",
        "is_im": channel.kind == "im",
        "is_mpim": False,
        "is_private": channel.kind != "public",
        "is_archived": channel.is_archived,
        "is_frozen": False,
        "is_shared": shared,
        "is_ext_shared": shared,
        "is_org_shared": False,
        "context_team_id": channel.team_id,
        "shared_team_ids": [channel.team_id, *channel.shared_with],
    }
    if channel.kind != "im":
        body |= {"name": channel.name, "name_normalized": channel.name}
    return body


def group_json(group: Group, *, users: bool = False, count: bool = False) -> Json:
    """Return a user group; its members only where asked for."""
    body: Json = {
        "id": group.id,
        "team_id": group.team_id,
        "is_usergroup": True,
        "is_subteam": True,
        "name": group.handle,
        "handle": group.handle,
        "is_external": False,
        "date_delete": group.date_delete,
    }
    if users:
        body["users"] = list(group.users)
    if count or users:
        body["user_count"] = len(group.users)
    return body


def message_json(world: World, message: PostedMessage, *, metadata: Literal["none", "type", "all"] = "none") -> Json:
    """Return a message; of its metadata nothing, only the type of event, or all."""
    if message.tombstone:
        return {"type": "message", "subtype": "tombstone", "ts": message.ts, "text": "This message was deleted."}
    body: Json = {
        "type": "message",
        "user": message.user,
        "bot_id": message.bot_id,
        "app_id": message.app_id,
        "team": message.team_id,
        "ts": message.ts,
        "text": message.text,
    }
    if message.blocks:
        body["blocks"] = list(message.blocks)
    if message.edited_ts:
        body["edited"] = {"user": message.user, "ts": message.edited_ts}
    body |= _thread_json(world, message)
    if message.metadata and metadata != "none":
        kept = message.metadata if metadata == "all" else {"event_type": message.metadata["event_type"]}
        body["metadata"] = kept
    return body


def _thread_json(world: World, message: PostedMessage) -> Json:
    if message.thread_ts:
        return {"thread_ts": message.thread_ts, "parent_user_id": message.user}
    replies = world.replies(message.channel, message.ts)
    if not replies:
        return {}
    return {"thread_ts": message.ts, "reply_count": len(replies), "latest_reply": replies[-1].ts}


def person_in_payload(person: Member) -> Json:
    """Return the `user` of an interaction payload; `team_id` is the person's own workspace."""
    name = person.name.lower()
    return {"id": person.id, "username": name, "name": name, "team_id": person.team_id}


def authorization_json(installation: AppInstallation) -> Json:
    """Return the one entry of an event's `authorizations`."""
    return {
        "enterprise_id": None,
        "team_id": installation.team_id,
        "user_id": installation.bot_user,
        "is_bot": True,
        "is_enterprise_install": False,
    }
