"""The doctor: a sound office has nothing to mend, and each broken thing is named with its mend."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from email.utils import formatdate

import pytest
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

from bot.cli.doctor import text_of
from bot.doctor.agent import clock_of
from bot.doctor.finding import DoctorFinding, Grade
from bot.doctor.report import examine, failed
from bot.policy.source import parse
from bot.runtimes.langgraph.client import Agents
from bot.sandbox.serving import serving
from bot.sandbox.slack.faults import Fault
from bot.sandbox.slack.records import Group
from tests.kit.office import local_agent, open_office, policy_text

pytestmark = pytest.mark.asyncio


@pytest.fixture
def examined(tmp_path):
    """Examine an office after something was done to it; the policy's lines may be other ones."""

    async def look(break_it=None, *, url=None, tools="", **changes):
        database = f"sqlite+aiosqlite:///{tmp_path / 'placet.db'}"
        async with local_agent(tmp_path) as agent:
            text = policy_text(url or agent.url, tools=tools)
            async with open_office(database, agent, policy=text) as office:
                if break_it:
                    break_it(office.world)
                settings = replace(office.settings, database_url=database, **changes)
                return await examine(settings)

    return look


def grades(found, *wanted):
    return [one for one in found if one.grade in wanted]


async def test_a_sound_office_has_nothing_to_mend(examined):
    found = await examined(secret_key="k" * 64)

    # The tests' policy settles faster than is wise, and is told so.
    assert [one.area for one in grades(found, Grade.FAULT, Grade.WARN)] == ["policy"]
    assert not failed(found)
    areas = {one.area for one in found if one.grade is Grade.OK}
    assert {"settings", "database", "cards", "intake", "slack", "agent"} <= areas


async def test_every_broken_thing_is_named_with_its_mend(examined):
    def break_it(world):
        channel = world.channels["C0APPROVALS"]
        world.add(type(channel)(channel.id, channel.name, channel.team_id, frozenset({"U0ADA"}), channel.kind, True))
        group = world.groups["S0SUPPORT"]
        world.add(Group(group.id, group.handle, group.team_id, ()))
        installed = world.installations["T0DEMO"]
        world.add(replace(installed, scopes=installed.scopes - {"users:read"}))

    found = await examined(break_it, url="http://127.0.0.1:9", secrets={"PLACET_INTAKE_DEMO": "short"}, secret_key="")

    bad = grades(found, Grade.FAULT, Grade.WARN)
    said = " ".join(one.what for one in bad)
    for part in (
        "is archived",
        "not in channel",
        "is empty",
        "lacks users:read",
        "cannot be asked",
        "fewer than 24",
        "not signed",
    ):
        assert part in said
    assert all(one.mend for one in bad)
    assert failed(found)


@pytest.mark.parametrize(("apart", "grade"), [(0, Grade.OK), (-90, Grade.WARN), (3600, Grade.WARN), (None, Grade.NOTE)])
async def test_the_agent_server_s_clock_is_compared_with_this_machine_s(apart, grade):
    said = {} if apart is None else {"date": formatdate(time.time() + apart, usegmt=True)}

    async def info(_request):
        return JSONResponse({"version": "1"}, headers=said)

    async with serving(Starlette(routes=[Route("/info", info)])) as url:
        tenant = parse(policy_text(url)).tenants["demo"]
        agents = Agents(lambda _name: None)
        found = await clock_of(agents, tenant, "approvals")
        await agents.close()

    assert [one.grade for one in found] == [grade]
    assert apart in (0, None) or str(abs(apart))[:2] in found[0].what


async def test_a_token_that_slack_refuses_is_a_fault_and_stands_in_no_line(examined):
    found = await examined(slack_bot_token="xoxb-revoked-secret")

    assert any(one.area == "slack" and one.grade is Grade.FAULT for one in found)
    assert "xoxb-revoked-secret" not in text_of(found)


async def test_without_a_database_the_rest_waits(tmp_path):
    from bot.settings import read

    found = await examine(read({"PLACET_DATABASE_URL": f"sqlite:///{tmp_path / 'none.db'}"}))

    assert found[-1].area == "database"
    assert found[-1].grade is Grade.FAULT


async def test_the_worst_stands_first():
    found = [DoctorFinding("a", Grade.OK, "Fine."), DoctorFinding("b", Grade.FAULT, "Bad.", "Mend it.", "demo")]

    assert text_of(found).splitlines() == [
        "FAULT  b, demo: Bad.",
        "       → Mend it.",
        "ok     a: Fine.",
        "",
        "1 to mend.",
    ]
    assert json.dumps([one.what for one in found])


async def test_an_app_token_that_opens_no_socket_is_a_fault_and_a_slack_that_is_away_is_not(examined):
    def away(world):
        world.faults.add(Fault("apps.connections.open", status=503, times=None))

    refused = await examined(slack_app_token="xapp-wrong", secret_key="k" * 64)
    unasked = await examined(away, slack_app_token="xapp-demo", secret_key="k" * 64)

    assert [one.area for one in grades(refused, Grade.FAULT)] == ["settings"]
    assert grades(unasked, Grade.FAULT) == []
    assert any("could not be asked" in one.what for one in grades(unasked, Grade.WARN))


async def test_tools_whose_calls_nobody_says_how_to_decide_are_listed_with_the_line_to_add(tmp_path):
    database = f"sqlite+aiosqlite:///{tmp_path / 'placet.db'}"
    async with local_agent(tmp_path, kind="aegra") as agent:
        policy = policy_text(agent.url, kind="aegra")
        async with open_office(database, agent, policy=policy) as office:
            thread = await office.propose("per-call")
            await office.until(lambda: waits(office, thread), "two reviews")
            found = await examine(replace(office.settings, database_url=database))

    told = {one.mend for one in found if "cannot be decided" in one.what}
    lines = {
        "`execute_sql: {decisions: [approve, reject]}` under tenants.demo.tools",
        "`decisions: [approve, reject]` under tenants.demo.tools.disable_user",
    }
    assert told == {f"Add {line}, with exactly the decisions that the agent allows." for line in lines}


async def waits(office, thread):
    return len(await office.reviews(thread)) == 2


async def test_the_channel_of_a_tool_is_looked_at_as_the_tenant_s_is(examined):
    def break_it(world):
        channel = world.channels["C0APPROVALS"]
        world.add(type(channel)("C0REFUNDS", "refunds", channel.team_id, frozenset({"U0ADA"})))

    found = await examined(break_it, tools="      refund: {channel: C0REFUNDS}\n")

    assert any(one.grade is Grade.FAULT and "not in channel C0REFUNDS" in one.what for one in found)
    assert any(one.grade is Grade.OK and "Channel C0APPROVALS" in one.what for one in found)
