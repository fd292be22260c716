"""A gate before a server of ours: it holds single requests or their answers back, loses them, or lets nothing through.

The caller is told nothing that a network would not tell. What is held has a name in the test, so that a process can be
killed while exactly this request is on its way. It knows no route by meaning, only by its ending.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import httpx
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send


@dataclass(slots=True)
class Held:
    """One request that is (or will be) kept: at the gate, or on its way back with the answer in hand.

    With `every`, so is each other one like it until a word is said.
    """

    ends: str
    answer: bool
    method: str
    every: bool
    reached: asyncio.Event = field(default_factory=asyncio.Event)  # the request is here, or its answer
    over: asyncio.Event = field(default_factory=asyncio.Event)  # what became of it has become of it
    _left: asyncio.Event = field(default_factory=asyncio.Event)
    _opened: asyncio.Event = field(default_factory=asyncio.Event)
    _lost: bool = False

    @property
    def open(self) -> bool:
        """Whether it was said what becomes of it."""
        return self._opened.is_set()

    def let_go(self) -> None:
        """Pass it on, also where whoever sent it is gone: as a proxy does that does not look back."""
        self._opened.set()

    def lose(self) -> None:
        """Cut the connection: it never arrives, or its answer does not."""
        self._lost = True
        self._opened.set()

    def hang_up(self) -> None:
        """Cut whoever sent it off, and keep the request itself: it may still be let go."""
        self._left.set()

    async def verdict(self, cut: Callable[[], Awaitable[None]]) -> bool:
        """Wait for a word, and cut the connection if it is such a word; whether anything is to be passed on."""
        self.reached.set()
        words = [asyncio.ensure_future(event.wait()) for event in (self._left, self._opened)]
        await asyncio.wait(words, return_when=asyncio.FIRST_COMPLETED)
        for word in words:
            word.cancel()
        if self._left.is_set() or self._lost:
            await cut()
        await self._opened.wait()
        return not self._lost


@dataclass(slots=True)
class Gate:
    """An ASGI application around another. `closed`: every connection is cut before anything happens."""

    app: ASGIApp
    closed: bool = False
    turned_away: int = 0
    _orders: list[Held] = field(default_factory=list)

    def hold(self, ends: str, *, answer: bool = False, method: str = "POST", every: bool = False) -> Held:
        """Keep the next request whose path ends so or, with `answer`, what the server says to it."""
        held = Held(ends, answer, method, every)
        self._orders.append(held)
        return held

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        held = self._take(scope)
        if self.closed:
            self.turned_away += 1
            await _cut(receive, send)
        elif held is None:
            await self.app(scope, receive, send)
        elif held.answer:
            await self._answered(held, scope, receive, send)
        else:
            await self._arriving(held, scope, receive, send)

    def _take(self, scope: Scope) -> Held | None:
        self._orders[:] = [held for held in self._orders if not held.open]
        for held in self._orders:
            if held.method == scope["method"] and scope["path"].endswith(held.ends):
                if not held.every:
                    self._orders.remove(held)
                return held
        return None

    async def _arriving(self, held: Held, scope: Scope, receive: Receive, send: Send) -> None:
        body = await _read(receive)
        if await held.verdict(lambda: _cut(receive, send)):
            await self.app(scope, _again(body), send)
        held.over.set()

    async def _answered(self, held: Held, scope: Scope, receive: Receive, send: Send) -> None:
        said: asyncio.Queue[Message | None] = asyncio.Queue()
        carried = asyncio.create_task(self._carried(scope, _again(await _read(receive)), said))
        try:
            message = await said.get()
            passed = await held.verdict(lambda: _cut(receive, send))
            while passed and message is not None:
                await send(message)
                message = await said.get()
        finally:
            await asyncio.gather(carried, return_exceptions=True)
            held.over.set()

    async def _carried(self, scope: Scope, receive: Receive, said: asyncio.Queue[Any]) -> None:
        try:
            await self.app(scope, receive, said.put)
        finally:
            await said.put(None)


async def _read(receive: Receive) -> bytes:
    body = b""
    while True:
        message = await receive()
        body += message.get("body", b"")
        if not message.get("more_body"):
            return body


def _again(body: bytes) -> Receive:
    """The request once more, from a caller who never hangs up."""
    parts: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Message:
        return parts.pop() if parts else await asyncio.get_running_loop().create_future()

    return receive


async def _cut(receive: Receive, send: Send) -> None:
    getattr(send, "__self__").transport.abort()  # noqa: B009 - uvicorn's side of the connection; ASGI has no name for it
    while (await receive())["type"] != "http.disconnect":
        pass


@dataclass(slots=True)
class Forward:
    """An application that is somewhere else: in another process, at whatever `target` says now."""

    target: str = ""

    def app(self) -> Starlette:
        """Every request goes there, and a connection that fails is a bad gateway."""
        return Starlette(routes=[Route("/{rest:path}", self._pass, methods=["GET", "POST"])])

    async def _pass(self, request: Request) -> Response:
        headers = {key: value for key, value in request.headers.items() if key not in ("host", "connection")}
        async with httpx.AsyncClient(timeout=None, trust_env=False, verify=False) as client:
            try:
                answer = await client.request(
                    request.method, f"{self.target}{request.url.path}", content=await request.body(), headers=headers
                )
            except httpx.HTTPError:
                return Response(status_code=502)
        kept = {key: value for key, value in answer.headers.items() if key not in ("content-length", "connection")}
        return Response(answer.content, answer.status_code, kept)
