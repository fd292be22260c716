"""Slack's events: each is only a hint to read something again.

Events can be lost, late, doubled or out of order, so nothing is believed of them but whom they are about. This module must
not judge; what it hears that an operator must know at once, `bot.slack.revocation` stores.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from slack_bolt.async_app import AsyncApp

from bot.core.model import Who
from bot.slack.identifiers import is_id
from bot.slack.people import PeopleReader

Body = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Events:
    """What an event wakes."""

    people: PeopleReader
    asked: Callable[[], None]  # hurries the reader of people on
    changed: Callable[[], None]  # hurries message sync on, which finds out what the token is still good for
    home: Callable[[Body], Awaitable[None]]  # hears whose Home tab is looked at
    revoked: Callable[[Body], Awaitable[None]]  # hears that the app or its token is gone

    def register(self, app: AsyncApp) -> None:
        """Put the listeners on the app."""
        app.event("user_change")(self.user)
        app.event("subteam_members_changed")(self.group)
        app.event("subteam_updated")(self.group)
        app.event("app_home_opened")(self.opened)
        for name in ("app_uninstalled", "tokens_revoked"):
            app.event(name)(self.installation)

    async def user(self, body: Body) -> None:
        """Somebody's account changed: deactivated, made a guest, or only a new status text."""
        user = (body.get("event") or {}).get("user")
        found = user.get("id") if isinstance(user, dict) else user
        if is_id(found):
            self.people.want(Who(_team(body), found))
            self.asked()

    async def group(self, body: Body) -> None:
        """A user group's members changed; the event's own lists are cut at 500, so the group is read."""
        event = body.get("event") or {}
        subteam = event.get("subteam") or {}
        found = event.get("subteam_id") or (subteam.get("id") if isinstance(subteam, dict) else None)
        if is_id(found):
            self.people.want_group(Who(_team(body), found))
            self.asked()

    async def opened(self, body: Body) -> None:
        """Somebody looks at the app's Home tab."""
        await self.home(body)

    async def installation(self, body: Body) -> None:
        """The token is gone, says Slack: marked now, and the next write says whether it is true."""
        await self.revoked(body)
        self.changed()


def _team(body: Body) -> str:
    return str(body.get("team_id") or "")
