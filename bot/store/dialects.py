"""The two statements that engines spell alike but SQLAlchemy keeps per dialect, and a lock by name."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from sqlalchemy import ClauseElement, Table, text
from sqlalchemy.dialects import postgresql, sqlite

from bot.store.connection import POSTGRESQL
from bot.store.engine import Tx


async def insert_once(tx: Tx, table: Table, row: Mapping[str, Any]) -> bool:
    """Insert, or leave what any unique index already holds and return False."""
    made = _once(tx.dialect, table)
    looked_up = {name: one for name, one in row.items() if isinstance(one, ClauseElement)}
    if looked_up:
        made = made.values(**looked_up)
    plain = {name: one for name, one in row.items() if name not in looked_up}
    return (await tx.conn.execute(made, plain)).rowcount == 1


@cache
def _once(dialect: str, table: Table) -> postgresql.Insert | sqlite.Insert:
    if dialect == POSTGRESQL:
        return postgresql.insert(table).on_conflict_do_nothing()
    return sqlite.insert(table).on_conflict_do_nothing()


async def upsert(tx: Tx, table: Table, row: Mapping[str, Any], *, keep: tuple[str, ...] = ()) -> None:
    """Insert, or change the row of the same primary key, except its columns in `keep`."""
    keys = [column.name for column in table.primary_key]
    changes = {name: value for name, value in row.items() if name not in {*keys, *keep}}
    made: postgresql.Insert | sqlite.Insert
    if tx.dialect == POSTGRESQL:
        made = postgresql.insert(table).values(**row).on_conflict_do_update(index_elements=keys, set_=changes)
    else:
        made = sqlite.insert(table).values(**row).on_conflict_do_update(index_elements=keys, set_=changes)
    await tx.conn.execute(made)


async def serialise(tx: Tx, name: str) -> None:
    """Hold a lock by name until the transaction ends; SQLite's write transaction is one already."""
    if tx.dialect == POSTGRESQL:
        await tx.conn.execute(text("SELECT pg_advisory_xact_lock(hashtext(:name))"), {"name": f"placet:{name}"})
