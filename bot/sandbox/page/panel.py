"""The side panel: whether the three parts run, what the tools really did, and what the agent's threads hold.

Everything is read at the moment of asking, from the workspace's own files and from the other two over HTTP; a part that
does not answer is shown as such and fails nothing else.
"""

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin

import httpx

from bot.sandbox.slack.records import Json

TIMEOUT_S = 2.0
THREADS = 8
EFFECTS = 30
_NO_CERTIFICATES = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # loading some is slow, and nothing here speaks TLS
_IDENTITY = {"X-User-Id": "approvals"}


@dataclass(frozen=True, slots=True)
class Part:
    """One of the parts that make the demo up; `fault` is empty while it runs."""

    name: str
    fault: str = ""


@dataclass(frozen=True, slots=True)
class PanelLine:
    """One message of an agent's thread."""

    role: str
    text: str
    calls: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AgentThread:
    """A thread on the agent server; `lines` only where they were asked for."""

    id: str
    status: str
    asker: str
    lines: tuple[PanelLine, ...] | None = None


@dataclass(frozen=True, slots=True)
class Effect:
    """One real execution of a tool."""

    number: int
    tool: str
    args: str


@dataclass(frozen=True, slots=True)
class PanelRecord:
    """One line of the app's own record, as the app tells it."""

    unix: int
    who: str
    what: str


Records = Callable[[], Awaitable[Sequence[PanelRecord]]]


@dataclass(frozen=True, slots=True)
class Whereabouts:
    """Where the other two are; none where there is none."""

    agent_url: str | None
    bot_url: str | None


@dataclass(frozen=True, slots=True)
class Panel:
    """What the template draws."""

    parts: tuple[Part, ...]
    effects: tuple[Effect, ...]
    more_effects: int
    threads: tuple[AgentThread, ...]


def plain_effects(lines: Sequence[Json]) -> tuple[Effect, ...]:
    """Return executions in order; arguments as ASCII JSON, so that nothing in them can hide or reorder."""
    return tuple(
        Effect(number, ascii_name(line["tool"]), json.dumps(line["args"])) for number, line in enumerate(lines, start=1)
    )


def ascii_name(name: Any) -> str:
    """Return a tool's name with everything beyond ASCII written out."""
    return json.dumps(str(name))[1:-1]


async def read_panel(where: Whereabouts, effects: Sequence[Json], *, opened: Sequence[str]) -> Panel:
    """Ask around; `opened` are the threads whose messages are wanted."""
    async with _client() as client:
        parts, threads = await asyncio.gather(_parts(client, where), _threads(client, where.agent_url, opened))
    ran = plain_effects(effects)
    return Panel(parts, ran[-EFFECTS:], max(0, len(ran) - EFFECTS), threads)


@asynccontextmanager
async def _client() -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(timeout=TIMEOUT_S, trust_env=False, verify=_NO_CERTIFICATES) as client:
        yield client


async def _parts(client: httpx.AsyncClient, where: Whereabouts) -> tuple[Part, ...]:
    workspace = Part("Slack workspace")
    agent = _part(client, "Agent server", where.agent_url, "/ok")
    bot = _part(client, "Placet", where.bot_url, "/readyz")
    return (workspace, *await asyncio.gather(agent, bot))


async def _part(client: httpx.AsyncClient, name: str, url: str | None, path: str) -> Part:
    if url is None:
        return Part(name, "not started")
    try:
        answer = await client.get(urljoin(url, path))
    except httpx.HTTPError:
        return Part(name, "does not answer")
    return Part(name, "" if answer.is_success else f"answers {answer.status_code}")


async def _threads(client: httpx.AsyncClient, agent_url: str | None, opened: Sequence[str]) -> tuple[AgentThread, ...]:
    if agent_url is None:
        return ()
    wanted = {"limit": THREADS, "sort_by": "created_at", "sort_order": "desc"}
    try:
        found = await client.post(f"{agent_url}/threads/search", json=wanted, headers=_IDENTITY)
        rows: list[Json] = found.raise_for_status().json()
        return tuple([await _thread(client, agent_url, row, opened) for row in rows])
    except httpx.HTTPError:
        return ()


async def _thread(client: httpx.AsyncClient, agent_url: str, row: Json, opened: Sequence[str]) -> AgentThread:
    thread_id, asker = str(row["thread_id"]), str((row.get("metadata") or {}).get("slack_user", ""))
    lines = await _lines(client, agent_url, thread_id) if thread_id in opened else None
    return AgentThread(thread_id, str(row["status"]), asker, lines)


async def _lines(client: httpx.AsyncClient, agent_url: str, thread_id: str) -> tuple[PanelLine, ...]:
    answer = await client.get(f"{agent_url}/threads/{thread_id}/state", headers=_IDENTITY)
    values = answer.raise_for_status().json().get("values") or {}
    return tuple(read_line(message) for message in values.get("messages", []))


def read_line(message: Json) -> PanelLine:
    """Return a message of LangChain's as it is shown: whoever speaks, the text, and the calls it proposes."""
    content = message.get("content")
    calls = tuple(f"{ascii_name(call['name'])} {json.dumps(call['args'])}" for call in message.get("tool_calls") or [])
    return PanelLine(str(message.get("type", "")), content if isinstance(content, str) else json.dumps(content), calls)
