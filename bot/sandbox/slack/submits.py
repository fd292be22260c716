"""Filling in, submitting and closing the modal on top, and doing what the app answers."""

import json
from dataclasses import replace
from typing import Any

from bot.sandbox.slack.clicks import ClickRequest, click
from bot.sandbox.slack.client import TROUBLE, ClientOutcome, look_on, modal_marks, new_trigger, top_view
from bot.sandbox.slack.delivery import deliver
from bot.sandbox.slack.dress import STATEFUL, interactive
from bot.sandbox.slack.errors import ApiError
from bot.sandbox.slack.fields import field_error
from bot.sandbox.slack.lookup import CannotDo, NotThere, find_person
from bot.sandbox.slack.modals import accepted, push, replaced
from bot.sandbox.slack.parcels import ApiAnswer, Parcel
from bot.sandbox.slack.payloads import closing, frame, submission
from bot.sandbox.slack.records import Json, StoredView
from bot.sandbox.slack.state import BadValue, entered
from bot.sandbox.slack.world import World

CHOICES = {"static_select", "radio_buttons", "checkboxes", "users_select", "datepicker", "timepicker", "datetimepicker"}


async def submit(world: World, user: str, values: dict[str, Any]) -> ClientOutcome:
    """Enter `values` (by block_id or label, in order) into the top modal and press its submit button.

    A choice in an input with dispatch_action sends its block_actions first, as a client does when it is made, so that a
    later label may name a field which only that brought up. Raises NotThere and CannotDo.
    """
    person = find_person(world, user)
    for name, value in values.items():
        await _enter(world, _top(world, user), name, value)
    view = _top(world, user)
    if view.content["submit"] is None:
        raise CannotDo("this modal has no submit button")
    errors = {block_id: error for block_id, error in _client_errors(view).items() if error}
    view = _show(world, view, errors=errors)
    if errors:
        return ClientOutcome(acked=False, status=None, error=None, view=top_view(world, user), errors=errors)
    trigger = new_trigger(world, person, view.team_id, view.id)
    base = frame(world, "view_submission", person, view.team_id) | {"trigger_id": trigger.id}
    answer = await deliver(world, Parcel("view_submission", submission(world, view, base)))
    error = obey(world, view, answer)
    await look_on(world, trigger, modal_marks(world, user), 0)
    return _outcome(world, user, answer, error)


async def close(world: World, user: str, *, everything: bool = False) -> ClientOutcome:
    """Cancel the top modal, or with `everything` close the whole stack; the app hears of it only if it asked to."""
    person = find_person(world, user)
    stack = world.modals(user)
    everything = everything or bool(stack and stack[-1].content["clear_on_close"])
    top = _top(world, user)
    gone = stack[0] if everything else top
    world.set_modals(user, () if everything else [view.id for view in stack[:-1]])
    if not gone.content["notify_on_close"]:
        return ClientOutcome(acked=False, status=None, error=None, view=top_view(world, user))
    payload = closing(world, gone, frame(world, "view_closed", person, gone.team_id), cleared=everything)
    answer = await deliver(world, Parcel("view_closed", payload))
    return ClientOutcome(answer.acked, answer.status, None, top_view(world, user))


def _outcome(world: World, user: str, answer: ApiAnswer, error: str | None) -> ClientOutcome:
    modals = world.modals(user)
    errors = dict(modals[-1].errors) if modals else {}
    return ClientOutcome(answer.acked, answer.status, error, top_view(world, user), errors)


def _top(world: World, user: str) -> StoredView:
    modals = world.modals(user)
    if not modals:
        raise NotThere(f"{user} has no modal open", ())
    return modals[-1]


def _show(world: World, view: StoredView, *, errors: dict[str, str], notice: str | None = None) -> StoredView:
    view = replace(view, errors=errors, notice=notice)
    world.put_view(view)
    return view


async def _enter(world: World, view: StoredView, name: str, value: Any) -> None:
    block, element = _field(view, name)
    try:
        state = entered(element, value)
    except BadValue as bad:
        raise CannotDo(f"{name}: {bad}") from bad
    block_id, action_id = block["block_id"], element["action_id"]
    changed = view.values[block_id][action_id] != state
    world.put_view(replace(view, values={**view.values, block_id: {**view.values[block_id], action_id: state}}))
    if changed and _dispatches(block, element):
        await click(world, ClickRequest(view.user, action_id, view_id=view.id, block_id=block_id, value=value))


def _dispatches(block: Json, element: Json) -> bool:
    if block["type"] != "input":
        return True
    if not block.get("dispatch_action"):
        return False
    config = element.get("dispatch_action_config", {}).get("trigger_actions_on", [])
    return element["type"] in CHOICES or "on_character_entered" in config


def _field(view: StoredView, name: str) -> tuple[Json, Json]:
    stateful = [(b, e) for b, e in interactive(view.content["blocks"]) if e["type"] in STATEFUL]
    found = [(b, e) for b, e in stateful if b["block_id"] == name]
    found = found or [(b, e) for b, e in stateful if _label(b) == name]
    if not found:
        there = [f"{b['block_id']} ({_label(b)})" if _label(b) else b["block_id"] for b, _ in stateful]
        raise NotThere(f"no field {name!r} in the modal", there)
    if len(found) > 1:
        raise CannotDo(f"{name!r} names several fields: {[b['block_id'] for b, _ in found]}")
    return found[0]


def _label(block: Json) -> str | None:
    return block["label"]["text"] if "label" in block else None


def _client_errors(view: StoredView) -> dict[str, str | None]:
    return {
        block["block_id"]: field_error(element, view.values[block["block_id"]][element["action_id"]], block)
        for block, element in interactive(view.content["blocks"])
        if block["type"] == "input"
    }


def obey(world: World, view: StoredView, answer: ApiAnswer) -> str | None:
    """Do what the answer to a submission says; return the error that the person sees, if any.

    Anything Slack could not act on (no ack, not 200, a body that is no response_action, an invalid view, an error for what
    is no input) leaves the modal as it is, under a notice.
    """
    if view.id not in world.views:
        return None
    view = world.views[view.id]
    try:
        _act(world, view, _response(answer))
    except (ApiError, ValueError, KeyError, TypeError):
        _show(world, view, errors={}, notice=TROUBLE)
        return TROUBLE
    return None


def _response(answer: ApiAnswer) -> Json:
    if not answer.acked:
        raise ValueError("not acknowledged")
    if not answer.body.strip():
        return {"response_action": "close"}
    body = json.loads(answer.body)
    if not isinstance(body, dict) or body.get("response_action") == "close":
        raise ValueError("no response_action")
    return body


def _act(world: World, view: StoredView, response: Json) -> None:
    stack = world.stacks[view.user]
    match response["response_action"]:
        case "close":
            world.set_modals(view.user, [view_id for view_id in stack if view_id != view.id])
        case "clear":
            world.set_modals(view.user, ())
        case "update":
            content = accepted(world, response["view"], "modal", of_team=view.team_id, but=view.id)
            world.put_view(replaced(world, view, content))
        case "push":
            content = accepted(world, response["view"], "modal", of_team=view.team_id)
            push(world, content, user=view.user, team_id=view.team_id)
        case "errors":
            _show(world, view, errors=_field_errors(view, response["errors"]))
        case other:
            raise ValueError(f"unknown response_action {other!r}")


def _field_errors(view: StoredView, errors: Any) -> dict[str, str]:
    inputs = {block["block_id"] for block in view.content["blocks"] if block["type"] == "input"}
    if not isinstance(errors, dict) or not errors or not set(errors) <= inputs:
        raise ValueError("errors that name no input block")
    if not all(isinstance(text, str) and text for text in errors.values()):
        raise ValueError("an error is a text")
    return errors
