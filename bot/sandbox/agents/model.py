"""A chat model that follows a script: it proposes exactly the tool calls that the newest user message spells out.

Stands where a provider's model would, under the real agent loop. It keeps nothing between calls: which turn it is
follows from how many answers of its own already stand after that message.
"""

import uuid
from collections.abc import Sequence
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolCall, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from bot.sandbox.agents.presets import Call, script_of


class ScriptedModel(BaseChatModel):
    """Answers without a network, the same for the same messages (ids of calls apart)."""

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **_: Any) -> "ScriptedModel":
        """The script decides what is called, so every tool is as good as bound."""
        del tools
        return self

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **_: Any,
    ) -> ChatResult:
        del stop, run_manager
        return ChatResult(generations=[ChatGeneration(message=next_message(messages))])

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **_: Any,
    ) -> ChatResult:
        del stop, run_manager
        return ChatResult(generations=[ChatGeneration(message=next_message(messages))])


def next_message(messages: Sequence[BaseMessage]) -> AIMessage:
    """The model's answer to a conversation: the script's next turn, or its last word."""
    asked = max((at for at, message in enumerate(messages) if isinstance(message, HumanMessage)), default=None)
    if asked is None:
        return AIMessage(content="nothing was asked")
    script, since = script_of(messages[asked].text), messages[asked + 1 :]
    turn, turns = sum(isinstance(message, AIMessage) for message in since), script.get("turns") or []
    if turn < len(turns):
        return AIMessage(content="", tool_calls=[_tool_call(call) for call in turns[turn]])
    seen = ", ".join(f"{message.name}: {message.status}" for message in since if isinstance(message, ToolMessage))
    return AIMessage(content=script.get("final") or f"done ({seen})")


def _tool_call(call: Call) -> ToolCall:
    call_id = call.get("id") or f"call_{uuid.uuid4().hex[:16]}"
    return ToolCall(name=call["name"], args=dict(call.get("args") or {}), id=call_id)
