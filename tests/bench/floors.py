"""What the figures are held against: the same work with nothing of ours around it, in the same run.

A bare Bolt listener that only acknowledges, in both of Bolt's modes, and a bare commit of one UPDATE and one INSERT
through the very drivers that the store uses, by hand. Nothing here imports the bot.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import aiosqlite
import asyncpg
from slack_bolt.adapter.starlette.async_handler import AsyncSlackRequestHandler
from slack_bolt.async_app import AsyncAck, AsyncApp
from slack_bolt.authorization import AuthorizeResult
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tests.bench.presses import SECRET

Commit = Callable[[], Awaitable[float]]
TABLE = "CREATE TABLE IF NOT EXISTS bench_floor (id INTEGER PRIMARY KEY, version INTEGER NOT NULL, content TEXT)"
CONTENT = "x" * 300  # about an audit event's length


def bare_bolt(*, process_before_response: bool) -> Starlette:
    """Bolt with one listener that acknowledges, and an authorisation that asks nobody."""

    async def authorize() -> AuthorizeResult:
        return AuthorizeResult(enterprise_id=None, team_id="T0DEMO", bot_token="xoxb-demo", bot_id="B", bot_user_id="U")

    app = AsyncApp(signing_secret=SECRET, authorize=authorize, process_before_response=process_before_response)

    async def acknowledge(ack: AsyncAck) -> None:
        await ack()

    app.action("decide.approve")(acknowledge)
    handler = AsyncSlackRequestHandler(app)

    async def endpoint(request: Request) -> Response:
        return await handler.handle(request)

    return Starlette(routes=[Route("/slack/events", endpoint, methods=["POST"])])


@contextlib.asynccontextmanager
async def bare_commit(url: str) -> AsyncIterator[Commit]:
    """A function that commits one UPDATE and one INSERT and returns the milliseconds that took."""
    opened = _bare_sqlite(Path(url.partition(":///")[2])) if url.startswith("sqlite") else _bare_postgres(url)
    async with opened as commit:
        yield commit


@contextlib.asynccontextmanager
async def _bare_sqlite(path: Path) -> AsyncIterator[Commit]:
    async with aiosqlite.connect(path, isolation_level=None, timeout=10) as conn:
        for statement in ("PRAGMA synchronous = FULL", TABLE, "INSERT OR IGNORE INTO bench_floor VALUES (1, 0, '')"):
            await conn.execute(statement)

        async def commit() -> float:
            began = time.perf_counter()
            await conn.execute("BEGIN IMMEDIATE")
            await conn.execute("UPDATE bench_floor SET version = version + 1 WHERE id = ?", (1,))
            await conn.execute("INSERT INTO bench_floor (version, content) VALUES (?, ?)", (0, CONTENT))
            await conn.execute("COMMIT")
            return (time.perf_counter() - began) * 1000

        yield commit


@contextlib.asynccontextmanager
async def _bare_postgres(url: str) -> AsyncIterator[Commit]:
    conn = await asyncpg.connect(url.replace("+asyncpg", ""))
    try:
        await conn.execute(TABLE.replace("INTEGER PRIMARY KEY", "SERIAL PRIMARY KEY"))
        await conn.execute("INSERT INTO bench_floor (version, content) VALUES (0, '')")

        async def commit() -> float:
            began = time.perf_counter()
            async with conn.transaction():
                await conn.execute("UPDATE bench_floor SET version = version + 1 WHERE id = $1", 1)
                await conn.execute("INSERT INTO bench_floor (version, content) VALUES ($1, $2)", 0, CONTENT)
            return (time.perf_counter() - began) * 1000

        yield commit
    finally:
        await conn.close()
