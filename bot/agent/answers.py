"""What the server's word on a resume means.

Only a plain yes counts as accepted and only a plain no as refused. Everything in between (an error page, a redirect,
half an answer, an envelope that names another command) leaves the outcome unknown, because Aegra stores a run before
it starts it: a 500 may have run.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import unquote

import httpx

from bot.agent.lenient import inner, text
from bot.agent.wire import UnreadableBody, mapping, tree
from bot.core.lossless import Number
from bot.errors import AgentRejected, OutcomeUnknown

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
class Accepted:
    """The server took the answer: from here on it must never be sent again.

    `run_id` is None where the server did not name the run. `until_end()` waits for the run's end, ten seconds by
    default, and says whether it was seen; False (cut off, or out of patience) says nothing about the run.
    """

    run_id: str | None
    until_end: UntilEnd


async def accepted(response: httpx.Response, *, command: int | None, patience: float) -> Accepted:
    """Read the answer to a resume; `command` is the id inside a commands body, None on the runs route.

    Raises `AgentRejected` or `OutcomeUnknown`.
    """
    if response.status_code in REFUSED:
        raise AgentRejected(f"resume: HTTP {response.status_code}", status=response.status_code)
    if not response.is_success:
        raise OutcomeUnknown(f"resume: HTTP {response.status_code}")
    if command is None:
        return Accepted(_named_run(response), _reader(response))
    return Accepted(_read_envelope(await _envelope(response, patience), command), _nothing_to_read)


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
