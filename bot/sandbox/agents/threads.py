"""Endpoints that read threads and change what is noted about them; none of them runs anything."""

import sqlite3
import uuid

from langgraph.types import StateSnapshot
from starlette.requests import Request
from starlette.responses import Response

from bot.sandbox.agents.engine import EngineRefused
from bot.sandbox.agents.ledger import JSON, Thread
from bot.sandbox.agents.requests import AgentEndpoints, body_of, identity
from bot.sandbox.agents.views import EMPTY_STATE, Json, state_view

_SORTS = ("thread_id", "status", "created_at", "updated_at")


class Threads(AgentEndpoints):
    """`/threads` and what hangs below one, runs apart."""

    async def create(self, request: Request) -> Response:
        """Under a given id or a new one; a taken id is 409 unless `if_exists` says `do_nothing` and it is the caller's."""
        body = await body_of(request)
        thread_id = str(body.get("thread_id") or uuid.uuid4())
        thread = Thread(thread_id=thread_id, owner=identity(request), metadata=dict(body.get("metadata") or {}))
        try:
            self._engine.ledger.add(thread)
        except sqlite3.IntegrityError as taken:
            held = self._engine.ledger.thread(thread_id)
            if body.get("if_exists") != "do_nothing" or held is None or held.owner != thread.owner:
                raise EngineRefused(409, f"Thread '{thread_id}' already exists") from taken
            thread = held
        return Json(self._kind.thread(thread))

    async def search(self, request: Request) -> Response:
        """By status and by equal metadata, paged; LangGraph adds `x-pagination-total` and can select fields."""
        body = await body_of(request)
        found = self._found(body, identity(request) if self._kind.scoped else None)
        offset, limit = int(body.get("offset") or 0), int(body.get("limit") or 10)
        rows = [self._kind.thread(thread) for thread in found[offset : offset + limit]]
        if select := body.get("select"):
            if self._kind.scoped:
                raise EngineRefused(422, "Value error, select projection is not supported")
            rows = [{name: row[name] for name in select if name in row} for row in rows]
        return Json(rows, headers={} if self._kind.scoped else {"x-pagination-total": str(len(found))})

    def _found(self, body: JSON, owner: str | None) -> list[Thread]:
        wanted = (body.get("metadata") or {}).items()
        threads = self._engine.ledger.threads(owner, body.get("status"))
        matching = [thread for thread in threads if all(thread.metadata.get(name) == value for name, value in wanted)]
        sort = body.get("sort_by") or "created_at"
        if sort not in _SORTS:
            raise EngineRefused(422, f"sort_by must be one of {', '.join(_SORTS)}")
        return sorted(matching, key=lambda t: str(getattr(t, sort)), reverse=body.get("sort_order") != "asc")

    async def read(self, request: Request) -> Response:
        return Json(self._kind.thread(self._thread(request)))

    async def patch(self, request: Request) -> Response:
        """Adds to the metadata; nothing is ever taken away."""
        thread, body = self._thread(request), await body_of(request)
        metadata = {**thread.metadata, **(body.get("metadata") or {})}
        self._engine.ledger.update("thread", thread.thread_id, metadata=metadata)
        return await self.read(request)

    async def delete(self, request: Request) -> Response:
        self._engine.ledger.delete("thread", self._thread(request).thread_id)
        return Response(status_code=204)

    async def state(self, request: Request) -> Response:
        """The only place where both servers show what is pending. `subgraphs=true` nests the branches' own states."""
        subgraphs = request.query_params.get("subgraphs", "").lower() in {"1", "true"}
        snapshot = await self._engine.snapshot(self._thread(request), subgraphs=subgraphs)
        return Json(self._state(snapshot) if snapshot else EMPTY_STATE)

    def _state(self, snapshot: StateSnapshot) -> JSON:
        return state_view(snapshot, with_schema=self._kind.shows_schema, with_path=self._kind.shows_path)

    async def history(self, request: Request) -> Response:
        """Checkpoints, newest first; `limit` in the query of a GET or the body of a POST, a namespace in the latter."""
        thread, body = self._thread(request), await body_of(request)
        limit = int(body.get("limit") or request.query_params.get("limit") or 10)
        namespace = str((body.get("checkpoint") or {}).get("checkpoint_ns") or "")
        found = await self._engine.history(thread, limit, namespace=namespace)
        return Json([self._state(snapshot) for snapshot in found])
