"""What administrators and other people do: switch accounts off, change groups, archive channels, delete messages.

Each change is made first and told the app afterwards, as far as it subscribes; `silent` loses the telling.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Literal

from bot.sandbox.slack.events import emit
from bot.sandbox.slack.lookup import NotThere, find_channel, find_person
from bot.sandbox.slack.posting import erase
from bot.sandbox.slack.records import Channel, Group, Json, Member
from bot.sandbox.slack.shapes import group_json, message_json, user_json
from bot.sandbox.slack.world import World


async def tell(world: World, team_ids: Iterable[str], event: Json, *, silent: bool = False) -> None:
    """Emit an event to each of these workspaces' installations."""
    for team_id in [] if silent else team_ids:
        await emit(world, team_id, event)


async def change_person(world: World, user: str, changes: dict[str, Any], *, silent: bool = False) -> Member:
    """Change an account (deleted, is_restricted, name and so on)."""
    person = replace(find_person(world, user), **changes, updated=int(world.clock()))
    world.add(person)
    shown = user_json(world, person, seen_from=person.team_id)
    await tell(world, [person.team_id], {"type": "user_change", "user": shown}, silent=silent)
    return person


async def change_groups(world: World, user: str, wanted: list[str], *, silent: bool = False) -> None:
    """Put somebody into exactly these groups."""
    find_person(world, user)
    unknown = [group_id for group_id in wanted if group_id not in world.groups]
    if unknown:
        raise NotThere(f"no group {unknown[0]!r}", world.groups)
    for group in list(world.groups.values()):
        if (user in group.users) != (group.id in wanted):
            kept = tuple(member for member in group.users if member != user)
            await change_group(
                world, replace(group, users=(*kept, user) if group.id in wanted else kept), silent=silent
            )


async def change_group(world: World, group: Group, *, silent: bool = False) -> None:
    """Replace a group, telling of it as Slack does: who came and went, then the group as it is."""
    old = world.groups.get(group.id, Group(group.id, group.handle, group.team_id))
    world.add(group)
    added, removed = sorted({*group.users} - {*old.users}), sorted({*old.users} - {*group.users})
    now = int(world.clock())
    if added or removed:
        delta: Json = {
            "type": "subteam_members_changed",
            "subteam_id": group.id,
            "team_id": group.team_id,
            "date_previous_update": now,
            "date_update": now,
            "added_users": added,
            "added_users_count": len(added),
            "removed_users": removed,
            "removed_users_count": len(removed),
        }
        await tell(world, [group.team_id], delta, silent=silent)
    updated = {"type": "subteam_updated", "subteam": group_json(group, users=True)}
    await tell(world, [group.team_id], updated, silent=silent)


async def change_channel(world: World, channel: Channel, *, silent: bool = False) -> None:
    """Replace a channel; archiving and unarchiving are told."""
    old = find_channel(world, channel.id)
    world.add(channel)
    if old.is_archived != channel.is_archived:
        kind = "group" if channel.kind == "private" else "channel"
        event = {"type": f"{kind}_{'' if channel.is_archived else 'un'}archive", "channel": channel.id}
        await tell(world, [channel.team_id], event, silent=silent)


async def delete_message(world: World, channel_id: str, ts: str, *, silent: bool = False) -> None:
    """Delete somebody's message as an administrator would."""
    channel = find_channel(world, channel_id)
    message = world.message(channel_id, ts)
    if message is None:
        raise NotThere(f"no message {ts!r} in {channel_id}", world.messages.get(channel_id, {}))
    previous = message_json(world, message)
    erase(world, message)
    event = {
        "type": "message",
        "subtype": "message_deleted",
        "hidden": True,
        "channel": channel_id,
        "deleted_ts": ts,
        "previous_message": previous,
    }
    await tell(world, [channel.team_id], event, silent=silent)


async def revoke(
    world: World, team_id: str, status: Literal["active", "token_revoked", "account_inactive"], *, silent: bool = False
) -> None:
    """Take the app's token away (tokens_revoked), uninstall it (both farewells), or give it back (`active`)."""
    installation = world.installations[team_id]
    world.add(replace(installation, status=status))
    if status == "active":
        return
    if status == "account_inactive":
        await tell(world, [team_id], {"type": "app_uninstalled"}, silent=silent)
    tokens = {"oauth": [], "bot": [installation.bot_user]}
    await tell(world, [team_id], {"type": "tokens_revoked", "tokens": tokens}, silent=silent)
