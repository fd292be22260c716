"""All that a press is judged by beside its review, in one statement: each one less is a journey to the database less.

What an answer, a version or a membership means is not known here.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import bindparam, func, select

from bot.core.model import Who
from bot.store.engine import Tx
from bot.store.people import ACCOUNT, Account, account_joined, account_of
from bot.store.registers import policy_versions
from bot.store.tables import deliveries


@dataclass(frozen=True, slots=True)
class Bearing:
    """The answer that this delivery was given before, the policy in force, and its presser as Slack last told of them."""

    answer: str | None
    policy_version: int  # 0: none is stored
    account: Account


_POLICY = select(func.coalesce(func.max(policy_versions.c.version), 0).label("version")).subquery("policy")
_ANSWER = select(deliveries.c.answer).where(deliveries.c.key == bindparam("key")).scalar_subquery()
# One row at least: what is not there is joined as nulls.
_BEARING = select(_ANSWER.label("answer"), _POLICY.c.version, *ACCOUNT).select_from(account_joined(_POLICY))


async def bearing_of(tx: Tx, key: str, who: Who) -> Bearing:
    """As this transaction sees it now; `key` is the delivery's."""
    rows = (await tx.conn.execute(_BEARING, {"key": key, "team": who.team, "user": who.user})).all()
    return Bearing(rows[0].answer, rows[0].version, account_of(who.user, rows))
