"""The real slack_bolt against the sandbox, over both transports: one contract for both."""

import asyncio
import contextlib
import json
from dataclasses import replace

import httpx
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from bot.sandbox.serving import serving
from bot.sandbox.slack.app import create_app
from bot.sandbox.slack.client import TROUBLE, WARNING
from bot.sandbox.slack.rules import Rules
from bot.sandbox.slack.seed import make_world
from tests.kit.slack_bolt import bolt_over_http, bolt_over_sockets
from tests.kit.slack_sandbox import PLAIN, actions


@contextlib.asynccontextmanager
async def joined(transport):
    if transport == "http":
        async with bolt_over_http() as (slack, bot):
            yield slack, bot
    else:
        async with bolt_over_sockets() as (slack, bot, _):
            yield slack, bot


both = pytest.mark.parametrize("transport", ["http", "socket"])


@both
@pytest.mark.asyncio
async def test_click_reaches_the_listener_and_is_acknowledged(transport):
    async with joined(transport) as (slack, bot):
        outcome = await slack.click(await bot.post_card(), "approve", wait_s=0)

    assert outcome == {"acked": True, "status": 200, "error": None, "view": None, "errors": {}}
    assert bot.seen == [("approve", "U0ADA", "s_1")]


@both
@pytest.mark.asyncio
async def test_modal_is_opened_corrected_updated_and_submitted(transport):
    async with joined(transport) as (slack, bot):
        opened = await slack.click(await bot.post_card(), "edit")
        wrong = await slack.do("submit", user="U0ADA", values={"Why": "bad"})
        updated = await slack.do("submit", user="U0ADA", values={"Why": "more"})

    assert opened["view"]["callback_id"] == "edit"
    assert (wrong["errors"], wrong["view"]["id"]) == ({"f": "Say why"}, opened["view"]["id"])
    assert updated["view"]["blocks"][0]["text"]["text"] == "done"


@both
@pytest.mark.asyncio
async def test_empty_ack_closes_the_modal(transport):
    async with joined(transport) as (slack, bot):
        await slack.click(await bot.post_card(), "edit")
        outcome = await slack.do("submit", user="U0ADA", values={"Why": "fine"})

    assert (outcome["error"], outcome["view"]) == (None, None)


@both
@pytest.mark.asyncio
async def test_command_is_answered_in_its_ack(transport):
    async with joined(transport) as (slack, _):
        outcome = await slack.do("command", user="U0ADA", channel="C0APPROVALS", command="/placet", text="pending")
        shown = await slack.look("ephemerals", user="U0ADA")

    assert outcome["acked"]
    assert [e["text"] for e in shown] == ["heard pending"]


@both
@pytest.mark.asyncio
async def test_home_is_published_when_it_is_opened(transport):
    async with joined(transport) as (slack, _):
        shown = await slack.look("home", user="U0ADA")

    assert shown["view"]["blocks"][0]["text"]["text"] == "yours"


@both
@pytest.mark.asyncio
async def test_what_no_listener_takes_is_not_acknowledged(transport):
    async with joined(transport) as (slack, _):
        slack.world.rules = replace(slack.world.rules, ack_seconds=0.5)
        outcome = await slack.click(await slack.post(actions()), "go", wait_s=0)

    assert (outcome["acked"], outcome["error"]) == (False, WARNING)


@pytest.mark.asyncio
async def test_forged_signature_is_refused_by_bolt():
    async with bolt_over_http() as (slack, bot):
        await slack.click(await bot.post_card(), "approve", wait_s=0)
        delivery = slack.world.deliveries[0]
        forged = delivery.headers | {"x-slack-signature": "v0=" + "0" * 64}
        answer = await slack.world.couriers["http"].post(delivery.body, forged)

    assert answer.status == 401
    assert len(bot.seen) == 1


@pytest.mark.asyncio
async def test_recorded_click_verifies_again_as_at_slack():
    async with bolt_over_http() as (slack, bot):
        await slack.click(await bot.post_card(), "approve", wait_s=0)
        answer = await slack.do("replay", number=0)

    assert answer["status"] == 200
    assert bot.seen[0] == bot.seen[1]


@pytest.mark.asyncio
async def test_each_envelope_goes_to_one_connection_and_they_take_turns():
    async with bolt_over_sockets(connections=2) as (slack, bot, sockets):
        ts = await bot.post_card()
        await asyncio.gather(*(slack.click(ts, "approve", wait_s=0) for _ in range(4)))

        assert (await slack.look("socket"))["connections"] == 2
        assert len(sockets.connections) == 2
    assert len(bot.seen) == 4


@pytest.mark.asyncio
@pytest.mark.parametrize("ending", [{"reason": "refresh_requested"}, {"cut": True}], ids=str)
async def test_bolt_comes_back_after_its_connection_ends(ending):
    async with bolt_over_sockets() as (slack, bot, sockets):
        first = sockets.connections[0]
        await slack.do("socket", **ending)
        back = await slack.world.bell.until(lambda: sockets.connections and first not in sockets.connections, 30)
        outcome = await slack.click(await bot.post_card(), "approve", wait_s=0)

    assert back
    assert outcome["acked"]


@pytest.mark.asyncio
async def test_interaction_without_a_connection_fails_for_the_person_at_once():
    async with (
        serving(create_app(make_world(transport="socket"))) as url,
        httpx.AsyncClient(base_url=url, verify=PLAIN) as http,
    ):
        posted = await http.post(
            "/api/chat.postMessage",
            json={"channel": "C0APPROVALS", "text": "x", "blocks": [actions()]},
            headers={"authorization": "Bearer xoxb-demo"},
        )
        body = {"user": "U0ADA", "channel": "C0APPROVALS", "ts": posted.json()["ts"], "action_id": "go", "wait_s": 0}
        outcome = (await http.post("/sandbox/click", json=body)).json()

    assert (outcome["acked"], outcome["error"]) == (False, WARNING)


@contextlib.asynccontextmanager
async def raw_sockets(rules=None):
    """Yield the world, an HTTP client and a function that opens one raw connection."""
    world = make_world(transport="socket", rules=rules)
    async with (
        serving(create_app(world)) as url,
        httpx.AsyncClient(base_url=url, verify=PLAIN) as http,
        contextlib.AsyncExitStack() as stack,
    ):

        async def link(address=None):
            socket = await stack.enter_async_context(connect(address or await ticket()))
            return socket, json.loads(await socket.recv())

        async def ticket():
            answer = await http.post("/api/apps.connections.open", headers={"authorization": "Bearer xapp-demo"})
            return answer.json()["url"]

        yield world, http, link, ticket


@pytest.mark.asyncio
async def test_hello_counts_the_connections():
    async with raw_sockets() as (_, _, link, _):
        _, first = await link()
        _, second = await link()

    assert (first["type"], first["num_connections"], second["num_connections"]) == ("hello", 1, 2)
    assert first["connection_info"] == {"app_id": "A0PLACET"}
    assert first["debug_info"]["approximate_connection_time"] == 3600


@pytest.mark.asyncio
async def test_address_works_once():
    async with raw_sockets() as (_, _, link, ticket):
        address = await ticket()
        await link(address)
        with pytest.raises(InvalidStatus):
            await link(address)


@pytest.mark.asyncio
async def test_eleventh_connection_is_sent_away():
    async with raw_sockets() as (_, _, link, _):
        for _ in range(10):
            await link()
        socket, frame = await link()
        with pytest.raises(ConnectionClosed):
            await socket.recv()

    assert (frame["type"], frame["reason"]) == ("disconnect", "too_many_websockets")


@pytest.mark.asyncio
async def test_unacknowledged_event_comes_again_with_its_attempt():
    rules = Rules(ack_seconds=0.2, retry_delays=(0.0, 0.0, 0.0))
    async with raw_sockets(rules) as (_, http, link, _):
        socket, _ = await link()
        await http.post("/sandbox/event", json={"event": {"type": "user_change"}})
        first, second = json.loads(await socket.recv()), json.loads(await socket.recv())
        await socket.send(json.dumps({"envelope_id": second["envelope_id"]}))

    assert (first["type"], first["accepts_response_payload"]) == ("events_api", False)
    assert (first["retry_attempt"], second["retry_attempt"], second["retry_reason"]) == (0, 1, "timeout")
    assert first["payload"]["event_id"] == second["payload"]["event_id"]


@pytest.mark.asyncio
async def test_connection_is_warned_and_then_closed():
    async with raw_sockets() as (_, http, link, _):
        socket, _ = await link()
        told = (await http.post("/sandbox/socket", json={"reason": "warning", "close": True})).json()
        frame = json.loads(await socket.recv())
        with pytest.raises(ConnectionClosed):
            await socket.recv()

    assert told == {"connections": 1}
    assert (frame["type"], frame["reason"]) == ("disconnect", "warning")


async def _click(http):
    posted = await http.post(
        "/api/chat.postMessage",
        json={"channel": "C0APPROVALS", "text": "x", "blocks": [actions()]},
        headers={"authorization": "Bearer xoxb-demo"},
    )
    body = {"user": "U0ADA", "channel": "C0APPROVALS", "ts": posted.json()["ts"], "action_id": "go", "wait_s": 0}
    return (await http.post("/sandbox/click", json=body)).json()


@pytest.mark.asyncio
@pytest.mark.parametrize("noise", ["not json", "[]", '{"envelope_id": "of-nobody"}'])
async def test_frames_that_acknowledge_nothing_are_ignored(noise):
    async with raw_sockets() as (_, http, link, _):
        socket, _ = await link()
        clicking = asyncio.get_running_loop().create_task(_click(http))
        envelope = json.loads(await socket.recv())
        await socket.send(noise)
        await socket.send(json.dumps({"envelope_id": envelope["envelope_id"]}))
        outcome = await clicking

    assert (envelope["type"], envelope["accepts_response_payload"]) == ("interactive", True)
    assert outcome["acked"]


@pytest.mark.asyncio
async def test_connection_that_goes_before_its_ack_fails_the_click():
    async with raw_sockets() as (_, http, link, _):
        socket, _ = await link()
        clicking = asyncio.get_running_loop().create_task(_click(http))
        await socket.recv()
        await socket.close()
        outcome = await clicking

    assert outcome["error"] == WARNING


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("token", "error"), [("", "not_authed"), ("xapp-wrong", "invalid_auth"), ("xoxb-demo", "not_allowed_token_type")]
)
async def test_connection_needs_the_app_level_token(token, error):
    async with raw_sockets() as (_, http, _, _):
        headers = {"authorization": f"Bearer {token}"} if token else {}
        answer = (await http.post("/api/apps.connections.open", headers=headers)).json()

    assert answer["error"] == error


@pytest.mark.asyncio
async def test_app_configured_for_http_gets_no_connection():
    async with bolt_over_http() as (slack, _):
        answer = await slack.call("apps.connections.open", token="xapp-demo")

    assert answer["error"] == "forbidden_team"


@pytest.mark.asyncio
async def test_late_submission_over_a_socket_is_trouble():
    async with bolt_over_sockets() as (slack, bot, _):
        await slack.click(await bot.post_card(), "edit")
        await slack.do("faults", method="deliver.view_submission", drop="after")
        outcome = await slack.do("submit", user="U0ADA", values={"Why": "fine"})

    assert outcome["error"] == TROUBLE
    assert bot.seen == [("submit", "fine")]


@pytest.mark.asyncio
async def test_recorded_envelope_can_be_sent_again_under_its_id():
    async with bolt_over_sockets() as (slack, bot, _):
        await slack.click(await bot.post_card(), "approve", wait_s=0)
        answer = await slack.do("replay", number=0)

    assert answer["status"] == 200
    assert bot.seen[0] == bot.seen[1]


@pytest.mark.asyncio
async def test_connection_can_be_refused_with_a_rate_limit():
    async with raw_sockets() as (_, http, _, _):
        await http.post("/sandbox/faults", json={"method": "apps.connections.open", "status": 429, "retry_after": 3})
        answer = await http.post("/api/apps.connections.open", headers={"authorization": "Bearer xapp-demo"})

    assert (answer.status_code, answer.headers["retry-after"]) == (429, "3")
