"""One request to an agent server: its address, whom it reached, what its failure means.

Where an agent server is and who we are there. One place builds every URL path and every header, so that an id from
outside can never climb out of its place in a path, and no credential ends up in a message.

Whom a connection has really reached, once a name was resolved. The policy's addresses are checked as they are
written; a name may still lead to a link-local address, where a cloud's metadata service answers. The connection
itself says where it ends, so this is asked of it, before a byte is written: no second resolution can say something
else.

httpx's exceptions and HTTP's statuses become the three errors of `bot.errors` here and nowhere else. Messages name
the call and the status, never headers, addresses or bodies: those hold keys and arguments. Nothing here retries.
"""

from __future__ import annotations

import re
import ssl
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import quote

import httpx

from bot.core.json import JsonProblem, dump
from bot.core.model import Target
from bot.errors import AgentError, AgentRejected, AgentUnreachable, ConfigurationError, OutcomeUnknown
from bot.policy.values import is_no_server
from bot.runtimes.langgraph.wire import UnreadableBody, tree

# One line of visible ASCII: what is sure to survive as a header on both servers.
_HEADER = re.compile(r"[!-~](?:[ -~]{0,254}[!-~])?")


@dataclass(frozen=True, slots=True)
class AgentServer:
    """One agent server as one identity: what every request to it needs.

    Raises `ConfigurationError` for an identity or key that cannot stand in a header.
    """

    url: str
    kind: str  # aegra | langgraph
    identity: str  # sent as X-User-Id
    api_key: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        for name, value in (("identity", self.identity), ("API key", self.api_key)):
            if value is not None and not _HEADER.fullmatch(value):
                raise ConfigurationError(f"the agent server's {name} must be one line of visible ASCII characters")

    @classmethod
    def of(cls, target: Target, api_key: str | None = None) -> AgentServer:
        """The server that a stored review names."""
        return cls(target.url, target.kind, target.identity, api_key)

    @property
    def headers(self) -> dict[str, str]:
        """Headers of every request; the deployment's own auth handler decides what they mean."""
        key = {} if self.api_key is None else {"Authorization": f"Bearer {self.api_key}"}
        return {"X-User-Id": self.identity, "Accept": "application/json", **key}

    def at(self, path_: str) -> str:
        """The full URL of a path made by `path`; a base path of the server's own is kept."""
        return self.url.rstrip("/") + path_


def path(*segments: str) -> str:
    """Join segments into a URL path, each percent-encoded whole.

    Raises `AgentRejected` for a segment that is empty, `.` or `..` (a client or proxy would fold it away) or not
    encodable: nothing was sent.
    """
    return "".join(f"/{_encoded(segment)}" for segment in segments)


def _encoded(segment: str) -> str:
    if segment in ("", ".", ".."):
        raise AgentRejected("an id that cannot stand in an address was refused")
    try:
        return quote(segment, safe="")
    except UnicodeEncodeError as exc:
        raise AgentRejected("an id that cannot stand in an address was refused") from exc


CONNECTED = "connection.connect_tcp.complete"


async def check_peer(event: str, info: dict[str, Any]) -> None:
    """A trace hook of httpx: raises `AgentUnreachable` for a connection that ends where no agent server can be."""
    if event != CONNECTED:
        return
    stream = info["return_value"]
    peer = stream.get_extra_info("server_addr")
    if peer and is_no_server(str(peer[0]).partition("%")[0]):
        await stream.aclose()
        raise AgentUnreachable("the agent server's name leads to a link-local address, where none is asked")


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
class HttpAnswer:
    """A response read to its end."""

    status: int
    body: bytes
    seconds: float
    date: str = ""  # the server's own time, as its `Date` header says it


@dataclass(frozen=True, slots=True)
class HttpCall:
    """One request: `name` is how errors speak of it; `effect` says whether it may change anything."""

    name: str
    method: str
    path: str
    payload: Any = None
    query: str = ""
    effect: bool = False
    seconds: float | None = None  # a longer wait than usual for the answer


@dataclass(frozen=True, slots=True)
class ServerLine:
    """A server and the client that speaks to it."""

    server: AgentServer
    http: httpx.AsyncClient
    clock: Callable[[], float] = time.monotonic

    async def ask(self, call: HttpCall) -> HttpAnswer:
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
        return HttpAnswer(status, body, self.clock() - began, date)

    async def read(self, call: HttpCall, shape: Callable[[Any], T]) -> T:
        """As `ask`, and the body read as `shape`; a body of another shape is an error of the same kinds."""
        answer = await self.ask(call)
        try:
            return shape(tree(answer.body))
        except (UnreadableBody, JsonProblem) as exc:
            raise _unreadable(call, answer.status) from exc

    async def _exchange(self, call: HttpCall) -> tuple[int, bytes, str]:
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


def refusal(call: HttpCall, status: int) -> AgentError:
    """What a status from 300 on means for this call."""
    if status >= 500 or status in NOT_NOW:
        return _lost(call, f"HTTP {status}")
    if call.effect and status < 400:
        return OutcomeUnknown(f"{call.name}: HTTP {status}")
    return AgentRejected(f"{call.name}: HTTP {status}", status=status)


def _lost(call: HttpCall, what: str) -> AgentError:
    kind = OutcomeUnknown if call.effect else AgentUnreachable
    return kind(f"{call.name}: {what}")


def _unreadable(call: HttpCall, status: int) -> AgentError:
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
