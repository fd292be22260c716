"""People and user groups as Slack last told us, with when.

Authority is judged from these rows; how old they may be is the judge's business. A member keeps the time since which
we know of the membership, through every refresh.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import BindParameter, FromClause, and_, bindparam, delete, insert, literal, or_, select

from bot.core.model import PersonId
from bot.store.audit import events
from bot.store.dialects import serialise, upsert
from bot.store.engine import Tx
from bot.store.tables import group_members, people, user_groups


@dataclass(frozen=True, slots=True)
class StoredPerson:
    """One Slack account as a workspace sees it; `as_of` is the database's time before Slack was asked (ms).

    `person_id` is the organisation's id of the same human (`enterprise_user.id`), `teams` their workspaces in it.
    """

    team: str
    user_id: str
    name: str
    active: bool
    guest: bool = False
    external: bool = False  # of another workspace, through Slack Connect
    bot: bool = False
    home_team: str | None = None
    enterprise: str | None = None
    person_id: str | None = None
    teams: str = ""  # with commas between them
    as_of: int = 0

    @property
    def homes(self) -> frozenset[str]:
        """Whatever Slack may name as this account's own: a workspace, or the organisation."""
        return frozenset(home for home in (self.home_team, self.enterprise, *self.teams.split(",")) if home)


@dataclass(frozen=True, slots=True)
class Account:
    """One account with all its ids, and the groups that any of them is in, each with since when we know it (ms)."""

    person: StoredPerson | None
    ids: frozenset[str]
    groups: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Membership:
    """What a refresh of a group changed."""

    added: frozenset[str]
    removed: frozenset[str]


_FIELDS = [people.c[name] for name in StoredPerson.__slots__]
_PERSON = select(*_FIELDS).where(people.c.team == bindparam("team"), people.c.user_id == bindparam("user"))

# An account's row, the rows of its other ids, and what groups list any of them: joined to anything by `account_joined`.
_OTHERS = people.alias("others")
_USER: BindParameter[str] = bindparam("user")
ACCOUNT = [_OTHERS.c.user_id.label("other"), group_members.c.group_id, group_members.c.since, *_FIELDS]


def account_joined(base: FromClause) -> FromClause:
    """`base` with an account's rows, all of them null where it is not known; `team` and `user` are bound."""
    team: BindParameter[str] = bindparam("team")
    itself = and_(people.c.team == team, people.c.user_id == _USER)
    same = and_(
        _OTHERS.c.team == team,
        _OTHERS.c.person_id == people.c.person_id,
        _OTHERS.c.enterprise.is_not_distinct_from(people.c.enterprise),
    )
    listed = or_(
        group_members.c.user_id == _USER,
        group_members.c.user_id == people.c.person_id,
        group_members.c.user_id == _OTHERS.c.user_id,
    )
    member = and_(group_members.c.team == team, listed)
    return base.outerjoin(people, itself).outerjoin(_OTHERS, same).outerjoin(group_members, member)


def account_of(user: str, rows: Sequence[Any]) -> Account:
    """The account from rows that hold `ACCOUNT`'s columns last."""
    *_, told = rows
    held = tuple(told)[-len(_FIELDS) :]
    row = None if held[0] is None else StoredPerson(*held)
    ids = {user, *(each.other for each in rows if each.other), *([row.person_id] if row and row.person_id else [])}
    groups: dict[str, int] = {}
    for each in rows:
        if each.group_id is not None:
            groups[each.group_id] = min(each.since, groups.get(each.group_id, each.since))
    return Account(row, frozenset(ids), groups)


_ONE = select(literal(1).label("one")).subquery("one")
_ACCOUNT = select(*ACCOUNT).select_from(account_joined(_ONE))


async def account(tx: Tx, team: str, user: str) -> Account:
    """What we know of somebody by any of their ids."""
    return account_of(user, (await tx.conn.execute(_ACCOUNT, {"team": team, "user": user})).all())


async def person(tx: Tx, team: str, user: str) -> StoredPerson | None:
    """What we know of one account, None if Slack was never asked."""
    row = (await tx.conn.execute(_PERSON, {"team": team, "user": user})).one_or_none()
    return None if row is None else StoredPerson(*row)


async def save_person(tx: Tx, told: StoredPerson) -> None:
    """Store what Slack said, unless a later answer is stored already; recorded when the account itself changed."""
    await serialise(tx, f"person:{told.team}:{told.user_id}")
    before = await person(tx, told.team, told.user_id)
    if before and before.as_of > told.as_of:
        return
    row = {name: getattr(told, name) for name in StoredPerson.__slots__}
    await upsert(tx, people, row)
    if before is None or replace(before, as_of=told.as_of, name=told.name) != told:
        del row["name"]
        await events.record(tx, tenant=events.EVERYONE, kind="person.changed", content=row)


async def members_of(tx: Tx, team: str, group: str) -> frozenset[str]:
    """The user ids of one group as last told."""
    return frozenset(await tx.conn.scalars(select(group_members.c.user_id).where(_of_group(team, group))))


async def group_as_of(tx: Tx, team: str, group: str) -> int | None:
    """When Slack last told us this group's members (ms), None if never."""
    here = and_(user_groups.c.team == team, user_groups.c.group_id == group)
    told: int | None = await tx.conn.scalar(select(user_groups.c.as_of).where(here))
    return told


async def save_group_fault(tx: Tx, team: str, group: str, code: str) -> bool:
    """Store that Slack will not tell this group's members as things are; answers whether that is new."""
    await serialise(tx, f"group:{team}:{group}")
    here = and_(user_groups.c.team == team, user_groups.c.group_id == group)
    before = await tx.conn.scalar(select(user_groups.c.fault).where(here))
    told = await group_as_of(tx, team, group) or 0
    row = {"team": team, "group_id": group, "as_of": told, "fault": code, "fault_at": tx.now}
    await upsert(tx, user_groups, row)
    return before != code


async def group_faults(tx: Tx, team: str, groups: Collection[str]) -> Mapping[str, int]:
    """Of these groups those that Slack will not tell us, each with when it last said so (ms)."""
    here = and_(user_groups.c.team == team, user_groups.c.group_id.in_(groups), user_groups.c.fault.is_not(None))
    found = await tx.conn.execute(select(user_groups.c.group_id, user_groups.c.fault_at).where(here))
    return {row.group_id: row.fault_at for row in found}


async def save_group(
    tx: Tx, team: str, group: str, members: Collection[str], *, as_of: int | None = None
) -> Membership:
    """Store a group's members as Slack told them and say what changed; nothing does if a later answer is stored."""
    await serialise(tx, f"group:{team}:{group}")
    told, known = tx.now if as_of is None else as_of, await group_as_of(tx, team, group)
    if known is not None and known > told:
        return Membership(frozenset(), frozenset())
    well = {"fault": None, "fault_at": None}
    await upsert(tx, user_groups, {"team": team, "group_id": group, "as_of": told, **well})
    before = await members_of(tx, team, group)
    change = Membership(frozenset(members) - before, before - frozenset(members))
    await _change_members(tx, PersonId(team, group), change)
    if change.added or change.removed:
        content = {"team": team, "group": group, "added": sorted(change.added), "removed": sorted(change.removed)}
        await events.record(tx, tenant=events.EVERYONE, kind="group.changed", content=content)
    return change


async def _change_members(tx: Tx, group: PersonId, change: Membership) -> None:
    if change.removed:
        gone = and_(_of_group(group.team, group.user), group_members.c.user_id.in_(change.removed))
        await tx.conn.execute(delete(group_members).where(gone))
    if change.added:
        rows = [
            {"team": group.team, "group_id": group.user, "user_id": user, "since": tx.now}
            for user in sorted(change.added)
        ]
        await tx.conn.execute(insert(group_members), rows)


def _of_group(team: str, group: str) -> Any:
    return and_(group_members.c.team == team, group_members.c.group_id == group)
