"""Looking around: what a person, or a test, sees of the workspace. Only opening the Home tab tells the app anything."""

from dataclasses import asdict
from typing import Any

from starlette.requests import Request

from bot.sandbox.slack.client import modal_marks
from bot.sandbox.slack.control.guard import required_query
from bot.sandbox.slack.events import emit
from bot.sandbox.slack.lookup import CannotDo, find_channel, find_person, installation_for
from bot.sandbox.slack.modals import view_json
from bot.sandbox.slack.posting import direct_channel
from bot.sandbox.slack.records import Json, Member
from bot.sandbox.slack.wire import world_of
from bot.sandbox.slack.world import World

LONGEST_WAIT_S = 25.0
FIRST_HOME_S = 3.0
NEXT_HOME_S = 0.6


async def people(request: Request) -> list[Json]:
    """Return everybody with an account who is no bot."""
    world = world_of(request)
    return [_person_json(world, person) for person in world.people.values() if not person.is_bot]


def _person_json(world: World, person: Member) -> Json:
    return {
        "id": person.id,
        "name": person.name,
        "reviewer": person.reviewer,
        "team": person.team_id,
        "deleted": person.deleted,
        "guest": person.is_restricted or person.is_ultra_restricted,
        "groups": [group.id for group in world.groups.values() if person.id in group.users],
    }


async def channels(request: Request) -> list[Json]:
    """Return every conversation, direct ones included."""
    return [
        {
            "id": channel.id,
            "name": channel.name,
            "kind": channel.kind,
            "team": channel.team_id,
            "archived": channel.is_archived,
            "members": sorted(channel.members),
        }
        for channel in world_of(request).channels.values()
    ]


async def messages(request: Request) -> list[Json]:
    """Return a channel's messages, replies among them, oldest first."""
    world = world_of(request)
    channel = find_channel(world, required_query(request, "channel"))
    shown = sorted(world.messages.get(channel.id, {}).values(), key=lambda m: m.ts)
    return [
        {
            "ts": m.ts,
            "thread_ts": m.thread_ts,
            "user": m.user,
            "text": m.text,
            "blocks": list(m.blocks),
            "metadata": m.metadata,
            "edited": m.edited_ts is not None,
            "deleted": m.tombstone,
        }
        for m in shown
    ]


async def ephemerals(request: Request) -> list[Json]:
    """Return what only this person sees, oldest first."""
    world = world_of(request)
    person = find_person(world, required_query(request, "user"))
    return [
        {"ts": e.ts, "thread_ts": e.thread_ts, "channel": e.channel, "text": e.text, "blocks": list(e.blocks)}
        for e in world.ephemerals
        if e.user == person.id
    ]


async def modal(request: Request) -> Json:
    """Return the modal on top, what is typed in it, the errors under its fields and the notice above them."""
    world = world_of(request)
    person = find_person(world, required_query(request, "user"))
    stack = world.modals(person.id)
    if not stack:
        return {"view": None, "stack": 0, "state": {}, "errors": {}, "notice": None}
    top = stack[-1]
    return {
        "view": view_json(world, top),
        "stack": len(modal_marks(world, person.id)),
        "state": top.values,
        "errors": top.errors,
        "notice": top.notice,
    }


async def home(request: Request) -> Json:
    """Open a person's Home tab as they would: the app hears app_home_opened and has a moment to publish.

    With `?look=1` the app hears nothing.
    """
    world = world_of(request)
    person = find_person(world, required_query(request, "user"))
    team_id = request.query_params.get("team") or installation_for(world, person).team_id
    if request.query_params.get("look") is None:
        await _open_home(world, person, team_id)
    view_id = world.homes.get((team_id, person.id))
    return {"view": view_json(world, world.views[view_id]) if view_id else None}


async def _open_home(world: World, person: Member, team_id: str) -> None:
    def mark() -> str | None:
        view_id = world.homes.get((team_id, person.id))
        return world.views[view_id].hash if view_id else None

    before = mark()
    event: Json = {
        "type": "app_home_opened",
        "user": person.id,
        "channel": direct_channel(world, world.installations[team_id], person.id).id,
        "tab": "home",
    }
    if before is not None:
        event["view"] = view_json(world, world.views[world.homes[team_id, person.id]])
    answer = await emit(world, team_id, event)
    if answer is not None and answer.received:
        await world.bell.until(lambda: mark() != before, FIRST_HOME_S if before is None else NEXT_HOME_S)


async def calls(request: Request) -> list[Json]:
    """Return the Web API calls so far, oldest first; `?method=` picks one method's."""
    method = request.query_params.get("method")
    return [asdict(call) for call in world_of(request).calls if method in (None, call.method)]


async def deliveries(request: Request) -> list[Json]:
    """Return what was sent to the app, oldest first; `?kind=` picks one kind."""
    kind = request.query_params.get("kind")
    return [asdict(delivery) for delivery in world_of(request).deliveries if kind in (None, delivery.kind)]


async def changes(request: Request) -> Json:
    """Wait until anything changes after `?seen=` (a count from an earlier answer), at most `?wait_s=` seconds."""
    world = world_of(request)
    try:
        seen = int(request.query_params.get("seen", "-1"))
        wait_s = min(float(request.query_params.get("wait_s", "25")), LONGEST_WAIT_S)
    except ValueError:
        raise CannotDo("seen and wait_s are numbers") from None
    await world.bell.until(lambda: world.bell.count != seen, wait_s)
    return {"seen": world.bell.count}


async def faults(request: Request) -> list[Json]:
    """Return the faults still to come."""
    listed: list[Any] = world_of(request).faults.listed()
    return listed
