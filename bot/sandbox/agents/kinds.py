"""Where the two agent servers differ in what a client sees, as two classes with the same methods.

Every difference here was observed on LangGraph's development server (langgraph-api 0.16.7) and Aegra 0.11.0. Nothing
here touches a graph, a table or a socket.
"""

import uuid
from typing import Any

from bot.sandbox.agents.ledger import JSON, Assistant, Run, Thread

_NAMESPACE = uuid.UUID("6ba7b821-9dad-11d1-80b4-00c04fd430c8")


def assistant_id_of(graph_id: str) -> str:
    """The id that both servers give a graph's own assistant."""
    return str(uuid.uuid5(_NAMESPACE, graph_id))


class Langgraph:
    """LangGraph's development server: thread rows show interrupts, runs of a thread queue, everybody sees everything."""

    name = "langgraph"
    scoped = False
    queues = True
    shows_schema = True
    shows_path = True
    commands_need_target = True
    commands_take: tuple[str, ...] = ("assistant_id", "config")
    tells_run_of_response = False
    paused_run = "success"
    leaves_cut_off_runs = False
    one_assistant_a_config = False
    admission_s = 0.0

    def fault(self, status: int, message: str) -> JSON:
        """The body of a refusal."""
        del status
        return {"detail": message}

    def thread(self, thread: Thread) -> JSON:
        """A thread's row, as it is read and as search lists it."""
        return {
            "thread_id": thread.thread_id,
            "created_at": thread.created_at,
            "updated_at": thread.updated_at,
            "state_updated_at": thread.updated_at,
            "metadata": thread.metadata,
            "status": thread.status,
            "config": {"configurable": {}},
            "values": thread.held,
            "error": thread.error,
            "interrupts": thread.interrupts,
        }

    def run(self, run: Run) -> JSON:
        """A run's row; a client's mark stands in it from acceptance."""
        return {
            "run_id": run.run_id,
            "thread_id": run.thread_id,
            "assistant_id": run.assistant_id,
            "metadata": {"created_by": "system", **run.metadata, **run.mark},
            "status": run.status,
            "kwargs": self._kwargs(run),
            "multitask_strategy": run.request.get("multitask_strategy") or "enqueue",
            "created_at": run.created_at,
            "updated_at": run.updated_at,
        }

    def started_with(self, run: Run) -> JSON:
        """`context` and `configurable` of a run: what was sent as one is copied into the other."""
        sent = (run.request.get("config") or {}).get("configurable") or {}
        context = run.request.get("context") or {}
        return {"context": dict(context or sent), "configurable": dict(sent or context)}

    def _kwargs(self, run: Run) -> JSON:
        """The request as a run's row shows it, with what the server adds to `configurable`."""
        held = self.started_with(run)
        ours: JSON = {
            "langgraph_auth_user": {"identity": run.owner, "is_authenticated": True},
            "langgraph_auth_user_id": run.owner,
            "langgraph_auth_permissions": [],
            "langgraph_request_id": run.run_id,
            "__after_seconds__": 0,
            "run_id": run.run_id,
            "thread_id": run.thread_id,
            "graph_id": run.metadata.get("graph_id"),
            "assistant_id": run.assistant_id,
            "user_id": held["configurable"].get("user_id") or run.owner,
        }
        config = {
            **(run.request.get("config") or {}),
            "configurable": {**held["configurable"], **ours},
            "metadata": {"created_by": "system", **run.metadata, **run.mark},
        }
        plain = ("input", "command", "interrupt_before", "interrupt_after")
        return {**{name: run.request.get(name) for name in plain}, "config": config, "context": held["context"]}

    def assistant(self, assistant: Assistant) -> JSON:
        """An assistant's row."""
        return {
            "assistant_id": assistant.assistant_id,
            "graph_id": assistant.graph_id,
            "name": assistant.name,
            "config": assistant.config,
            "context": assistant.context,
            "metadata": assistant.metadata,
            "version": 1,
            "created_at": assistant.created_at,
            "updated_at": assistant.updated_at,
        }

    def checkpoint_metadata(self, run: Run) -> JSON:
        """What every checkpoint of a run carries: thread's and run's metadata, and the client's mark."""
        ids = {"run_id": run.run_id, "thread_id": run.thread_id, "user_id": run.owner}
        return {"created_by": "system", **run.metadata, **ids, **run.mark}

    def output(self, values: JSON, *, pending: list[JSON], new: list[JSON]) -> JSON:
        """What `runs/wait` answers; `new` are the pending interrupts that this run raised."""
        del new
        waiting = [{"response_schema": None, **held} for held in pending]
        return {**values, **({"__interrupt__": waiting} if waiting else {})}

    def failure(self, problem: BaseException) -> JSON:
        """What stands under `__error__`."""
        return {"error": type(problem).__name__, "message": str(problem)}

    def refusal(self, request: JSON, thread: Thread) -> tuple[int, str] | None:
        """Why a run is not taken, as status and sentence; None where it is."""
        if request.get("context") and (request.get("config") or {}).get("configurable"):
            return 400, "Cannot specify both configurable and context. Prefer setting context alone."
        if thread.status == "busy" and request.get("multitask_strategy") == "reject":
            said = "Thread is already running a task. Wait for it to finish or choose a different multitask strategy."
            return 409, said
        return None

    def after_cancel(self, *, unfinished: bool) -> str:
        """The thread's status once a run on it was cancelled."""
        return "interrupted" if unfinished else "idle"


class Aegra(Langgraph):
    """Aegra: rows show no interrupts, identities are walled off, only a thread that waits can be resumed.

    Nothing keeps two runs of one thread apart. Two resumes that arrive within `admission_s` of each other are both
    taken and both run the tool; the real server's window was measured at about that.
    """

    name = "aegra"
    scoped = True
    queues = False
    shows_schema = False
    shows_path = False
    commands_need_target = False
    commands_take = ("assistant_id", "config", "context")
    tells_run_of_response = True
    paused_run = "interrupted"
    leaves_cut_off_runs = True
    one_assistant_a_config = True
    admission_s = 0.01

    def fault(self, status: int, message: str) -> JSON:
        code = {400: "bad_request", 401: "unauthorized", 404: "not_found", 409: "conflict"}.get(status, "error")
        return {"error": code, "message": message, "details": None}

    def thread(self, thread: Thread) -> JSON:
        """No values and no interrupts: those are in state only."""
        named = {"graph_id": None, "assistant_id": None, "thread_name": ""}
        return {
            "thread_id": thread.thread_id,
            "status": thread.status,
            "metadata": {"owner": thread.owner, **named, **thread.metadata},
            "user_id": thread.owner,
            "created_at": _zulu(thread.created_at),
            "updated_at": _zulu(thread.updated_at),
        }

    def run(self, run: Run) -> JSON:
        """The run's own metadata is never shown; the mark is, inside `config`."""
        return {
            "run_id": run.run_id,
            "thread_id": run.thread_id,
            "assistant_id": run.assistant_id,
            "status": run.status,
            "input": run.request.get("input") or {},
            "output": run.output,
            "error_message": run.error["message"] if run.error else None,
            "config": run.request.get("config") or {},
            "context": self.started_with(run)["context"],
            "user_id": run.owner,
            "created_at": _zulu(run.created_at),
            "updated_at": _zulu(run.updated_at),
        }

    def started_with(self, run: Run) -> JSON:
        """Both may be sent; `configurable` stands for a context that is not, and not the other way round."""
        sent = (run.request.get("config") or {}).get("configurable") or {}
        return {"context": dict(run.request.get("context") or sent), "configurable": dict(sent)}

    def checkpoint_metadata(self, run: Run) -> JSON:
        return {"run_id": run.run_id, "user_id": run.owner, "user_display_name": run.owner, **run.mark}

    def output(self, values: JSON, *, pending: list[JSON], new: list[JSON]) -> JSON:
        del pending  # and of several new ones it tells the last
        told: JSON = _jsonb({**values, **({"__interrupt__": new[-1:]} if new else {})})
        return told

    def failure(self, problem: BaseException) -> JSON:
        """The kind of error is not told."""
        return {"error": "Error", "message": str(problem)}

    def refusal(self, request: JSON, thread: Thread) -> tuple[int, str] | None:
        if request.get("command") and thread.status != "interrupted":
            return 400, "Cannot resume: thread is not in interrupted state"
        return None

    def after_cancel(self, *, unfinished: bool) -> str:
        del unfinished
        return "idle"


Kind = Langgraph
KINDS: dict[str, Kind] = {"langgraph": Langgraph(), "aegra": Aegra()}


def _zulu(stamp: str) -> str:
    return stamp.replace("+00:00", "Z")


def _jsonb(value: Any) -> Any:
    """What PostgreSQL's column type makes of a run's output: keys by length, no NUL. State is not stored in one."""
    if isinstance(value, str):
        return value.replace("\0", "")
    if isinstance(value, list):
        return [_jsonb(held) for held in value]
    if isinstance(value, dict):
        return {_jsonb(key): _jsonb(value[key]) for key in sorted(value, key=lambda key: (len(key), key))}
    return value
