"""A warm interpreter: it has loaded the program once, and forks a process of its own for each start that is asked for.

What runs in a fork is the program as a person starts it, with an environment, a log file, signals and an exit code of its
own; only the loading, two seconds each, is shared. Orders and answers are lines of JSON on the standard streams. It ends
with whoever started it, and takes every process along.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import importlib
import json
import os
import signal
import sys
import traceback
from typing import Any

from bot import logs
from bot.cli import main as cli
from bot.errors import PlacetError
from bot.serve import serve
from bot.settings import read

OURS = ("SLACK_", "PLACET_")
LATER = (
    "sqlalchemy.dialects.sqlite.aiosqlite",
    "sqlalchemy.dialects.postgresql.asyncpg",
    "uvicorn.lifespan.on",
    "uvicorn.loops.auto",
    "uvicorn.protocols.http.auto",
    "uvicorn.protocols.websockets.auto",
    "alembic.command",
    "aiosqlite",
    "asyncpg",
)


def main() -> None:
    """Serve orders until the other side closes."""
    for name in LATER:
        importlib.import_module(name)
    gc.freeze()
    children: set[int] = set()
    for line in sys.stdin:
        order = json.loads(line)
        sys.stdout.write(json.dumps(_start(order, children) if order["do"] == "start" else _look(order, children)))
        sys.stdout.write("\n")
        sys.stdout.flush()
    for pid in children:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _start(order: dict[str, Any], children: set[int]) -> int:
    pid = os.fork()
    if pid == 0:
        _become(order)
    children.add(pid)
    return pid


def _look(order: dict[str, Any], children: set[int]) -> int | None:
    """The exit code of a process that has ended; the negative number of the signal that killed it."""
    pid, status = os.waitpid(order["pid"], os.WNOHANG)
    if pid == 0:
        return None
    children.discard(pid)
    return os.waitstatus_to_exitcode(status)


def _become(order: dict[str, Any]) -> None:
    """Be that process; the interpreter's own way of ending would be the warm one's."""
    code = 1
    try:
        _streams(order["log"])
        for name in [name for name in os.environ if name.startswith(OURS)]:
            del os.environ[name]
        os.environ.update(order["environ"])
        code = _run(order)
    except SystemExit as exc:
        code = exc.code if isinstance(exc.code, int) else 1
    finally:
        if (fault := sys.exc_info()[1]) is not None:
            traceback.print_exception(fault)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _run(order: dict[str, Any]) -> int:
    if not order["serve"]:
        sys.argv = ["placet", *order["arguments"]]
        cli.main()
        return 0
    try:
        # As `placet serve`, at another time or with another lease: tests would otherwise wait out those of the dead.
        settings = read(os.environ)
        logs.configure(settings.log_format)
        asyncio.run(serve(settings, **order["serve"]))
    except PlacetError as exc:
        sys.stderr.write(f"placet: {exc}\n")
        return 2
    return 0


def _streams(log: str) -> None:
    nothing = os.open(os.devnull, os.O_RDONLY)
    written = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for number, source in ((0, nothing), (1, written), (2, written)):
        os.dup2(source, number)


if __name__ == "__main__":
    main()
