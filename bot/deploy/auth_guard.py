"""The auth guard: an agent server that takes each answer of Placet's once, however late its copies come.

Neither Aegra nor LangGraph has an idempotency key, and on Aegra two copies of one answer that arrive within about ten
milliseconds both run the tool. Both servers ask the deployment's own auth file before they make a run; this file gives
them an answer. Copy it next to that file, which then ends so::

    from auth_guard import guard

    guard(auth)                                        # one server process: remembered in memory
    guard(auth, table="seen.sqlite3")                  # several processes on one machine
    guard(auth, table="postgresql://user@host/db")     # several machines; needs asyncpg, which Aegra has

Refused with 409 is an answer whose `placet_dispatch` was let through before, and one that comes after its
`placet_not_after`, when nobody at Placet waits for it any more. An answer that the server itself refused after it was
let through comes again with another `placet_since`, and counts as new. With `per="interrupt"` every client's answer
counts, not Placet's alone: the first to a thread's interrupt is let through, each later one is refused, and so is one
that does not say which interrupt it means. That makes one answering door of a deployment with several interfaces, and
what the server refused cannot be answered again there.

What it cannot do. An answer that was let through and then lost by a crash before the run was stored counts as seen:
Placet's next attempt is refused, and it calls the outcome unknown rather than guess. A guard in memory forgets when the
server restarts. Aegra does not ask for `POST /threads/{id}/commands`: block that route at your proxy. The clock is this
machine's, Placet's that of its database: `leeway` (seconds) is how far they may be apart.

Needs `langgraph_sdk`, which both servers bring along, and must not know Placet, which may run elsewhere.
"""

from __future__ import annotations

import asyncio
import re
import sqlite3
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from importlib import import_module
from typing import Any

from langgraph_sdk import Auth

MARK, SINCE, NOT_AFTER = "placet_dispatch", "placet_since", "placet_not_after"
LEEWAY = 60.0
_KEY = re.compile(r"[0-9a-f]{32}")
_CREATE = (
    "CREATE TABLE IF NOT EXISTS placet_seen (key TEXT PRIMARY KEY, seen_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP)"
)

# True for the one caller, of all there ever are, that names this key first.
Take = Callable[[str], Awaitable[bool]]


def guard(
    auth: Auth,
    *,
    table: str = ":memory:",
    per: str = "dispatch",
    leeway: float = LEEWAY,
    clock: Callable[[], float] = time.time,
) -> Auth:
    """Put the guard before whatever handler `auth` has for new runs, now or later; that one is asked only after it.

    Register a handler of your own for `threads.create_run` before this call: the SDK takes one of a kind.
    """
    if per not in ("dispatch", "interrupt"):
        raise ValueError("per is 'dispatch' or 'interrupt'")
    take = _postgres(table) if table.startswith(("postgresql://", "postgres://")) else _sqlite(table)
    own = auth._handlers.pop(("threads", "create_run"), [])  # noqa: SLF001 - the servers read it too, by this name

    @auth.on.threads.create_run
    async def once(ctx: Auth.types.AuthContext, value: Any) -> Any:
        await _check(value, take=take, per=per, late=clock() - leeway)
        others = own or _fallback(auth)
        return await others[-1](ctx=ctx, value=value) if others else None

    return auth


def _fallback(auth: Auth) -> list[Any]:
    """The handlers that the servers would ask if there were none for `threads.create_run`, in their order."""
    for kind in (("threads", "*"), ("*", "create_run"), ("*", "*")):
        if found := auth._handlers.get(kind):  # noqa: SLF001 - as above
            return list(found)
    return list(auth._global_handlers)  # noqa: SLF001 - as above


async def _check(value: Mapping[str, Any], *, take: Take, per: str, late: float) -> None:
    """Raise 409 for an answer that must not run; whatever is no answer passes."""
    asked = _inside(value, "kwargs") or value  # LangGraph hands the request over under `kwargs`, Aegra as it is
    command = _inside(asked, "command")
    if "resume" not in command:
        return
    marks = _inside(_inside(asked, "config"), "metadata")
    not_after = marks.get(NOT_AFTER)
    if isinstance(not_after, int | float) and not_after / 1000 < late:
        raise _refused("this answer comes too late: nobody waits for it any more")
    keys = _interrupts(value, command["resume"]) if per == "interrupt" else _dispatches(marks)
    for key in keys:
        if not await take(key):
            raise _refused("this was answered before")


def _dispatches(marks: Mapping[str, Any]) -> Iterator[str]:
    if isinstance(marks.get(MARK), str):
        yield f"dispatch {marks[MARK]} {marks.get(SINCE, 1)}"


def _interrupts(value: Mapping[str, Any], resume: Any) -> Iterator[str]:
    if not isinstance(resume, Mapping) or not resume or not all(_KEY.fullmatch(str(key)) for key in resume):
        raise _refused("an answer must name its interrupt here")
    yield from (f"interrupt {value.get('thread_id')} {key}" for key in sorted(resume))


def _inside(value: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = value.get(key)
    return found if isinstance(found, Mapping) else {}


def _refused(why: str) -> Exception:
    return Auth.exceptions.HTTPException(status_code=409, detail=f"auth guard: {why}")


def _sqlite(path: str) -> Take:
    """A table in a file that the processes of one machine share, or in this process's memory."""
    lock = threading.Lock()
    file = sqlite3.connect(path, timeout=10, isolation_level=None, check_same_thread=False)
    file.execute(_CREATE)

    def insert(key: str) -> bool:
        with lock:
            return file.execute("INSERT OR IGNORE INTO placet_seen (key) VALUES (?)", (key,)).rowcount == 1

    async def take(key: str) -> bool:
        return await asyncio.to_thread(insert, key)

    return take


def _postgres(dsn: str) -> Take:
    """A table that all machines share; one short connection for each answer, which are as rare as people are slow."""
    driver = import_module("asyncpg")

    async def take(key: str) -> bool:
        conn = await driver.connect(dsn, timeout=10)
        try:
            async with conn.transaction():
                # Two first answers at once must not both create the table.
                await conn.execute("SELECT pg_advisory_xact_lock(7052103919)")
                await conn.execute(_CREATE)
            done = await conn.execute("INSERT INTO placet_seen (key) VALUES ($1) ON CONFLICT DO NOTHING", key)
        finally:
            await conn.close()
        return str(done).endswith(" 1")

    return take
