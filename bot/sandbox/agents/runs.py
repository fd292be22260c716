"""Endpoints that start, follow and stop runs."""

from collections.abc import AsyncIterator
from itertools import islice

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from bot.sandbox.agents.engine import EngineRefused
from bot.sandbox.agents.ledger import JSON, Run
from bot.sandbox.agents.requests import AgentEndpoints, body_of, identity
from bot.sandbox.agents.views import Json, encode


class Runs(AgentEndpoints):
    """`/threads/{thread_id}/runs` and below."""

    async def start(self, request: Request) -> Response:
        """Answer as soon as the run is accepted."""
        run = await self._accepted(request)
        return Json(self._kind.run(run), headers=_whereabouts(run))

    async def wait(self, request: Request) -> Response:
        """Headers at acceptance, body at the run's end; the run outlives a caller who hangs up."""
        run = await self._accepted(request)
        return StreamingResponse(self._ending(run), media_type="application/json", headers=_whereabouts(run))

    async def _ending(self, run: Run) -> AsyncIterator[bytes]:
        yield b""  # sends the headers
        yield encode(await self._runner.result(run))

    async def _accepted(self, request: Request) -> Run:
        body = await body_of(request)
        if not isinstance(body.get("assistant_id"), str):
            raise EngineRefused(422, "assistant_id: field required")
        _check_shapes(body)
        return await self._runner.accept(self._thread(request), body, owner=identity(request))

    async def listing(self, request: Request) -> Response:
        """Newest first, `limit` 10 unless asked otherwise."""
        asked, thread = request.query_params, self._thread(request)
        runs = (r for r in self._engine.ledger.runs(thread.thread_id) if asked.get("status") in (None, r.status))
        offset = int(asked.get("offset") or 0)
        page = islice(runs, offset, offset + int(asked.get("limit") or 10))
        return Json([self._kind.run(run) for run in page])

    async def read(self, request: Request) -> Response:
        """The run's row now."""
        return Json(self._kind.run(self._run(request)))

    async def join(self, request: Request) -> Response:
        """Wait for a run somebody else started; a run long over answers at once."""
        return Json(await self._runner.result(self._run(request)))

    async def cancel(self, request: Request) -> Response:
        """Aegra answers with the run whatever its state; LangGraph knows only runs that still go on."""
        run = self._run(request)
        stopped = await self._runner.cancel(run)
        if not stopped and not self._kind.scoped:
            raise EngineRefused(404, "No matching runs to cancel.")
        return Json(self._kind.run(self._engine.ledger.run(run.run_id) or run))


def _whereabouts(run: Run) -> dict[str, str]:
    here = f"/threads/{run.thread_id}/runs/{run.run_id}"
    return {"Content-Location": here, "Location": f"{here}/join"}


def _check_shapes(body: JSON) -> None:
    for name in ("command", "config", "checkpoint", "metadata", "context"):
        if not isinstance(body.get(name), dict | None):
            raise EngineRefused(422, f"{name}: must be an object")
