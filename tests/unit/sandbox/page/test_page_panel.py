import json

import httpx
import pytest
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

from bot.sandbox.agents.app import create_app as create_agent
from bot.sandbox.agents.presets import PRESETS
from bot.sandbox.page.menu import OTHERS, TELLING
from bot.sandbox.page.panel import Whereabouts, plain_effects, read_line, read_panel
from bot.sandbox.serving import serving
from tests.kit.sandbox_page import open_page, words


def test_every_preset_is_offered_once():
    assert sorted([offer.preset for offer in TELLING] + list(OTHERS)) == sorted(PRESETS)


def test_what_ran_is_shown_in_letters_that_cannot_hide_or_reorder():
    (effect,) = plain_effects([{"tool": "pay\u202e", "args": {"to": "\u200bx"}}])

    assert (effect.tool, effect.args) == ("pay\\u202e", '{"to": "\\u200bx"}')


@pytest.mark.parametrize(
    ("message", "text", "calls"),
    [
        ({"type": "human", "content": "one"}, "one", ()),
        ({"type": "ai", "content": "", "tool_calls": [{"name": "t", "args": {"a": 1}}]}, "", ('t {"a": 1}',)),
        ({"type": "ai", "content": [{"type": "text", "text": "x"}]}, '[{"type": "text", "text": "x"}]', ()),
    ],
)
def test_a_message_of_a_thread_is_text_and_calls(message, text, calls):
    line = read_line(message)

    assert (line.text, line.calls) == (text, calls)


@pytest.mark.asyncio
async def test_a_part_that_is_not_there_is_shown_and_fails_nothing_else():
    async def broken(request):
        return JSONResponse({}, 503)

    async with serving(Starlette(routes=[Route("/readyz", broken), Route("/gone", broken)])) as url:
        panel = await read_panel(Whereabouts("http://127.0.0.1:1", url), [], opened=["t"])

    assert [(part.name, part.fault) for part in panel.parts] == [
        ("Slack workspace", ""),
        ("Agent server", "does not answer"),
        ("Placet", "answers 503"),
    ]
    assert panel.threads == ()


@pytest.mark.asyncio
async def test_without_an_agent_server_the_panel_says_so():
    async with open_page() as page:
        shown = words((await page.http.get("/page/panel")).text)

    assert "Agent server: not started" in shown
    assert "Nothing yet." in shown
    assert "No threads yet." in shown


@pytest.mark.asyncio
async def test_an_opened_thread_shows_its_messages_and_effects_are_listed(tmp_path):
    effects = tmp_path / "effects.jsonl"
    async with (
        serving(create_agent(database=tmp_path / "agent.sqlite", effects_file=effects)) as agent,
        open_page(agent_url=agent, effects_file=effects) as page,
    ):
        started = await page.do("propose", preset="read", user="U0CLEO")
        async with httpx.AsyncClient(base_url=agent) as client:
            await client.get(f"/threads/{started['thread_id']}/runs/{started['run_id']}/join")
        shown = words((await page.http.get("/page/panel", params={"thread": started["thread_id"]})).text)

    assert f"idle for Cleo {started['thread_id'][:8]}" in shown
    assert "human read" in shown
    assert 'read_data {"key": "weather"}' in shown
    assert json.loads(effects.read_text())["tool"] == "read_data"
