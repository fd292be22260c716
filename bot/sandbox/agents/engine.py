"""What runs on the server: the graphs with their checkpointer, asked for state and invoked for a run.

The only module that calls the graph runtime. It stores nothing itself and decides nothing about who may run when.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.types import Command, StateSnapshot
from langsmith import tracing_context

from bot.sandbox.agents import effects
from bot.sandbox.agents.graphs import Graph
from bot.sandbox.agents.kinds import Kind, assistant_id_of
from bot.sandbox.agents.ledger import JSON, Ledger, Run, Thread
from bot.sandbox.agents.views import interrupt_view, plain


class EngineRefused(Exception):
    """The server does not take this request: HTTP status and sentence."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True)
class Engine:
    """The graphs by assistant name, whose manners to have, where threads and runs are noted, where effects go."""

    kind: Kind
    ledger: Ledger
    graphs: Mapping[str, Graph]
    effects_file: Path

    async def snapshot(self, thread: Thread, *, subgraphs: bool = False) -> StateSnapshot | None:
        """The thread's present state; None before its first run."""
        graph = self.graphs.get(thread.graph_id or "")
        if graph is None:
            return None
        return await graph.aget_state({"configurable": {"thread_id": thread.thread_id}}, subgraphs=subgraphs)

    async def history(self, thread: Thread, limit: int, *, namespace: str = "") -> list[StateSnapshot]:
        """The thread's checkpoints, or those of a branch or sub-agent by its namespace, newest first."""
        graph = self.graphs.get(thread.graph_id or "")
        within = {"checkpoint_ns": namespace} if namespace else {}
        config: RunnableConfig = {"configurable": {"thread_id": thread.thread_id, **within}}
        return [one async for one in graph.aget_state_history(config, limit=limit)] if graph else []

    def graph_of(self, assistant: str) -> str:
        """The graph behind an assistant's id or a graph's name. Raises Refused 404."""
        if assistant in self.graphs:
            return assistant
        stored = self.ledger.assistant(assistant)
        if stored is not None and stored.graph_id in self.graphs:
            return stored.graph_id
        for name in self.graphs:
            if assistant_id_of(name) == assistant:
                return name
        raise EngineRefused(404, f"Assistant '{assistant}' not found")

    async def invoke(self, run: Run, graph_id: str) -> JSON:
        """Run the graph as the request says, to its end or its next pause; whatever it raises comes out as it is."""
        config = self._config(run)
        with effects.writing_to(self.effects_file), tracing_context(enabled=False):
            values = await self.graphs[graph_id].ainvoke(
                _given(run.request),
                config,
                context=self.kind.started_with(run).get("context") or {},
                interrupt_before=run.request.get("interrupt_before"),
                interrupt_after=run.request.get("interrupt_after"),
            )
        shown = values if isinstance(values, dict) else {}
        return {name: plain(value) for name, value in shown.items() if name != "__interrupt__"}

    def _config(self, run: Run) -> RunnableConfig:
        asked = self.kind.started_with(run).get("configurable") or {}
        ids = {"thread_id": run.thread_id, "run_id": run.run_id, "user_id": asked.get("user_id") or run.owner}
        at = (run.request.get("checkpoint") or {}).get("checkpoint_id") or run.request.get("checkpoint_id")
        fork = {"checkpoint_id": at} if at else {}
        given = run.request.get("config") or {}
        made: RunnableConfig = {
            "configurable": {**asked, **ids, **fork},
            "metadata": self.kind.checkpoint_metadata(run),
            "tags": list(given.get("tags") or []),
        }
        if given.get("recursion_limit"):
            made["recursion_limit"] = given["recursion_limit"]
        return made

    def pending(self, snapshot: StateSnapshot) -> list[JSON]:
        """The interrupts that state lists, as this kind prints them."""
        return [interrupt_view(held, with_schema=self.kind.shows_schema) for held in snapshot.interrupts]

    def pending_by_task(self, snapshot: StateSnapshot) -> JSON:
        """What a thread's row shows: a task with an error is not in it, though state still lists its interrupt."""
        shows = self.kind.shows_schema
        tasks = [task for task in snapshot.tasks if task.interrupts and not task.error]
        return {task.id: [interrupt_view(held, with_schema=shows) for held in task.interrupts] for task in tasks}


def _given(request: JSON) -> Any:
    command = request.get("command")
    if not command:
        return request.get("input")
    return Command(resume=command.get("resume"), update=command.get("update"), goto=command.get("goto") or ())
