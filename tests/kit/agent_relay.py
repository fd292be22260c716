"""A relay before the agent server: it passes everything on, keeps what passed, and answers otherwise when told to.

For what a healthy server does not do by itself: refuse a busy thread, fail with 500, answer 200 with an error inside,
keep an answer back, or take an answer under another key. It knows no route by meaning, only by its ending.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

import httpx
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from bot.sandbox.serving import serving

RESUMES = ("/runs/wait", "/commands")
MARK = "placet_dispatch"
HOPS = frozenset({"content-length", "transfer-encoding", "connection", "host", "content-encoding"})


@dataclass(frozen=True, slots=True)
class Order:
    """What happens to the next request (a POST, if nothing else is said) that ends so.

    Another answer, a wait, or another body on its way.
    """

    ends: tuple[str, ...] = RESUMES
    method: str = "POST"
    status: int = 200
    body: Any = None  # None: the server's own answer; a function is given what was sent
    until: asyncio.Event | None = None  # wait before anything
    sets: asyncio.Event | None = None  # said when it arrives
    late_s: float = 0.0  # so much later than that
    until_answered: asyncio.Event | None = None  # wait before the answer goes back
    rewrite: Callable[[bytes], bytes] | None = None
    first: bool = False  # the server carries it out, and `body` is what comes back


@dataclass(slots=True)
class Relay:
    """Stands at `url`; `posted` is what was sent to each path, in order."""

    target: str
    url: str = ""
    posted: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)  # paths
    orders: list[Order] = field(default_factory=list)
    # One for all: making a client takes longer than two requests may be apart. Servers close what idles for 5 seconds.
    _client: httpx.AsyncClient = field(
        default_factory=lambda: httpx.AsyncClient(
            timeout=None,
            trust_env=False,
            verify=False,
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=None, keepalive_expiry=2),
        )
    )

    def order(self, **what: Any) -> None:
        """Have the next answer to an interrupt treated so."""
        self.orders.append(Order(**what))

    @property
    def resumes(self) -> list[dict[str, Any]]:
        """The answers to interrupts that were sent through here."""
        return [body for _, body in self.answers]

    @property
    def answers(self) -> list[tuple[str, dict[str, Any]]]:
        """The same with where they went. Placet marks each; no other client does."""
        return [(path, body) for path, body in self.posted if path.endswith(RESUMES) and MARK in json.dumps(body)]

    def sent_to(self, thread: str) -> int:
        """How many answers of Placet's went to a thread."""
        return sum(f"/threads/{thread}/" in path for path, _ in self.answers)

    def app(self) -> Starlette:
        """The relay as an application."""
        methods = ["GET", "POST", "PATCH", "DELETE", "PUT"]
        return Starlette(routes=[Route("/{rest:path}", self._pass, methods=methods)])

    async def _pass(self, request: Request) -> Response:
        body = await request.body()
        if request.method == "POST":
            with contextlib.suppress(ValueError):
                self.posted.append((request.url.path, json.loads(body)))
        if request.method == "DELETE":
            self.deleted.append(request.url.path)
        order = self._take(request)
        if order is None:
            return await self._forwarded(request, body)
        if order.sets is not None:
            order.sets.set()
        if order.until is not None:
            await order.until.wait()
        await asyncio.sleep(order.late_s)  # how far apart two requests are is what is tried
        body = order.rewrite(body) if order.rewrite else body
        if order.body is None:
            return await self._forwarded(request, body)
        if order.first:
            await self._carried_out(request, body)
        if order.until_answered is not None:
            await order.until_answered.wait()
        told = order.body(body) if callable(order.body) else order.body
        return Response(_encoded(told), order.status, media_type="application/json")

    def _take(self, request: Request) -> Order | None:
        for order in self.orders:
            if request.method == order.method and request.url.path.endswith(order.ends):
                self.orders.remove(order)
                return order
        return None

    async def _carried_out(self, request: Request, body: bytes) -> None:
        await self._client.send(self._request(request, body))

    async def _forwarded(self, request: Request, body: bytes) -> Response:
        response = await self._client.send(self._request(request, body), stream=True)
        kept = {key: value for key, value in response.headers.items() if key not in HOPS}

        async def parts() -> AsyncIterator[bytes]:
            try:
                async for part in response.aiter_bytes():
                    yield part
            finally:
                await response.aclose()

        return StreamingResponse(parts(), response.status_code, kept)

    def _request(self, request: Request, body: bytes) -> httpx.Request:
        address = f"{self.target}{request.url.path}" + (f"?{request.url.query}" if request.url.query else "")
        headers = {key: value for key, value in request.headers.items() if key not in HOPS}
        return self._client.build_request(request.method, address, content=body, headers=headers)


def _encoded(body: Any) -> bytes:
    return body if isinstance(body, bytes) else json.dumps(body).encode()


@contextlib.asynccontextmanager
async def relaying(target: str) -> AsyncIterator[Relay]:
    """A relay before `target`, on an address of its own."""
    relay = Relay(target)
    async with relay._client, serving(relay.app()) as url:
        relay.url = url
        yield relay
