"""Changing the workspace: faults, people, channels, messages, the installation, and events out of nowhere."""

from dataclasses import replace
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict
from starlette.requests import Request

from bot.sandbox.slack import changes
from bot.sandbox.slack.control.guard import read
from bot.sandbox.slack.events import emit
from bot.sandbox.slack.faults import parse_fault
from bot.sandbox.slack.lookup import NotThere, find_channel
from bot.sandbox.slack.records import Json
from bot.sandbox.slack.wire import json_object, world_of


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class PersonBody(_Strict):
    """Changes to one account; `groups` are all the groups the person is to be in. `silent`: the app is not told."""

    id: str
    name: str | None = None
    reviewer: bool | None = None
    deleted: bool | None = None
    is_restricted: bool | None = None
    is_ultra_restricted: bool | None = None
    groups: list[str] | None = None
    silent: bool = False


class ChannelBody(_Strict):
    """Changes to one channel: archived or not, who is added and removed."""

    id: str
    archived: bool | None = None
    add: list[str] = []
    remove: list[str] = []
    silent: bool = False


class MessageBody(_Strict):
    """Which message to delete."""

    channel: str
    ts: str
    silent: bool = False


class EventBody(_Strict):
    """Any event, as the inner object of the envelope; delivered whether or not the app subscribes to it."""

    event: dict[str, Any]
    team: str | None = None


class InstallationBody(_Strict):
    """What becomes of the app in a workspace; `scopes` replaces what its token may do."""

    team: str
    status: Literal["active", "token_revoked", "account_inactive"] | None = None
    scopes: list[str] | None = None
    silent: bool = False


async def fault(request: Request) -> list[Json]:
    """Order a fault; `{"clear": true}` takes all back."""
    world, body = world_of(request), json_object(await request.body())
    if body.get("clear") is True:
        world.faults.clear()
    else:
        world.faults.add(parse_fault(body))
    return world.faults.listed()


async def person(request: Request) -> Json:
    """Change an account and its groups."""
    world, body = world_of(request), await read(request, PersonBody)
    given = body.model_dump(exclude={"id", "groups", "silent"}, exclude_none=True)
    if given:
        await changes.change_person(world, body.id, given, silent=body.silent)
    if body.groups is not None:
        await changes.change_groups(world, body.id, body.groups, silent=body.silent)
    return {"ok": True}


async def channel(request: Request) -> Json:
    """Archive a channel or change who is in it."""
    world, body = world_of(request), await read(request, ChannelBody)
    old = find_channel(world, body.id)
    archived = old.is_archived if body.archived is None else body.archived
    members = (old.members | set(body.add)) - set(body.remove)
    await changes.change_channel(world, replace(old, is_archived=archived, members=members), silent=body.silent)
    return {"ok": True}


async def delete_message(request: Request) -> Json:
    """Delete a message, whoever posted it."""
    body = await read(request, MessageBody)
    await changes.delete_message(world_of(request), body.channel, body.ts, silent=body.silent)
    return {"ok": True}


async def event(request: Request) -> Json:
    """Send the app an event and say how it took the first delivery."""
    world, body = world_of(request), await read(request, EventBody)
    team_id = body.team or next(iter(world.installations))
    if team_id not in world.installations:
        raise NotThere(f"no installation in {team_id!r}", world.installations)
    answer = await emit(world, team_id, body.event, wanted=True)
    return {"status": answer.status if answer else None}


async def installation(request: Request) -> Json:
    """Revoke a token, uninstall the app, install it again, or change its scopes."""
    world, body = world_of(request), await read(request, InstallationBody)
    if body.team not in world.installations:
        raise NotThere(f"no installation in {body.team!r}", world.installations)
    if body.scopes is not None:
        world.add(replace(world.installations[body.team], scopes=frozenset(body.scopes)))
    if body.status is not None:
        await changes.revoke(world, body.team, body.status, silent=body.silent)
    return {"ok": True}
