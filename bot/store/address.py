"""Where the database is, read from one URL.

Operators write what other programs accept (`sqlite:///placet.db`, `postgresql://…`); the drivers' own spellings are
made here. Passwords must never reach a message: `label` is what may be shown.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from bot.errors import StoreError

SQLITE = "sqlite"
POSTGRESQL = "postgresql"
_NAMES = {"sqlite": SQLITE, "postgresql": POSTGRESQL, "postgres": POSTGRESQL}
_DRIVERS = {SQLITE: "sqlite+aiosqlite", POSTGRESQL: "postgresql+asyncpg"}


@dataclass(frozen=True, slots=True)
class Address:
    """One database; `path` only for SQLite."""

    url: URL
    dialect: str
    label: str
    path: Path | None = None


def read_address(text: str) -> Address:
    """Raises `StoreError` for anything but a SQLite file or a PostgreSQL database."""
    try:
        url = make_url(text)
        dialect = _NAMES[url.drivername.partition("+")[0]]
    except (ArgumentError, KeyError) as exc:
        raise StoreError("PLACET_DATABASE_URL must begin with sqlite:/// or postgresql://") from exc
    url = url.set(drivername=_DRIVERS[dialect])
    return _file(url) if dialect == SQLITE else _server(url)


def _file(url: URL) -> Address:
    if url.database in {None, "", ":memory:"}:
        raise StoreError("PLACET_DATABASE_URL names no file: decisions would not outlive the process")
    path = Path(str(url.database)).absolute()
    return Address(url.set(database=str(path)), SQLITE, str(path), path)


def _server(url: URL) -> Address:
    # libpq's name for what asyncpg calls ssl.
    mode = url.query.get("sslmode")
    if mode is not None:
        url = url.difference_update_query(["sslmode"]).update_query_dict({"ssl": mode})
    host = url.host or url.query.get("host") or "localhost"
    port = f":{url.port}" if url.port else ""
    return Address(url, POSTGRESQL, f"PostgreSQL at {host}{port}/{url.database or ''}")
