"""Takes runs and carries them through, one task a run, whether or not anybody still listens.

A run is accepted in one piece (row and busy thread together) before anything of it starts, and ends in one piece.
What a graph does with a bad answer is left to the real runtime; here is only who runs when, and what is noted.
"""

import asyncio
import uuid
from collections import defaultdict
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

from langgraph.types import StateSnapshot

from bot.sandbox.agents.engine import Engine, EngineRefused
from bot.sandbox.agents.kinds import assistant_id_of
from bot.sandbox.agents.ledger import ACTIVE, JSON, Run, Thread
from bot.sandbox.agents.views import plain


@dataclass(frozen=True, slots=True)
class _Ended:
    """How an invocation came out. `before`: the interrupts that were pending when it began."""

    values: JSON = field(default_factory=dict)
    before: frozenset[str] = frozenset()
    problem: Exception | None = None
    cancelled: bool = False


_CANCELLED = _Ended(cancelled=True)


class Runner:
    """The runs of one server."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._turns: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._tasks: dict[str, asyncio.Task[JSON]] = {}
        self._cancelling: set[str] = set()

    async def accept(self, thread: Thread, request: JSON, *, owner: str) -> Run:
        """Take a run, or raise Refused (404 no such assistant, 400 and 409 as the kind has it)."""
        engine = self._engine
        if refusal := engine.kind.refusal(request, thread):
            raise EngineRefused(*refusal)
        if engine.kind.admission_s:
            await asyncio.sleep(engine.kind.admission_s)
        asked = str(request.get("assistant_id") or thread.metadata.get("assistant_id") or "")
        graph_id = engine.graph_of(asked)
        known = assistant_id_of(graph_id) if asked == graph_id else asked
        metadata = {**thread.metadata, "graph_id": graph_id, "assistant_id": known}
        request = {**request, "metadata": {**metadata, **(request.get("metadata") or {})}}
        run = Run(str(uuid.uuid4()), thread.thread_id, known, owner, request)
        engine.ledger.accept(run, {"status": "busy", "graph_id": graph_id, "metadata": metadata})
        self._start(run, graph_id)
        return run

    def _start(self, run: Run, graph_id: str) -> None:
        task = asyncio.create_task(self._carry_out(run, graph_id))
        self._tasks[run.run_id] = task
        task.add_done_callback(lambda _: self._tasks.pop(run.run_id, None))

    async def result(self, run: Run) -> JSON:
        """What the run answers at its end. The run goes on if the caller stops waiting."""
        if task := self._tasks.get(run.run_id):
            return await asyncio.shield(task)
        ended = self._engine.ledger.run(run.run_id) or run
        return {"__error__": ended.error} if ended.error else ended.output or {}

    async def cancel(self, run: Run) -> bool:
        """Stop a run and note it; False where it was not running (any more)."""
        if task := self._tasks.get(run.run_id):
            self._cancelling.add(run.run_id)
            task.cancel()
            await asyncio.wait({task})
            self._cancelling.discard(run.run_id)
        left = self._engine.ledger.run(run.run_id)
        if left is None or left.status not in ACTIVE:
            return task is not None
        await self._settle(run, _CANCELLED)  # it was still queued, or a crash had left it
        return True

    async def stop(self) -> None:
        """Cut off whatever still runs, as a crash would, but noted at once."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _turn(self, thread_id: str) -> AbstractAsyncContextManager[Any]:
        return self._turns[thread_id] if self._engine.kind.queues else nullcontext()

    async def _carry_out(self, run: Run, graph_id: str) -> JSON:
        async with self._turn(run.thread_id):
            self._engine.ledger.update("run", run.run_id, status="running")
            return await self._settle(run, await self._ended(run, graph_id))

    async def _ended(self, run: Run, graph_id: str) -> _Ended:
        before = await self._pending(run.thread_id)
        try:
            return _Ended(await self._engine.invoke(run, graph_id), before)
        except asyncio.CancelledError:
            if run.run_id not in self._cancelling:
                raise
            return _CANCELLED
        except Exception as problem:  # noqa: BLE001 - whatever a graph raises becomes the run's error
            return _Ended(problem=problem)

    async def _pending(self, thread_id: str) -> frozenset[str]:
        thread = self._engine.ledger.thread(thread_id)
        snapshot = await self._engine.snapshot(thread) if thread else None
        return frozenset(held.id for held in snapshot.interrupts) if snapshot else frozenset()

    async def _settle(self, run: Run, ended: _Ended) -> JSON:
        """Note the run's end and what the thread now shows; returns what `runs/wait` answers."""
        engine = self._engine
        thread = engine.ledger.thread(run.thread_id)
        snapshot = await engine.snapshot(thread) if thread else None
        if snapshot is None:
            return {}
        noted, output = self._outcome(snapshot, ended)
        shown = {"held": plain(snapshot.values), "interrupts": engine.pending_by_task(snapshot)}
        status = self._status(run, snapshot, ended)
        engine.ledger.finish(run, noted, {**shown, "error": noted["error"], "status": status})
        return output

    def _outcome(self, snapshot: StateSnapshot, ended: _Ended) -> tuple[JSON, JSON]:
        """The run's row, and its answer."""
        kind = self._engine.kind
        if ended.cancelled:
            return {"status": "interrupted", "output": {}, "error": None}, {}
        if ended.problem is not None:
            error = kind.failure(ended.problem)
            return {"status": "error", "output": {}, "error": error}, {"__error__": error}
        pending = self._engine.pending(snapshot)
        new = [held for held in pending if held["id"] not in ended.before]
        output = kind.output(ended.values, pending=pending, new=new)
        return {"status": kind.paused_run if pending else "success", "output": output, "error": None}, output

    def _status(self, run: Run, snapshot: StateSnapshot, ended: _Ended) -> str:
        others = (other for other in self._engine.ledger.runs(run.thread_id) if other.run_id != run.run_id)
        if any(other.status in ACTIVE for other in others):
            return "busy"
        if ended.cancelled:
            return self._engine.kind.after_cancel(unfinished=bool(snapshot.next))
        if ended.problem is not None:
            return "error"
        return "interrupted" if snapshot.next else "idle"
