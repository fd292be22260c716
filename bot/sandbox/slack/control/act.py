"""Being a person: clicking, filling in, submitting, closing, typing a command."""

from typing import Any

from pydantic import BaseModel, ConfigDict
from starlette.requests import Request

from bot.sandbox.slack import clicks, commands, submits
from bot.sandbox.slack.control.guard import read
from bot.sandbox.slack.records import Json
from bot.sandbox.slack.wire import world_of


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ClickBody(_Strict):
    """Where to press; `value` or `selected_option` is what to choose in a select, radio buttons, checkboxes or input."""

    user: str
    action_id: str
    channel: str | None = None
    ts: str | None = None
    view_id: str | None = None
    block_id: str | None = None
    value: Any = None
    selected_option: Any = None
    wait_s: float | None = None


class SubmitBody(_Strict):
    """What to enter, by block_id or label, before submitting."""

    user: str
    values: dict[str, Any] = {}


class CloseBody(_Strict):
    """Whose modal to close; `all` closes the whole stack."""

    user: str
    all: bool = False


class CommandBody(_Strict):
    """What to type, where. In a thread there are no commands, so none can be named."""

    user: str
    channel: str
    command: str
    text: str = ""


async def click(request: Request) -> Json:
    """Press something and say what the person sees."""
    body = await read(request, ClickBody)
    value = body.selected_option if body.value is None else body.value
    wanted = body.model_dump(exclude={"selected_option"}) | {"value": value}
    return (await clicks.click(world_of(request), clicks.ClickRequest(**wanted))).json()


async def submit(request: Request) -> Json:
    """Fill in and submit the modal on top."""
    body = await read(request, SubmitBody)
    return (await submits.submit(world_of(request), body.user, body.values)).json()


async def close(request: Request) -> Json:
    """Close the modal on top."""
    body = await read(request, CloseBody)
    return (await submits.close(world_of(request), body.user, everything=body.all)).json()


async def command(request: Request) -> Json:
    """Type a slash command."""
    body = await read(request, CommandBody)
    return (await commands.run_command(world_of(request), **body.model_dump())).json()
