"""Start an agent run on behalf of a person, the way an application behind an agent server would.

Works against any server that has this package's assistants, real ones included. It does not wait: the run pauses, or
runs, on its own.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import httpx

from bot.sandbox.agents.presets import PRESETS, Call

Turns = Sequence[Sequence[Call]]


async def propose(  # noqa: PLR0913 - what a client says when it starts a run
    client: httpx.AsyncClient,
    *,
    preset: str | None = None,
    turns: Turns | None = None,
    user: str,
    identity: str = "approvals",
    started: Mapping[str, Any] | None = None,
) -> dict[str, str]:
    """Create a thread that names `user` as its requester and start a run on it: `{thread_id, run_id, assistant}`.

    `user` is a Slack user id and goes to the thread's metadata as `slack_user`; `identity` is the owner on the agent
    server (`X-User-Id`). `started` is more of the run's body: `context`, `config` and the like. Raises
    ValueError for an unknown preset or unless exactly one of `preset` and `turns` is given, `httpx.HTTPStatusError`
    where the server refuses.
    """
    assistant, given = what_to_run(preset, turns)
    headers = {"X-User-Id": identity}
    made = await client.post("/threads", json={"metadata": {"slack_user": user}}, headers=headers)
    thread = made.raise_for_status().json()["thread_id"]
    body = {**(started or {}), "assistant_id": assistant, "input": given}
    accepted = await client.post(f"/threads/{thread}/runs", json=body, headers=headers)
    return {"thread_id": thread, "run_id": accepted.raise_for_status().json()["run_id"], "assistant": assistant}


def what_to_run(preset: str | None, turns: Turns | None) -> tuple[str, dict[str, Any]]:
    """The assistant and the run's input. Raises ValueError as `propose` does."""
    if (preset is None) == (turns is None):
        raise ValueError("give either a preset or turns")
    if turns is not None:
        return "ops", _say(json.dumps({"turns": turns}))
    chosen = PRESETS.get(preset or "")
    if chosen is None:
        raise ValueError(f"there is no preset {preset!r}; there are: {', '.join(sorted(PRESETS))}")
    return chosen.assistant, {"scripts": list(chosen.branches)} if chosen.branches else _say(str(preset))


def _say(text: str) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": text}]}
