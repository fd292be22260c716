"""Slash commands: sending one, and showing what the app answers in its ack."""

import json

from bot.sandbox.slack.blockkit.messages import problems_in_blocks
from bot.sandbox.slack.client import ClientOutcome, look_on, modal_marks, new_command_hook, new_trigger, top_view
from bot.sandbox.slack.delivery import deliver
from bot.sandbox.slack.lookup import CannotDo, NotThere, find_channel, find_person, installation_for
from bot.sandbox.slack.parcels import ApiAnswer, Parcel
from bot.sandbox.slack.posting import PostRequest, show
from bot.sandbox.slack.records import Channel, Hook, Json, Member, Trigger
from bot.sandbox.slack.world import World

FAILED = "{command} failed with the error “{error}”"


async def run_command(world: World, *, user: str, channel: str, command: str, text: str) -> ClientOutcome:
    """Type a command in a channel. External people cannot, and a name that the app does not have is not there."""
    person, place = find_person(world, user), find_channel(world, channel)
    installation = installation_for(world, person)
    if person.team_id != installation.team_id:
        raise CannotDo(f"{user} is from outside {installation.team_id} and cannot run its commands")
    if world.app.commands is not None and command not in world.app.commands:
        raise NotThere(f"no command {command!r}", sorted(world.app.commands))
    trigger = new_trigger(world, person, installation.team_id)
    hook = new_command_hook(world, user, team_id=installation.team_id, channel=place.id)
    before = modal_marks(world, user)
    payload = _fields(world, person, place, trigger=trigger, hook=hook) | {"command": command, "text": text}
    answer = await deliver(world, Parcel("command", payload))
    error = _take(world, hook, answer)
    await look_on(world, trigger, before)
    said = FAILED.format(command=command, error=error) if error else None
    return ClientOutcome(answer.acked, answer.status, said, top_view(world, user))


def _fields(world: World, person: Member, place: Channel, *, trigger: Trigger, hook: Hook) -> Json:
    team = world.teams[hook.team_id]
    fields = {
        "token": "deprecated",
        "team_id": team.id,
        "team_domain": team.domain,
        "channel_id": place.id,
        "channel_name": place.name or "directmessage",
        "user_id": person.id,
        "user_name": person.name.lower(),
        "api_app_id": world.app.id,
        "is_enterprise_install": "false",
        "response_url": world.base_url + hook.path,
        "trigger_id": trigger.id,
    }
    if team.enterprise_id:
        fields |= {"enterprise_id": team.enterprise_id, "enterprise_name": team.enterprise_id}
    return fields


def _take(world: World, hook: Hook, answer: ApiAnswer) -> str | None:
    """Show the ack's text or blocks; return the error that the client names, if any."""
    if answer.status is None:
        return "operation_timeout"
    if not answer.acked:
        return "dispatch_failed"
    if not answer.body.strip():
        return None
    body = _spoken(answer.body)
    if problems_in_blocks(body.get("blocks", [])):
        return "dispatch_failed"
    post = PostRequest(str(body.get("text", "")), tuple(body.get("blocks", [])))
    show(world, hook, post, in_channel=body.get("response_type") == "in_channel")
    return None


def _spoken(body: str) -> Json:
    try:
        parsed = json.loads(body)
    except ValueError:
        return {"text": body}
    return parsed if isinstance(parsed, dict) else {"text": body}
