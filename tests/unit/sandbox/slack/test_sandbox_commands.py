"""Slash commands: the fields, what an ack may say, and who cannot type them."""

import asyncio
from dataclasses import replace

import pytest

from bot.sandbox.slack.records import Member
from bot.sandbox.slack.seed import add_foreigner, make_world
from tests.kit.slack_sandbox import FAST, modal, open_workspace, section


def typed(**more):
    return {"user": "U0ADA", "channel": "C0APPROVALS", "command": "/placet", "text": "pending", **more}


@pytest.mark.asyncio
async def test_command_is_sent_as_form_fields(slack):
    outcome = await slack.do("command", **typed())

    (fields,) = slack.bot.seen
    assert (outcome["acked"], outcome["error"]) == (True, None)
    assert (fields["command"], fields["text"]) == ("/placet", "pending")
    assert (fields["team_id"], fields["channel_id"], fields["channel_name"]) == ("T0DEMO", "C0APPROVALS", "approvals")
    assert (fields["user_id"], fields["api_app_id"]) == ("U0ADA", "A0PLACET")
    assert fields["trigger_id"]
    assert fields["response_url"].startswith("http://127.0.0.1/commands/")


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("ack", "shown"),
    [
        ("two wait", "two wait"),
        ({"text": "two wait"}, "two wait"),
        ({"response_type": "ephemeral", "text": "x", "blocks": [section()]}, "x"),
        ("[1]", "[1]"),
    ],
    ids=["text", "object", "blocks", "a list"],
)
async def test_ack_with_words_is_shown_to_the_person(ack, shown):
    async with open_workspace(reply=lambda payload: ack) as slack:
        await slack.do("command", **typed())

        assert [e["text"] for e in await slack.look("ephemerals", user="U0ADA")] == [shown]


@pytest.mark.asyncio
async def test_ack_can_speak_to_the_channel():
    async with open_workspace(reply=lambda payload: {"response_type": "in_channel", "text": "all"}) as slack:
        await slack.do("command", **typed())

        assert [m["text"] for m in await slack.look("messages", channel="C0APPROVALS")] == ["all"]


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("reply", "error"),
    [(500, "dispatch_failed"), ({"blocks": [{"type": "nope"}]}, "dispatch_failed")],
    ids=["status", "bad blocks"],
)
async def test_failed_command_names_its_error(reply, error):
    async with open_workspace(reply=lambda payload: reply) as slack:
        outcome = await slack.do("command", **typed())

    assert error in outcome["error"]


@pytest.mark.asyncio
async def test_late_command_times_out():
    async def never(payload):
        await asyncio.Event().wait()

    async with open_workspace(reply=never) as slack:
        outcome = await slack.do("command", **typed())

    assert "operation_timeout" in outcome["error"]


@pytest.mark.asyncio
async def test_commands_trigger_opens_a_modal():
    def reply(payload):
        opening.append(asyncio.ensure_future(slack.call("views.open", trigger_id=payload["trigger_id"], view=modal())))

    opening = []
    async with open_workspace(reply=reply) as slack:
        outcome = await slack.do("command", **typed())
        await asyncio.gather(*opening)

    assert outcome["view"]["type"] == "modal"


@pytest.mark.asyncio
async def test_commands_response_url_has_no_original_to_replace(slack):
    await slack.do("command", **typed())

    await slack.http.post(slack.bot.seen[0]["response_url"], json={"text": "later"})

    assert [e["text"] for e in await slack.look("ephemerals", user="U0ADA")] == ["later"]


@pytest.mark.asyncio
async def test_people_from_outside_have_no_commands(slack):
    add_foreigner(slack.world, Member("U0EVE", "Eve", "T0OTHER"), channel="C0APPROVALS")

    response = await slack.http.post("/sandbox/command", json=typed(user="U0EVE"))

    assert response.status_code == 422
    assert slack.bot.seen == []


@pytest.mark.asyncio
async def test_command_that_the_app_does_not_have_is_not_there():
    world = make_world(rules=FAST)
    world.app = replace(world.app, commands=frozenset({"/placet"}))
    async with open_workspace(world) as slack:
        response = await slack.http.post("/sandbox/command", json=typed(command="/other"))

    assert (response.status_code, response.json()["exists"]) == (404, ["/placet"])
