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


def record(tool: str, args: dict[str, Any], *, configurable: Mapping[str, Any], call_id: str | None = None) -> None:
    """Append `{at, tool, args, thread_id, run_id, tool_call_id}`; `args` are what the tool was called with.

    `configurable` is the part of the run's configuration in which LangGraph and both servers put the two ids.
    """
    run_id = configurable.get("run_id")
    line = {
        "at": time.time(),
        "tool": tool,
        "args": args,
        "thread_id": configurable.get("thread_id"),
        "run_id": str(run_id) if run_id else None,
        "tool_call_id": call_id,
    }
    handle = os.open(_of_this_server.get() or _of_this_process["path"], os.O_CREAT | os.O_APPEND | os.O_WRONLY, 0o600)
    try:
        os.write(handle, json.dumps(line).encode() + b"\n")
    finally:
        os.close(handle)


def read(path: Path) -> list[dict[str, Any]]:
    """All effects so far, oldest first; a missing file is no effect."""
    try:
        text = path.read_text()
    except FileNotFoundError:
        return []
    return [json.loads(line) for line in text.splitlines()]
