"""Pretend tools. Each writes what it was really called with to the effects log, and does nothing else.

`GATES` says which of them wait for a human, and for what answers: a spread of lists, so that no client can get by with
one set of buttons. The tools know nothing of approvals; the middleware in `graphs` reads the gates.
"""

import asyncio
from typing import Any

from langchain.tools import ToolRuntime
from langchain_core.tools import BaseTool, tool

from bot.sandbox.agents import effects
from bot.sandbox.agents.presets import HOSTILE_TOOL

Runtime = ToolRuntime[Any, Any]

GATES: dict[str, bool | dict[str, Any]] = {
    "disable_user": True,  # the middleware's short form of all four decisions
    "refund": True,
    HOSTILE_TOOL: True,
    "send_email": {"allowed_decisions": ["approve", "edit", "reject"]},
    "execute_sql": {"allowed_decisions": ["approve", "reject"]},
    "restart_host": {"allowed_decisions": ["approve", "reject"]},
    "slow_op": {"allowed_decisions": ["approve", "reject"]},
    "flaky_op": {"allowed_decisions": ["approve", "reject"]},
    "ask_user": {"allowed_decisions": ["respond"]},
    "ask_team": {"allowed_decisions": ["respond", "reject"]},
    "read_data": False,
}


async def _record(name: str, runtime: Runtime, **args: Any) -> None:
    # In a thread: one of the servers that run these graphs refuses blocking calls in its event loop.
    given = {"config": runtime.config, "context": runtime.context}
    await asyncio.to_thread(effects.record, name, args, call_id=runtime.tool_call_id, **given)


@tool
async def disable_user(user_id: str, reason: str, runtime: Runtime) -> str:
    """Lock an account."""
    await _record("disable_user", runtime, user_id=user_id, reason=reason)
    return f"disabled {user_id}"


@tool
async def send_email(to: str, subject: str, body: str, runtime: Runtime) -> str:
    """Send a mail."""
    await _record("send_email", runtime, to=to, subject=subject, body=body)
    return f"sent to {to}"


@tool
async def execute_sql(query: str, runtime: Runtime) -> str:
    """Run a statement."""
    await _record("execute_sql", runtime, query=query)
    return "1 row changed"


@tool
async def restart_host(host: str, runtime: Runtime) -> str:
    """Restart a machine."""
    await _record("restart_host", runtime, host=host)
    return f"{host} is back"


@tool
async def refund(  # noqa: PLR0913, PLR0917 - one argument of each JSON type, which is what this tool is for
    order_id: int,
    amount: float,
    currency: str,
    notify: bool,  # noqa: FBT001 - called by name only
    labels: list[Any] | None,
    runtime: Runtime,
) -> str:
    """Pay an order back."""
    await _record("refund", runtime, order_id=order_id, amount=amount, currency=currency, notify=notify, labels=labels)
    return f"refunded {amount} {currency}"


@tool
async def ask_user(question: str, runtime: Runtime) -> str:
    """Ask the person who started this; the human's answer stands in for a call."""
    await _record("ask_user", runtime, question=question)
    return "nobody was asked"


@tool
async def ask_team(question: str, runtime: Runtime) -> str:
    """Ask whoever reviews this."""
    await _record("ask_team", runtime, question=question)
    return "nobody was asked"


@tool
async def read_data(key: str, runtime: Runtime) -> str:
    """Read a value; harmless, so not gated."""
    await _record("read_data", runtime, key=key)
    return f"{key} = 42"


@tool
async def slow_op(seconds: float, runtime: Runtime) -> str:
    """Begin, take a while, end; a beginning alone is an effect of unknown outcome."""
    await _record("slow_op.begin", runtime, seconds=seconds)
    await asyncio.sleep(seconds)
    await _record("slow_op", runtime, seconds=seconds)
    return f"slept {seconds} s"


@tool
async def flaky_op(why: str, runtime: Runtime) -> str:
    """Have the effect, then fail."""
    await _record("flaky_op", runtime, why=why)
    raise RuntimeError(f"flaky_op had its effect and failed: {why}")


@tool(HOSTILE_TOOL)
async def hostile_op(note: str, runtime: Runtime) -> str:
    """Bear a name that attacks whoever displays it."""
    await _record(HOSTILE_TOOL, runtime, note=note)
    return note


TOOLS: list[BaseTool] = [
    disable_user,
    send_email,
    execute_sql,
    restart_host,
    refund,
    ask_user,
    ask_team,
    read_data,
    slow_op,
    flaky_op,
    hostile_op,
]
