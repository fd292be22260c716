"""A server that answers each path with what a test says, and remembers what it was asked."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from bot.runtimes.langgraph.transport import AgentServer
from tests.kit.agent_raw_server import RawServer, raw_server, response


@dataclass(frozen=True)
class Asked:
    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    body: Any


def read_request(request: bytes) -> Asked:
    head, _, body = request.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    method, target, _ = first.split(" ")
    path, _, query = target.partition("?")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    return Asked(method, path, query, headers, json.loads(body) if body else None)


@dataclass
class Canned:
    """`answers`: "METHOD /path" to a value (sent as JSON), bytes, a status, or (status, value); else 404."""

    answers: dict[str, Any]
    url: str = ""
    asked: list[Asked] = field(default_factory=list)

    def server(self, kind: str = "aegra", key: str | None = None) -> AgentServer:
        return AgentServer(self.url, kind, "approvals", key)

    def answer(self, asked: Asked) -> bytes:
        self.asked.append(asked)
        given = self.answers.get(f"{asked.method} {asked.path}", 404)
        if callable(given):
            given = given(asked)
        status, value = given if isinstance(given, tuple) else (given, b"") if isinstance(given, int) else (200, given)
        content = value if isinstance(value, bytes) else json.dumps(value).encode()
        return response(f"{status} Canned", content, Location="/elsewhere", Connection="close")

    async def handle(self, server: RawServer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(self.answer(read_request(await server.request(reader))))
        await writer.drain()


@asynccontextmanager
async def canned(**answers: Any) -> AsyncIterator[Canned]:
    """Used as `canned(**{"GET /info": {...}})`."""
    here = Canned(answers)
    async with raw_server(here.handle) as server:
        here.url = server.url
        yield here
