"""Short spellings of columns for the revisions. Frozen with them: what a released revision uses never changes."""

from __future__ import annotations

from typing import Any

from sqlalchemy import BigInteger, Boolean, Column, Index, Integer, Text, text
from sqlalchemy.types import TypeEngine

BigSerial = BigInteger().with_variant(Integer, "sqlite")


def _columns(kind: TypeEngine[Any] | type[TypeEngine[Any]], names: str, *, null: bool) -> list[Column[Any]]:
    return [Column(name, kind, nullable=null) for name in names.split()]


def key(*names: str) -> list[Column[Any]]:
    """Text columns of the primary key."""
    return [Column(name, Text, primary_key=True) for name in names]


def texts(names: str, *, null: bool = False) -> list[Column[Any]]:
    """Text."""
    return _columns(Text, names, null=null)


def times(names: str, *, null: bool = False) -> list[Column[Any]]:
    """Milliseconds."""
    return _columns(BigInteger, names, null=null)


def numbers(names: str, *, null: bool = False) -> list[Column[Any]]:
    """Integers."""
    return _columns(Integer, names, null=null)


def flags(names: str) -> list[Column[Any]]:
    """Booleans."""
    return _columns(Boolean, names, null=False)


def partial(name: str, *columns: str, where: str, unique: bool = False) -> Index:
    """An index of the rows that meet a condition."""
    condition = text(where)
    return Index(name, *columns, unique=unique, sqlite_where=condition, postgresql_where=condition)
