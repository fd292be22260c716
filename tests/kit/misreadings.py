"""An office whose agent server answers readings of threads wrongly for a while: 404, 500, no JSON, or without an interrupt."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bot.sandbox.agents.app import create_app as create_agent
from bot.sandbox.serving import serving
from tests.kit.office import AgentServer, Office, open_office, policy_text
from tests.kit.office_fixtures import PATIENT
from tests.kit.wiretap import Wiretap

Answer = tuple[int, bytes]
NOT_FOUND: Answer = (404, b'{"detail": "not found"}')


@dataclass(slots=True)
class Wrong:
    """What is answered to the next `times` requests (for ever where None) that match; the true answer is given."""

    matches: str
    answer: Callable[[Answer], Answer]
    times: int | None = None
    asked: int = 0


@dataclass(slots=True)
class Misreading:
    """An ASGI application around the agent server. The tests read the server past it."""

    app: ASGIApp
    wrong: list[Wrong] = field(default_factory=list)
    read: list[str] = field(default_factory=list)  # `METHOD /path` of every request, in order

    def make(self, matches: str, answer: Answer | Callable[[Answer], Answer], *, times: int | None = None) -> Wrong:
        """Answer so from now on; `matches` is searched in `METHOD /path`."""
        made = Wrong(matches, answer if callable(answer) else lambda _: answer, times)
        self.wrong.append(made)
        return made

    def gone(self, thread: str, *, times: int | None = None) -> list[Wrong]:
        """404 to everything about one thread, and no word of it in the list."""
        about = self.make(f"GET /threads/{thread}(/state)?$", NOT_FOUND, times=times)
        return [about, self.make("/threads/search", lambda true: without_thread(true, thread), times=times)]

    def truthful(self) -> None:
        """Answer everything as it is again."""
        self.wrong.clear()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        asked = f"{scope['method']} {scope['path']}"
        if dict(scope["headers"]).get(b"x-true"):
            await self.app(scope, receive, send)
            return
        self.read.append(asked)
        made = next((one for one in self.wrong if re.search(one.matches, asked)), None)
        if made is None:
            await self.app(scope, receive, send)
            return
        made.asked += 1
        if made.times is not None and made.asked >= made.times:
            self.wrong.remove(made)
        status, body = made.answer(await self._true(scope, receive))
        await Response(body, status, media_type="application/json")(scope, receive, send)

    async def _true(self, scope: Scope, receive: Receive) -> Answer:
        given = await Request(scope, receive).body()
        parts: list[bytes] = []
        status = 0

        async def again() -> Message:
            return {"type": "http.request", "body": given, "more_body": False}

        async def keep(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)
            parts.append(message.get("body", b""))

        await self.app(scope, again, keep)
        return status, b"".join(parts)


def without_interrupts(true: Answer) -> Answer:
    """A state that lists nothing."""
    state = json.loads(true[1])
    state["interrupts"] = []
    for task in state["tasks"]:
        task["interrupts"] = []
    return true[0], json.dumps(state).encode()


def without_thread(true: Answer, thread: str) -> Answer:
    """A list that does not name one thread."""
    return true[0], json.dumps([row for row in json.loads(true[1]) if row["thread_id"] != thread]).encode()


def with_status(true: Answer, status: str, *, thread: str = "") -> Answer:
    """A thread, or the list's row of it, in another status."""
    told: Any = json.loads(true[1])
    for row in told if isinstance(told, list) else [told]:
        if thread in ("", row["thread_id"]):
            row["status"] = status
    return true[0], json.dumps(told).encode()


@contextlib.asynccontextmanager
async def misread_office(
    database: str, folder: Path, *, kind: str = "langgraph", replicas: int = 1, **lines: Any
) -> AsyncIterator[tuple[Office, Misreading]]:
    """The office, and what stands before its agent server. What the tests themselves ask is always answered truly."""
    effects = folder / "effects.jsonl"
    tapped = Wiretap(create_agent(database=folder / "agent.sqlite", effects_file=effects, kind=kind))
    misreading = Misreading(tapped)
    async with serving(misreading) as url:
        agent = AgentServer(url, effects, kind, tapped.heard)
        policy = policy_text(url, kind=kind, **lines)
        async with open_office(database, agent, policy=policy, replicas=replicas, rules=PATIENT) as office:
            office.agents.headers["X-True"] = "1"
            yield office, misreading
