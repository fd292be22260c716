"""People and user groups, read from Slack into the tables.

Clicks read the tables only; this reader keeps them fresh. At dispatch a live reading is wanted, younger than the
decision, and one reading serves everybody who waits for it. `usergroups.users.list` is limited to 20 a minute for a
workspace, so at most 15 are spent. This module must not decide anything.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Any

from slack_sdk.web.async_client import AsyncWebClient

from bot.authority import groups_of_policy, known_person
from bot.core.model import Who
from bot.core.policy import Person, TenantPolicy
from bot.errors import SlackError
from bot.slack import api
from bot.store import people
from bot.store.engine import Store, Tx

GROUP_READS_A_MINUTE = 15
ABSENT_PERSON = frozenset({"user_not_found", "user_not_visible", "users_not_found"})
ABSENT_GROUP = frozenset({"no_such_subteam", "subteam_not_found"})

Clients = Callable[[str], AsyncWebClient | None]


# What else is stored in the transaction that stores a group's change.
GroupChanged = Callable[[Tx, Who, people.Membership], Awaitable[None]]


async def _unheard(_tx: Tx, _group: Who, _change: people.Membership) -> None:
    return


class CannotTell(Exception):
    """Slack cannot be asked now; it is neither a yes nor a no."""


class Pace:
    """At most so many starts within any minute; answers how long to wait otherwise."""

    def __init__(self, a_minute: int, clock: Callable[[], float]) -> None:
        self._limit, self._clock = a_minute, clock
        self._starts: list[float] = []

    def take(self) -> float:
        """0 when it may start now, which counts; else seconds to wait."""
        now = self._clock()
        self._starts = [start for start in self._starts if start > now - 60]
        if len(self._starts) >= self._limit:
            return self._starts[0] + 60 - now
        self._starts.append(now)
        return 0.0


class PeopleReader:
    """Reads from Slack what authority rests on."""

    def __init__(
        self,
        store: Store,
        clients: Clients,
        clock: Callable[[], float],
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._store, self._clients, self._clock, self._sleep = store, clients, clock, sleep
        self._shared: dict[tuple[str, ...], asyncio.Task[None]] = {}
        self._paces: dict[str, Pace] = {}
        self._wanted: dict[Who, None] = {}
        self._wanted_groups: dict[Who, None] = {}
        self.group_changed: GroupChanged = _unheard

    def want(self, who: Who) -> None:
        """Ask for a reading of this person at the next round."""
        self._wanted[who] = None

    def want_group(self, group: Who) -> None:
        """Ask for a reading of this user group's members at the next round."""
        self._wanted_groups[group] = None

    async def refresh_wanted(self) -> None:
        """Read everybody who was asked for; failures are tried again when asked again."""
        wanted, self._wanted = list(self._wanted), {}
        groups, self._wanted_groups = list(self._wanted_groups), {}
        for who in wanted:
            with contextlib.suppress(SlackError):
                await self.read_user(who)
        for group in groups:
            with contextlib.suppress(SlackError):
                await self.read_group(group.team, group.user)

    async def confirm(self, tenant: TenantPolicy, who: Who, *, since: int) -> Person:
        """The person as Slack says now: nothing older than `since` (database ms) counts.

        Raises `CannotTell` when Slack cannot be asked.
        """
        async with self._store.read() as tx:
            person = await known_person(tx, tenant, who, fresh_since=since)
            groups = [
                group
                for group in sorted(groups_of_policy(tenant))
                if (await people.group_as_of(tx, who.team, group) or 0) < since
            ]
        if not person.unconfirmed:
            return person
        try:
            await self.read_user(who)
            person = await self._known(tenant, who, since)
            for group in groups if person.unconfirmed else ():
                await self.read_group(who.team, group)
        except SlackError as exc:
            raise CannotTell(str(exc)) from exc
        return await self._known(tenant, who, since)

    async def is_local(self, who: Who, *, since: int) -> bool:
        """Whether an account belongs to the workspace itself; asked of Slack unless that was done after `since`.

        Raises `CannotTell` when Slack cannot be asked.
        """
        async with self._store.read() as tx:
            row = await people.person(tx, who.team, who.user)
        if row is None or row.as_of < since:
            try:
                await self.read_user(who)
            except SlackError as exc:
                raise CannotTell(str(exc)) from exc
            async with self._store.read() as tx:
                row = await people.person(tx, who.team, who.user)
        return row is not None and not row.external

    async def _known(self, tenant: TenantPolicy, who: Who, since: int) -> Person:
        async with self._store.read() as tx:
            return await known_person(tx, tenant, who, fresh_since=since)

    async def read_user(self, who: Who) -> None:
        """One `users.info`, shared by everybody who asks while it has not begun to answer."""
        await self._once(("user", who.team, who.user), lambda: self._read_user(who))

    async def read_group(self, team: str, group: str) -> None:
        """One `usergroups.users.list`, shared likewise."""
        await self._once(("group", team, group), lambda: self._read_group(team, group))

    async def _once(self, key: tuple[str, ...], work: Callable[[], Awaitable[None]]) -> None:
        """Join a reading only if it has not started: one that is under way may be older than the question."""
        waiting = self._shared.get(key)
        if waiting is None:
            waiting = asyncio.ensure_future(self._begin(key, work))
            self._shared[key] = waiting
        await asyncio.shield(waiting)

    async def _begin(self, key: tuple[str, ...], work: Callable[[], Awaitable[None]]) -> None:
        try:
            if key[0] == "group":
                await self._paced(key[1])
            await asyncio.sleep(0)
        finally:
            self._shared.pop(key, None)
        await work()

    async def _paced(self, team: str) -> None:
        pace = self._paces.setdefault(team, Pace(GROUP_READS_A_MINUTE, self._clock))
        wait = pace.take()
        while wait:
            await self._sleep(min(wait, 5.0))
            wait = pace.take()

    def _client(self, team: str) -> AsyncWebClient:
        client = self._clients(team)
        if client is None:
            raise SlackError(f"no token for workspace {team}", code="no_token")
        return client

    async def _read_user(self, who: Who) -> None:
        began = await self._store.now()
        try:
            answer = await api.call(self._client(who.team).users_info(user=who.user))
        except SlackError as exc:
            if exc.code not in ABSENT_PERSON:
                raise
            answer = {"user": {"id": who.user, "deleted": True, "team_id": who.team}}
        user: dict[str, Any] = answer.get("user") or {}
        await people_save(self._store, who, user, began)

    async def _read_group(self, team: str, group: str) -> None:
        began = await self._store.now()
        try:
            answer = await api.call(self._client(team).usergroups_users_list(usergroup=group))
            members = [str(member) for member in answer.get("users") or []]
        except SlackError as exc:
            if exc.code not in ABSENT_GROUP:
                raise
            members = []
        async with self._store.begin() as tx:
            known = await people.group_as_of(tx, team, group) is not None
            change = await people.save_group(tx, team, group, members, as_of=began)
            if known and (change.added or change.removed):
                await self.group_changed(tx, Who(team, group), change)


async def people_save(store: Store, who: Who, user: dict[str, Any], as_of: int) -> None:
    """Store a `users.info` answer; `deleted` may be absent, which means active."""
    enterprise = user.get("enterprise_user") or {}
    home = user.get("team_id")
    told = people.Person(
        team=who.team,
        user_id=who.user,
        name="",  # never used to recognise anybody
        active=not user.get("deleted"),
        guest=bool(user.get("is_restricted") or user.get("is_ultra_restricted")),
        external=bool(user.get("is_stranger")) or (isinstance(home, str) and home != who.team),
        bot=bool(user.get("is_bot")),
        home_team=home if isinstance(home, str) else None,
        enterprise=enterprise.get("enterprise_id") if isinstance(enterprise, dict) else None,
        as_of=as_of,
    )
    async with store.begin() as tx:
        await people.save_person(tx, told)
