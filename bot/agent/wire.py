"""The agent servers' answers as frozen records.

Both servers print the same things in different places, and a proxy may answer with anything at all. What is needed is
read leniently from lossless JSON (numbers stay as written, which digests rely on), what is missing becomes a neutral
value, and a body that is no such thing at all raises `UnreadableBody`, which the client turns into the right error.
Nothing here knows HTTP.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from bot.agent.lenient import inner, items, text, whole
from bot.agent.pending import PendingInterrupt, collect, nested_messages, task_errors
from bot.core.lossless import JsonProblem, parse
from bot.core.observation import RunRow

__all__ = ["HistoryEntry", "PendingInterrupt", "RunRow", "ThreadRow", "ThreadState", "UnreadableBody"]

MARK, ATTEMPT = "placet_dispatch", "placet_attempt"
SINCE, NOT_AFTER = "placet_since", "placet_not_after"


class UnreadableBody(ValueError):
    """A body that is not what the endpoint answers with."""


@dataclass(frozen=True, slots=True)
class ThreadRow:
    """One thread as listed; `status` is idle, busy, interrupted or error."""

    thread_id: str
    status: str
    updated_at: str
    metadata: dict[str, Any]


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """One checkpoint, newest first in a history; `at` in milliseconds since the epoch, 0 where it is not told."""

    checkpoint_id: str
    parent_id: str | None
    at: int
    run_id: str | None
    dispatch: str | None
    attempt: int | None
    next: tuple[str, ...]
    messages: tuple[Any, ...] = ()
    edited_tool_calls: dict[str, Any] | None = None
    namespace: str = ""


@dataclass(frozen=True, slots=True)
class ThreadState:
    """A thread's newest checkpoint.

    `edited_tool_calls` is None where the state has no such key. `nested` holds the messages of subgraphs and of
    finished tasks, whose results are not merged into `messages` while a sibling still waits.
    """

    messages: tuple[Any, ...]
    next: tuple[str, ...]
    pending: tuple[PendingInterrupt, ...]
    checkpoint_id: str | None
    metadata: dict[str, Any]
    edited_tool_calls: dict[str, Any] | None
    nested: tuple[Any, ...] = ()
    errors: tuple[str, ...] = ()  # of tasks, at any depth

    @property
    def all_messages(self) -> tuple[Any, ...]:
        """Every message that the state shows, at any depth: where ToolMessages are looked for."""
        return self.messages + self.nested

    def messages_for(self, interrupt: PendingInterrupt) -> tuple[Any, ...]:
        """The thread's messages and then those of the interrupt's own branch, so that its AI message comes last."""
        return self.messages + interrupt.messages

    @property
    def dispatch(self) -> str | None:
        """The mark of the run that wrote this checkpoint."""
        return text(self.metadata.get(MARK))

    @property
    def run_id(self) -> str | None:
        """The run that wrote this checkpoint."""
        return text(self.metadata.get("run_id"))


def tree(body: bytes) -> Any:
    """Parse a body; raises `UnreadableBody`."""
    try:
        return parse(body, constants=True)
    except JsonProblem as exc:
        raise UnreadableBody("the body is not JSON") from exc


def thread_row(value: Any) -> ThreadRow:
    """Read one thread; only its id is indispensable."""
    row = mapping(value)
    return ThreadRow(
        _required(row, "thread_id"),
        text(row.get("status")) or "",
        text(row.get("updated_at")) or "",
        inner(row, "metadata"),
    )


def thread_rows(value: Any) -> tuple[ThreadRow, ...]:
    """Read a search's page; one entry that is no thread hides none of the others."""
    rows = listing(value)
    usable = [row for row in rows if isinstance(row, dict) and text(row.get("thread_id"))]
    if rows and not usable:
        raise UnreadableBody("a list of no threads")
    return tuple(thread_row(row) for row in usable)


def run_row(value: Any) -> RunRow:
    """Read one run; our mark stands in `config.metadata` on Aegra and in `metadata` on langgraph dev."""
    row = mapping(value)
    marks = _marks(row)
    return RunRow(
        _required(row, "run_id"),
        text(row.get("status")) or "",
        milliseconds(row.get("created_at")) or 0,
        dispatch=text(marks.get(MARK)),
        attempt=whole(marks.get(ATTEMPT)),
        updated_at=milliseconds(row.get("updated_at")),
    )


def listing(value: Any) -> list[Any]:
    """A list as it is; raises `UnreadableBody`."""
    if not isinstance(value, list):
        raise UnreadableBody("the body is not a list")
    return value


def run_rows(value: Any) -> tuple[RunRow, ...]:
    """Read a thread's runs."""
    return tuple(run_row(item) for item in listing(value))


def thread_state(value: Any) -> ThreadState:
    """Read a state, with or without `subgraphs=true`."""
    state = mapping(value)
    if not isinstance(state.get("tasks", []), list) or not ("values" in state or "tasks" in state):
        raise UnreadableBody("the body is not a thread's state")
    values = inner(state, "values")
    return ThreadState(
        tuple(items(values.get("messages"))),
        _names(state.get("next")),
        collect(state),
        _checkpoint(state),
        inner(state, "metadata"),
        _edited(values),
        tuple(nested_messages(state)),
        tuple(task_errors(state)),
    )


def history_entries(value: Any) -> tuple[HistoryEntry, ...]:
    """Read a history, newest first."""
    return tuple(_history_entry(mapping(item)) for item in listing(value))


def _history_entry(entry: dict[str, Any]) -> HistoryEntry:
    metadata, parent = inner(entry, "metadata"), inner(entry, "parent_checkpoint")
    checkpoint_id = _checkpoint(entry)
    if checkpoint_id is None:
        raise UnreadableBody("a checkpoint without an id")
    return HistoryEntry(
        checkpoint_id,
        text(entry.get("parent_checkpoint_id")) or text(parent.get("checkpoint_id")),
        milliseconds(entry.get("created_at")) or 0,
        text(metadata.get("run_id")),
        text(metadata.get(MARK)),
        whole(metadata.get(ATTEMPT)),
        _names(entry.get("next")),
        tuple(items(inner(entry, "values").get("messages"))),
        _edited(inner(entry, "values")),
        text(inner(entry, "checkpoint").get("checkpoint_ns")) or "",
    )


def _edited(values: dict[str, Any]) -> dict[str, Any] | None:
    found = values.get("hitl_edited_tool_calls")
    return found if isinstance(found, dict) else None


def milliseconds(value: Any) -> int | None:
    """An ISO 8601 time as milliseconds since the epoch; without an offset it is UTC, as both servers mean it."""
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    if moment is None:
        return None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return int(aware.timestamp() * 1000)


def _marks(row: dict[str, Any]) -> dict[str, Any]:
    places = (inner(row, "config"), row, inner(inner(row, "kwargs"), "config"))
    return next((found for place in places if MARK in (found := inner(place, "metadata"))), {})


def _checkpoint(state: dict[str, Any]) -> str | None:
    return text(state.get("checkpoint_id")) or text(inner(state, "checkpoint").get("checkpoint_id"))


def mapping(value: Any) -> dict[str, Any]:
    """An object as it is; raises `UnreadableBody`."""
    if not isinstance(value, dict):
        raise UnreadableBody("the body is not an object")
    return value


def _required(row: dict[str, Any], key: str) -> str:
    found = text(row.get(key))
    if not found:
        raise UnreadableBody(f"a row without {key}")
    return found


def _names(value: Any) -> tuple[str, ...]:
    return tuple(item for item in items(value) if isinstance(item, str))
