"""Short conversations with an agent server, each ending in one state that an approvals client must understand.

The same ones are held with the real servers (whose answers are kept as `tests/data/agent/*.json`) and with the
sandbox's own, so that its shapes can be compared with theirs. Nothing here knows which server it talks to.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import httpx

from bot.sandbox.agents.propose import propose

JSON = dict[str, Any]
APPROVE = {"type": "approve"}
MARK = {"metadata": {"placet_dispatch": "d_example", "placet_attempt": 1}}


async def rested(client: httpx.AsyncClient, thread_id: str) -> JSON:
    """The thread once nothing runs on it."""
    while (thread := (await client.get(f"/threads/{thread_id}")).json())["status"] == "busy":  # noqa: ASYNC110 - another process: nothing to wait on but its answer
        await asyncio.sleep(0.02)
    return dict(thread)


async def paused(client: httpx.AsyncClient, preset: str) -> JSON:
    """Propose and wait for the pause: `{thread_id, assistant, interrupts}`."""
    started = await propose(client, preset=preset, user="U0CLEO")
    await rested(client, started["thread_id"])
    state = await client.get(f"/threads/{started['thread_id']}/state")
    return {**started, "interrupts": [interrupt["id"] for interrupt in state.json()["interrupts"]]}


async def answer(client: httpx.AsyncClient, run: JSON, value: Any, *, which: int = 0) -> httpx.Response:
    """Resume one interrupt by its id with `value`, marked as the bot would."""
    command = {"resume": {run["interrupts"][which]: value}}
    body = {"assistant_id": run["assistant"], "command": command, "config": MARK, "multitask_strategy": "reject"}
    return await client.post(f"/threads/{run['thread_id']}/runs/wait", json=body)


def decided(*decisions: JSON) -> JSON:
    return {"decisions": list(decisions)}


async def look(client: httpx.AsyncClient, thread_id: str) -> JSON:
    """What a client reads of a thread: its state, its row, its runs."""
    thread = await rested(client, thread_id)
    state = await client.get(f"/threads/{thread_id}/state", params={"subgraphs": "true"})
    runs = await client.get(f"/threads/{thread_id}/runs", params={"limit": 50})
    return {"state": state.json(), "thread": thread, "runs": runs.json()}


def _pending(preset: str) -> "Scenario":
    async def scenario(client: httpx.AsyncClient) -> JSON:
        return await look(client, (await paused(client, preset))["thread_id"])

    return scenario


def _answered(preset: str, value: Any, *, which: int = 0) -> "Scenario":
    async def scenario(client: httpx.AsyncClient) -> JSON:
        run = await paused(client, preset)
        await answer(client, run, value, which=which)
        return await look(client, run["thread_id"])

    return scenario


_EDIT = {
    "type": "edit",
    "edited_action": {"name": "disable_user", "args": {"user_id": "u_4822", "reason": "chargeback dispute"}},
}

Scenario = Callable[[httpx.AsyncClient], Awaitable[JSON]]
SCENARIOS: dict[str, Scenario] = {
    "one-pending": _pending("one"),
    "three-pending": _pending("three"),
    "fanout-two-pending": _pending("parallel"),
    "fanout-one-answered": _answered("parallel", decided(APPROVE)),
    "per-call-pending": _pending("per-call"),
    "per-call-one-answered": _answered("per-call", APPROVE),
    "poisoned": _answered("one", decided({"type": "approve"}, {"type": "approve"})),
    "done": _answered("one", decided(APPROVE)),
    "rejected": _answered("one", decided({"type": "reject", "message": "not this account"})),
    "rejected-without-reason": _answered("one", decided({"type": "reject"})),
    "responded": _answered("ask", decided({"type": "respond", "message": "EU"})),
    "edited": _answered("one", decided(_EDIT)),
    "raised": _answered("boom", decided(APPROVE)),
    "mixed": _answered(
        "three", decided(APPROVE, {"type": "reject", "message": "no"}, {"type": "respond", "message": "EU"})
    ),
}
