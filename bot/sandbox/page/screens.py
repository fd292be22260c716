"""What one person sees of the workspace, as one frozen value for the template.

A projection of the world at one moment: it changes nothing and tells the app nothing.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from bot.sandbox.page.names import Names
from bot.sandbox.page.sight import PageView
from bot.sandbox.slack.lookup import NotThere, find_person
from bot.sandbox.slack.records import Channel, Ephemeral, Json, Member, PostedMessage, StoredView
from bot.sandbox.slack.world import World

HOME = "home"
MOST = 100
"""How many messages of a channel are drawn, the newest; threads come with their first message."""


@dataclass(frozen=True, slots=True)
class Someone:
    """A person or an app beside what they say; `hue` picks one of the avatar's colours."""

    id: str
    name: str
    initials: str
    hue: int
    role: str = ""
    is_app: bool = False


@dataclass(frozen=True, slots=True)
class PagePlace:
    """A channel in the side bar; `label` as Slack writes it."""

    id: str
    label: str
    archived: bool
    direct: bool


@dataclass(frozen=True, slots=True)
class Said:
    """A message as drawn: `private` if only the one who looks sees it."""

    channel: str
    ts: str
    author: Someone
    text: str
    blocks: tuple[Json, ...]
    sight: PageView
    private: bool = False
    edited: bool = False
    deleted: bool = False
    replies: tuple["Said", ...] = ()

    @property
    def unix(self) -> int:
        return int(float(self.ts))


@dataclass(frozen=True, slots=True)
class Opened:
    """A modal or a Home tab in front of somebody; `depth` counts the stack."""

    id: str
    content: Json
    sight: PageView
    notice: str = ""
    depth: int = 1

    @property
    def hash(self) -> str:
        return str(self.content["hash"])


@dataclass(frozen=True, slots=True)
class Screen:
    """Everything at once. `here` is none on the Home tab; `seen` is the count of changes that this shows."""

    seen: int
    me: Someone
    people: tuple[Someone, ...]
    places: tuple[PagePlace, ...]
    here: PagePlace | None
    messages: tuple[Said, ...]
    home: Opened | None
    modal: Opened | None
    sight: PageView


def screen_of(world: World, *, user: str | None, place: str | None, asker: str) -> Screen:
    """Return what somebody sees; by default a reviewer, in the channel where the app is.

    `place` is a channel's id or `HOME`; `asker` is on whose behalf runs are started. Raises NotThere for unknown ids.
    """
    me = find_person(world, user) if user else _first_reviewer(world)
    names = Names(world)
    places = tuple(_places(world, me))
    here = None if place == HOME else _here(places, place or places[0].id)
    messages = tuple(_messages(world, me, here.id))[-MOST:] if here else ()
    everybody = tuple(_someone(world, person, asker) for person in world.people.values() if not person.is_bot)
    return Screen(
        seen=world.bell.count,
        me=_someone(world, me, asker),
        people=everybody,
        places=places,
        here=here,
        messages=messages,
        home=_home(world, me, names) if place == HOME else None,
        modal=_modal(world, me, names),
        sight=PageView(names),
    )


def _first_reviewer(world: World) -> Member:
    everybody = [person for person in world.people.values() if not person.is_bot]
    return next((person for person in everybody if person.reviewer), everybody[0])


def _someone(world: World, person: Member, asker: str = "") -> Someone:
    hue = list(world.people).index(person.id) % 6
    initials = "".join(word[0] for word in person.name.split())[:2].upper()
    return Someone(person.id, person.name, initials, hue, _role(person, asker), person.is_bot)


def _role(person: Member, asker: str) -> str:
    if person.deleted:
        return "deactivated"
    if person.is_restricted or person.is_ultra_restricted:
        return "guest"
    if person.reviewer:
        return "reviewer"
    return "requester" if person.id == asker else "stranger"


def _places(world: World, me: Member) -> Iterable[PagePlace]:
    bots = {person.id for person in world.people.values() if person.is_bot}
    seen = [channel for channel in world.channels.values() if channel.kind == "public" or me.id in channel.members]
    ordered = sorted(seen, key=lambda channel: (channel.kind == "im", not channel.members & bots, channel.name))
    return (_place(world, channel) for channel in ordered)


def _here(places: tuple[PagePlace, ...], wanted: str) -> PagePlace:
    for place in places:
        if place.id == wanted:
            return place
    raise NotThere(f"no channel {wanted!r} to be seen", [place.id for place in places])


def _place(world: World, channel: Channel) -> PagePlace:
    if channel.kind == "im":
        bot = next((world.people[user].name for user in channel.members if world.people[user].is_bot), "app")
        return PagePlace(channel.id, bot, channel.is_archived, direct=True)
    return PagePlace(channel.id, f"# {channel.name}", channel.is_archived, direct=False)


def _messages(world: World, me: Member, channel: str) -> Iterable[Said]:
    """Yield the first messages of threads and what stands alone, oldest first, each with what hangs below it."""
    posted = world.messages.get(channel, {}).values()
    whispered = [e for e in world.ephemerals if e.channel == channel and e.user == me.id]
    everything: list[PostedMessage | Ephemeral] = sorted([*posted, *whispered], key=lambda m: m.ts)
    below: dict[str, list[Said]] = {}
    for message in everything:
        if message.thread_ts not in (None, message.ts):
            below.setdefault(str(message.thread_ts), []).append(_said(world, message))
    for message in everything:
        if message.thread_ts in (None, message.ts):
            yield _said(world, message, tuple(below.get(message.ts, ())))


def _said(world: World, message: PostedMessage | Ephemeral, replies: tuple[Said, ...] = ()) -> Said:
    private = isinstance(message, Ephemeral)
    author = message.user if isinstance(message, PostedMessage) else world.installations[message.team_id].bot_user
    return Said(
        channel=message.channel,
        ts=message.ts,
        author=_someone(world, world.people[author]),
        text=message.text,
        blocks=message.blocks,
        sight=PageView(Names(world), f"{message.channel} {message.ts}"),
        private=private,
        edited=isinstance(message, PostedMessage) and message.edited_ts is not None,
        deleted=isinstance(message, PostedMessage) and message.tombstone,
        replies=replies,
    )


def _modal(world: World, me: Member, names: Names) -> Opened | None:
    stack = world.modals(me.id)
    return _opened(stack[-1], names, depth=len(stack)) if stack else None


def _home(world: World, me: Member, names: Names) -> Opened | None:
    view_id = next((view_id for (_, owner), view_id in world.homes.items() if owner == me.id), None)
    return _opened(world.views[view_id], names) if view_id else None


def _opened(view: StoredView, names: Names, depth: int = 1) -> Opened:
    sight = PageView(names, view.id, view.values, view.errors)
    return Opened(view.id, {**view.content, "hash": view.hash}, sight, view.notice or "", depth)
