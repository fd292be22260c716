"""The control endpoints: their door, looking around, the agent, and replays."""

import contextlib
import json
import time
from dataclasses import replace

import httpx
import pytest
from slack_sdk.signature import SignatureVerifier
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

from bot.sandbox.serving import serving
from bot.sandbox.slack.app import create_app
from bot.sandbox.slack.seed import demo_world
from bot.sandbox.slack.signed_http import signature
from tests.kit.slack_sandbox import PLAIN, open_workspace


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "127.0.0.1:8420"}, 200),
        ({"host": "localhost:8420"}, 200),
        ({"host": "[::1]:8420"}, 200),
        ({"host": "placet.example.com"}, 403),
        ({"host": "127.0.0.1.example.com"}, 403),
        ({"host": "[::1"}, 403),
        ({"host": "127.0.0.1:8420", "origin": "http://127.0.0.1:8420"}, 200),
        ({"host": "127.0.0.1:8420", "origin": "http://127.0.0.1:9999"}, 403),
        ({"host": "127.0.0.1:8420", "origin": "https://example.com"}, 403),
        ({"host": "127.0.0.1:8420", "origin": "null"}, 403),
    ],
)
async def test_only_the_loopback_and_its_own_page_come_in(slack, headers, status):
    assert (await slack.http.get("/sandbox/people", headers=headers)).status_code == status


@pytest.mark.asyncio
@pytest.mark.parametrize("kind", ["application/x-www-form-urlencoded", "text/plain", ""])
async def test_post_that_is_no_json_is_refused(slack, kind):
    response = await slack.http.post("/sandbox/close", content='{"user": "U0ADA"}', headers={"content-type": kind})

    assert response.status_code == 415


@pytest.mark.asyncio
@pytest.mark.parametrize("body", ["{", "[]"])
async def test_broken_body_is_refused(slack, body):
    headers = {"content-type": "application/json"}

    assert (await slack.http.post("/sandbox/close", content=body, headers=headers)).status_code == 400


@pytest.mark.asyncio
async def test_people_are_listed_without_the_bot(slack):
    people = await slack.look("people")

    assert [(p["id"], p["name"], p["reviewer"]) for p in people] == [
        ("U0ADA", "Ada", True),
        ("U0BEN", "Ben", True),
        ("U0CLEO", "Cleo", False),
        ("U0DAN", "Dan", False),
        ("U0GUS", "Gus", False),
    ]
    assert people[1]["groups"] == ["S0SUPPORT"]
    assert people[4]["guest"] is True


@pytest.mark.asyncio
async def test_channels_are_listed(slack):
    channels = await slack.look("channels")

    assert [(c["id"], c["name"]) for c in channels] == [("C0APPROVALS", "approvals"), ("C0GENERAL", "general")]


@pytest.mark.asyncio
async def test_missing_query_parameter_is_named(slack):
    response = await slack.http.get("/sandbox/messages")

    assert (response.status_code, response.json()["error"]) == (422, "the query parameter 'channel' is missing")


@pytest.mark.asyncio
async def test_change_is_waited_for(slack):
    seen = (await slack.look("changes", wait_s=0))["seen"]

    idle = (await slack.look("changes", seen=seen, wait_s=0))["seen"]
    await slack.post()
    changed = (await slack.look("changes", seen=seen))["seen"]

    assert idle == seen
    assert changed > seen
    assert (await slack.http.get("/sandbox/changes", params={"seen": "x"})).status_code == 422


@pytest.mark.asyncio
async def test_sandbox_without_an_agent_has_no_effects(slack):
    assert await slack.look("effects") == []


@pytest.mark.asyncio
async def test_application_says_that_it_is_up(slack):
    assert (await slack.http.get("/ok")).text == "ok"


@pytest.mark.asyncio
async def test_effects_are_read_from_the_agents_file(tmp_path):
    line = {"tool": "send_email", "args": {"to": "a"}, "thread_id": "t", "tool_call_id": "c"}
    path = tmp_path / "effects.jsonl"
    transport = httpx.ASGITransport(create_app(demo_world(), effects_file=path))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as http:
        before = (await http.get("/sandbox/effects")).json()
        path.write_text(json.dumps(line) + "\n")
        after = (await http.get("/sandbox/effects")).json()

    assert (before, after) == ([], [line])


@contextlib.asynccontextmanager
async def with_agent(status=200):
    """The sandbox beside an agent server that takes every run, or answers everything with `status`."""
    asked = []

    async def take(request):
        asked.append((request.url.path, await request.json()))
        return JSONResponse({"thread_id": "t-1", "run_id": "r-1"}, status)

    agent = Starlette(routes=[Route("/{rest:path}", take, methods=["POST"])])
    async with serving(agent) as agent_url:
        transport = httpx.ASGITransport(create_app(demo_world(), agent_url=agent_url))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", verify=PLAIN) as http:
            yield http, asked


@pytest.mark.asyncio
async def test_run_is_started_in_the_name_of_the_person():
    async with with_agent() as (http, asked):
        answer = (await http.post("/sandbox/propose", json={"preset": "one", "user": "U0CLEO"})).json()

    assert (answer["thread_id"], answer["run_id"]) == ("t-1", "r-1")
    assert asked[0] == ("/threads", {"metadata": {"slack_user": "U0CLEO"}})
    assert asked[1][0] == "/threads/t-1/runs"


@pytest.mark.asyncio
async def test_unknown_preset_is_refused_with_those_there_are():
    async with with_agent() as (http, _):
        response = await http.post("/sandbox/propose", json={"preset": "nope", "user": "U0CLEO"})

    assert response.status_code == 422
    assert "three" in response.json()["error"]


@pytest.mark.asyncio
async def test_agent_server_that_fails_is_named_as_the_cause():
    async with with_agent(status=500) as (http, _):
        response = await http.post("/sandbox/propose", json={"preset": "one", "user": "U0CLEO"})

    assert response.status_code == 502


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"preset": "one", "user": "U0CLEO"}, 422),
        ({"user": "U0CLEO"}, 422),
        ({"preset": "one", "turns": [], "user": "U0CLEO"}, 422),
        ({"preset": "one", "user": "U0NOBODY"}, 404),
    ],
    ids=["no agent server", "nothing", "both", "nobody"],
)
async def test_run_that_cannot_be_started_is_refused(slack, body, status):
    assert (await slack.http.post("/sandbox/propose", json=body)).status_code == status


@pytest.mark.asyncio
async def test_recorded_click_can_be_sent_again_byte_for_byte(slack):
    await slack.click(await slack.post(), wait_s=0)
    (delivery,) = await slack.look("deliveries", kind="block_actions")

    answer = await slack.do("replay", number=delivery["number"])

    assert answer["status"] == 200
    assert slack.bot.seen[0] == slack.bot.seen[1]
    names = ("x-slack-signature", "x-slack-request-timestamp")
    first, second = ([r.headers[name] for name in names] for r in slack.bot.requests)
    assert first == second


@pytest.mark.asyncio
async def test_replay_of_what_never_was_is_refused(slack):
    assert "99" in (await slack.do("replay", number=99))["error"]


@pytest.mark.asyncio
async def test_replay_can_be_signed_anew(slack):
    await slack.click(await slack.post(), wait_s=0)
    slack.world.app = replace(slack.world.app, signing_secret="rotated")

    await slack.do("replay", number=0, fresh=True)

    first, second = (r.headers["x-slack-signature"] for r in slack.bot.requests)
    assert first != second


def test_signature_agrees_with_slacks_published_example():
    body = (
        "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V"
        "&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text="
        "&response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN"
        "&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c"
    )

    assert signature("8f742231b10e8888abcd99yyyzzz85a5", "1531420618", body) == (
        "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503"
    )


@pytest.mark.asyncio
async def test_deliveries_are_signed_so_that_slacks_own_verifier_agrees():
    async with open_workspace() as slack:
        await slack.click(await slack.post(), wait_s=0)

    (delivery,) = slack.world.deliveries
    verifier = SignatureVerifier("demo-signing-secret")
    assert verifier.is_valid_request(delivery.body, delivery.headers)
    assert abs(time.time() - int(delivery.headers["x-slack-request-timestamp"])) < 60


MALFORMED_TURNS = {
    "a text": "disable_user",
    "no turn": [],
    "an empty turn": [[]],
    "calls without a turn": [{"name": "disable_user", "args": {}}],
    "a name alone": [["disable_user"]],
    "no name": [[{"args": {}}]],
    "an empty name": [[{"name": "", "args": {}}]],
    "a number for a name": [[{"name": 7}]],
    "arguments as a text": [[{"name": "disable_user", "args": "{}"}]],
    "arguments under another key": [[{"name": "disable_user", "arguments": {}}]],
    "an object": {"name": "disable_user"},
}


@pytest.mark.asyncio
@pytest.mark.parametrize("turns", MALFORMED_TURNS.values(), ids=MALFORMED_TURNS)
async def test_turns_that_are_no_lists_of_calls_are_refused_and_shown_how_they_look(slack, turns):
    answer = await slack.http.post("/sandbox/propose", json={"turns": turns, "user": "U0CLEO"})

    assert answer.status_code == 422
    assert answer.json()["error"].startswith("turns")
    assert "a list of turns, each a list of calls" in answer.json()["error"]
