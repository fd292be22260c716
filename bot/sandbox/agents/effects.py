"""The log of what really ran: one JSON line for each tool execution.

Tests count these lines instead of believing any status, so a line is written by the tool itself, at the moment of its
effect, in one appending write that survives a kill right after it. Knows nothing of threads, runs or HTTP.
"""

import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

# Beginnings of names that servers and LangGraph put into a run's context and configuration themselves.
_SERVERS = ("__", "langgraph_")
_SERVERS_CONFIG = (*_SERVERS, "checkpoint_", "thread_", "run_id", "graph_id", "assistant_id", "user_id", "user_display")

_of_this_server: ContextVar[Path | None] = ContextVar("effects_file", default=None)
_of_this_process = {"path": Path("effects.jsonl")}


def use_by_default(path: Path) -> None:
    """Name the file for a process whose server is not ours and cannot enter `writing_to`."""
    _of_this_process["path"] = path


@contextmanager
def writing_to(path: Path) -> Iterator[None]:
    """Send the effects of runs started inside the block to `path`; several servers may share one process."""
    token = _of_this_server.set(path)
    try:
        yield
    finally:
        _of_this_server.reset(token)


def record(
    tool: str, args: dict[str, Any], *, config: Mapping[str, Any], context: Any = None, call_id: str | None = None
) -> None:
    """Append `{at, tool, args, thread_id, run_id, tool_call_id}`; `args` are what the tool was called with.

    What its run was started with is added where there is any: `context`, `configurable`, `tags`. In
    `config.configurable` LangGraph and both servers put the two ids, and much of their own, which is left out.
    """
    configurable = config.get("configurable") or {}
    run_id = configurable.get("run_id")
    line = {
        "at": time.time(),
        "tool": tool,
        "args": args,
        "thread_id": configurable.get("thread_id"),
        "run_id": str(run_id) if run_id else None,
        "tool_call_id": call_id,
    }
    tags = [tag for tag in config.get("tags") or () if not tag.startswith("seq:")]
    given = {
        "context": _without(context, _SERVERS),
        "configurable": _without(configurable, _SERVERS_CONFIG),
        "tags": tags,
    }
    line |= {name: value for name, value in given.items() if value}
    handle = os.open(_of_this_server.get() or _of_this_process["path"], os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)
    try:
        os.write(handle, json.dumps(line, default=repr).encode() + b"\n")
    finally:
        os.close(handle)


def _without(held: Any, prefixes: tuple[str, ...]) -> dict[str, Any]:
    """What of a context or a configuration its caller may have put there."""
    found = held if isinstance(held, Mapping) else vars(held) if hasattr(held, "__dict__") else {}
    return {key: value for key, value in found.items() if not key.startswith(prefixes)}


def read(path: Path) -> list[dict[str, Any]]:
    """All effects so far, oldest first; a missing file is no effect."""
    try:
        text = path.read_text()
    except FileNotFoundError:
        return []
    return [json.loads(line) for line in text.splitlines()]
