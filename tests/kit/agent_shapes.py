"""What both servers print, small: a paused thread, its branches, its messages. Written after real answers."""

from typing import Any

IID = "0123456789abcdef0123456789abcdef"
IID_2 = "fedcba9876543210fedcba9876543210"
NODE = "HumanInTheLoopMiddleware.after_model"


def call(name: str = "disable_user", call_id: str = "call_1", **args: Any) -> dict[str, Any]:
    return {"name": name, "args": args or {"user_id": "u_4821"}, "id": call_id, "type": "tool_call"}


def ai(*calls: dict[str, Any]) -> dict[str, Any]:
    return {"type": "ai", "content": "", "tool_calls": list(calls), "id": "lc_run--1"}


def tool(call_id: str = "call_1", content: Any = "done", status: str = "success", decided: str = "") -> dict[str, Any]:
    marker = {"lc_source": "hitl_interrupt_decision", "lc_data": {"decision": decided}} if decided else {}
    return {
        "type": "tool",
        "content": content,
        "status": status,
        "tool_call_id": call_id,
        "additional_kwargs": marker,
    }


def asked(name: str = "disable_user", **args: Any) -> dict[str, Any]:
    return {
        "action_requests": [{"name": name, "args": args or {"user_id": "u_4821"}, "description": "please"}],
        "review_configs": [{"action_name": name, "allowed_decisions": ["approve", "reject"]}],
    }


def interrupt(interrupt_id: str = IID, value: Any = None, **more: Any) -> dict[str, Any]:
    return {"id": interrupt_id, "value": asked() if value is None else value, **more}


def task(*interrupts: Any, name: str = NODE, task_id: str = "task-1", **more: Any) -> dict[str, Any]:
    base = {"id": task_id, "name": name, "error": None, "checkpoint": None, "state": None, "result": None}
    return {**base, "interrupts": list(interrupts), **more}


def state(*tasks: Any, messages: Any = (), **more: Any) -> dict[str, Any]:
    return {
        "values": {"messages": list(messages)},
        "next": [one["name"] for one in tasks],
        "tasks": list(tasks),
        "interrupts": [one for each in tasks for one in each["interrupts"]],
        "metadata": {"step": 1, "run_id": "run-1"},
        "checkpoint_id": "cp-2",
        "parent_checkpoint_id": "cp-1",
        **more,
    }


def run(run_id: str = "run-1", status: str = "success", **more: Any) -> dict[str, Any]:
    times = {"created_at": "2026-11-30T09:20:44.981222Z", "updated_at": "2026-11-30T09:20:45.043146Z"}
    return {"run_id": run_id, "thread_id": "t", "status": status, **times, **more}
