"""People and user groups, read from Slack into the tables.

One reading for everybody who waits for it, and no more of them than the other side allows. Who asks says how new an
answer must be; a reading serves all whose questions are older than its beginning.

Clicks read the tables only; this reader keeps them fresh. At dispatch a live reading is wanted, younger than the
decision, and one reading serves everybody who waits for it. `usergroups.users.list` is limited to 20 a minute for a
workspace, which all replicas share.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import structlog
from slack_sdk.web.async_client import AsyncWebClient

from bot.access.person import Actor, groups_of_policy, known_person, presser_of
from bot.core.model import PersonId
from bot.errors import RateLimited, SlackError
from bot.policy.model import Person, TenantPolicy
from bot.slack.client import web_api
from bot.slack.inbound.payloads import is_id
from bot.store import people
from bot.store.engine import Store, Tx


class Pace:
    """A few starts at once, then one at a time: at most `burst + 60 / every` in any minute, and nobody waits long."""

    def __init__(self, clock: Callable[[], float], *, burst: int, every: float) -> None:
        self._clock, self._burst, self._every = clock, burst, every
        self._left, self._at = float(burst), clock()

    def take(self) -> float:
        """0 when it may start now, which counts; else seconds to wait."""
        now = self._clock()
        self._left = min(self._burst, self._left + (now - self._at) / self._every)
        self._at = now
        if self._left < 1:
            return (1 - self._left) * self._every
        self._left -= 1
        return 0.0

    def hold(self, seconds: float) -> None:
        """Start nothing for so long: the other side said so."""
        self._left = min(self._left, 1 - seconds / self._every)


@dataclass(slots=True, eq=False)
class SharedRead:
    """One reading, asked for or under way. Its maker sets `began` (ms) just before asking the other side."""

    since: int  # the newest question's time
    began: int | None = None
    task: asyncio.Task[None] | None = None

    def serves(self, since: int) -> bool:
        """Whether its answer will be new enough."""
        return self.began is None or self.began >= since


class SharedReads:
    """The readings of one process by what they read."""

    def __init__(self) -> None:
        self._open: dict[Hashable, SharedRead] = {}

    async def join(self, key: Hashable, since: int, make: Callable[[SharedRead], Awaitable[None]]) -> None:
        """Wait for a reading that is no older than `since`, made now if none is open. Raises what the reading raised."""
        reading = self._open.get(key)
        if reading is None or not reading.serves(since):
            reading = self._open[key] = SharedRead(since)
            reading.task = asyncio.ensure_future(self._made(key, reading, make))
        reading.since = max(reading.since, since)
        if reading.task is not None:
            await asyncio.shield(reading.task)

    async def _made(self, key: Hashable, reading: SharedRead, make: Callable[[SharedRead], Awaitable[None]]) -> None:
        try:
            await make(reading)
        finally:
            if self._open.get(key) is reading:
                del self._open[key]


log = structlog.get_logger("placet")

GROUP_READS_AT_ONCE = 5
GROUP_READ_EVERY_S = 7.5
LONGEST_TURN_S = 8.0  # whoever would wait longer for a turn asks again later, and holds nothing meanwhile
ABSENT_PERSON = frozenset({"user_not_found", "user_not_visible", "users_not_found"})
ABSENT_GROUP = frozenset({"no_such_subteam", "subteam_not_found"})
# Slack will say the same again until an operator changes something.
UNREADABLE = frozenset(
    {
        "missing_scope",
        "no_permission",
        "permission_denied",
        "not_allowed_token_type",
        "access_denied",
        "paid_teams_only",
    }
    | {"plan_upgrade_required", "ekm_access_denied", "team_access_not_granted", "enterprise_is_restricted"}
)

Clients = Callable[[str], AsyncWebClient | None]


# What else is stored in the transaction that stores a group's change.
GroupChanged = Callable[[Tx, PersonId, people.Membership], Awaitable[None]]


# The workspaces that stand for a place that Slack names: itself, or those of an organisation that the policy names.
Workspaces = Callable[[str], Awaitable[Sequence[str]]]


async def _itself(place: str) -> Sequence[str]:
    return (place,)


async def _unheard(_tx: Tx, _group: PersonId, _change: people.Membership) -> None:
    return


class CannotTell(Exception):
    """Slack cannot be asked now; it is neither a yes nor a no."""


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
        self._readings = SharedReads()
        self._paces: dict[str, Pace] = {}
        self._wanted: dict[PersonId, None] = {}
        self._wanted_groups: dict[PersonId, None] = {}
        self.group_changed: GroupChanged = _unheard
        self.workspaces: Workspaces = _itself

    def want(self, who: PersonId) -> None:
        """Ask for a reading of this person at the next round."""
        self._wanted[who] = None

    def want_group(self, group: PersonId) -> None:
        """Ask for a reading of this user group's members at the next round."""
        self._wanted_groups[group] = None

    async def refresh_wanted(self) -> None:
        """Read everybody who was asked for; failures are tried again when asked again."""
        wanted, self._wanted = list(self._wanted), {}
        groups, self._wanted_groups = list(self._wanted_groups), {}
        for who in wanted:
            for team in await self.workspaces(who.team):
                with contextlib.suppress(SlackError):
                    await self.read_user(PersonId(team, who.user))
        for group in groups:
            for team in await self.workspaces(group.team):
                with contextlib.suppress(SlackError):
                    await self.read_group(team, group.user)

    async def confirm(self, tenant: TenantPolicy, who: PersonId, *, since: int) -> Person:
        """The person of a stored key as Slack says now: nothing older than `since` (database ms) counts.

        Raises `CannotTell` when Slack cannot be asked.
        """
        actor = presser_of(tenant, who)
        async with self._store.read() as tx:
            person = await known_person(tx, tenant, actor, fresh_since=since)
            groups = [
                group
                for group in sorted(groups_of_policy(tenant))
                if (await people.group_as_of(tx, tenant.slack_team, group) or 0) < since
            ]
        if not person.unconfirmed:
            return person
        try:
            await self.read_user(actor.account, since=since)
            person = await self._known(tenant, actor, since)
            for group in groups if person.unconfirmed else ():
                await self.read_group(tenant.slack_team, group, since=since)
        except SlackError as exc:
            raise CannotTell(str(exc)) from exc
        return await self._known(tenant, actor, since)

    async def is_local(self, who: PersonId, *, since: int) -> bool:
        """Whether an account belongs to the workspace itself; asked of Slack unless that was done after `since`.

        Raises `CannotTell` when Slack cannot be asked.
        """
        async with self._store.read() as tx:
            row = await people.person(tx, who.team, who.user)
        if row is None or row.as_of < since:
            try:
                await self.read_user(who, since=since)
            except SlackError as exc:
                raise CannotTell(str(exc)) from exc
            async with self._store.read() as tx:
                row = await people.person(tx, who.team, who.user)
        return row is not None and not row.external

    async def _known(self, tenant: TenantPolicy, actor: Actor, since: int) -> Person:
        async with self._store.read() as tx:
            return await known_person(tx, tenant, actor, fresh_since=since)

    async def read_user(self, who: PersonId, *, since: int | None = None) -> None:
        """`users.info`, no older than `since` (database ms; default: now), once for everybody who waits for it."""
        asked = await self._store.now() if since is None else since
        await self._readings.join(who, asked, lambda reading: self._read_user(who, reading))

    async def read_group(self, team: str, group: str, *, since: int | None = None) -> None:
        """`usergroups.users.list`, likewise."""
        asked = await self._store.now() if since is None else since
        await self._readings.join(
            PersonId(team, group), asked, lambda reading: self._read_group(PersonId(team, group), reading)
        )

    async def _paced(self, group: PersonId, reading: SharedRead) -> bool:
        """Wait for our turn; False if another replica's reading made ours needless meanwhile.

        Raises `RateLimited` where the turn is far off.
        """
        pace = self._pace(group.team)
        while wait := pace.take():
            if wait > LONGEST_TURN_S:
                raise RateLimited(code="ratelimited", retry_after=wait)
            await self._sleep(min(wait, 5.0))
            async with self._store.read() as tx:
                known = await people.group_as_of(tx, group.team, group.user) or 0
            if known >= reading.since:
                return False
        return True

    def _pace(self, team: str) -> Pace:
        fresh = Pace(self._clock, burst=GROUP_READS_AT_ONCE, every=GROUP_READ_EVERY_S)
        return self._paces.setdefault(team, fresh)

    def _client(self, team: str) -> AsyncWebClient:
        client = self._clients(team)
        if client is None:
            raise SlackError(f"no token for workspace {team}", code="no_token")
        return client

    async def _read_user(self, who: PersonId, reading: SharedRead) -> None:
        began = reading.began = await self._store.now()
        try:
            answer = await web_api.call(self._client(who.team).users_info(user=who.user))
        except SlackError as exc:
            if exc.code not in ABSENT_PERSON:
                raise
            answer = {"user": {"id": who.user, "deleted": True, "team_id": who.team}}
        user: dict[str, Any] = answer.get("user") or {}
        await people_save(self._store, who, user, began)

    async def _read_group(self, group: PersonId, reading: SharedRead) -> None:
        if not await self._paced(group, reading):
            return
        began = reading.began = await self._store.now()
        try:
            members = await self._members(group)
        except SlackError as exc:
            if exc.code in UNREADABLE:
                await self._unreadable(group, exc.code)
            raise
        async with self._store.begin() as tx:
            known = bool(await people.group_as_of(tx, group.team, group.user))
            change = await people.save_group(tx, group.team, group.user, members, as_of=began)
            if known and (change.added or change.removed):
                await self.group_changed(tx, group, change)

    async def _unreadable(self, group: PersonId, code: str) -> None:
        """Said once, when it begins: a reading a minute finds out when it is over."""
        async with self._store.begin() as tx:
            new = await people.save_group_fault(tx, group.team, group.user, code)
        if new:
            log.warning(
                "Slack does not let this app read a user group, so nobody whom only that group makes a reviewer can "
                "decide. Give the app the scope usergroups:read and install it again.",
                action="group_unreadable",
                team=group.team,
                group=group.user,
                code=code,
            )

    async def _members(self, group: PersonId) -> list[str]:
        try:
            answer = await web_api.call(self._client(group.team).usergroups_users_list(usergroup=group.user))
        except RateLimited as exc:
            self._pace(group.team).hold(exc.retry_after)
            raise
        except SlackError as exc:
            if exc.code not in ABSENT_GROUP:
                raise
            return []
        return [str(member) for member in answer.get("users") or []]


async def people_save(store: Store, who: PersonId, user: dict[str, Any], as_of: int) -> None:
    """Store a `users.info` answer; `deleted` may be absent, which means active."""
    told_of_org = user.get("enterprise_user")
    org: dict[str, Any] = told_of_org if isinstance(told_of_org, dict) else {}
    teams = [str(team) for team in org.get("teams") or []]
    home, person_id = user.get("team_id"), org.get("id")
    told = people.StoredPerson(
        team=who.team,
        user_id=who.user,
        name="",  # never used to recognise anybody
        active=not user.get("deleted"),
        guest=bool(user.get("is_restricted") or user.get("is_ultra_restricted")),
        external=bool(user.get("is_stranger")) or (isinstance(home, str) and who.team not in (home, *teams)),
        bot=bool(user.get("is_bot")),
        home_team=home if isinstance(home, str) else None,
        enterprise=org.get("enterprise_id"),
        person_id=person_id if is_id(person_id) else None,
        teams=",".join(sorted(teams)),
        as_of=as_of,
    )
    async with store.begin() as tx:
        await people.save_person(tx, told)
        if told.person_id and not told.external:
            # Decisions are kept under the organisation's id, and rules, groups and threads may name either.
            others = {told.person_id, user.get("id")} - {told.user_id}
            for other in sorted(one for one in others if is_id(one)):
                await people.save_person(tx, replace(told, user_id=other))
