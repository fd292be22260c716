"""Reading an agent server, and the servers of all tenants.

Aegra scopes everything by identity, so a client speaks for one. State is the only source that tells the same on both
servers (run output is re-sorted by Aegra, `GET /threads/{id}` shows no interrupts there); thread and runs say what is
happening right now. Resuming is `bot.runtimes.langgraph.resume`'s alone.

The agent servers of all tenants, over one pooled client and one SSL context. Making an SSL context takes longer than
a whole answer, so there is one. Keys come from the environment by the names that the policy gives; they never stand
in the policy or the store.
"""

from __future__ import annotations

import ssl
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any

import httpx

from bot.core.model import Target
from bot.errors import AgentRejected, AgentUnreachable
from bot.policy.matching import matches
from bot.policy.model import TenantPolicy
from bot.runtimes.langgraph import wire
from bot.runtimes.langgraph.resume import SendSettings
from bot.runtimes.langgraph.run_context import (
    NOTHING,
    CarriedContext,
    RunContext,
    RunContextLoss,
    RunContextLost,
    StartedRun,
    read_surroundings,
    started_of,
)
from bot.runtimes.langgraph.transport import AgentServer, HttpCall, ServerLine, make_http, path, unless_gone
from bot.runtimes.langgraph.verdict import RunRow
from bot.runtimes.langgraph.wire import HistoryEntry, ThreadRow, ThreadState, text

QUICK = 1.5
MAX_PAGES = 1000
HISTORY_LIMIT = 50
_COLUMNS = ("thread_id", "status", "updated_at", "metadata")


@dataclass(frozen=True, slots=True)
class ThreadSnapshot:
    """State, thread and runs, read in that order, so that a run accepted in between must show.

    `began` is monotonic; `slowest` is the longest of the three reads. State and thread are None where they are gone.
    """

    state: ThreadState | None
    thread: ThreadRow | None
    runs: tuple[RunRow, ...]
    began: float
    slowest: float

    @property
    def gone(self) -> bool:
        """Whether the server answered 404 to a part of it."""
        return self.state is None or self.thread is None

    @property
    def quick(self) -> bool:
        """Whether it can count as proof of absence: a slow answer may have been read long before it came."""
        return self.slowest < QUICK


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """What answers at an address; `kind` is a guess, "" where there is nothing to guess by."""

    kind: str
    version: str


class AgentClient:
    """One agent server as one identity, over the shared client made by `make_http`."""

    __slots__ = ("_line", "server")

    def __init__(
        self, server: AgentServer, http: httpx.AsyncClient, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.server = server
        self._line = ServerLine(server, http, clock)

    async def search_threads(
        self, *, status: str | None = None, limit: int = 100
    ) -> AsyncIterator[tuple[ThreadRow, ...]]:
        """Pages of this identity's threads, newest change first; `limit` (1 to 1000) is the page's size.

        In that order a thread that changes between two pages is read twice or is on the next poll's first page, never
        lost. Ends at a short page, and at one that repeats what was seen.
        """
        seen: set[str] = set()
        for page in range(MAX_PAGES):
            call = HttpCall(
                "search threads", "POST", path("threads", "search"), self._search(status, limit, page * limit)
            )
            rows = await self._line.read(call, wire.thread_rows)
            fresh = tuple(row for row in rows if row.thread_id not in seen)
            seen.update(row.thread_id for row in fresh)
            if fresh:
                yield fresh
            if len(rows) < limit or not fresh:
                return

    def _search(self, status: str | None, limit: int, offset: int) -> dict[str, Any]:
        order = {"limit": limit, "offset": offset, "sort_by": "updated_at", "sort_order": "desc"}
        # langgraph's rows hold whole conversations unless columns are chosen; Aegra refuses the key.
        columns = {"select": list(_COLUMNS)} if self.server.kind == "langgraph" else {}
        return {**order, **columns, **({} if status is None else {"status": status})}

    async def statuses(self, wanted: Sequence[str]) -> dict[str, str]:
        """The status of each of this identity's threads that is listed in one of `wanted`."""
        found: dict[str, str] = {}
        for status in wanted:
            async for page in self.search_threads(status=status, limit=1000):
                found.update((row.thread_id, row.status) for row in page)
        return found

    async def thread(self, thread_id: str) -> ThreadRow | None:
        """One thread, None where it is gone or another identity's."""
        call = HttpCall("read thread", "GET", path("threads", thread_id))
        return await unless_gone(self._line.read(call, wire.thread_row))

    async def state(self, thread_id: str, *, subgraphs: bool = True) -> ThreadState | None:
        """The newest state, None where the thread is gone or another identity's."""
        query = "subgraphs=true" if subgraphs else ""
        call = HttpCall("read state", "GET", path("threads", thread_id, "state"), query=query)
        return await unless_gone(self._line.read(call, wire.thread_state))

    async def runs(self, thread_id: str, *, limit: int = 50) -> tuple[RunRow, ...]:
        """The newest runs of a thread; none where it is gone."""
        call = HttpCall("list runs", "GET", path("threads", thread_id, "runs"), query=f"limit={limit}")
        return await unless_gone(self._line.read(call, wire.run_rows)) or ()

    async def run(self, thread_id: str, run_id: str) -> RunRow | None:
        """One run, None where it is gone."""
        call = HttpCall("read run", "GET", path("threads", thread_id, "runs", run_id))
        return await unless_gone(self._line.read(call, wire.run_row))

    async def started(self, thread_id: str, run_id: str | None) -> StartedRun:
        """The run that asked what the thread waits for, by the checkpoint's `run_id`. Raises `RunContextLost`."""
        call = HttpCall("read what a run was started with", "GET", path("threads", thread_id, "runs"), query="limit=50")
        return started_of(await unless_gone(self._line.read(call, wire.listing)) or (), run_id)

    async def surroundings(self, thread_id: str, run_id: str) -> RunContext:
        """What one run was started with. Raises `RunContextLost`."""
        call = HttpCall("read what a run was started with", "GET", path("threads", thread_id, "runs", run_id))
        row = await unless_gone(self._line.read(call, wire.mapping))
        if row is None:
            raise RunContextLost(RunContextLoss.GONE)
        return read_surroundings(row)

    async def history(
        self, thread_id: str, *, limit: int = HISTORY_LIMIT, namespace: str | None = ""
    ) -> tuple[HistoryEntry, ...]:
        """Checkpoints, newest first: each names the run that wrote it and carries that run's mark.

        `namespace` is that of a sub-agent or a branch, whose checkpoints the thread's own state does not show; None
        asks for those of all.
        """
        within = {} if namespace == "" else {"checkpoint": {"checkpoint_ns": namespace}}
        call = HttpCall("read history", "POST", path("threads", thread_id, "history"), {"limit": limit, **within})
        return await unless_gone(self._line.read(call, wire.history_entries)) or ()

    async def look(self, thread_id: str) -> ThreadSnapshot:
        """State, then thread, then runs: the order in which `bot.runtimes.langgraph.verdict` may believe them."""
        clock = self._line.clock
        began = clock()
        state = await self.state(thread_id)
        after_state = clock()
        thread = await self.thread(thread_id)
        after_thread = clock()
        runs = await self.runs(thread_id)
        slowest = max(after_state - began, after_thread - after_state, clock() - after_thread)
        return ThreadSnapshot(state, thread, runs, began, slowest)

    async def info(self) -> ServerInfo:
        """Who answers; both servers tell at `/info` without asking who we are. Raises `AgentUnreachable`."""
        return await self._line.read(HttpCall("read info", "GET", path("info")), _info)

    async def server_time(self) -> float | None:
        """The server's clock in epoch seconds, whole ones; None where its answers do not tell. Raises `AgentUnreachable`."""
        answer = await self._line.ask(HttpCall("read clock", "GET", path("info")))
        try:
            return parsedate_to_datetime(answer.date).timestamp()
        except ValueError:
            return None

    async def cancel(self, thread_id: str, run_id: str) -> None:
        """Interrupt a run and wait for its end; what it had begun stays unknown."""
        where = path("threads", thread_id, "runs", run_id, "cancel")
        await self._line.ask(
            HttpCall("cancel run", "POST", where, query="wait=1&action=interrupt", effect=True, seconds=30.0)
        )

    async def fork(self, thread_id: str, checkpoint_id: str, assistant: str, carried: CarriedContext = NOTHING) -> str:
        """Run on from a checkpoint without input, which asks the poisoned question anew under a new interrupt id.

        Safe only where nothing can have run since that checkpoint: one pending interrupt, at a review node. `carried`
        is what the run that asked was started with. Returns the run's id.
        """
        payload = {
            **carried.top,
            **({"config": carried.config} if carried.config else {}),
            "assistant_id": assistant,
            "input": None,
            "checkpoint": {"checkpoint_id": checkpoint_id, "checkpoint_ns": ""},
            "multitask_strategy": "reject",
        }
        call = HttpCall("repair run", "POST", path("threads", thread_id, "runs"), payload, effect=True)
        return (await self._line.read(call, wire.run_row)).run_id

    async def create_assistant(self, assistant_id: str, *, graph_id: str, settings: dict[str, Any]) -> None:
        """Make the one assistant of a fenced attempt; `settings` are its `config` and `context`. There already is as good."""
        about = {"name": "Placet: one attempt", "metadata": {"made_by": "placet"}, "if_exists": "do_nothing"}
        payload = {**settings, **about, "assistant_id": assistant_id, "graph_id": graph_id}
        await self._line.ask(HttpCall("create assistant", "POST", path("assistants"), payload, effect=True))

    async def assistant(self, assistant_id: str) -> dict[str, Any] | None:
        """An assistant as the server prints it (`graph_id`, `config`, `context`), None where there is none."""
        call = HttpCall("read assistant", "GET", path("assistants", assistant_id))
        return await unless_gone(self._line.read(call, wire.mapping))

    async def delete_assistant(self, assistant_id: str) -> bool:
        """Close the fence: a request that arrives under it from now on finds no assistant. False: it was gone already."""
        call = HttpCall("delete assistant", "DELETE", path("assistants", assistant_id), effect=True)
        try:
            await self._line.ask(call)
        except AgentRejected as exc:
            if exc.status != 404:
                raise
            return False
        return True


def _info(value: Any) -> ServerInfo:
    told = wire.mapping(value)
    version = text(told.get("version")) or ""
    named = (text(told.get("kind")) or text(told.get("name")) or "").lower()
    langgraph = named == "langgraph" or any(key.startswith("langgraph") for key in told)
    return ServerInfo("aegra" if "aegra" in named else "langgraph" if langgraph else "", version)


class Agents:
    """Makes clients; close it once."""

    def __init__(self, secret: Callable[[str], str | None]) -> None:
        context = ssl.create_default_context()
        self._http = make_http(context)
        self._secret = secret
        self.send_settings = SendSettings(context)

    def client(self, target: Target, tenant: TenantPolicy) -> AgentClient:
        """A client for where a review came from.

        Raises `AgentUnreachable` when the tenant's key is not set, and for a server or identity that the tenant's policy
        has left: its key is the new server's, and that thread is none of the tenant's any more.
        """
        agent = tenant.agent
        if target.url != agent.url or not any(matches(pattern, target.identity) for pattern in agent.users):
            raise AgentUnreachable(f"tenant {tenant.name}'s policy no longer leads to this agent server and identity")
        return AgentClient(AgentServer.of(target, self._key(tenant)), self._http)

    def _key(self, tenant: TenantPolicy) -> str | None:
        name = tenant.agent.api_key_env
        if name is None:
            return None
        key = self._secret(name)
        if not key:
            raise AgentUnreachable(f"{name} is not set, so tenant {tenant.name}'s agent server cannot be asked")
        return key

    async def close(self) -> None:
        """Close the pooled connections."""
        await self._http.aclose()


def target_of(tenant: TenantPolicy, identity: str) -> Target:
    """Where a new review of this identity's threads is answered."""
    agent = tenant.agent
    return Target(agent.url, agent.kind, identity, agent.assistant, agent.resume)
