"""Faults on calls and on deliveries: with an effect or without, once or for ever."""

import httpx
import pytest

from bot.sandbox.serving import serving
from bot.sandbox.slack.app import create_app
from bot.sandbox.slack.client import TROUBLE, WARNING
from bot.sandbox.slack.seed import demo_world
from tests.kit.slack_sandbox import FAST, PLAIN, open_workspace

POST = {"channel": "C0APPROVALS", "text": "hi"}
BEARER = {"authorization": "Bearer xoxb-demo"}


async def _texts(slack):
    return [m["text"] for m in await slack.look("messages", channel="C0APPROVALS")]


@pytest.mark.asyncio
async def test_error_is_answered_as_often_as_ordered_and_nothing_happens(slack):
    await slack.do("faults", method="chat.postMessage", error="fatal_error", times=2)

    answers = [await slack.call("chat.postMessage", **POST) for _ in range(3)]

    assert [a.get("error") for a in answers] == ["fatal_error", "fatal_error", None]
    assert await _texts(slack) == ["hi"]


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("fault", "status", "retry_after"),
    [
        ({"status": 429, "retry_after": 7}, 429, "7"),
        ({"status": 429}, 429, "1"),
        ({"error": "ratelimited"}, 429, "1"),
        ({"status": 503}, 503, None),
    ],
)
async def test_status_is_answered_with_retry_after_where_it_is_a_rate_limit(slack, fault, status, retry_after):
    await slack.do("faults", method="chat.postMessage", **fault)

    response = await slack.http.post("/api/chat.postMessage", json=POST, headers=BEARER)

    assert (response.status_code, response.headers.get("retry-after")) == (status, retry_after)
    assert await _texts(slack) == []


@pytest.mark.asyncio
async def test_star_is_any_method_and_null_is_for_ever_until_cleared(slack):
    await slack.do("faults", method="*", error="internal_error", times=None)

    first = [(await slack.call(m))["error"] for m in ("auth.test", "usergroups.list", "auth.test")]
    await slack.do("faults", clear=True)

    assert first == ["internal_error"] * 3
    assert (await slack.call("auth.test"))["ok"]


@pytest.mark.asyncio
async def test_faults_still_to_come_are_listed(slack):
    await slack.do("faults", method="chat.update", error="x", times=3)

    (fault,) = await slack.look("faults")
    assert (fault["method"], fault["error"], fault["times"]) == ("chat.update", "x", 3)


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("drop", "posted"), [("before", []), (True, []), ("after", ["hi"])], ids=["before", "true", "after"]
)
async def test_dropped_call_has_its_effect_only_after_it(drop, posted):
    async with serving(create_app(demo_world())) as url, httpx.AsyncClient(base_url=url, verify=PLAIN) as http:
        await http.post("/sandbox/faults", json={"method": "chat.postMessage", "drop": drop})
        with pytest.raises(httpx.RemoteProtocolError):
            await http.post("/api/chat.postMessage", json=POST, headers=BEARER)
        shown = (await http.get("/sandbox/messages", params={"channel": "C0APPROVALS"})).json()

    assert [m["text"] for m in shown] == posted


@pytest.mark.asyncio
async def test_effect_can_be_hidden_behind_an_error_status(slack):
    await slack.do("faults", method="chat.postMessage", status=500, drop="after")

    response = await slack.http.post("/api/chat.postMessage", json=POST, headers=BEARER)

    assert (response.status_code, response.json()["error"]) == (500, "internal_error")
    assert await _texts(slack) == ["hi"]


@pytest.mark.asyncio
async def test_click_lost_on_the_way_never_reaches_the_app(slack):
    await slack.do("faults", method="deliver", drop="before")

    outcome = await slack.click(await slack.post())

    assert (outcome["acked"], outcome["error"], slack.bot.seen) == (False, WARNING, [])


@pytest.mark.asyncio
async def test_lost_answer_is_trouble_though_the_app_has_acted(slack):
    await slack.open()
    await slack.do("faults", method="deliver.view_submission", drop="after")

    outcome = await slack.do("submit", user="U0ADA", values={"f": "x"})

    assert (outcome["error"], slack.bot.seen[-1]["type"]) == (TROUBLE, "view_submission")
    assert outcome["view"] is not None


@pytest.mark.asyncio
async def test_doubled_delivery_comes_twice_with_one_trigger(slack):
    ts = await slack.post()
    await slack.do("faults", method="deliver.block_actions", dup=True)

    outcome = await slack.click(ts, wait_s=0)

    assert outcome["acked"]
    assert len(slack.bot.seen) == 2
    assert slack.bot.seen[0] == slack.bot.seen[1]


@pytest.mark.asyncio
async def test_refused_delivery_shows_its_status(slack):
    await slack.do("faults", method="deliver", status=503)

    outcome = await slack.click(await slack.post())

    assert (outcome["status"], slack.bot.seen) == (503, [])


@pytest.mark.asyncio
async def test_delivery_that_takes_too_long_fails_for_the_person_and_still_arrives(slack):
    await slack.do("faults", method="deliver", delay_s=FAST.ack_seconds)

    outcome = await slack.click(await slack.post())

    assert (outcome["acked"], outcome["error"]) == (False, WARNING)
    assert await slack.world.bell.until(lambda: len(slack.bot.seen) == 1, 5)


@pytest.mark.asyncio
async def test_delivery_that_is_slow_but_in_time_is_acknowledged(slack):
    await slack.do("faults", method="deliver", delay_s=0.01)

    assert (await slack.click(await slack.post()))["acked"]


BAD = [
    {"error": "x"},
    {"method": "auth.test"},
    {"method": "auth.test", "error": "x", "times": 0},
    {"method": "auth.test", "status": 200},
    {"method": "auth.test", "drop": "sideways"},
    {"method": "auth.test", "delay_s": -1},
    {"method": "auth.test", "error": "x", "colour": "red"},
]


@pytest.mark.asyncio
@pytest.mark.parametrize("body", BAD)
async def test_fault_that_makes_no_sense_is_refused(slack, body):
    response = await slack.http.post("/sandbox/faults", json=body)

    assert response.status_code == 422
    assert await slack.look("faults") == []


@pytest.mark.asyncio
async def test_fault_outside_any_server_raises_to_the_caller():
    async with open_workspace() as slack:
        await slack.do("faults", method="auth.test", drop="before")
        with pytest.raises(ConnectionResetError):
            await slack.call("auth.test")
