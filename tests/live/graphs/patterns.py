"""One agent for each of the usual ways to build one, all of them pausing for people before the same two tools.

Loaded by the real servers under every LangChain that the tests cover, so nothing here may need the newest.
"""

import asyncio
import inspect
import operator
import os
from pathlib import Path
from typing import Annotated, Any, TypedDict

from deepagents import create_deep_agent
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain.tools import tool
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langgraph.config import get_config
from langgraph.func import entrypoint, task
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.types import Send, interrupt
from langgraph_supervisor import create_supervisor
from langgraph_swarm import create_handoff_tool, create_swarm

from bot.sandbox.agents import effects
from bot.sandbox.agents.model import ScriptedModel
from bot.sandbox.agents.tools import TOOLS

effects.use_by_default(Path(os.environ["EFFECTS_FILE"]))

_GATES = {"disable_user": True, "flaky_op": True, "send_email": True}
_GATED = [one for one in TOOLS if one.name in _GATES]
_ASKS = {"action_name": "", "allowed_decisions": ["approve", "edit", "reject", "respond"]}


def _agent(name: str = "worker", *, tools: Any = (), **mode: Any) -> Any:
    review = HumanInTheLoopMiddleware(interrupt_on=_GATES, **mode)
    return create_agent(ScriptedModel(), tools=[*_GATED, *tools], middleware=[review], name=name)


batched = _agent()

deep_agent = create_deep_agent(model=ScriptedModel(), tools=_GATED, interrupt_on=_GATES)

deep_subagent = create_deep_agent(
    model=ScriptedModel(),
    subagents=[
        {
            "name": "worker",
            "description": "Does the work",
            "system_prompt": "Work.",
            "tools": _GATED,
            "model": ScriptedModel(),
            "interrupt_on": _GATES,
        }
    ],
)

supervisor = create_supervisor([_agent()], model=ScriptedModel(), prompt="Hand the work on.").compile()

swarm = create_swarm(
    [
        _agent("greeter", tools=[create_handoff_tool(agent_name="worker")]),
        _agent("worker", tools=[create_handoff_tool(agent_name="greeter")]),
    ],
    default_active_agent="greeter",
).compile()


class _Fan(TypedDict, total=False):
    messages: Annotated[list[AnyMessage], add_messages]
    scripts: list[str]
    done: Annotated[list[str], operator.add]


class _Branch(TypedDict):
    script: str


def _fan_out(agent: Any) -> Any:
    """A branch for each script, each with its own run of the agent."""

    async def branch(state: _Branch) -> dict[str, Any]:
        answer = await agent.ainvoke({"messages": [HumanMessage(state["script"])]})
        return {"done": [answer["messages"][-1].text]}

    builder = StateGraph(_Fan)
    builder.add_node("branch", branch)
    builder.add_conditional_edges(
        START, lambda state: [Send("branch", {"script": script}) for script in state["scripts"]], ["branch"]
    )
    builder.add_edge("branch", END)
    return builder.compile()


send = _fan_out(batched)


def _ask(call: dict[str, Any]) -> dict[str, Any]:
    """Pause as the middleware would, from code that is not the middleware; the one decision on the call."""
    request = {"name": call["name"], "args": call["args"], "description": "Asked by hand"}
    return interrupt({"action_requests": [request], "review_configs": [_ASKS | {"action_name": call["name"]}]})[
        "decisions"
    ][0]


@task
async def _reviewed_call(call: dict[str, Any]) -> ToolMessage:
    """Ask, then run what was allowed, in one task."""
    decision = _ask(call)
    if decision["type"] in ("reject", "respond"):
        status = "error" if decision["type"] == "reject" else "success"
        return ToolMessage(decision.get("message") or "rejected", tool_call_id=call["id"], status=status)
    args = decision["edited_action"]["args"] if decision["type"] == "edit" else call["args"]
    await asyncio.to_thread(effects.record, call["name"], args, config=get_config(), call_id=call["id"])
    if call["name"] == "flaky_op":
        raise RuntimeError("flaky_op had its effect and failed")
    return ToolMessage(f"did {call['name']}", tool_call_id=call["id"])


async def _decided_in_tasks(asked: list[Any]) -> list[Any]:
    """A turn of the scripted model, and each of its calls as a task."""
    said: AIMessage = await ScriptedModel().ainvoke(asked)
    return [said, *await asyncio.gather(*(_reviewed_call(dict(call)) for call in said.tool_calls))]


@entrypoint()
async def functional(given: dict[str, Any]) -> dict[str, Any]:
    """The functional API: no graph at all."""
    asked = [HumanMessage(one["content"]) for one in given["messages"]]
    return {"messages": [*asked, *await _decided_in_tasks(asked)]}


@task
async def _whole_agent(asked: list[Any]) -> list[Any]:
    return (await batched.ainvoke({"messages": asked}))["messages"]


class _Chat(TypedDict, total=False):
    messages: Annotated[list[AnyMessage], add_messages]


async def _work(state: _Chat) -> dict[str, Any]:
    return {"messages": await _decided_in_tasks(state["messages"])}


task_in_node = StateGraph(_Chat).add_node("work", _work).add_edge(START, "work").add_edge("work", END).compile()


@entrypoint()
async def functional_agent(given: dict[str, Any]) -> dict[str, Any]:
    """The functional API around an agent of the usual kind."""
    asked = [HumanMessage(one["content"]) for one in given["messages"]]
    return {"messages": await _whole_agent(asked)}


async def _delegate(state: _Chat) -> dict[str, Any]:
    return {"messages": [(await _whole_agent(state["messages"]))[-1]]}


agent_in_task = (
    StateGraph(_Chat).add_node("delegate", _delegate).add_edge(START, "delegate").add_edge("delegate", END).compile()
)


@tool
async def disable_after_asking(user_id: str, reason: str) -> str:
    """Lock an account, once somebody allowed it."""
    decision = _ask({"name": "disable_user", "args": {"user_id": user_id, "reason": reason}})
    if decision["type"] in ("reject", "respond"):
        return str(decision.get("message") or "no")
    args = decision["edited_action"]["args"] if decision["type"] == "edit" else {"user_id": user_id, "reason": reason}
    await asyncio.to_thread(effects.record, "disable_user", args, config=get_config())
    if args["reason"] == "raise":
        raise RuntimeError("disable_after_asking had its effect and failed")
    return "disabled, having asked"


tool_interrupt = create_agent(ScriptedModel(), tools=[disable_after_asking])

if "interrupt_mode" in inspect.signature(HumanInTheLoopMiddleware.__init__).parameters:
    per_call = _agent(interrupt_mode="per_call")
    send_per_call = _fan_out(per_call)


async def _confirmed_thrice(state: _Chat) -> dict[str, Any]:
    """Ask the same three times over: before LangGraph 1.2 under one interrupt id."""
    call = {"name": "disable_user", "args": {"user_id": "u_4821", "reason": "chargeback dispute"}}
    for _ in range(3):
        if _ask(call)["type"] == "reject":
            return {"messages": [AIMessage("not done")]}
    await asyncio.to_thread(effects.record, call["name"], call["args"], config=get_config())
    return {"messages": [AIMessage("done")]}


asks_thrice = (
    StateGraph(_Chat)
    .add_node("confirm", _confirmed_thrice)
    .add_edge(START, "confirm")
    .add_edge("confirm", END)
    .compile()
)
