"""The way to the demo's agent: starting a run, and what the tools really did.

The agent's own code is loaded only when a run is asked for, so that Slack alone can be served without it.
"""

import functools
import importlib
import json
import ssl
from pathlib import Path
from typing import Annotated, Any

import httpx
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from starlette.requests import Request

from bot.sandbox.slack.control.guard import read
from bot.sandbox.slack.lookup import CannotDo, find_person
from bot.sandbox.slack.records import Json
from bot.sandbox.slack.wire import world_of

TIMEOUT_S = 30.0


class ProposedToolCall(BaseModel):
    """One call of a turn."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(min_length=1)
    args: dict[str, Any] | None = None
    id: str | None = None


Turns = Annotated[list[Annotated[list[ProposedToolCall], Field(min_length=1)]], Field(min_length=1)]
TURNS = TypeAdapter[list[list[ProposedToolCall]]](Turns)
TURNS_SHAPE = 'turns is a list of turns, each a list of calls: [[{"name": "disable_user", "args": {"user_id": "u_1"}}]]'


class ProposeBody(BaseModel):
    """A preset's name or the turns themselves, and on whose behalf the agent runs."""

    model_config = ConfigDict(extra="forbid")

    user: str
    preset: str | None = None
    turns: Any = None


async def propose(request: Request) -> Json:
    """Start an agent run; its calls come back as cards."""
    body = await read(request, ProposeBody)
    find_person(world_of(request), body.user)
    if (body.preset is None) == (body.turns is None):
        raise CannotDo("name a preset or give turns: one of the two")
    turns = None if body.turns is None else _turns(body.turns)
    agent_url = request.app.state.agent_url
    if agent_url is None:
        raise CannotDo("this sandbox was started without an agent server")
    module = importlib.import_module("bot.sandbox.agents.propose")
    async with httpx.AsyncClient(base_url=agent_url, timeout=TIMEOUT_S, trust_env=False, verify=_trusted()) as client:
        try:
            started: Json = await module.propose(client, preset=body.preset, turns=turns, user=body.user)
        except ValueError as unknown:
            raise CannotDo(str(unknown)) from unknown
    return started


def _turns(given: Any) -> list[list[Json]]:
    """The turns as the agent's script takes them; a run that began with others would end in the model's own error."""
    try:
        turns = TURNS.validate_python(given)
    except ValidationError as invalid:
        first = invalid.errors()[0]
        place = "".join(f"[{at!r}]" if isinstance(at, int) else f".{at}" for at in first["loc"])
        raise CannotDo(f"turns{place}: {first['msg']}. {TURNS_SHAPE}") from invalid
    return [[call.model_dump(exclude_unset=True) for call in turn] for turn in turns]


@functools.cache
def _trusted() -> ssl.SSLContext:
    """Load the certificates once, not for every run: it holds up the event loop."""
    return ssl.create_default_context()


async def effects(request: Request) -> list[Json]:
    """Return every real tool execution, in order."""
    return _lines(request.app.state.effects_file)


def _lines(path: Path | None) -> list[Json]:
    if path is None or not path.exists():
        return []
    return [json.loads(line) for line in path.read_text().splitlines() if line]
