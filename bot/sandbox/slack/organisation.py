"""How an organisation's payloads call places and people, and which account an id of the organisation's means.

In an organisation the same press can come in other words: through the organisation's own installation, without a `team`, and
by the id that the person has there. A test chooses by `World.spelling`; nothing else about the press changes.
"""

from bot.sandbox.slack.records import Json
from bot.sandbox.slack.world import World

NAMING_ARGUMENTS = ("user", "user_id", "users", "channel")


def spelled(world: World, payload: Json) -> Json:
    """Return an interaction, a command or an event as the organisation would send it."""
    named = payload
    if world.spelling.org_ids:
        named = _by_org_id(world, named)
    if world.spelling.org_wide:
        named = _through_organisation(world, named)
    return named


def _by_org_id(world: World, payload: Json) -> Json:
    ids = {person.id: person.org_id for person in world.people.values() if person.org_id}
    named = dict(payload)
    if isinstance(payload.get("user"), dict):
        named["user"] = payload["user"] | {"id": ids.get(payload["user"]["id"], payload["user"]["id"])}
    if "user_id" in payload:
        named["user_id"] = ids.get(payload["user_id"], payload["user_id"])
    event = payload.get("event")
    if isinstance(event, dict) and isinstance(event.get("user"), str):
        named["event"] = event | {"user": ids.get(event["user"], event["user"])}
    return named


def _through_organisation(world: World, payload: Json) -> Json:
    team = payload["team"]["id"] if isinstance(payload.get("team"), dict) else payload.get("team_id")
    enterprise_id = world.teams[team].enterprise_id if team else None
    if not enterprise_id:
        return payload
    named = dict(payload)
    if "event" in payload:
        authorizations = [
            one | {"enterprise_id": enterprise_id, "team_id": None, "is_enterprise_install": True}
            for one in payload["authorizations"]
        ]
        return named | {"team_id": None, "enterprise_id": enterprise_id, "authorizations": authorizations}
    if "command" in payload:
        return named | {"team_id": "", "enterprise_id": enterprise_id, "is_enterprise_install": "true"}
    named |= {"team": None, "enterprise": {"id": enterprise_id, "name": enterprise_id}, "is_enterprise_install": True}
    if isinstance(payload.get("view"), dict):
        named["view"] = payload["view"] | {"app_installed_team_id": enterprise_id}
    return named


def by_account(world: World, args: Json) -> Json:
    """Return the arguments of a call with every person by the id of their account: Slack takes either."""
    ids = {person.org_id: person.id for person in world.people.values() if person.org_id}
    return {
        name: ids.get(value, value) if name in NAMING_ARGUMENTS and isinstance(value, str) else value
        for name, value in args.items()
    }
