"""Two tenants in two workspaces, each with its own agent server, in one process: neither reaches the other's rows."""

from __future__ import annotations

import contextlib
import json

import pytest

from tests.kit.forging import forge, pressed, showing_of, submitted
from tests.kit.office import ADA, CHANNEL, WHO
from tests.kit.two_tenants import EVE, PLACE, TEAM, open_two

pytestmark = pytest.mark.asyncio


@pytest.fixture
def two(database, tmp_path, transport):
    """A running office for both."""

    @contextlib.asynccontextmanager
    async def make():
        async with open_two(database, tmp_path, transport=transport) as found:
            yield found

    return make


async def test_each_workspace_decides_its_own_calls_on_its_own_server(two):
    async with two() as both:
        office, second = both.office, both.second
        mine, theirs = await office.propose("one"), await both.propose(user=EVE)
        card, other = await office.card(button="decide.approve"), await both.other_card()

        await office.click(ADA, card, "decide.approve")
        body = {"user": EVE, "channel": PLACE, "ts": other["ts"], "action_id": "decide.reject"}
        opened = (await office.slack.post("/sandbox/click", json=body)).raise_for_status().json()
        field = next(block["block_id"] for block in opened["view"]["blocks"] if block["type"] == "input")
        await office.submit(EVE, {field: "No."})
        await office.settled(mine)
        await office.settled(theirs)

        assert office.ran(mine) == ["disable_user"]
        assert not second.effects_file.exists() or second.effects_file.read_text() == ""
        tools = (await both.agents.get(f"/threads/{theirs}/state", headers=WHO)).json()["values"]["messages"]
        assert any("No." in str(one["content"]) for one in tools if one["type"] == "tool")


async def test_nothing_from_another_workspace_reaches_a_tenant_s_rows(two):
    """Every listener, with ids that are real in the one workspace, pressed from the other."""
    async with two() as both:
        office = both.office
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
                "result.open",
                "review.reveal",
            ):
                await forge(office, pressed(user, showing, action, team=TEAM))
            for callback in (
                "reject",
                "respond",
                "edit",
                "edit.confirm",
                "review",
                "result",
                "batch",
                "batch.edit",
                "batch.keep",
            ):
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
    async with two() as both:
        office = both.office
        await office.propose("one")
        await office.card(button="decide.approve")
        body = {"user": EVE, "channel": PLACE, "command": "/approvals", "text": "who disable_user"}
        await office.slack.post("/sandbox/command", json=body)
        said = str((await office.slack.get("/sandbox/ephemerals", params={"user": EVE})).json())

        assert "other" in said
        assert "S0SUPPORT" not in said
        assert CHANNEL not in said
