"""The assistants: real agents and graphs that pause in every way an approvals client has to understand.

Loaded by this package's own server and, unchanged, by LangGraph's development server and Aegra in the live tests; so it
opens no file and no connection, and leaves checkpointing to whoever serves it.
"""

import asyncio
import operator
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypedDict

from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.messages import AnyMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import tool
from langgraph.graph import END, START, StateGraph
from langgraph.graph.message import add_messages
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import get_runtime
from langgraph.types import Send, interrupt
from pydantic import BaseModel, Field

from bot.sandbox.agents import effects
from bot.sandbox.agents.model import ScriptedModel
from bot.sandbox.agents.tools import GATES, TOOLS

Graph = CompiledStateGraph[Any, Any, Any, Any]


def _agent(
    gates: dict[str, Any], mode: Literal["batched", "per_call"] = "batched", context: type[Any] | None = None
) -> Graph:
    review = HumanInTheLoopMiddleware(interrupt_on=gates, interrupt_mode=mode)
    return create_agent(ScriptedModel(), tools=TOOLS, middleware=[review], context_schema=context)


ops = _agent(GATES)
ops_per_call = _agent(GATES, "per_call")


@dataclass
class RunAccount:
    """For whom the tools of `ops_account` act. Whoever starts a run without saying so acts for nobody."""

    org: str = "NOBODY"
    user_id: str = "nobody"


ops_account = _agent(GATES, context=RunAccount)


def _describe(tool_call: Any, state: Any, runtime: Any) -> str:
    del runtime
    return f"Mail to {tool_call['args'].get('to')}, after {len(state['messages'])} messages"


def _writes(request: Any) -> bool:
    return not str(request.tool_call["args"].get("query", "")).upper().startswith("SELECT")


ops_when = _agent(
    {
        "send_email": {"allowed_decisions": ["approve", "reject"], "description": _describe},
        "disable_user": {"allowed_decisions": ["approve"], "description": "Locks an account"},
        "execute_sql": {"allowed_decisions": ["approve", "reject"], "when": _writes},
    }
)


class Fan(TypedDict, total=False):
    """`scripts`: a preset's word or a JSON script for each branch."""

    messages: Annotated[list[AnyMessage], add_messages]
    scripts: list[str]
    done: Annotated[list[str], operator.add]


class Branch(TypedDict):
    """What one branch is sent."""

    script: str


def _spread(state: Fan) -> list[Send]:
    return [Send("branch", {"script": script}) for script in state.get("scripts") or ["one", "sql"]]


async def _branch(state: Branch) -> dict[str, Any]:
    answer = await ops.ainvoke({"messages": [HumanMessage(state["script"])]})
    return {"done": [f"{state['script'][:40]}: {answer['messages'][-1].text}"]}


def _fanout() -> Graph:
    builder = StateGraph(Fan)
    builder.add_node("branch", _branch)
    builder.add_conditional_edges(START, _spread, ["branch"])
    builder.add_edge("branch", END)
    return builder.compile()


fanout = _fanout()


@tool
async def delegate(script: str) -> str:
    """Have another agent do it: the script is what that one is told."""
    answer = await ops.ainvoke({"messages": [HumanMessage(script)]})
    return str(answer["messages"][-1].text)


team = create_agent(ScriptedModel(), tools=[delegate])


class Chat(TypedDict, total=False):
    """A conversation and nothing else."""

    messages: Annotated[list[AnyMessage], add_messages]


async def _answered_by_hand(call: Any, decision: dict[str, Any], config: RunnableConfig) -> ToolMessage:
    """Do what was decided, and write it down as LangChain before 1.4 did: no marker, the bare words."""
    said = {"tool_call_id": call["id"], "name": call["name"]}
    if decision["type"] == "reject":
        stock = f"User rejected the tool call for `{call['name']}` with id {call['id']}"
        return ToolMessage(decision.get("message") or stock, status="error", **said)
    if decision["type"] == "respond":
        return ToolMessage(decision["message"], **said)
    args = decision["edited_action"]["args"] if decision["type"] == "edit" else call["args"]
    await asyncio.to_thread(effects.record, call["name"], args, config=config, call_id=call["id"])
    if call["name"] == "flaky_op":
        raise RuntimeError("flaky_op had its effect and failed")
    return ToolMessage(f"did {call['name']}", **said)


def _by_hand() -> Graph:
    """An agent without the middleware: the node that asks also runs what was allowed."""

    async def model(state: Chat) -> dict[str, Any]:
        return {"messages": [await ScriptedModel().ainvoke(state["messages"])]}

    async def act(state: Chat, config: RunnableConfig) -> dict[str, Any]:
        calls = [dict(call) for call in getattr(state["messages"][-1], "tool_calls", [])]
        allowed = ["approve", "edit", "reject", "respond"]
        answer = interrupt(
            {
                "action_requests": [{"name": call["name"], "args": call["args"]} for call in calls],
                "review_configs": [{"action_name": call["name"], "allowed_decisions": allowed} for call in calls],
            }
        )
        pairs = zip(calls, answer["decisions"], strict=True)
        return {"messages": [await _answered_by_hand(call, decision, config) for call, decision in pairs]}

    builder = StateGraph(Chat)
    builder.add_node("model", model)
    builder.add_node("act", act)
    builder.add_edge(START, "model")
    builder.add_edge("model", "act")
    builder.add_edge("act", END)
    return builder.compile()


by_hand = _by_hand()


class Free(TypedDict, total=False):
    """`kind` names one of `VALUES`, or `two`, `schema`, or `value` to pause on whatever JSON stands in `value`."""

    messages: Annotated[list[AnyMessage], add_messages]
    kind: str
    value: Any
    answers: Annotated[list[Any], operator.add]


class Approval(BaseModel):
    """The answer that the `schema` kind asks for."""

    ok: bool
    note: str = Field(default="", max_length=200)


VALUES: dict[str, Any] = {
    "string": "May I go on? Say anything.",
    "dict": {"question": "Pick one", "options": ["a", "b"]},
    "list": ["a", {"b": 1}],
    "number": 7,
    "null": None,
    "looks-like": {"action_requests": [{"name": "x", "args": {}}]},
}


def _ask(state: Free) -> list[Any]:
    kind = state.get("kind") or "string"
    if kind == "two":
        return [interrupt("first?"), interrupt("second?")]
    if kind == "schema":
        answer = interrupt({"question": "typed"}, response_schema=Approval)
        return [answer.model_dump() if isinstance(answer, BaseModel) else answer]
    return [interrupt(state.get("value") if kind == "value" else VALUES[kind])]


async def _free(state: Free, config: RunnableConfig) -> dict[str, Any]:
    answers = _ask(state)
    # The answer is this graph's whole effect: tests read here what the server was really told.
    await asyncio.to_thread(
        effects.record, "freeform", {"answers": answers}, config=config, context=get_runtime().context
    )
    return {"answers": answers}


def _freeform() -> Graph:
    builder = StateGraph(Free)
    builder.add_node("free", _free)
    builder.add_edge(START, "free")
    builder.add_edge("free", END)
    return builder.compile()


freeform = _freeform()
agent_platform = ops

GRAPHS: dict[str, Graph] = {
    "ops": ops,
    "agent_platform": agent_platform,
    "ops_per_call": ops_per_call,
    "ops_account": ops_account,
    "ops_when": ops_when,
    "fanout": fanout,
    "freeform": freeform,
    "team": team,
    "by_hand": by_hand,
}
"""Every assistant by the name that all three servers know it by; `agent_platform` is `ops` under the policy's name."""
