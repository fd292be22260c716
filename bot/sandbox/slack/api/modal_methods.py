"""views.*: opening, pushing and updating modals, publishing Home tabs."""

from bot.sandbox.slack.api.calling import ApiCall, Method
from bot.sandbox.slack.errors import ApiError
from bot.sandbox.slack.modals import accepted, exchange, new_view, open_root, push, replaced, view_json
from bot.sandbox.slack.records import Json, StoredView


def _content(call: ApiCall) -> Json:
    view: Json = call.structure("view", "invalid_arguments")
    if not isinstance(view, dict):
        raise ApiError("invalid_arguments", messages=["[ERROR] missing required field: view [json-pointer:]"])
    return view


def _ok(call: ApiCall, view: StoredView) -> Json:
    return {"ok": True, "view": view_json(call.world, view)}


def views_open(call: ApiCall) -> Json:
    """Open a modal with a trigger; it takes the place of any that the person has open."""
    trigger_id = call.required("trigger_id")
    content = accepted(call.world, _content(call), "modal", of_team=call.installation.team_id)
    trigger = exchange(call.world, trigger_id, call.installation)
    return _ok(call, open_root(call.world, content, user=trigger.user, team_id=trigger.team_id))


def views_push(call: ApiCall) -> Json:
    """Put a modal on top of the one in which the trigger was made."""
    trigger_id = call.required("trigger_id")
    content = accepted(call.world, _content(call), "modal", of_team=call.installation.team_id)
    trigger = exchange(call.world, trigger_id, call.installation)
    if trigger.view_id not in call.world.stacks.get(trigger.user, ()):
        raise ApiError("not_found")
    return _ok(call, push(call.world, content, user=trigger.user, team_id=trigger.team_id))


def _open_view(call: ApiCall) -> StoredView:
    view_id, external_id = call.string("view_id"), call.string("external_id")
    for view in call.world.views.values():
        named = view.id == view_id or (external_id is not None and view.content["external_id"] == external_id)
        if named and view.kind == "modal" and view.team_id == call.installation.team_id:
            return view
    raise ApiError("not_found")


def views_update(call: ApiCall) -> Json:
    """Replace an open modal; with `hash`, only if it still is what the caller saw."""
    view = _open_view(call)
    content = accepted(call.world, _content(call), "modal", of_team=view.team_id, but=view.id)
    if call.string("hash") not in (None, view.hash):
        raise ApiError("hash_conflict")
    view = replaced(call.world, view, content)
    call.world.put_view(view)
    return _ok(call, view)


def views_publish(call: ApiCall) -> Json:
    """Publish a person's Home tab: one for each person and installation."""
    world, team_id = call.world, call.installation.team_id
    if not world.app.home_enabled:
        raise ApiError("not_enabled")
    user = call.required("user_id")
    if user not in world.people:
        raise ApiError("user_not_found")
    old_id = world.homes.get((team_id, user), "")
    content = accepted(world, _content(call), "home", of_team=team_id, but=old_id)
    old = world.views.get(old_id)
    if call.string("hash") not in (None, old.hash if old else None):
        raise ApiError("hash_conflict")
    view = replaced(world, old, content) if old else new_view(world, content, user=user, team_id=team_id)
    world.homes[team_id, user] = view.id
    world.put_view(view)
    return _ok(call, view)


METHODS = {
    "views.open": Method(views_open, tier=4),
    "views.push": Method(views_push, tier=4),
    "views.update": Method(views_update, tier=4),
    "views.publish": Method(views_publish, tier=4),
}
