"""Composes the agent server: graphs with a checkpointer, ledger, runner, endpoints.

Tests and the demo serve the application in their own process; `python -m bot.sandbox.agents` serves it in one that can
be killed. It opens no connection to anywhere.
"""

import hmac
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from bot.sandbox.agents.assistants import Assistants
from bot.sandbox.agents.commands import ResumeCommands
from bot.sandbox.agents.engine import Engine, EngineRefused
from bot.sandbox.agents.graphs import GRAPHS
from bot.sandbox.agents.kinds import KINDS, Kind
from bot.sandbox.agents.ledger import Ledger
from bot.sandbox.agents.runner import Runner
from bot.sandbox.agents.runs import Runs
from bot.sandbox.agents.threads import Threads
from bot.sandbox.agents.views import Json

MEMORY = Path(":memory:")
"""The database of a server that forgets everything when it stops."""


def create_app(*, database: Path, effects_file: Path, kind: str = "langgraph", api_key: str | None = None) -> Starlette:
    """The server as an ASGI application with a lifespan.

    `database` holds threads, runs and assistants, and a second file beside it (`….checkpoints`) the graphs' state;
    `MEMORY` keeps both in memory. `kind` is `langgraph` or `aegra`: whose manners it has. With `api_key`, everything
    but the health endpoints needs it as a bearer token.
    """
    manners = KINDS[kind]

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with AsyncSqliteSaver.from_conn_string(_beside(database)) as saver:
            ledger = Ledger(database)
            if not manners.leaves_cut_off_runs:
                ledger.fail_cut_off_runs()
            graphs = {name: graph.copy({"checkpointer": saver}) for name, graph in GRAPHS.items()}
            engine = Engine(manners, ledger, graphs, effects_file)
            runner = Runner(engine)
            app.router.routes.extend(_routes(engine, runner))
            try:
                yield
            finally:
                await runner.stop()
                if not manners.leaves_cut_off_runs:
                    ledger.fail_cut_off_runs()
                ledger.close()

    async def refused(request: Request, problem: Exception) -> Response:
        del request
        status = problem.status if isinstance(problem, EngineRefused) else 500
        return Json(manners.fault(status, str(problem)), status)

    return Starlette(
        routes=_open_routes(manners),
        lifespan=lifespan,
        exception_handlers={EngineRefused: refused},
        middleware=[Middleware(_BearerKey, kind=manners, api_key=api_key)],
    )


def _beside(database: Path) -> str:
    return str(database) if database == MEMORY else f"{database}.checkpoints"


def _open_routes(kind: Kind) -> list[Route]:
    async def ok(request: Request) -> Response:
        del request
        return Json({"ok": True, "status": "healthy"})

    async def info(request: Request) -> Response:
        del request
        return Json({"version": "sandbox", "kind": kind.name, "flags": {"assistants": True, "crons": False}})

    return [Route("/ok", ok), Route("/health", ok), Route("/info", info)]


def _routes(engine: Engine, runner: Runner) -> list[Route]:
    threads, runs = Threads(engine, runner), Runs(engine, runner)
    assistants, commands = Assistants(engine, runner), ResumeCommands(engine, runner)
    table: list[tuple[str, str, Any]] = [
        ("POST", "/threads", threads.create),
        ("POST", "/threads/search", threads.search),
        ("GET", "/threads/{thread_id}", threads.read),
        ("PATCH", "/threads/{thread_id}", threads.patch),
        ("DELETE", "/threads/{thread_id}", threads.delete),
        ("GET", "/threads/{thread_id}/state", threads.state),
        ("GET", "/threads/{thread_id}/history", threads.history),
        ("POST", "/threads/{thread_id}/history", threads.history),
        ("GET", "/threads/{thread_id}/runs", runs.listing),
        ("POST", "/threads/{thread_id}/runs", runs.start),
        ("POST", "/threads/{thread_id}/runs/wait", runs.wait),
        ("GET", "/threads/{thread_id}/runs/{run_id}", runs.read),
        ("GET", "/threads/{thread_id}/runs/{run_id}/join", runs.join),
        ("POST", "/threads/{thread_id}/runs/{run_id}/cancel", runs.cancel),
        ("POST", "/threads/{thread_id}/commands", commands.run),
        ("POST", "/assistants", assistants.create),
        ("GET", "/assistants/{assistant_id}", assistants.read),
        ("DELETE", "/assistants/{assistant_id}", assistants.delete),
    ]
    return [Route(path, endpoint, methods=[method]) for method, path, endpoint in table]


class _BearerKey:
    """Refuses callers without the key, where there is one."""

    def __init__(self, app: ASGIApp, kind: Kind, api_key: str | None) -> None:
        self._app = app
        self._kind = kind
        self._api_key = api_key

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or self._admits(Request(scope)):
            await self._app(scope, receive, send)
            return
        await Json(self._kind.fault(401, "bad or missing bearer token"), 401)(scope, receive, send)

    def _admits(self, request: Request) -> bool:
        if self._api_key is None or request.url.path in {"/ok", "/health", "/info"}:
            return True
        given = request.headers.get("authorization", "")
        return hmac.compare_digest(given.encode(), f"Bearer {self._api_key}".encode())
