"""Modals and Home tabs: making a view, opening, pushing and updating it, and how a payload shows it.

Refusals are `ApiError`s with Slack's names, so that the Web API can pass them on; an ack that carries a view treats each as
trouble. Nothing here delivers anything.
"""

from dataclasses import replace
from typing import Literal

from bot.sandbox.slack.blockkit.views import problems_in_view
from bot.sandbox.slack.dress import dressed, with_defaults
from bot.sandbox.slack.errors import ApiError, refuse
from bot.sandbox.slack.records import AppInstallation, Json, StoredView, Trigger
from bot.sandbox.slack.state import carried, initial_values
from bot.sandbox.slack.world import World

DEFAULTS: Json = {
    "private_metadata": "",
    "callback_id": "",
    "external_id": "",
    "title": None,
    "submit": None,
    "close": None,
    "clear_on_close": False,
    "notify_on_close": False,
}


def accepted(world: World, view: Json, kind: Literal["modal", "home"], *, of_team: str, but: str = "") -> Json:
    """Judge a view and return it as Slack keeps it; `but` is the id of the view that it takes the place of."""
    refuse(problems_in_view(view))
    if view["type"] != kind:
        raise ApiError("invalid_arguments", messages=[f"[ERROR] expected a {kind} view [json-pointer:/view/type]"])
    external_id = view.get("external_id")
    if external_id and any(
        other.content["external_id"] == external_id and other.team_id == of_team and other.id != but
        for other in world.views.values()
    ):
        raise ApiError("duplicate_external_id")
    return {**DEFAULTS, **with_defaults(view), "blocks": dressed(view["blocks"], world.next_id)}


def new_view(world: World, content: Json, *, user: str, team_id: str) -> StoredView:
    """Make a view that is in no stack yet."""
    view_id = world.next_id("V")
    return StoredView(
        id=view_id,
        kind=content["type"],
        team_id=team_id,
        user=user,
        content=content,
        hash=new_hash(world),
        root_id=view_id,
        previous_id=None,
        values=initial_values(content["blocks"]),
    )


def new_hash(world: World) -> str:
    """Return a hash unlike any before."""
    return f"{int(world.clock())}.{world.next_id('')}"


def replaced(world: World, view: StoredView, content: Json) -> StoredView:
    """Give a view new content: same id, new hash, and what was typed stays where the ids do."""
    values = carried(view.values, content["blocks"])
    return replace(view, content=content, hash=new_hash(world), values=values, errors={}, notice=None)


def open_root(world: World, content: Json, *, user: str, team_id: str) -> StoredView:
    """Show a first view; whatever modals the person had open give way to it."""
    view = new_view(world, content, user=user, team_id=team_id)
    world.put_view(view)
    world.set_modals(user, (view.id,))
    return view


def push(world: World, content: Json, *, user: str, team_id: str) -> StoredView:
    """Put a view on top of the person's stack, which is not empty."""
    stack = world.stacks[user]
    if len(stack) >= world.rules.stack:
        raise ApiError("push_limit_reached")
    view = new_view(world, content, user=user, team_id=team_id)
    view = replace(view, root_id=stack[0], previous_id=stack[-1])
    world.put_view(view)
    world.set_modals(user, (*stack, view.id))
    return view


def exchange(world: World, trigger_id: str, installation: AppInstallation) -> Trigger:
    """Use a trigger up: known, of this installation, not used before, not older than three seconds."""
    trigger = world.triggers.get(trigger_id)
    if trigger is None or trigger.team_id != installation.team_id:
        raise ApiError("invalid_trigger_id")
    if trigger.used:
        raise ApiError("exchanged_trigger_id")
    if world.clock() - trigger.made > world.rules.trigger_seconds:
        raise ApiError("expired_trigger_id")
    world.triggers[trigger_id] = replace(trigger, used=True)
    return trigger


def view_json(world: World, view: StoredView, values: dict[str, dict[str, Json]] | None = None) -> Json:
    """Return the view as responses and payloads carry it; `values` where not all of its state belongs there."""
    installation = world.installations[view.team_id]
    return {
        **view.content,
        "id": view.id,
        "team_id": world.people[view.user].team_id,
        "state": {"values": view.values if values is None else values},
        "hash": view.hash,
        "previous_view_id": view.previous_id,
        "root_view_id": view.root_id,
        "app_id": world.app.id,
        "app_installed_team_id": view.team_id,
        "bot_id": installation.bot_id,
    }
