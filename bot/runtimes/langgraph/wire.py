"""The agent servers' answers as frozen records.

Reading a tree that others wrote: what is not of the expected kind is as if it were not there.

Which interrupts a state lists, wherever they stand in it. A fan-out lists one interrupt per branch; with
`subgraphs=true` the same one appears again inside its branch's own state, next to the messages that tell which call
it is about. An interrupt is its id *and* its value: older LangGraph gave different questions one id, and folding
those would answer one with the other's decision.

Both servers print the same things in different places, and a proxy may answer with anything at all. What is needed is
read leniently from lossless JSON (numbers stay as written, which digests rely on), what is missing becomes a neutral
value, and a body that is no such thing at all raises `UnreadableBody`, which the client turns into the right error.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from bot.core.json import JsonProblem, Number, canonical, parse
from bot.runtimes.langgraph.verdict import RunRow


def inner(row: dict[str, Any], key: str) -> dict[str, Any]:
    """The object under a key, else an empty one."""
    found = row.get(key)
    return found if isinstance(found, dict) else {}


def items(value: Any) -> list[Any]:
    """A list, else an empty one."""
    return value if isinstance(value, list) else []


def text(value: Any) -> str | None:
    """A string, else None."""
    return value if isinstance(value, str) else None


def whole(value: Any) -> int | None:
    """A non-negative integer as written, else None."""
    written = value.text if isinstance(value, Number) else ""
    return int(written) if written.isascii() and written.isdigit() and len(written) < 19 else None


MAX_NESTING = 16
REVIEW_NODE = "HumanInTheLoopMiddleware.after_model"  # asks, and runs no tool: an error there is one of the answer
# What the middleware says of an answer that it does not take, before anything runs: per call, and of a whole batch.
REFUSED_ANSWER = re.compile(
    r"\d+ validation errors? for (tagged-union\[)?(Approve|Edit|Reject|Respond)Decision\b"
    r"|(ValueError\(.)?(Unexpected human decision: |Number of human decisions \()",
    re.ASCII,
)


@dataclass(frozen=True, slots=True)
class PendingInterrupt:
    """One listed interrupt; `id` is "" where the server gave none.

    Task, namespace and messages are those of the innermost task that lists it; `task_error` of any task on the way.
    `shared`: tasks beside each other list it, which older LangGraph did to different tasks; one answer would go to all.
    """

    id: str
    value: Any
    response_schema: Any | None
    task_id: str
    task_name: str
    task_error: str | None
    checkpoint_ns: str
    messages: tuple[Any, ...] = ()  # of its own branch; empty at the top level
    shared: bool = False
    answered: bool = False  # its task holds an answer already: it asks again, under one id before LangGraph 1.2
    tasks: tuple[str, ...] = ()  # from the outermost that lists it, or leads to it, to the innermost

    @property
    def answer_refused(self) -> bool:
        """Whether what asks has an error of its own, from before anything could run by the answer."""
        if self.task_error is None:
            return False
        return self.task_name == REVIEW_NODE or REFUSED_ANSWER.match(self.task_error) is not None


@dataclass(frozen=True, slots=True)
class _Way:
    """What the enclosing tasks say: the branch's messages, an error on the way, the namespace."""

    messages: tuple[Any, ...] = ()
    error: str | None = None
    namespace: str = ""
    tasks: tuple[str, ...] = ()
    following: tuple[Any, ...] | None = None  # what comes next there; a task that holds an answer is left out of it


def collect(state: dict[str, Any]) -> tuple[PendingInterrupt, ...]:
    """All interrupts of a state, each once, in the order in which the server lists them."""
    found: dict[tuple[str, bytes], PendingInterrupt] = {}
    for one in (*_of_state(state, _Way(), 0), *_unplaced(state)):
        key = (one.id, canonical(one.value))
        known = found.get(key)
        found[key] = one if known is None else _merged(known, one)
    return tuple(found.values())


def nested_messages(state: dict[str, Any], depth: int = 0) -> Iterator[Any]:
    """Messages of nested states and of finished tasks' results, which the top level does not show yet."""
    for task in _tasks(state):
        yield from _messages(inner(task, "result"))
        nested = inner(task, "state")
        yield from _messages(inner(nested, "values"))
        if depth < MAX_NESTING:
            yield from nested_messages(nested, depth + 1)


def _of_state(state: dict[str, Any], way: _Way, depth: int) -> Iterator[PendingInterrupt]:
    following = tuple(items(state.get("next"))) if isinstance(state.get("next"), list) else None
    for task in _tasks(state):
        error = way.error or _error(task.get("error"))
        tasks = (*way.tasks, text(task.get("id")) or "")
        for listed in items(task.get("interrupts")):
            yield _interrupt(listed, task, replace(way, error=error, tasks=tasks, following=following))
        nested = inner(task, "state")
        if depth < MAX_NESTING and "tasks" in nested:
            messages = way.messages + tuple(_messages(inner(nested, "values")))
            within = _Way(messages, error, _namespace(task) or way.namespace, tasks)
            yield from _of_state(nested, within, depth + 1)


def _unplaced(state: dict[str, Any]) -> Iterator[PendingInterrupt]:
    """The state's own list, which names no task."""
    return (_interrupt(listed, {}, _Way()) for listed in items(state.get("interrupts")))


def _interrupt(listed: Any, task: dict[str, Any], way: _Way) -> PendingInterrupt:
    shown = listed if isinstance(listed, dict) else {"value": listed}
    return PendingInterrupt(
        text(shown.get("id")) or "",
        shown.get("value"),
        shown.get("response_schema"),
        text(task.get("id")) or "",
        text(task.get("name")) or "",
        way.error,
        way.namespace or _namespace(task) or _own_namespace(task),
        way.messages,
        answered=way.following is not None and task.get("name") not in way.following,
        tasks=way.tasks,
    )


def _merged(outer: PendingInterrupt, within: PendingInterrupt) -> PendingInterrupt:
    """One interrupt listed twice: the place of the inner listing, and whatever only one of them knows."""
    place = within if within.task_id else outer
    schema = outer.response_schema if within.response_schema is None else within.response_schema
    apart = any(one != other for one, other in zip(outer.tasks, within.tasks, strict=False))
    shared = outer.shared or within.shared or apart
    return replace(place, response_schema=schema, task_error=outer.task_error or within.task_error, shared=shared)


def _namespace(task: dict[str, Any]) -> str:
    """A branch's checkpoint namespace: in `checkpoint` on langgraph dev, in `state.configurable` on Aegra."""
    nested = inner(task, "state")
    places = (inner(task, "checkpoint"), inner(nested, "checkpoint"), inner(nested, "configurable"))
    return next((name for place in places if (name := text(place.get("checkpoint_ns")))), "")


def _own_namespace(task: dict[str, Any]) -> str:
    """Where a graph that the task runs by itself, such as a sub-agent behind a tool, keeps its checkpoints."""
    name, task_id = text(task.get("name")), text(task.get("id"))
    return f"{name}:{task_id}" if name and task_id and name != REVIEW_NODE else ""


def task_errors(state: dict[str, Any], depth: int = 0) -> Iterator[str]:
    """The error of each task that has one, at any depth."""
    for task in _tasks(state):
        error = _error(task.get("error"))
        if error is not None:
            yield error
        if depth < MAX_NESTING:
            yield from task_errors(inner(task, "state"), depth + 1)


def _error(value: Any) -> str | None:
    if value is None:
        return None
    return value if isinstance(value, str) else canonical(value).decode("ascii")


def _tasks(state: dict[str, Any]) -> Iterator[dict[str, Any]]:
    return (task for task in items(state.get("tasks")) if isinstance(task, dict))


def _messages(values: dict[str, Any]) -> list[Any]:
    return items(values.get("messages"))


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
