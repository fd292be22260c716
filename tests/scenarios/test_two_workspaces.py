"""Two tenants in two workspaces, each with its own agent server, in one process: neither reaches the other's rows."""

from __future__ import annotations

import contextlib
import json
from dataclasses import replace

import httpx
import pytest

from bot.sandbox.agent.propose import propose
from bot.sandbox.slack.records import Group, Person
from bot.sandbox.slack.seed import BOT_TOKEN, add_team
from tests.forging import forge, pressed, showing_of, submitted
from tests.office import ADA, CHANNEL, WHO, buttons, local_agent, open_office, policy_text

pytestmark = pytest.mark.asyncio

TEAM, PLACE, EVE = "T0OTHER", "C0OTHERAPPROVALS", "U0EVE"
OTHER = """\
  other:
    slack: {{team: T0OTHER, channel: C0OTHERAPPROVALS}}
    agent: {{url: "{agent}", kind: langgraph, users: [approvals], assistant: agent_platform}}
    intake_token_env: PLACET_INTAKE_OTHER
    watch: {{every: 1s}}
    reviewers:
      - {{user: U0EVE, tools: ["*"], may: [approve, edit, reject, respond]}}
      - {{user: U0ADA, tools: ["*"], may: [approve, edit, reject, respond]}}
"""


def prepare(world, settings):
    """A second workspace with a token of its own; the same user ids may mean other people there."""
    add_team(world, TEAM, people=[Person(EVE, "Eve", TEAM)])
    world.add(Group("S0OTHER", "others", TEAM, (EVE,)))
    secrets = {**settings.secrets, "PLACET_INTAKE_OTHER": "another-intake-token-for-loopback"}
    tokens = {"T0DEMO": BOT_TOKEN, TEAM: "xoxb-other"}
    return replace(settings, slack_bot_token="", slack_tokens=tokens, secrets=secrets)


@pytest.fixture
def two(database, tmp_path, transport):
    """A running office for both, and a client for the second agent server."""

    @contextlib.asynccontextmanager
    async def make():
        (tmp_path / "a").mkdir()
        (tmp_path / "b").mkdir()
        async with local_agent(tmp_path / "a") as first, local_agent(tmp_path / "b") as second:
            text = policy_text(first.url) + OTHER.format(agent=second.url)
            async with (
                open_office(database, first, policy=text, prepare=prepare, transport=transport) as office,
                httpx.AsyncClient(base_url=second.url, timeout=30) as agents,
            ):
                yield office, second, agents

    return make


async def other_card(office):
    """Wait for the card in the other workspace's channel."""

    async def there():
        answer = await office.slack.get("/sandbox/messages", params={"channel": PLACE})
        return next((one for one in answer.raise_for_status().json() if "decide.approve" in buttons(one)), None)

    return await office.until(there, "a card in the other workspace")


async def test_each_workspace_decides_its_own_calls_on_its_own_server(two):
    async with two() as (office, second, agents):
        mine = await office.propose("one")
        card = await office.card(button="decide.approve")
        theirs = (await propose(agents, preset="one", turns=None, user=EVE))["thread_id"]
        other = await other_card(office)

        await office.click(ADA, card, "decide.approve")
        body = {"user": EVE, "channel": PLACE, "ts": other["ts"], "action_id": "decide.reject"}
        opened = (await office.slack.post("/sandbox/click", json=body)).raise_for_status().json()
        field = next(block["block_id"] for block in opened["view"]["blocks"] if block["type"] == "input")
        await office.submit(EVE, {field: "No."})
        await office.settled(mine)
        await office.settled(theirs)

        assert office.ran(mine) == ["disable_user"]
        assert not second.effects_file.exists() or second.effects_file.read_text() == ""
        tools = (await agents.get(f"/threads/{theirs}/state", headers=WHO)).json()["values"]["messages"]
        assert any("No." in str(one["content"]) for one in tools if one["type"] == "tool")


async def test_nothing_from_another_workspace_reaches_a_tenant_s_rows(two):
    """Every listener, with ids that are real in the one workspace, pressed from the other."""
    async with two() as (office, _second, _agents):
        mine = await office.propose("one")
        card = await office.card(button="decide.approve")
        (review,) = await office.reviews(mine)
        showing = showing_of(card, "decide.approve")
        for user in (ADA, EVE):
            for action in (
                "decide.approve",
                "decide.edit",
                "decide.reject",
                "decide.respond",
                "review.open",
                "edit.back",
            ):
                await forge(office, pressed(user, showing, action, team=TEAM))
            for callback in ("reject", "respond", "edit", "edit.confirm", "review", "batch"):
                await forge(office, submitted(user, showing, callback, {}, team=TEAM))

        (after,) = await office.reviews(mine)
        assert (after.state, after.version, after.actions) == (review.state, review.version, review.actions)
        assert office.ran() == []
        assert await told_of(office) == []
        channel = json.dumps(await office.messages())
        assert EVE not in channel


async def told_of(office):
    """What notices stand in the first tenant's name: words about it would go to its workspace."""
    from sqlalchemy import select

    from bot.store.tables import notices as table

    async with office.stores[0].read() as tx:
        return list(await tx.conn.scalars(select(table.c.key).where(table.c.tenant == "demo")))


async def test_a_command_and_a_home_tab_show_only_their_own_workspace(two):
    async with two() as (office, _second, _agents):
        await office.propose("one")
        await office.card(button="decide.approve")
        body = {"user": EVE, "channel": PLACE, "command": "/approvals", "text": "who disable_user"}
        await office.slack.post("/sandbox/command", json=body)
        said = str((await office.slack.get("/sandbox/ephemerals", params={"user": EVE})).json())

        assert "other" in said
        assert "S0SUPPORT" not in said
        assert CHANNEL not in said
