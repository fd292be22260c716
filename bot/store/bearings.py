"""All that a press is judged by beside its review, in one statement: each one less is a journey to the database less.

What an answer, a version or a membership means is not known here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import and_, bindparam, func, select

from bot.core.model import Who
from bot.store.engine import Tx
from bot.store.people import Person
from bot.store.registers import group_members, people, policy_versions
from bot.store.tables import deliveries


@dataclass(frozen=True, slots=True)
class Bearing:
    """The answer that this delivery was given before, the policy in force, and its presser as Slack last told of them."""

    answer: str | None
    policy_version: int  # 0: none is stored
    person: Person | None
    groups: Mapping[str, int]  # with the time since which we know of the membership (ms)


_FIELDS = [people.c[name] for name in Person.__slots__]
_POLICY = select(func.coalesce(func.max(policy_versions.c.version), 0).label("version")).subquery("policy")
_ANSWER = select(deliveries.c.answer).where(deliveries.c.key == bindparam("key")).scalar_subquery()
_PRESSER = and_(people.c.team == bindparam("team"), people.c.user_id == bindparam("user"))
_MEMBER = and_(group_members.c.team == bindparam("team"), group_members.c.user_id == bindparam("user"))
# One row at least: what is not there is joined as nulls.
_BEARING = select(_ANSWER, _POLICY.c.version, group_members.c.group_id, group_members.c.since, *_FIELDS).select_from(
    _POLICY.outerjoin(people, _PRESSER).outerjoin(group_members, _MEMBER)
)


async def bearing_of(tx: Tx, key: str, who: Who) -> Bearing:
    """As this transaction sees it now; `key` is the delivery's."""
    rows = (await tx.conn.execute(_BEARING, {"key": key, "team": who.team, "user": who.user})).all()
    answer, version, _, _, *told = rows[0]
    groups = {row.group_id: row.since for row in rows if row.group_id is not None}
    return Bearing(answer, version, None if told[0] is None else Person(*told), groups)
