"""response_url: what it may replace, how often, and for how long."""

import pytest

from bot.sandbox.slack.seed import make_world
from tests.kit.slack_sandbox import FAST, Clock, actions, open_workspace, section


async def _clicked(slack, ts=None, user="U0ADA"):
    await slack.click(ts or await slack.post(), user=user, wait_s=0)
    return slack.bot.seen[-1]["response_url"]


async def _respond(slack, url, **body):
    return await slack.http.post(url, json=body)


@pytest.mark.asyncio
async def test_answer_that_replaces_nothing_is_seen_by_the_clicker_only(slack):
    url = await _clicked(slack)

    response = await _respond(slack, url, text="not you", replace_original=False)

    assert response.text == "ok"
    assert [e["text"] for e in await slack.look("ephemerals", user="U0ADA")] == ["not you"]
    (card,) = await slack.look("messages", channel="C0APPROVALS")
    assert card["text"] == "card"


@pytest.mark.asyncio
async def test_answer_in_the_channel_is_a_message(slack):
    url = await _clicked(slack)

    await _respond(slack, url, text="done", response_type="in_channel", replace_original=False)

    assert [m["text"] for m in await slack.look("messages", channel="C0APPROVALS")] == ["card", "done"]


@pytest.mark.asyncio
async def test_leaving_replace_original_out_overwrites_the_shared_message(slack):
    url = await _clicked(slack)

    await _respond(slack, url, text="oops")

    (message,) = await slack.look("messages", channel="C0APPROVALS")
    assert (message["text"], message["blocks"]) == ("oops", [])


@pytest.mark.asyncio
async def test_ephemeral_is_replaced_and_deleted_only_this_way(slack):
    sent = {"channel": "C0APPROVALS", "user": "U0ADA", "text": "only you", "blocks": [actions()]}
    ts = (await slack.call("chat.postEphemeral", **sent))["message_ts"]
    url = await _clicked(slack, ts)

    await _respond(slack, url, text="changed", replace_original=True)
    assert [e["text"] for e in await slack.look("ephemerals", user="U0ADA")] == ["changed"]
    await _respond(slack, url, delete_original=True)

    assert await slack.look("ephemerals", user="U0ADA") == []


@pytest.mark.asyncio
async def test_original_message_can_be_deleted(slack):
    url = await _clicked(slack)

    await _respond(slack, url, delete_original=True)

    assert await slack.look("messages", channel="C0APPROVALS") == []


@pytest.mark.asyncio
async def test_sixth_use_is_refused(slack):
    url = await _clicked(slack)

    answers = [await _respond(slack, url, text="x", replace_original=False) for _ in range(6)]

    assert [a.status_code for a in answers] == [200] * 5 + [404]
    assert answers[5].json()["error"] == "used_url"


@pytest.mark.asyncio
async def test_after_thirty_minutes_it_is_refused():
    clock = Clock()
    async with open_workspace(make_world(clock=clock, rules=FAST)) as slack:
        url = await _clicked(slack)
        clock.now += 1801
        response = await _respond(slack, url, text="x", replace_original=False)

    assert (response.status_code, response.json()["error"]) == (404, "expired_url")


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("body", "status", "error"),
    [
        ({"blocks": [{"type": "nope"}]}, 400, "invalid_blocks"),
        ({}, 400, "no_text"),
        ({"text": "x", "gone": True}, 404, "message_not_found"),
    ],
    ids=["bad blocks", "nothing", "original gone"],
)
async def test_answer_is_refused_with_slacks_error(slack, body, status, error):
    ts = await slack.post()
    url = await _clicked(slack, ts)
    if body.pop("gone", False):
        await slack.do("delete-message", channel="C0APPROVALS", ts=ts)

    response = await _respond(slack, url, **body)

    assert (response.status_code, response.json()["error"]) == (status, error)


@pytest.mark.asyncio
async def test_made_up_address_is_refused(slack):
    assert (await _respond(slack, "/actions/T0DEMO/1/2", text="x")).status_code == 404


@pytest.mark.asyncio
async def test_total_of_text_is_not_limited_here(slack):
    url = await _clicked(slack)

    response = await _respond(slack, url, text="x", blocks=[section("x" * 3000)] * 5, replace_original=False)

    assert response.status_code == 200
