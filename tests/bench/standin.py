"""An agent server of any number of waiting threads, which answers at once and counts what it is asked.

The sandbox's server runs real graphs; ten thousand of those would be measured instead of the bot. This one speaks as much
of the protocol as the bot uses, makes each thread's state from its number, and takes answers.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from bot.runtimes.langgraph.wire import MARK
from tests.bench.crowd import call_id, interrupt_of, thread_id

Scope = dict[str, Any]


@dataclass(slots=True)
class Standin:
    """The server as an ASGI application: `threads` names each identity's waiting threads by their numbers.

    `reads` counts requests, `resumes` holds the answers with their times.
    """

    threads: dict[str, range] = field(default_factory=dict)
    reads: Counter[str] = field(default_factory=Counter)
    resumes: list[tuple[float, str, dict[str, Any]]] = field(default_factory=list)
    changed: dict[str, str] = field(default_factory=dict)  # thread to its `updated_at`
    answered: dict[str, str] = field(default_factory=dict)  # thread to the mark of the dispatch

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await _lifespan(receive, send)
            return
        body = await _body(receive)
        parts = scope["path"].strip("/").split("/")
        who = dict(scope["headers"]).get(b"x-user-id", b"").decode()
        headers, value = self._answer(who, parts, json.loads(body) if body else {})
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": json.dumps(value).encode()})

    def _answer(self, who: str, parts: list[str], body: Any) -> tuple[list[tuple[bytes, bytes]], Any]:
        headers = [(b"content-type", b"application/json")]
        if parts[-1] == "wait":
            return [*headers, (b"content-location", self._resumed(parts[1], body))], {}
        self.reads[parts[-1] if len(parts) != 2 or parts[1] == "search" else "thread"] += 1
        if parts[-1] == "search":
            return headers, self._page(self.threads.get(who, range(0)), body)
        if parts[-1] == "state":
            return headers, self._state(parts[1])
        if parts[-1] == "runs":
            return headers, self._runs(parts[1])
        return headers, self._row(parts[1]) if len(parts) == 2 else []

    def _page(self, mine: range, body: Any) -> list[Any]:
        if body.get("status") != "interrupted":
            return []
        numbers = mine[body["offset"] : body["offset"] + body["limit"]]
        return [self._row(thread_id(number)) for number in numbers]

    def _row(self, thread: str) -> dict[str, Any]:
        status = "idle" if thread in self.answered else "interrupted"
        at = self.changed.get(thread, "2026-01-01T00:00:00+00:00")
        return {"thread_id": thread, "status": status, "updated_at": at, "metadata": {"assistant_id": "agent_platform"}}

    def _state(self, thread: str) -> dict[str, Any]:
        listed = interrupt_of(thread)
        request = listed["value"]["action_requests"][0]
        call = {"name": request["name"], "args": request["args"], "id": call_id(thread), "type": "tool_call"}
        messages: list[Any] = [{"type": "ai", "content": "", "tool_calls": [call]}]
        mark = self.answered.get(thread)
        if mark is not None:
            messages.append({"type": "tool", "tool_call_id": call["id"], "status": "success", "content": "done"})
        node = "HumanInTheLoopMiddleware.after_model"
        task = {"id": f"task-{thread}", "name": node, "interrupts": [listed], "error": None, "state": None}
        return {
            "values": {"messages": messages},
            "next": [] if mark else [node],
            "tasks": [] if mark else [task],
            "interrupts": [] if mark else [listed],
            "checkpoint": {"checkpoint_id": f"cp-{thread}", "checkpoint_ns": ""},
            "metadata": {"run_id": f"first-{thread}"} | ({MARK: mark} if mark else {}),
        }

    def _runs(self, thread: str) -> list[Any]:
        mark = self.answered.get(thread)
        bare: dict[str, Any] = {"config": {}, "context": {}}
        first = {"run_id": f"first-{thread}", "status": "interrupted", "created_at": "2026-01-01T00:00:00+00:00"} | bare
        run = {"run_id": f"run-{thread}", "status": "success", "created_at": "2026-01-01T00:00:01+00:00"} | bare
        return [*([run | {"metadata": {MARK: mark}}] if mark else []), first]

    def _resumed(self, thread: str, body: Any) -> bytes:
        self.resumes.append((time.perf_counter(), thread, body["command"]["resume"]))
        self.answered[thread] = body["config"]["metadata"][MARK]
        return f"/threads/{thread}/runs/run-{thread}".encode()


async def _lifespan(receive: Any, send: Any) -> None:
    while True:
        kind = (await receive())["type"]
        await send({"type": f"{kind}.complete"})
        if kind == "lifespan.shutdown":
            return


async def _body(receive: Any) -> bytes:
    body, more = b"", True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    return body
