"""Sending one answer, once: its bytes, its way, and what the server's word on it means.

The bytes of an answer. Pure, so that what is sent can be shown, stored and tested before anything is connected. An
answer is always keyed by its interrupt's id, alone, and never names a checkpoint: untargeted it would go to whatever
is pending by then, and pinned to a checkpoint it would run an action that was replaced.

What the server's word on a resume means. Only a plain yes counts as accepted and only a plain no as refused.
Everything in between (an error page, a redirect, half an answer, an envelope that names another command) leaves the
outcome unknown, because Aegra stores a run before it starts it: a 500 may have run.

The server has no idempotency key, so everything hangs on knowing which side of the first byte a failure fell. Each
answer gets a fresh connection; with it open and nothing written, `arm` stores that the request may leave; then the
bytes go at once. A failure before that is certainly not sent, one after it is unknown unless the server plainly
refused. Nothing here retries, follows a redirect, or reads state: what became of the answer is for others to find
out.
"""

from __future__ import annotations

import asyncio
import re
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import unquote

import httpx

from bot.core.json import Number, dump
from bot.errors import AgentRejected, AgentUnreachable, OutcomeUnknown
from bot.runtimes.langgraph.run_context import NOTHING, CarriedContext
from bot.runtimes.langgraph.transport import AgentServer, check_peer, path
from bot.runtimes.langgraph.wire import ATTEMPT, MARK, NOT_AFTER, SINCE, UnreadableBody, inner, mapping, text, tree

# LangGraph reads a map as keyed only if every key looks like this; any other map is an answer to whatever is pending.
_KEY = re.compile(r"[0-9a-f]{32}")


class UnkeyedInterrupt(ValueError):
    """The interrupt's id is not one that LangGraph reads as a key, so an answer could go to another question."""


def resume_body(  # noqa: PLR0913 - one name for each thing that the body says
    *,
    assistant: str,
    interrupt_id: str,
    answer_tree: Any,
    dispatch_id: str,
    attempt: int,
    kind: str,  # noqa: ARG001 - callers say whom they speak to; measured: both servers read the same body
    since: int = 1,
    not_after: int | None = None,
    carried: CarriedContext = NOTHING,
) -> bytes:
    """The body for `runs/wait`; `answer_tree` is `bot.core.decision.answer_tree`'s value, numbers as written.

    The mark goes into `config.metadata`, the one place that both servers show in their runs and checkpoints and that
    later runs do not inherit. Beside it stand what servers ignore and `bot.deploy.auth_guard` does not: `since`, the first
    attempt of which a copy may still arrive, and `not_after` (ms since the epoch, the database's clock), when nobody of
    ours waits for this request any more. `carried` is what the run that asked was started with. `reject` makes langgraph dev refuse (409) while a run is active; Aegra stores
    it only.

    Raises `UnkeyedInterrupt`.
    """
    body: dict[str, Any] = {
        "assistant_id": assistant,
        **carried.top,
        "command": {"resume": {_key(interrupt_id): answer_tree}},
        "config": {**carried.config} | _config(dispatch_id, attempt, since=since, not_after=not_after),
        "multitask_strategy": "reject",
    }
    return dump(body).encode("ascii")


def commands_body(  # noqa: PLR0913 - one name for each thing that the body says
    *,
    assistant: str,
    interrupt_id: str,
    answer_tree: Any,
    dispatch_id: str,
    attempt: int,
    kind: str,  # noqa: ARG001 - as above
    since: int = 1,
    not_after: int | None = None,
    carried: CarriedContext = NOTHING,
) -> bytes:
    """The body for `commands`, for deployments that offer nothing else.

    No run id comes back on langgraph dev, and Aegra does not ask the deployment's own handler for new runs there. The
    command's own id, which its answer repeats, is the attempt's number.

    Raises `UnkeyedInterrupt`.
    """
    params = {
        **carried.top,
        "interrupt_id": _key(interrupt_id),
        "response": answer_tree,
        "assistant_id": assistant,
        "config": {**carried.config} | _config(dispatch_id, attempt, since=since, not_after=not_after),
    }
    return dump({"id": attempt, "method": "input.respond", "params": params}).encode("ascii")


def _key(interrupt_id: str) -> str:
    if not _KEY.fullmatch(interrupt_id):
        raise UnkeyedInterrupt("the interrupt's id cannot be used as a key")
    return interrupt_id


def _config(dispatch_id: str, attempt: int, *, since: int, not_after: int | None) -> dict[str, Any]:
    more = {**({SINCE: since} if since > 1 else {}), **({NOT_AFTER: not_after} if not_after is not None else {})}
    return {"metadata": {MARK: dispatch_id, ATTEMPT: attempt, **more}}


REFUSED = frozenset({400, 401, 403, 404, 409, 422})
# Not `unknown_error`: it may come from behind the point where the run was stored.
REFUSED_CODES = frozenset(
    {"invalid_argument", "unknown_command", "no_such_run", "no_such_interrupt", "permission_denied"}
)
MAX_ENVELOPE = 64 * 1024
_RUN = re.compile(r"/runs/([^/?#]+)")

# How long a run's end is waited for on the open line; shorter than a lease, since looking works as well.
LINGER = 10.0


class UntilEnd(Protocol):
    """Waits for the run's end at most so long, and says whether it was seen."""

    async def __call__(self, seconds: float = LINGER) -> bool: ...


@dataclass(frozen=True, slots=True)
class ResumeAccepted:
    """The server took the answer: from here on it must never be sent again.

    `run_id` is None where the server did not name the run. `until_end()` waits for the run's end, ten seconds by
    default, and says whether it was seen; False (cut off, or out of patience) says nothing about the run.
    """

    run_id: str | None
    until_end: UntilEnd


async def accepted(response: httpx.Response, *, command: int | None, patience: float) -> ResumeAccepted:
    """Read the answer to a resume; `command` is the id inside a commands body, None on the runs route.

    Raises `AgentRejected` or `OutcomeUnknown`.
    """
    if response.status_code in REFUSED:
        raise AgentRejected(f"resume: HTTP {response.status_code}", status=response.status_code)
    if not response.is_success:
        raise OutcomeUnknown(f"resume: HTTP {response.status_code}")
    if command is None:
        return ResumeAccepted(_named_run(response), _reader(response))
    return ResumeAccepted(_read_envelope(await _envelope(response, patience), command), _nothing_to_read)


def _named_run(response: httpx.Response) -> str | None:
    """The run in `Content-Location: /threads/T/runs/RUN`, which both servers send with the headers."""
    for header in ("content-location", "location"):
        found = _RUN.search(response.headers.get(header, ""))
        if found:
            return unquote(found.group(1))
    return None


def _reader(response: httpx.Response) -> UntilEnd:
    async def until_end(seconds: float = LINGER) -> bool:
        try:
            async with asyncio.timeout(seconds):
                async for _ in response.aiter_raw():
                    pass
        except (TimeoutError, httpx.HTTPError, httpx.StreamError):
            return False
        return True

    return until_end


async def _nothing_to_read(seconds: float = LINGER) -> bool:  # noqa: ARG001 - the protocol's
    """A command is answered at once: its run's end is not seen here."""
    return False


async def _envelope(response: httpx.Response, patience: float) -> dict[str, Any]:
    try:
        async with asyncio.timeout(patience):
            return mapping(tree(await _short(response)))
    except (TimeoutError, httpx.HTTPError, httpx.StreamError, UnreadableBody) as exc:
        raise OutcomeUnknown("resume: the command's answer cannot be read") from exc


async def _short(response: httpx.Response) -> bytes:
    body = b""
    async for part in response.aiter_bytes():
        body += part
        if len(body) > MAX_ENVELOPE:
            raise UnreadableBody("the body is too large")
    return body


def _read_envelope(envelope: dict[str, Any], command: int) -> str | None:
    """The run's id if one is named; `success` means queued, so nothing more is read into it."""
    ours = envelope.get("id") == Number(str(command))
    if ours and envelope.get("type") == "success":
        return text(inner(envelope, "result").get("run_id"))
    code = text(envelope.get("error"))
    if ours and envelope.get("type") == "error" and code in REFUSED_CODES:
        raise AgentRejected(f"resume: the command was refused ({code})", status=200)
    raise OutcomeUnknown("resume: the command's answer is not clear")


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
class SendSettings:
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
    send_settings: SendSettings
    limit: asyncio.Timeout
    armed: bool = False
    refused: BaseException | None = None

    async def trace(self, event: str, info: dict[str, Any]) -> None:
        """Called by httpcore with the connection open and nothing written; raising here aborts the request."""
        await check_peer(event, info)
        if event != FIRST_BYTE:
            return
        called = self.send_settings.clock()
        try:
            began = await self.arm()
        except BaseException as exc:
            self.refused = exc
            raise
        if self.send_settings.clock() - (called if began is None else began) > self.send_settings.frozen:
            raise AgentUnreachable("resume: this process stood still before the first byte")
        self.armed = True
        self.limit.reschedule(asyncio.get_running_loop().time() + self.send_settings.headers)

    def failure(self, exc: Exception) -> Exception:
        """What an exception means on this side; what `arm` raised stays as it is."""
        if exc is self.refused:
            return exc
        kind = OutcomeUnknown if self.armed else AgentUnreachable
        return kind(f"resume: {type(exc).__name__}")


@asynccontextmanager
async def send(
    server: AgentServer, resume: Resume, *, arm: Arm, send_settings: SendSettings
) -> AsyncIterator[ResumeAccepted]:
    """Post one answer and yield when the server has accepted it; leaving the block hangs up, which ends no run.

    Raises what `arm` raised, unchanged, or `AgentUnreachable`: nothing was sent. `AgentRejected`: the server refused
    (400, 401, 403, 404, 409, 422, or a command's error) and this attempt is dead. `OutcomeUnknown`: anything else.
    """
    transport = httpx.AsyncHTTPTransport(
        verify=send_settings.ssl_context,
        retries=0,
        trust_env=False,
        limits=httpx.Limits(max_connections=1, max_keepalive_connections=0),
    )
    timeout = httpx.Timeout(None, connect=send_settings.connect)
    async with httpx.AsyncClient(transport=transport, timeout=timeout, trust_env=False) as http:
        response = await _opened(http, _request(http, server, resume), arm, send_settings)
        try:
            command = resume.command_id if resume.route == "commands" else None
            yield await accepted(response, command=command, patience=send_settings.headers)
        finally:
            await response.aclose()


def _request(http: httpx.AsyncClient, server: AgentServer, resume: Resume) -> httpx.Request:
    headers = {**server.headers, "Content-Type": "application/json", "Connection": "close"}
    return http.build_request("POST", server.at(resume.path), content=resume.body, headers=headers)


async def _opened(
    http: httpx.AsyncClient, request: httpx.Request, arm: Arm, send_settings: SendSettings
) -> httpx.Response:
    """The response at its headers, whatever they say."""
    attempt = _Attempt(arm, send_settings, asyncio.timeout(None))
    request.extensions["trace"] = attempt.trace
    try:
        async with attempt.limit:
            return await http.send(request, stream=True, follow_redirects=False)
    except (httpx.HTTPError, httpx.StreamError, httpx.InvalidURL, OSError) as exc:
        failure = attempt.failure(exc)
        if failure is exc:
            raise
        raise failure from exc
