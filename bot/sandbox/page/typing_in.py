"""Keeping what a person has typed and chosen in a modal, before they press anything.

Slack's client sends all of a view's state with every press in it; the workspace's control endpoints take one value at a
time. The page leaves the state of its form here first. The app hears of none of it.
"""

from dataclasses import replace
from typing import Any

from pydantic import BaseModel, ConfigDict
from starlette.requests import Request

from bot.sandbox.slack.control.guard import read
from bot.sandbox.slack.dress import STATEFUL, interactive
from bot.sandbox.slack.lookup import CannotDo, find_view
from bot.sandbox.slack.records import Json
from bot.sandbox.slack.state import BadValue, Values, entered
from bot.sandbox.slack.wire import world_of


class TypedBody(BaseModel):
    """What stands in the form: by block_id and action_id, as strings, a list of option values for checkboxes."""

    model_config = ConfigDict(extra="forbid")

    user: str
    view_id: str
    values: dict[str, dict[str, Any]]


async def keep_typed(request: Request) -> Json:
    """Put the form's state into the view; fields that the view no longer has are passed over."""
    world, body = world_of(request), await read(request, TypedBody)
    view = find_view(world, body.user, body.view_id)
    try:
        values = _after(view.content["blocks"], view.values, body.values)
    except BadValue as bad:
        raise CannotDo(str(bad)) from bad
    if values != view.values:
        world.put_view(replace(view, values=values))
    return {"ok": True}


def _after(blocks: list[Json], old: Values, typed: dict[str, dict[str, Any]]) -> Values:
    values = {block_id: dict(held) for block_id, held in old.items()}
    for block, element in interactive(blocks):
        block_id, action_id = block["block_id"], element["action_id"]
        if element["type"] in STATEFUL and action_id in typed.get(block_id, {}):
            values[block_id][action_id] = entered(element, typed[block_id][action_id])
    return values
