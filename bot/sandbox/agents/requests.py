"""What the endpoints share: who asks, what they sent, which thread they mean."""

import json
from typing import Any

from starlette.requests import Request

from bot.sandbox.agents.engine import Engine, EngineRefused
from bot.sandbox.agents.ledger import JSON, Run, Thread
from bot.sandbox.agents.runner import Runner


class AgentEndpoints:
    """A group of endpoints over one engine and its runner."""

    def __init__(self, engine: Engine, runner: Runner) -> None:
        self._engine = engine
        self._runner = runner

    @property
    def _kind(self) -> Any:
        return self._engine.kind

    def _thread(self, request: Request) -> Thread:
        """The thread in the path, if the caller may see it. Raises Refused 404."""
        thread = self._engine.ledger.thread(request.path_params["thread_id"])
        if thread is None or (self._kind.scoped and thread.owner != identity(request)):
            raise EngineRefused(404, f"Thread '{request.path_params['thread_id']}' not found")
        return thread

    def _run(self, request: Request) -> Run:
        """The run in the path. Raises Refused 404."""
        thread = self._thread(request)
        run = self._engine.ledger.run(request.path_params["run_id"])
        if run is None or run.thread_id != thread.thread_id:
            raise EngineRefused(404, f"Run '{request.path_params['run_id']}' not found")
        return run


def identity(request: Request) -> str:
    """Who owns what this caller makes: `X-User-Id`, as the deployments of both servers are set up."""
    return request.headers.get("x-user-id") or "anonymous"


async def body_of(request: Request) -> JSON:
    """The JSON object sent; no body is an empty one. Raises Refused 422 for anything else."""
    raw = await request.body()
    try:
        body = json.loads(raw or b"{}")
    except ValueError as problem:
        raise EngineRefused(422, f"the body is not JSON: {problem}") from problem
    if not isinstance(body, dict):
        raise EngineRefused(422, "the body must be a JSON object")
    return body
