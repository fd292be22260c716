"""Finding what a person points at, and saying what there is where it is not found."""

from collections.abc import Iterable

from bot.sandbox.slack.records import AppInstallation, Channel, Ephemeral, Member, PostedMessage, StoredView
from bot.sandbox.slack.shapes import shares_channel
from bot.sandbox.slack.world import World


class NotThere(LookupError):
    """There is no such thing; `exists` lists what there is instead."""

    def __init__(self, says: str, exists: Iterable[str]) -> None:
        self.exists = list(exists)
        super().__init__(f"{says}; there are: {', '.join(self.exists) or 'none'}")


class CannotDo(ValueError):
    """It is there, but no client of Slack's would do that with it."""


def find_person(world: World, user: str) -> Member:
    """Return a person, also a deactivated one: a click may be under way as somebody is switched off."""
    if user not in world.people:
        raise NotThere(f"no person {user!r}", world.people)
    return world.people[user]


def find_channel(world: World, channel: str) -> Channel:
    """Return a channel by id; a name is none."""
    if channel not in world.channels:
        raise NotThere(f"no channel {channel!r}", world.channels)
    return world.channels[channel]


def find_message(world: World, user: str, channel_id: str, ts: str) -> PostedMessage | Ephemeral:
    """Return a message that this person can see: in a public channel anybody can, elsewhere members."""
    channel = find_channel(world, channel_id)
    if channel.kind != "public" and user not in channel.members:
        raise CannotDo(f"{user} is not in {channel_id} and cannot see it")
    message = world.message(channel_id, ts)
    own = [e for e in world.ephemerals if e.channel == channel_id and e.user == user]
    for ephemeral in own:
        if message is None and ephemeral.ts == ts:
            return ephemeral
    if message is None:
        raise NotThere(
            f"no message {ts!r} in {channel_id}", [*world.messages.get(channel_id, {}), *(e.ts for e in own)]
        )
    return message


def find_view(world: World, user: str, view_id: str) -> StoredView:
    """Return one of the person's views: the top modal or a Home tab; those below the top are covered."""
    modals = world.modals(user)
    homes = [world.views[home] for (_, owner), home in world.homes.items() if owner == user]
    reachable = {view.id: view for view in (*modals[-1:], *homes)}
    if view_id not in reachable:
        raise NotThere(f"{user} has no view {view_id!r} in front of them", reachable)
    return reachable[view_id]


def installation_for(world: World, person: Member) -> AppInstallation:
    """Return where this person meets the app: at home, else in a workspace that shares a channel with theirs."""
    if person.team_id in world.installations:
        return world.installations[person.team_id]
    for installation in world.installations.values():
        if shares_channel(world, person, installation.team_id):
            return installation
    raise NotThere(f"the app is nowhere that {person.id} can reach", world.installations)
