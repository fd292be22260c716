"""The bytes of an answer.

Pure, so that what is sent can be shown, stored and tested before anything is connected. An answer is always keyed by
its interrupt's id, alone, and never names a checkpoint: untargeted it would go to whatever is pending by then, and
pinned to a checkpoint it would run an action that was replaced.
"""

from __future__ import annotations

import re
from typing import Any

from bot.agent.surroundings import NOTHING, Carried
from bot.agent.wire import ATTEMPT, MARK, NOT_AFTER, SINCE
from bot.core.lossless import dump

# LangGraph reads a map as keyed only if every key looks like this; any other map is an answer to whatever is pending.
_KEY = re.compile(r"[0-9a-f]{32}")


class UnkeyedInterrupt(ValueError):
    """The interrupt's id is not one that LangGraph reads as a key, so an answer could go to another question."""


def resume_body(  # noqa: PLR0913 - one name for each thing that the body says
    *,
    assistant: str,
    interrupt_id: str,
    answer_tree: Any,
    dispatch_id: str,
    attempt: int,
    kind: str,  # noqa: ARG001 - callers say whom they speak to; measured: both servers read the same body
    since: int = 1,
    not_after: int | None = None,
    carried: Carried = NOTHING,
) -> bytes:
    """The body for `runs/wait`; `answer_tree` is `bot.core.decision.answer_tree`'s value, numbers as written.

    The mark goes into `config.metadata`, the one place that both servers show in their runs and checkpoints and that
    later runs do not inherit. Beside it stand what servers ignore and `bot.deploy.auth_guard` does not: `since`, the first
    attempt of which a copy may still arrive, and `not_after` (ms since the epoch, the database's clock), when nobody of
    ours waits for this request any more. `carried` is what the run that asked was started with. `reject` makes langgraph dev refuse (409) while a run is active; Aegra stores
    it only.

    Raises `UnkeyedInterrupt`.
    """
    body: dict[str, Any] = {
        "assistant_id": assistant,
        **carried.top,
        "command": {"resume": {_key(interrupt_id): answer_tree}},
        "config": {**carried.config} | _config(dispatch_id, attempt, since=since, not_after=not_after),
        "multitask_strategy": "reject",
    }
    return dump(body).encode("ascii")


def commands_body(  # noqa: PLR0913 - one name for each thing that the body says
    *,
    assistant: str,
    interrupt_id: str,
    answer_tree: Any,
    dispatch_id: str,
    attempt: int,
    kind: str,  # noqa: ARG001 - as above
    since: int = 1,
    not_after: int | None = None,
    carried: Carried = NOTHING,
) -> bytes:
    """The body for `commands`, for deployments that offer nothing else.

    No run id comes back on langgraph dev, and Aegra does not ask the deployment's own handler for new runs there. The
    command's own id, which its answer repeats, is the attempt's number.

    Raises `UnkeyedInterrupt`.
    """
    params = {
        **carried.top,
        "interrupt_id": _key(interrupt_id),
        "response": answer_tree,
        "assistant_id": assistant,
        "config": {**carried.config} | _config(dispatch_id, attempt, since=since, not_after=not_after),
    }
    return dump({"id": attempt, "method": "input.respond", "params": params}).encode("ascii")


def _key(interrupt_id: str) -> str:
    if not _KEY.fullmatch(interrupt_id):
        raise UnkeyedInterrupt("the interrupt's id cannot be used as a key")
    return interrupt_id


def _config(dispatch_id: str, attempt: int, *, since: int, not_after: int | None) -> dict[str, Any]:
    more = {**({SINCE: since} if since > 1 else {}), **({NOT_AFTER: not_after} if not_after is not None else {})}
    return {"metadata": {MARK: dispatch_id, ATTEMPT: attempt, **more}}
