"""The slash command: my queue, who may decide, help; private, and nothing decided."""

from __future__ import annotations

import pytest

from tests.kit.office import ADA, CHANNEL, DAN

pytestmark = pytest.mark.asyncio


async def typed(office, user, text=""):
    """Type the command; answers what only this person reads, blocks and text."""
    body = {"user": user, "channel": CHANNEL, "command": "/approvals", "text": text}
    answer = (await office.slack.post("/sandbox/command", json=body)).raise_for_status().json()
    assert answer["error"] is None, answer
    private = (await office.slack.get("/sandbox/ephemerals", params={"user": user})).raise_for_status().json()
    return str(private[-1])


async def test_my_queue_names_the_calls_that_await_me(office_of):
    async with office_of() as office:
        assert "Nothing awaits you" in await queue_known(office)
        thread = await office.propose("one")
        await office.card(button="decide.approve")

        said = await typed(office, ADA)

        assert "Awaiting you: 1 call" in said
        assert "disable_user" in said
        assert office.ran(thread) == []


async def queue_known(office):
    """Ask until Slack could be asked who this is."""

    async def known():
        said = await typed(office, ADA)
        return said if "could not be asked" not in said else None

    return await office.until(known, "the queue to be known")


async def test_somebody_without_rights_is_told_whom_to_ask(office_of):
    async with office_of() as office:
        await office.propose("one")
        await office.card(button="decide.approve")

        said = await typed(office, DAN)

        assert "You may decide nothing here" in said
        assert f"<@{ADA}>" in said


async def test_who_may_decide_a_tool_is_told_with_the_rules(office_of):
    async with office_of() as office:
        said = await typed(office, DAN, "who disable_user")
        nobody = await typed(office, DAN, "who unheard_of <!channel>")

        assert ADA in said
        assert "S0SUPPORT" in said
        assert "<!channel>" not in nobody.replace("'text': 'unheard_of <!channel>', 'style': {'code': True}", "")


@pytest.mark.parametrize(
    ("text", "containing"), [("help", "says who may decide"), ("dance", "no command"), ("who", "Name a tool")]
)
async def test_help_says_what_there_is(office_of, text, containing):
    async with office_of() as office:
        assert containing in await typed(office, DAN, text)
