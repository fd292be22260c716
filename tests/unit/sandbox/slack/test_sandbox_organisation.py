"""An organisation: its own id for a person, and its own way of sending the same press."""

import pytest

from bot.sandbox.slack.organisation import spelled
from bot.sandbox.slack.records import Member, Spelling, Team
from bot.sandbox.slack.seed import make_world


def organised():
    world = make_world()
    world.add(Team("T0DEMO", "Demo", "demo", "E0DEMO"), Member("U0BEN", "Ben", "T0DEMO", org_id="W0BEN"))
    return world


PRESS = {
    "type": "block_actions",
    "team": {"id": "T0DEMO"},
    "user": {"id": "U0BEN", "team_id": "T0DEMO"},
    "view": {"id": "V1", "app_installed_team_id": "T0DEMO"},
}
COMMAND = {"command": "/x", "team_id": "T0DEMO", "user_id": "U0BEN"}
EVENT = {"event": {"user": "U0BEN"}, "team_id": "T0DEMO", "authorizations": [{"team_id": "T0DEMO"}]}


def test_without_a_choice_of_spelling_nothing_is_said_otherwise():
    for payload in (PRESS, COMMAND, EVENT):
        assert spelled(organised(), payload) == payload


def test_an_organisation_s_installation_names_no_team():
    world = organised()
    world.spelling = Spelling(org_wide=True)
    press, command, event = (spelled(world, payload) for payload in (PRESS, COMMAND, EVENT))

    assert (press["team"], press["enterprise"]["id"], press["is_enterprise_install"]) == (None, "E0DEMO", True)
    assert (press["view"]["app_installed_team_id"], press["user"]["id"]) == ("E0DEMO", "U0BEN")
    assert (command["team_id"], command["enterprise_id"]) == ("", "E0DEMO")
    assert (event["team_id"], event["authorizations"][0]["enterprise_id"]) == (None, "E0DEMO")


def test_people_are_called_by_the_id_that_the_organisation_has_for_them():
    world = organised()
    world.spelling = Spelling(org_ids=True)

    assert spelled(world, PRESS)["user"]["id"] == "W0BEN"
    assert spelled(world, COMMAND)["user_id"] == "W0BEN"
    assert spelled(world, EVENT)["event"]["user"] == "W0BEN"


@pytest.mark.asyncio
async def test_a_person_is_found_by_either_id(slack):
    slack.world.add(Team("T0DEMO", "Demo", "demo", "E0DEMO"), Member("U0BEN", "Ben", "T0DEMO", org_id="W0BEN"))

    (one, other) = [(await slack.call("users.info", user=user))["user"] for user in ("U0BEN", "W0BEN")]

    assert one == other
    assert (one["id"], one["enterprise_user"]["id"]) == ("U0BEN", "W0BEN")
