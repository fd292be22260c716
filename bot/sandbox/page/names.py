"""What ids are called: people, groups and channels as mentions show them. An id that nobody knows stays an id."""

from dataclasses import dataclass

from bot.sandbox.slack.world import World


@dataclass(frozen=True, slots=True)
class Names:
    """Looks names up in the workspace as it is now."""

    world: World

    def person(self, user: str) -> str:
        found = self.world.people.get(user)
        return found.name if found else user

    def group(self, group: str) -> str:
        found = self.world.groups.get(group)
        return found.handle if found else group

    def channel(self, channel: str) -> str:
        found = self.world.channels.get(channel)
        return found.name if found and found.name else channel
