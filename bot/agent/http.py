"""One request to an agent server, and what its failure means.

httpx's exceptions and HTTP's statuses become the three errors of `bot.errors` here and nowhere else. Messages name the
call and the status, never headers, addresses or bodies: those hold keys and arguments. Nothing here retries.
"""

from __future__ import annotations

import ssl
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import httpx

from bot.agent.addresses import AgentServer
from bot.agent.peers import check_peer
from bot.agent.wire import UnreadableBody, tree
from bot.core.lossless import JsonProblem, dump
from bot.errors import AgentError, AgentRejected, AgentUnreachable, OutcomeUnknown

T = TypeVar("T")

MAX_BODY = 64 * 1024 * 1024
PATIENCE = httpx.Timeout(10.0, connect=3.0)
# Both servers close a connection that idles for 5 seconds; one that they are closing takes a request and answers nothing.
IDLE = 4.0
# Final for the request as it stands; anything else from a server in trouble may pass.
NOT_NOW = frozenset({408, 425, 429})
# Raised before the first byte of a request can have left.
NEVER_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol)


def make_http(ssl_context: ssl.SSLContext) -> httpx.AsyncClient:
    """The pooled client that all reads of all servers share; close it with `aclose`.

    The SSL context is given, because making one takes longer (26 ms) than a read. Proxies from the environment are
    ignored and redirects are never followed: where a request goes stands in the policy.
    """
    return httpx.AsyncClient(
        verify=ssl_context,
        timeout=PATIENCE,
        limits=httpx.Limits(max_connections=64, max_keepalive_connections=16, keepalive_expiry=IDLE),
        trust_env=False,
        follow_redirects=False,
    )


@dataclass(frozen=True, slots=True)
class Answer:
    """A response read to its end."""

    status: int
    body: bytes
    seconds: float
    date: str = ""  # the server's own time, as its `Date` header says it


@dataclass(frozen=True, slots=True)
class Call:
    """One request: `name` is how errors speak of it; `effect` says whether it may change anything."""

    name: str
    method: str
    path: str
    payload: Any = None
    query: str = ""
    effect: bool = False
    seconds: float | None = None  # a longer wait than usual for the answer


@dataclass(frozen=True, slots=True)
class Line:
    """A server and the client that speaks to it."""

    server: AgentServer
    http: httpx.AsyncClient
    clock: Callable[[], float] = time.monotonic

    async def ask(self, call: Call) -> Answer:
        """Send and read whole.

        A call without effect fails as `AgentUnreachable` or `AgentRejected`. One with an effect fails as
        `AgentUnreachable` only where nothing can have left, and as `OutcomeUnknown` where it may have been carried out.
        """
        began = self.clock()
        try:
            status, body, date = await self._exchange(call)
        except NEVER_SENT as exc:
            raise AgentUnreachable(f"{call.name}: no connection ({type(exc).__name__})") from exc
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError) as exc:
            raise _lost(call, type(exc).__name__) from exc
        if status >= 300:
            raise refusal(call, status)
        return Answer(status, body, self.clock() - began, date)

    async def read(self, call: Call, shape: Callable[[Any], T]) -> T:
        """As `ask`, and the body read as `shape`; a body of another shape is an error of the same kinds."""
        answer = await self.ask(call)
        try:
            return shape(tree(answer.body))
        except (UnreadableBody, JsonProblem) as exc:
            raise _unreadable(call, answer.status) from exc

    async def _exchange(self, call: Call) -> tuple[int, bytes, str]:
        content = None if call.payload is None else dump(call.payload).encode("ascii")
        timeout = PATIENCE if call.seconds is None else httpx.Timeout(call.seconds, connect=PATIENCE.connect)
        headers = {**self.server.headers, **({} if content is None else {"Content-Type": "application/json"})}
        address = self.server.at(call.path) + (f"?{call.query}" if call.query else "")
        async with self.http.stream(
            call.method, address, content=content, headers=headers, timeout=timeout, extensions={"trace": check_peer}
        ) as response:
            return response.status_code, await _bounded(response), response.headers.get("date", "")


async def _bounded(response: httpx.Response) -> bytes:
    parts: list[bytes] = []
    size = 0
    async for part in response.aiter_bytes():
        size += len(part)
        if size > MAX_BODY:
            raise httpx.DecodingError("the answer is too large")
        parts.append(part)
    return b"".join(parts)


def refusal(call: Call, status: int) -> AgentError:
    """What a status from 300 on means for this call."""
    if status >= 500 or status in NOT_NOW:
        return _lost(call, f"HTTP {status}")
    if call.effect and status < 400:
        return OutcomeUnknown(f"{call.name}: HTTP {status}")
    return AgentRejected(f"{call.name}: HTTP {status}", status=status)


def _lost(call: Call, what: str) -> AgentError:
    kind = OutcomeUnknown if call.effect else AgentUnreachable
    return kind(f"{call.name}: {what}")


def _unreadable(call: Call, status: int) -> AgentError:
    if call.effect:
        return OutcomeUnknown(f"{call.name}: an answer of an unknown shape")
    return AgentRejected(f"{call.name}: an answer of an unknown shape", status=status)


async def unless_gone(reading: Awaitable[T]) -> T | None:
    """None where the server says 404: the thing is gone, or belongs to another identity."""
    try:
        return await reading
    except AgentRejected as exc:
        if exc.status == 404:
            return None
        raise
