"""Endpoints for assistants: a graph under another id, made and deleted by a client that fences its dispatches."""

import uuid

from starlette.requests import Request
from starlette.responses import Response

from bot.sandbox.agents.engine import EngineRefused
from bot.sandbox.agents.kinds import assistant_id_of
from bot.sandbox.agents.ledger import Assistant
from bot.sandbox.agents.requests import AgentEndpoints, body_of, identity
from bot.sandbox.agents.views import Json


class Assistants(AgentEndpoints):
    """`/assistants`. The graphs' own ones can be read and not deleted."""

    async def create(self, request: Request) -> Response:
        """Under the id that was asked for, or a new one.

        Where the id is taken, or on Aegra the configuration: 409, or with `if_exists: do_nothing` what there is.
        """
        body = await body_of(request)
        made = Assistant(
            assistant_id=str(body.get("assistant_id") or uuid.uuid4()),
            owner=identity(request),
            graph_id=self._engine.graph_of(str(body.get("graph_id") or "")),
            name=str(body.get("name") or "Untitled"),
            config=dict(body.get("config") or {}),
            context=dict(body.get("context") or {}),
            metadata=dict(body.get("metadata") or {}),
        )
        ledger = self._engine.ledger
        there = ledger.assistant(made.assistant_id)
        if there is None and self._kind.one_assistant_a_config:
            there = ledger.same_assistant(made)
        if there is None:
            ledger.add(made)
        elif there.owner != made.owner or body.get("if_exists") != "do_nothing":
            raise EngineRefused(409, f"Assistant '{made.assistant_id}' already exists")
        return Json(self._kind.assistant(there or made))

    async def read(self, request: Request) -> Response:
        """Also by a graph's name, as both servers allow."""
        return Json(self._kind.assistant(self._assistant(request)))

    async def delete(self, request: Request) -> Response:
        """Its runs' rows go with it; a run that had begun goes on without one."""
        if not self._engine.ledger.delete("assistant", self._assistant(request).assistant_id):
            raise EngineRefused(403, "a graph's own assistant cannot be deleted")
        return Json({"status": "deleted"})

    def _assistant(self, request: Request) -> Assistant:
        asked = request.path_params["assistant_id"]
        if stored := self._engine.ledger.assistant(asked):
            return stored
        graph_id = self._engine.graph_of(asked)
        made_by = {"created_by": "system"}
        return Assistant(assistant_id_of(graph_id), "system", graph_id, graph_id, {}, {}, made_by)
