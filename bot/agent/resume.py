"""Sending one answer, once.

The server has no idempotency key, so everything hangs on knowing which side of the first byte a failure fell. Each
answer gets a fresh connection; with it open and nothing written, `arm` stores that the request may leave; then the
bytes go at once. A failure before that is certainly not sent, one after it is unknown unless the server plainly
refused. Nothing here retries, follows a redirect, or reads state: what became of the answer is for others to find out.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx

from bot.agent.addresses import AgentServer, path
from bot.agent.answers import Accepted, accepted
from bot.agent.bodies import commands_body, resume_body
from bot.agent.peers import check_peer
from bot.errors import AgentUnreachable, OutcomeUnknown

__all__ = ["Accepted", "Arm", "Doorway", "Resume", "commands_body", "resume_body", "send"]

# Commits that the request may leave, and answers when its record began, on the monotonic clock (None: when called).
Arm = Callable[[], Awaitable[float | None]]
FIRST_BYTE = "http11.send_request_headers.started"
FROZEN = 0.5


@dataclass(frozen=True, slots=True)
class Resume:
    """One answer ready to leave: the body made by `resume_body` or `commands_body`, for the route of that name."""

    thread_id: str
    body: bytes
    route: str = "runs"  # runs | commands
    command_id: int = 0  # the id inside a commands body

    @property
    def path(self) -> str:
        """Where it is posted."""
        tail = ("commands",) if self.route == "commands" else ("runs", "wait")
        return path("threads", self.thread_id, *tail)


@dataclass(frozen=True, slots=True)
class Doorway:
    """What every send shares: one SSL context (making one takes longer than a send) and our patience, in seconds.

    `headers` runs from the first byte to the server's word that it took the answer; `frozen` is how long arming may
    take, since whoever proves that an armed answer never left counts on bytes that follow it soon.
    """

    ssl_context: ssl.SSLContext
    connect: float = 3.0
    headers: float = 15.0
    frozen: float = FROZEN
    clock: Callable[[], float] = time.monotonic


@dataclass(slots=True)
class _Attempt:
    """Which side of the first byte we are on."""

    arm: Arm
    doorway: Doorway
    limit: asyncio.Timeout
    armed: bool = False
    refused: BaseException | None = None

    async def trace(self, event: str, info: dict[str, Any]) -> None:
        """Called by httpcore with the connection open and nothing written; raising here aborts the request."""
        await check_peer(event, info)
        if event != FIRST_BYTE:
            return
        called = self.doorway.clock()
        try:
            began = await self.arm()
        except BaseException as exc:
            self.refused = exc
            raise
        if self.doorway.clock() - (called if began is None else began) > self.doorway.frozen:
            raise AgentUnreachable("resume: this process stood still before the first byte")
        self.armed = True
        self.limit.reschedule(asyncio.get_running_loop().time() + self.doorway.headers)

    def failure(self, exc: Exception) -> Exception:
        """What an exception means on this side; what `arm` raised stays as it is."""
        if exc is self.refused:
            return exc
        kind = OutcomeUnknown if self.armed else AgentUnreachable
        return kind(f"resume: {type(exc).__name__}")


@asynccontextmanager
async def send(server: AgentServer, resume: Resume, *, arm: Arm, doorway: Doorway) -> AsyncIterator[Accepted]:
    """Post one answer and yield when the server has accepted it; leaving the block hangs up, which ends no run.

    Raises what `arm` raised, unchanged, or `AgentUnreachable`: nothing was sent. `AgentRejected`: the server refused
    (400, 401, 403, 404, 409, 422, or a command's error) and this attempt is dead. `OutcomeUnknown`: anything else.
    """
    transport = httpx.AsyncHTTPTransport(
        verify=doorway.ssl_context,
        retries=0,
        trust_env=False,
        limits=httpx.Limits(max_connections=1, max_keepalive_connections=0),
    )
    timeout = httpx.Timeout(None, connect=doorway.connect)
    async with httpx.AsyncClient(transport=transport, timeout=timeout, trust_env=False) as http:
        response = await _opened(http, _request(http, server, resume), arm, doorway)
        try:
            command = resume.command_id if resume.route == "commands" else None
            yield await accepted(response, command=command, patience=doorway.headers)
        finally:
            await response.aclose()


def _request(http: httpx.AsyncClient, server: AgentServer, resume: Resume) -> httpx.Request:
    headers = {**server.headers, "Content-Type": "application/json", "Connection": "close"}
    return http.build_request("POST", server.at(resume.path), content=resume.body, headers=headers)


async def _opened(http: httpx.AsyncClient, request: httpx.Request, arm: Arm, doorway: Doorway) -> httpx.Response:
    """The response at its headers, whatever they say."""
    attempt = _Attempt(arm, doorway, asyncio.timeout(None))
    request.extensions["trace"] = attempt.trace
    try:
        async with attempt.limit:
            return await http.send(request, stream=True, follow_redirects=False)
    except (httpx.HTTPError, httpx.StreamError, httpx.InvalidURL, OSError) as exc:
        failure = attempt.failure(exc)
        if failure is exc:
            raise
        raise failure from exc
