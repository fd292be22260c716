"""Pressing something: finding the element, sending block_actions, waiting for what comes of it."""

from dataclasses import dataclass, replace
from typing import Any

from bot.sandbox.slack.client import WARNING, ClientOutcome, look_on, modal_marks, new_hook, new_trigger, top_view
from bot.sandbox.slack.delivery import deliver
from bot.sandbox.slack.dress import STATEFUL, interactive
from bot.sandbox.slack.lookup import CannotDo, NotThere, find_message, find_person, find_view
from bot.sandbox.slack.parcels import ApiAnswer, Parcel
from bot.sandbox.slack.payloads import action_json, click_in_message, click_in_view, frame
from bot.sandbox.slack.records import Ephemeral, Json, Member, PostedMessage, StoredView, Trigger
from bot.sandbox.slack.state import BadValue, entered, initial, pick_option
from bot.sandbox.slack.world import World


@dataclass(frozen=True, slots=True)
class ClickRequest:
    """Where somebody presses: in a message (`channel`, `ts`) or in a view; `value` is what they choose, `wait_s` how long they look on."""

    user: str
    action_id: str
    channel: str | None = None
    ts: str | None = None
    view_id: str | None = None
    block_id: str | None = None
    value: Any = None
    wait_s: float | None = None


@dataclass(frozen=True, slots=True)
class ClickTarget:
    """The pressed element, its block, and the message or view around them."""

    place: PostedMessage | Ephemeral | StoredView
    block: Json
    element: Json


async def click(world: World, wanted: ClickRequest) -> ClientOutcome:
    """Press, deliver, look on. Raises NotThere for what does not exist, CannotDo for what no client would do."""
    person = find_person(world, wanted.user)
    target = _find(world, wanted)
    state = _state_after(target, wanted.value)
    target = _with_state(world, target, state)
    before = modal_marks(world, person.id)
    view_id = target.place.id if isinstance(target.place, StoredView) and target.place.kind == "modal" else None
    trigger = new_trigger(world, person, target.place.team_id, view_id)
    payload = _payload(world, target, person, trigger=trigger, state=state)
    answer = await deliver(world, Parcel("block_actions", payload))
    await look_on(world, trigger, before, wanted.wait_s)
    return clicked(world, person.id, answer)


def clicked(world: World, user: str, answer: ApiAnswer) -> ClientOutcome:
    """Return what the person sees once the app has answered, or has not."""
    modals = world.modals(user)
    errors = dict(modals[-1].errors) if modals else {}
    error = None if answer.acked else WARNING
    return ClientOutcome(answer.acked, answer.status, error, top_view(world, user), errors)


def _find(world: World, wanted: ClickRequest) -> ClickTarget:
    place: PostedMessage | Ephemeral | StoredView
    if wanted.view_id is not None:
        place = find_view(world, wanted.user, wanted.view_id)
        blocks = place.content["blocks"]
    elif wanted.channel is not None and wanted.ts is not None:
        place = find_message(world, wanted.user, wanted.channel, wanted.ts)
        blocks = list(place.blocks)
    else:
        raise CannotDo("a click is in a message (channel and ts) or in a view (view_id)")
    for block, element in interactive(blocks):
        if element["action_id"] == wanted.action_id and wanted.block_id in (None, block["block_id"]):
            return ClickTarget(place, block, element)
    there = [f"{block['block_id']}/{element['action_id']}" for block, element in interactive(blocks)]
    raise NotThere(f"nothing to press with action_id {wanted.action_id!r}", there)


def _state_after(target: ClickTarget, value: Any) -> Json | None:
    element = target.element
    if target.block["type"] == "input" and not target.block.get("dispatch_action"):
        raise CannotDo(f"the input {target.block['block_id']!r} has no dispatch_action: nothing is sent for it")
    try:
        if element["type"] == "overflow":
            return {"type": "overflow", "selected_option": pick_option(element, value)}
        if element["type"] not in STATEFUL:
            return None
        return _present(target) if value is None else entered(element, value)
    except BadValue as bad:
        raise CannotDo(str(bad)) from bad


def _present(target: ClickTarget) -> Json:
    """Return what the element holds now: in a view what was entered, in a message its initial value."""
    if isinstance(target.place, StoredView):
        return target.place.values[target.block["block_id"]][target.element["action_id"]]
    return initial(target.element)


def _with_state(world: World, target: ClickTarget, state: Json | None) -> ClickTarget:
    """Keep what was chosen in the person's view; in messages it lives only in the payload."""
    view = target.place
    if state is None or not isinstance(view, StoredView) or state["type"] == "overflow":
        return target
    block_id, action_id = target.block["block_id"], target.element["action_id"]
    values = {**view.values, block_id: {**view.values.get(block_id, {}), action_id: state}}
    view = replace(view, values=values)
    world.put_view(view)
    return replace(target, place=view)


def _payload(world: World, target: ClickTarget, person: Member, *, trigger: Trigger, state: Json | None) -> Json:
    place = target.place
    base = frame(world, "block_actions", person, place.team_id) | {"trigger_id": trigger.id}
    action = action_json(target.block, target.element, state, world.next_ts())
    if isinstance(place, StoredView):
        return click_in_view(world, place, base, action=action)
    return click_in_message(world, place, base, hook=new_hook(world, person.id, place), action=action)
