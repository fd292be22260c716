"""What the server remembers besides checkpoints: threads, runs and assistants, in one SQLite file.

Statements are synchronous on purpose: each takes microseconds, and with no pause inside, a run is accepted (its row
written, its thread busy) in one piece, which is what clients of the real servers may rely on. Knows nothing of graphs.
"""

import json
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

JSON = dict[str, Any]
ACTIVE = ("pending", "running")
CUT_OFF = {"error": "ServerStopped", "message": "the server stopped during this run"}

_SCHEMA = """
CREATE TABLE IF NOT EXISTS thread (thread_id TEXT PRIMARY KEY, owner, status, metadata, graph_id, error, held, interrupts,
    created_at, updated_at);
CREATE TABLE IF NOT EXISTS run (run_id TEXT PRIMARY KEY, thread_id, assistant_id, owner, status, request, output, error,
    created_at, updated_at);
CREATE TABLE IF NOT EXISTS assistant (assistant_id TEXT PRIMARY KEY, owner, graph_id, name, config, context, metadata,
    created_at, updated_at);
CREATE INDEX IF NOT EXISTS run_of_thread ON run (thread_id, created_at);
"""


def now() -> str:
    """The server's clock as both servers print it, to the microsecond."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


@dataclass(frozen=True, slots=True)
class Thread:
    """`held` and `interrupts` are what state showed when the last run ended."""

    thread_id: str
    owner: str
    metadata: JSON
    status: str = "idle"
    graph_id: str | None = None
    error: JSON | None = None
    held: JSON | None = None
    interrupts: JSON = field(default_factory=dict)
    created_at: str = field(default_factory=now)
    updated_at: str = field(default_factory=now)


@dataclass(frozen=True, slots=True)
class Run:
    """`request` is the body that asked for it, its `metadata` completed with the thread's."""

    run_id: str
    thread_id: str
    assistant_id: str
    owner: str
    request: JSON
    status: str = "pending"
    output: JSON | None = None
    error: JSON | None = None
    created_at: str = field(default_factory=now)
    updated_at: str = field(default_factory=now)

    @property
    def metadata(self) -> JSON:
        """The thread's metadata at acceptance, and what the request added."""
        return dict(self.request.get("metadata") or {})

    @property
    def mark(self) -> JSON:
        """`config.metadata`: the one thing of a client's that both servers list with the run."""
        return dict((self.request.get("config") or {}).get("metadata") or {})


@dataclass(frozen=True, slots=True)
class Assistant:
    """A graph under an id; the graphs' own assistants are not stored."""

    assistant_id: str
    owner: str
    graph_id: str
    name: str
    config: JSON
    context: JSON
    metadata: JSON
    created_at: str = field(default_factory=now)
    updated_at: str = field(default_factory=now)


_JSON_COLUMNS = frozenset({"metadata", "error", "held", "interrupts", "request", "output", "config", "context"})
Row = TypeVar("Row", Thread, Run, Assistant)


def _stored(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: json.dumps(value) if name in _JSON_COLUMNS else value for name, value in values.items()}


class Ledger:
    """The tables, with one method a statement that the server needs."""

    def __init__(self, path: str | Path) -> None:
        self._db = sqlite3.connect(str(path))
        self._db.row_factory = sqlite3.Row
        # A killed process loses nothing even so; only a power cut would, and this is a sandbox.
        self._db.executescript("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;" + _SCHEMA)

    def close(self) -> None:
        self._db.close()

    def add(self, row: Thread | Run | Assistant) -> None:
        """Insert; sqlite3.IntegrityError where the id is taken."""
        with self._db:
            self._insert(row)

    def accept(self, run: Run, thread: JSON) -> None:
        """Store a run and change its thread in one transaction: whoever sees one sees the other."""
        with self._db:
            self._insert(run)
            self._update("thread", run.thread_id, thread)

    def finish(self, run: Run, outcome: JSON, thread: JSON) -> None:
        """End a run and change its thread in one transaction."""
        with self._db:
            self._update("run", run.run_id, outcome)
            self._update("thread", run.thread_id, thread)

    def update(self, table: str, key: str, **changes: Any) -> None:
        """Change columns of one row by its id."""
        with self._db:
            self._update(table, key, changes)

    def delete(self, table: str, key: str) -> bool:
        """Remove a row, and with a thread or an assistant its runs; False where there was none."""
        with self._db:
            if table != "run":
                self._db.execute(f"DELETE FROM run WHERE {table}_id = ?", (key,))  # noqa: S608 - our own table names
            return self._db.execute(f"DELETE FROM {table} WHERE {table}_id = ?", (key,)).rowcount > 0  # noqa: S608

    def thread(self, key: str) -> Thread | None:
        """One thread; None where there is none."""
        return next(self._rows(Thread, "thread_id = ?", [key]), None)

    def threads(self, owner: str | None, status: str | None) -> Iterator[Thread]:
        """Those of an owner and in a status, where given; in no order."""
        where = "1 = 1"
        given: list[Any] = []
        for column, value in (("owner", owner), ("status", status)):
            if value is not None:
                where, given = f"{where} AND {column} = ?", [*given, value]
        return self._rows(Thread, where, given)

    def run(self, key: str) -> Run | None:
        """One run; None where there is none."""
        return next(self._rows(Run, "run_id = ?", [key]), None)

    def runs(self, thread_id: str) -> Iterator[Run]:
        """Newest first, as both servers list them."""
        return self._rows(Run, "thread_id = ? ORDER BY rowid DESC", [thread_id])

    def assistant(self, key: str) -> Assistant | None:
        """One made by a client; the graphs' own are not stored."""
        return next(self._rows(Assistant, "assistant_id = ?", [key]), None)

    def same_assistant(self, made: Assistant) -> Assistant | None:
        """One of the same owner, graph and configuration."""
        same = self._rows(Assistant, "owner = ? AND graph_id = ?", [made.owner, made.graph_id])
        return next((one for one in same if one.config == made.config), None)

    def fail_cut_off_runs(self) -> None:
        """Call it at start: what still ran when the process died has an unknown outcome and is never run again."""
        with self._db:
            for table, condition in (("run", f"status IN {ACTIVE}"), ("thread", "status = 'busy'")):
                self._db.execute(
                    f"UPDATE {table} SET status = 'error', error = ?, updated_at = ? WHERE {condition}",  # noqa: S608
                    (json.dumps(CUT_OFF), now()),
                )

    def _insert(self, row: Thread | Run | Assistant) -> None:
        values = _stored(asdict(row))
        names, marks = ", ".join(values), ", ".join(f":{name}" for name in values)
        table = type(row).__name__.lower()
        self._db.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", values)  # noqa: S608 - our own column names

    def _update(self, table: str, key: str, changes: JSON) -> None:
        values = _stored({**changes, "updated_at": now()})
        names = ", ".join(f"{name} = :{name}" for name in values)
        self._db.execute(f"UPDATE {table} SET {names} WHERE {table}_id = :key", {**values, "key": key})  # noqa: S608

    def _rows(self, kind: type[Row], where: str, given: list[Any]) -> Iterator[Row]:
        found = self._db.execute(f"SELECT * FROM {kind.__name__.lower()} WHERE {where}", given).fetchall()  # noqa: S608
        names = [column.name for column in fields(kind)]
        for row in found:
            yield kind(**{n: json.loads(row[n]) if n in _JSON_COLUMNS else row[n] for n in names})
