"""Which interrupts a state lists, wherever they stand in it.

A fan-out lists one interrupt per branch; with `subgraphs=true` the same one appears again inside its branch's own
state, next to the messages that tell which call it is about. An interrupt is its id *and* its value: older LangGraph
gave different questions one id, and folding those would answer one with the other's decision.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from bot.agent.lenient import inner, items, text
from bot.core.lossless import canonical

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
