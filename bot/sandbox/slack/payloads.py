"""Interaction payloads, built from records: what the app is told about a click, a submission, a closing, a command."""

from bot.sandbox.slack.modals import view_json
from bot.sandbox.slack.records import Ephemeral, Hook, Json, Member, PostedMessage, StoredView
from bot.sandbox.slack.shapes import message_json, person_in_payload, team_json
from bot.sandbox.slack.state import initial_values, without_inputs
from bot.sandbox.slack.world import World


def frame(world: World, kind: str, person: Member, team_id: str) -> Json:
    """Return what every interaction has: `team` is where the app is installed, `user.team_id` where the person is."""
    enterprise_id = world.teams[team_id].enterprise_id
    return {
        "type": kind,
        "team": team_json(world, team_id),
        "user": person_in_payload(person),
        "api_app_id": world.app.id,
        "token": "deprecated",
        "enterprise": {"id": enterprise_id, "name": enterprise_id} if enterprise_id else None,
        "is_enterprise_install": False,
    }


def action_json(block: Json, element: Json, state: Json | None, action_ts: str) -> Json:
    """Return the entry of `actions`; `state` is the element's value after the action, none for a button."""
    body: Json = {"type": element["type"], "action_id": element["action_id"], "block_id": block["block_id"]}
    if element["type"] == "button":
        body |= {key: element[key] for key in ("text", "value", "style") if key in element}
    elif state is not None:
        body |= {key: value for key, value in state.items() if key != "type"}
    return {**body, "action_ts": action_ts}


def click_in_message(world: World, message: PostedMessage | Ephemeral, base: Json, *, hook: Hook, action: Json) -> Json:
    """Return block_actions from a message; an ephemeral one is shown reduced to its ts."""
    ephemeral = isinstance(message, Ephemeral)
    container: Json = {
        "type": "message",
        "message_ts": message.ts,
        "channel_id": message.channel,
        "is_ephemeral": ephemeral,
    }
    shown = {"type": "message", "ts": message.ts} if isinstance(message, Ephemeral) else message_json(world, message)
    thread_ts = message.thread_ts or shown.get("thread_ts")
    if thread_ts:
        container["thread_ts"] = thread_ts
    return {
        **base,
        "container": container,
        "channel": {"id": message.channel, "name": world.channels[message.channel].name or "directmessage"},
        "message": shown,
        "state": {"values": initial_values(message.blocks)},
        "response_url": world.base_url + hook.path,
        "actions": [action],
    }


def click_in_view(world: World, view: StoredView, base: Json, *, action: Json) -> Json:
    """Return block_actions from a modal or Home: no channel, no message, no response_url."""
    return {
        **base,
        "container": {"type": "view", "view_id": view.id},
        "view": view_json(world, view),
        "actions": [action],
    }


def submission(world: World, view: StoredView, base: Json) -> Json:
    """Return view_submission: no channel and no response_url."""
    return {**base, "view": view_json(world, view), "response_urls": []}


def closing(world: World, view: StoredView, base: Json, *, cleared: bool) -> Json:
    """Return view_closed, whose state leaves the input blocks out."""
    values = without_inputs(view.values, view.content["blocks"])
    return {**base, "view": view_json(world, view, values), "is_cleared": cleared}
