"""Ready-made workspaces: the demo's, and one that tests shape to their needs.

Tokens and secrets here are well known on purpose: they open nothing but this sandbox.
"""

import time
from collections.abc import Callable, Iterable
from typing import Literal

from bot.sandbox.slack.records import App, AppInstallation, Channel, Group, Member, Team
from bot.sandbox.slack.rules import Rules
from bot.sandbox.slack.world import World

# What the app's manifest asks for and subscribes to, and no more: a test holds them together.
SCOPES = frozenset(
    {
        "chat:write",
        "commands",
        "users:read",
        "usergroups:read",
        "channels:read",
        "groups:read",
        "channels:history",
        "groups:history",
    }
)
EVENTS = frozenset(
    {
        "app_home_opened",
        "app_uninstalled",
        "tokens_revoked",
        "user_change",
        "subteam_members_changed",
        "subteam_updated",
    }
)
TEAM, APP_ID, BOT_USER, BOT_ID = "T0DEMO", "A0PLACET", "U0BOT", "B0PLACET"
BOT_TOKEN, APP_TOKEN, SIGNING_SECRET = "xoxb-demo", "xapp-demo", "demo-signing-secret"
APPROVALS, GENERAL, SUPPORT = "C0APPROVALS", "C0GENERAL", "S0SUPPORT"

PEOPLE = (
    Member("U0ADA", "Ada", TEAM, reviewer=True),
    Member("U0BEN", "Ben", TEAM, reviewer=True),
    Member("U0CLEO", "Cleo", TEAM),
    Member("U0DAN", "Dan", TEAM),
    Member("U0GUS", "Gus", TEAM, is_restricted=True),
)


def demo_world() -> World:
    """Return the demo's workspace: five people, two channels, one group, the app installed over HTTP."""
    return make_world()


def make_world(  # noqa: PLR0913 a factory with a default for everything
    *,
    transport: Literal["http", "socket"] = "http",
    bot_url: str | None = None,
    rules: Rules | None = None,
    clock: Callable[[], float] = time.time,
    events: Iterable[str] = EVENTS,
    scopes: Iterable[str] = SCOPES,
) -> World:
    """Return the demo's workspace with another transport, clock or rules; add_team and add_foreigner extend it."""
    app = App(APP_ID, APP_TOKEN, SIGNING_SECRET, bot_url, transport, frozenset(events))
    world = World(app, clock=clock, rules=rules)
    members = frozenset({BOT_USER, *(person.id for person in PEOPLE)})
    world.add(
        Team(TEAM, "Demo", "demo"),
        Member(BOT_USER, "placet", TEAM, is_bot=True),
        *PEOPLE,
        Group(SUPPORT, "support", TEAM, ("U0BEN",)),
        Channel(APPROVALS, "approvals", TEAM, members),
        Channel(GENERAL, "general", TEAM, members - {BOT_USER}),
        AppInstallation(TEAM, BOT_USER, BOT_ID, BOT_TOKEN, frozenset(scopes)),
    )
    return world


def add_team(
    world: World, team_id: str, *, people: Iterable[Member] = (), scopes: Iterable[str] = SCOPES, enterprise: str = ""
) -> AppInstallation:
    """Add a workspace with the app installed; ids are derived: T0OTHER gets U0OTHERBOT, xoxb-other, C0OTHERAPPROVALS."""
    stem = team_id.removeprefix("T0").removeprefix("T")
    bot_user, token = f"U0{stem}BOT", f"xoxb-{stem.lower()}"
    people = tuple(people)
    members = frozenset({bot_user, *(person.id for person in people)})
    installation = AppInstallation(team_id, bot_user, f"B0{stem}", token, frozenset(scopes))
    world.add(
        Team(team_id, stem.title(), stem.lower(), enterprise or None),
        Member(bot_user, "placet", team_id, is_bot=True),
        *people,
        Channel(f"C0{stem}APPROVALS", "approvals", team_id, members),
        installation,
    )
    return installation


def add_foreigner(world: World, person: Member, *, channel: str) -> Member:
    """Let somebody of another workspace into a channel by Slack Connect; their workspace need not have the app."""
    if person.team_id not in world.teams:
        stem = person.team_id.removeprefix("T0")
        world.add(Team(person.team_id, stem.title(), stem.lower()))
    place = world.channels[channel]
    shared = tuple(dict.fromkeys((*place.shared_with, person.team_id)))
    world.add(
        person,
        Channel(
            place.id, place.name, place.team_id, place.members | {person.id}, place.kind, place.is_archived, shared
        ),
    )
    return person
