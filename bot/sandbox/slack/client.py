"""A person at their Slack client: what they see after an interaction, and the triggers and hooks that one makes.

The texts are those of Slack's client as far as they are known; they are shown, never sent.
"""

from dataclasses import asdict, dataclass, field
from typing import Any

from bot.sandbox.slack.modals import view_json
from bot.sandbox.slack.records import Ephemeral, Hook, Json, Member, PostedMessage, Trigger
from bot.sandbox.slack.world import World

TROUBLE = "We had some trouble connecting. Try again?"
WARNING = "⚠ The app did not acknowledge this."
REQUIRED = "Please complete this required field."


@dataclass(frozen=True, slots=True)
class ClientOutcome:
    """What one interaction came to, as the person's client shows it.

    `status` is the app's own HTTP status (Socket Mode: 200 for an ack), none where nothing was sent or nothing came in time.
    """

    acked: bool
    status: int | None
    error: str | None
    view: Json | None
    errors: dict[str, str] = field(default_factory=dict)

    def json(self) -> dict[str, Any]:
        return asdict(self)


def top_view(world: World, user: str) -> Json | None:
    """Return the modal that the person looks at."""
    modals = world.modals(user)
    return view_json(world, modals[-1]) if modals else None


def new_trigger(world: World, person: Member, team_id: str, view_id: str | None = None) -> Trigger:
    """Make a trigger for this interaction; `view_id` where it happened inside a modal."""
    trigger = Trigger(f"{world.next_id('')}.{world.next_id('')}.x", team_id, person.id, world.clock(), view_id)
    world.triggers[trigger.id] = trigger
    return trigger


def new_hook(world: World, user: str, place: PostedMessage | Ephemeral) -> Hook:
    """Make the response_url of a click in a message."""
    path = f"/actions/{place.team_id}/{world.next_id('')}/{world.next_id('s')}"
    return _kept(
        world,
        Hook(path, place.team_id, place.channel, user, world.clock(), place.ts, isinstance(place, Ephemeral)),
    )


def new_command_hook(world: World, user: str, *, team_id: str, channel: str) -> Hook:
    """Make the response_url of a command: there is no original to replace."""
    path = f"/commands/{team_id}/{world.next_id('')}/{world.next_id('s')}"
    return _kept(world, Hook(path, team_id, channel, user, world.clock()))


def _kept(world: World, hook: Hook) -> Hook:
    world.hooks[hook.path] = hook
    return hook


def modal_marks(world: World, user: str) -> tuple[tuple[str, str], ...]:
    """Return what changes whenever one of the person's modals does."""
    return tuple((view.id, view.hash) for view in world.modals(user))


async def look_on(world: World, trigger: Trigger, before: object, quiet: float | None = None) -> None:
    """Wait while a modal may still come: until one changes, or nothing has happened for a moment.

    A bot opens its modals in a task of its own, shortly after its ack. A call under way with this trigger holds the wait
    for as long as the trigger could live.
    """
    rules = world.rules
    quiet = rules.quiet_seconds if quiet is None else quiet

    def changed() -> bool:
        return modal_marks(world, trigger.user) != before

    def stirred() -> bool:
        return changed() or world.in_flight[trigger.id] > 0

    if await world.bell.until(stirred, quiet):
        await world.bell.until(lambda: changed() or not world.in_flight[trigger.id], rules.opening_seconds)
