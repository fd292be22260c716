"""The fence: an assistant for each attempt, so that one which was declared not taken cannot run any more.

An agent server knows no "only once", but it runs nothing under an assistant that it does not have. So an attempt of a
review whose policy says `resend: fence` names an assistant made for it alone, a copy of the one that the thread belongs
to; before the next attempt this one's is deleted and the thread looked at again. One whose run was accepted is never
deleted: the server would take the run's row with it, and the thread names it as its own from then on. This module must
not send answers, nor judge what a thread shows.
"""

from __future__ import annotations

import uuid
from typing import Any

from bot.core.model import Review
from bot.errors import AgentUnreachable, OutcomeUnknown
from bot.policy.matching import tool_settings
from bot.policy.model import TenantPolicy
from bot.runtimes.langgraph.client import AgentClient
from bot.store.dispatches import Claim

SETTLE, FENCE, NEVER = STRICTNESS = ("settle", "fence", "never")
# Any constant of our own: with the dispatch and the attempt it gives the same id after a crash.
_NAMESPACE = uuid.UUID("7c6a7c1e-52cb-4c0f-9d0b-2f3d3f6a1f5e")


def resend_of(review: Review, tenant: TenantPolicy) -> str:
    """How the review may be sent again: of the tools in it, the strictest counts."""
    asked = (tool_settings(tenant, action.tool).resend for action in review.actions)
    return max(asked, key=STRICTNESS.index, default=SETTLE)


def fenced(review: Review, tenant: TenantPolicy) -> bool:
    """Whether the next attempt gets an assistant of its own.

    Not over LangGraph's `commands`, which runs an answer under the thread's assistant whatever the body names: there an
    attempt that may have left is never sent again.
    """
    honoured = review.target.route == "runs" or review.target.kind == "aegra"
    return honoured and resend_of(review, tenant) == FENCE


def fence_id(claim: Claim) -> str:
    """The id of the assistant for the claim's next attempt: a UUID, because LangGraph takes no other."""
    return str(uuid.uuid5(_NAMESPACE, f"{claim.dispatch_id}/{claim.attempt + 1}"))


async def put_up(client: AgentClient, claim: Claim, original: str) -> str:
    """Make the next attempt's assistant, a copy of `original` (an assistant's id or a graph's name); returns its id.

    Made again it changes nothing. Raises `AgentUnreachable` or `AgentRejected`: there may be an assistant that nobody
    uses, and nothing was sent.
    """
    fence = fence_id(claim)
    try:
        copied = await client.assistant(original) or {}
        graph = copied.get("graph_id") or original
        await client.create_assistant(fence, graph_id=graph, settings=_settings(copied, fence))
    except OutcomeUnknown as exc:
        raise AgentUnreachable(f"{exc}: an assistant of its own is not known to be there") from exc
    return fence


def _settings(copied: dict[str, Any], fence: str) -> dict[str, Any]:
    """The original's configuration, made unique.

    Aegra takes no second assistant of one graph, owner and configuration. What is added stands in `config.metadata`,
    which the run's own replaces, so that the graph never sees it. Both servers keep `context` and `config.configurable`
    equal by themselves and refuse to be told both.
    """
    config, context = dict(copied.get("config") or {}), copied.get("context") or {}
    if context:
        config.pop("configurable", None)
    noted = config.get("metadata")
    config["metadata"] = {**(noted if isinstance(noted, dict) else {}), "placet_fence": fence}
    return {"config": config, **({"context": context} if context else {})}


async def take_down(client: AgentClient, fence: str | None) -> bool:
    """Delete an attempt's assistant, if it had one: whatever arrives under it from then on is refused by the server.

    Only for an attempt of which a look found no trace. Answers whether it was still there. Raises `AgentUnreachable` or
    `AgentRejected`: it may be.
    """
    if fence is None:
        return False
    try:
        return await client.delete_assistant(fence)
    except OutcomeUnknown as exc:
        raise AgentUnreachable(f"{exc}: an assistant is not known to be gone") from exc
