"""Slack's events: each is only a hint to read something again.

Events can be lost, late, doubled or out of order, so nothing is believed of them but whom they are about.

Slack says that the app was removed or its token revoked: the tenants of that workspace are marked at once. An
operator must not have to wait for the next card to learn that none can be written. The mark is no more than that:
nothing stops because of it, and the first message that Slack takes again ends it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import structlog
from slack_bolt.async_app import AsyncApp

from bot.core.model import PersonId
from bot.slack.client.people import PeopleReader
from bot.slack.inbound.payloads import is_id
from bot.store import tenants
from bot.store.engine import Store
from bot.store.policies import Policies

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
            self.people.want(PersonId(_team(body), found))
            self.asked()

    async def group(self, body: Body) -> None:
        """A user group's members changed; the event's own lists are cut at 500, so the group is read."""
        event = body.get("event") or {}
        subteam = event.get("subteam") or {}
        found = event.get("subteam_id") or (subteam.get("id") if isinstance(subteam, dict) else None)
        if is_id(found):
            self.people.want_group(PersonId(_team(body), found))
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


log = structlog.get_logger("placet")
# By event: the code that a Web API call would fail with.
CODES = {"app_uninstalled": "app_uninstalled", "tokens_revoked": "token_revoked"}
TEXTS = {
    "app_uninstalled": "Slack says that the app was removed from the workspace",
    "token_revoked": "Slack says that the bot's token was revoked",
}


@dataclass(frozen=True, slots=True)
class Revocation:
    """Marks tenants."""

    store: Store
    policies: Policies

    async def note(self, body: dict[str, Any]) -> None:
        """Read one event; a revoked token of a person's own concerns nobody here."""
        event = body.get("event") or {}
        kind, tokens = event.get("type"), event.get("tokens") or {}
        code = CODES.get(str(kind))
        ours = kind == "app_uninstalled" or (isinstance(tokens, dict) and bool(tokens.get("bot")))
        if code is None or not ours:
            return
        team = str(body.get("team_id") or "")
        async with self.store.begin() as tx:
            known = await tenants.faults(tx)
            # Both events come of a removal, in either order: the graver one stays.
            gone = {name for name, fault in known.items() if fault.code == "app_uninstalled"}
            ours_there = [one.name for one in (await self.policies.in_force(tx)).tenants() if one.slack_team == team]
            concerned = [name for name in ours_there if name not in gone]
            marked = [name for name in concerned if await tenants.set_fault(tx, name, code=code, text=TEXTS[code])]
        for name in marked:
            log.error("The bot can write nothing in this workspace.", action="revoked", tenant=name, code=code)
