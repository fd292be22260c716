"""How values become columns, the same on both engines.

Times are whole milliseconds since the epoch. What agents and people wrote may hold anything that a Python string can,
NUL and half characters included, which PostgreSQL's text refuses: such columns are `Literal`. This module must not
know which tables exist.
"""

from __future__ import annotations

import json
import re
from typing import Any

from sqlalchemy import BigInteger, Boolean, Column, Dialect, Index, Integer, MetaData, Text, text
from sqlalchemy.types import TypeDecorator, TypeEngine

metadata = MetaData()

# SQLite numbers rows only in a column declared exactly INTEGER.
BigSerial = BigInteger().with_variant(Integer, "sqlite")

# JSON would read these two halves back as one character, so a text that holds such a pair is stored in pieces.
_HALVES = re.compile("(?<=[\ud800-\udbff])(?=[\udc00-\udfff])")


class Literal(TypeDecorator[str]):
    """Any Python string, exactly: JSON in ASCII. Equal strings have equal encodings, so `=` and unique indexes work."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        del dialect
        if value is None:
            return None
        pieces = _HALVES.split(value)
        return json.dumps(value if len(pieces) == 1 else pieces)

    def process_result_value(self, value: str | None, dialect: Dialect) -> str | None:
        del dialect
        if value is None:
            return None
        read = json.loads(value)
        return "".join(read) if isinstance(read, list) else str(read)


def _columns(kind: TypeEngine[Any] | type[TypeEngine[Any]], names: str, *, null: bool) -> list[Column[Any]]:
    return [Column(name, kind, nullable=null) for name in names.split()]


def key(*names: str) -> list[Column[Any]]:
    """Text columns that form the primary key together."""
    return [Column(name, Text, primary_key=True) for name in names]


def texts(names: str, *, null: bool = False) -> list[Column[Any]]:
    """Columns for words of our own and ids of Slack's: never for what an agent or a person wrote."""
    return _columns(Text, names, null=null)


def literals(names: str, *, null: bool = False) -> list[Column[Any]]:
    """Columns for what somebody else wrote."""
    return _columns(Literal, names, null=null)


def times(names: str, *, null: bool = False) -> list[Column[Any]]:
    """Milliseconds since the epoch on the database's clock."""
    return _columns(BigInteger, names, null=null)


def numbers(names: str, *, null: bool = False) -> list[Column[Any]]:
    """Counters and positions."""
    return _columns(Integer, names, null=null)


def flags(names: str) -> list[Column[Any]]:
    """Yes or no."""
    return _columns(Boolean, names, null=False)


def partial(name: str, *columns: str, where: str, unique: bool = False) -> Index:
    """An index of some rows only. A query uses it when it repeats `where` word for word (see `text(where)`)."""
    condition = text(where)
    return Index(name, *columns, unique=unique, sqlite_where=condition, postgresql_where=condition)
