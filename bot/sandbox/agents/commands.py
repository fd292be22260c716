"""`POST /threads/{thread_id}/commands`: the envelope way of starting runs and answering interrupts.

An envelope's `success` says that a run was queued, not that the answer was good.
"""

import re
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from bot.sandbox.agents.engine import EngineRefused
from bot.sandbox.agents.ledger import JSON, Thread
from bot.sandbox.agents.requests import AgentEndpoints, body_of, identity
from bot.sandbox.agents.views import Json

_INTERRUPT_ID = re.compile(r"[0-9a-f]{32}")


class CommandError(Exception):
    """The envelope's `error` code and its sentence."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class ResumeCommands(AgentEndpoints):
    """The two methods that both servers know: `run.start` and `input.respond`."""

    async def run(self, request: Request) -> Response:
        """Always 200 for a well-formed envelope, whatever becomes of the command."""
        body = await body_of(request)
        number, method = body.get("id"), body.get("method")
        if not isinstance(number, int) or not isinstance(method, str):
            return self._malformed()
        try:
            result = await self._result(request, method, dict(body.get("params") or {}))
        except CommandError as problem:
            return Json({"type": "error", "id": number, "error": problem.code, "message": str(problem)})
        return Json({"type": "success", "id": number, "result": result, "meta": {"applied_through_seq": 0}})

    def _malformed(self) -> Response:
        if self._kind.scoped:
            return Json({"detail": [{"type": "missing", "loc": ["body", "id"], "msg": "Field required"}]}, 422)
        said = "Protocol commands must include an integer id and string method."
        return Json({"type": "error", "id": None, "error": "invalid_argument", "message": said}, 400)

    async def _result(self, request: Request, method: str, params: JSON) -> JSON:
        try:
            thread = self._thread(request)
        except EngineRefused as missing:
            raise CommandError("no_such_run", str(missing)) from missing
        if method == "run.start":
            return {"run_id": await self._start(request, thread, self._as_resume(params, thread))}
        if method != "input.respond":
            raise CommandError("unknown_command", f"Unknown command {method!r}.")
        command = {"resume": await self._answers(thread, params)}
        run_id = await self._start(request, thread, {**self._kept(params), "command": command})
        return {"run_id": run_id} if self._kind.tells_run_of_response else {}

    async def _start(self, request: Request, thread: Thread, body: JSON) -> str:
        try:
            run = await self._runner.accept(thread, body, owner=identity(request))
        except EngineRefused as refused:
            raise CommandError("invalid_argument", str(refused)) from refused
        return run.run_id

    async def _answers(self, thread: Thread, params: JSON) -> Any:
        """The resume value: keyed by interrupt id, or bare where the kind lets an answer go untargeted."""
        if "response" not in params and "responses" not in params and self._kind.scoped:
            raise CommandError("invalid_argument", "input.respond requires a response value.")
        given = params.get("responses") or [params]
        untargeted = [answer for answer in given if not answer.get("interrupt_id")]
        if untargeted and self._kind.commands_need_target:
            raise CommandError("invalid_argument", "input.respond requires an interrupt_id.")
        if untargeted:
            return untargeted[0].get("response")
        answers = {str(answer["interrupt_id"]): answer.get("response") for answer in given}
        await self._check_ids(thread, list(answers))
        return answers

    async def _check_ids(self, thread: Thread, ids: list[str]) -> None:
        if self._kind.scoped:  # Aegra looks at the form of an id only
            unknown = [one for one in ids if not _INTERRUPT_ID.fullmatch(one)]
        else:
            snapshot = await self._engine.snapshot(thread)
            known = {held.id for held in snapshot.interrupts} if snapshot else set()
            unknown = [one for one in ids if one not in known]
        if unknown:
            raise CommandError("no_such_interrupt", f"Unknown interrupt id {unknown[0]!r}.")

    def _kept(self, params: JSON) -> JSON:
        """What an answer takes from its command: LangGraph gives its run no context."""
        return {name: params[name] for name in self._kind.commands_take if name in params}

    def _as_resume(self, params: JSON, thread: Thread) -> JSON:
        """On a waiting thread both servers take a new message for the answer; that destroys the approval."""
        if thread.status != "interrupted":
            return params
        return {**self._kept(params), "command": {"resume": params.get("input")}}
