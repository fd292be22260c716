"""Graph values as the JSON that the servers print: messages as flat objects, snapshots as state.

Numbers and strings go out as the graph holds them. What JSON or UTF-8 cannot carry must not end the server: numbers
that are not finite become null, and everything beyond ASCII is escaped, lone surrogates included.
"""

import json
import math
from typing import Any

from langchain_core.messages import BaseMessage
from langgraph.types import Interrupt, PregelTask, StateSnapshot
from pydantic import BaseModel
from starlette.responses import Response

JSON = dict[str, Any]


def plain(value: Any) -> Any:
    """The JSON spelling of anything a graph holds; what has none is shown as its `repr`."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, BaseMessage | BaseModel):
        return plain(value.model_dump())
    if isinstance(value, dict):
        return {str(key): plain(held) for key, held in value.items()}
    if isinstance(value, list | tuple | set):
        return [plain(held) for held in value]
    return repr(value)


def interrupt_view(interrupt: Interrupt, *, with_schema: bool) -> JSON:
    """`response_schema` is there only where the interrupt asked for a typed answer and the server does not drop it."""
    shown = {"id": interrupt.id, "value": plain(interrupt.value)}
    schema = getattr(interrupt, "response_schema", None)
    return {**shown, "response_schema": plain(schema)} if schema and with_schema else shown


def state_view(snapshot: StateSnapshot, *, with_schema: bool, with_path: bool) -> JSON:
    """A snapshot as `GET state` answers it, nested for the tasks that run a graph of their own."""
    now, before = _checkpoint(snapshot.config), _checkpoint(snapshot.parent_config)
    return {
        "values": plain(snapshot.values),
        "next": list(snapshot.next),
        "tasks": [_task_view(task, with_schema=with_schema, with_path=with_path) for task in snapshot.tasks],
        "interrupts": [interrupt_view(held, with_schema=with_schema) for held in snapshot.interrupts],
        "metadata": plain(snapshot.metadata or {}),
        "created_at": snapshot.created_at,
        "checkpoint": now,
        "parent_checkpoint": before,
        "checkpoint_id": now["checkpoint_id"] if now else None,
        "parent_checkpoint_id": before["checkpoint_id"] if before else None,
    }


def _checkpoint(config: Any) -> JSON | None:
    held = (config or {}).get("configurable") or {}
    if not held:
        return None
    return {name: held.get(name) for name in ("checkpoint_id", "thread_id", "checkpoint_ns")}


def _task_view(task: PregelTask, *, with_schema: bool, with_path: bool) -> JSON:
    nested = task.state if isinstance(task.state, StateSnapshot) else None
    return {
        "id": task.id,
        "name": task.name,
        **({"path": plain(task.path)} if with_path else {}),
        "error": task.error if task.error is None or isinstance(task.error, str) else repr(task.error),
        "interrupts": [interrupt_view(held, with_schema=with_schema) for held in task.interrupts],
        "checkpoint": None if nested else _checkpoint(task.state),
        "state": state_view(nested, with_schema=with_schema, with_path=with_path) if nested else None,
        "result": plain(task.result),
    }


EMPTY_STATE: JSON = {
    "values": {},
    "next": [],
    "tasks": [],
    "interrupts": [],
    "metadata": {},
    "created_at": None,
    "checkpoint": None,
    "parent_checkpoint": None,
    "checkpoint_id": None,
    "parent_checkpoint_id": None,
}
"""The state of a thread on which nothing ever ran."""


def encode(value: Any) -> bytes:
    """ASCII JSON, so that no string can fail on its way out."""
    return json.dumps(value, allow_nan=False).encode()


class Json(Response):
    """A JSON response of already plain values."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        return encode(content)
