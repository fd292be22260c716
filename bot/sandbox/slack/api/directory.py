"""auth.test, users.* and usergroups.*: who the bot is, who people are, who is in which group."""

from bot.sandbox.slack.api.calling import ApiCall, Method
from bot.sandbox.slack.errors import ApiError
from bot.sandbox.slack.records import Json
from bot.sandbox.slack.shapes import group_json, user_json


def auth_test(call: ApiCall) -> Json:
    """Return whose token this is."""
    team = call.world.teams[call.installation.team_id]
    bot = call.world.people.get(call.installation.bot_user)
    body: Json = {
        "ok": True,
        "url": f"https://{team.domain}.slack.com/",
        "team": team.name,
        "user": bot.name.lower() if bot else call.installation.bot_user.lower(),
        "team_id": team.id,
        "user_id": call.installation.bot_user,
        "bot_id": call.installation.bot_id,
        "is_enterprise_install": False,
    }
    if team.enterprise_id:
        body["enterprise_id"] = team.enterprise_id
    return body


def users_info(call: ApiCall) -> Json:
    """Return one person, also one of another workspace."""
    person = call.world.people.get(call.required("user"))
    if person is None:
        raise ApiError("user_not_found")
    body = user_json(call.world, person, seen_from=call.installation.team_id)
    if call.flag("include_locale") and person.team_id == call.installation.team_id:
        body["locale"] = person.locale
    return {"ok": True, "user": body}


def usergroups_list(call: ApiCall) -> Json:
    """Return the workspace's groups; disabled ones only where asked for."""
    users, count, disabled = call.flag("include_users"), call.flag("include_count"), call.flag("include_disabled")
    groups = [
        group_json(group, users=users, count=count)
        for group in call.world.groups.values()
        if group.team_id == call.installation.team_id and (disabled or not group.date_delete)
    ]
    return {"ok": True, "usergroups": groups}


def usergroups_users_list(call: ApiCall) -> Json:
    """Return the active members of a group; a disabled one is no group unless `include_disabled`."""
    group = call.world.groups.get(call.required("usergroup"))
    if group is None or group.team_id != call.installation.team_id:
        raise ApiError("no_such_subteam")
    if group.date_delete and not call.flag("include_disabled"):
        raise ApiError("no_such_subteam")
    people = call.world.people
    return {"ok": True, "users": [user for user in group.users if user in people and not people[user].deleted]}


METHODS = {
    "auth.test": Method(auth_test),
    "users.info": Method(users_info, ("users:read",), 4),
    "usergroups.list": Method(usergroups_list, ("usergroups:read",), 2),
    "usergroups.users.list": Method(usergroups_users_list, ("usergroups:read",), 2),
}
