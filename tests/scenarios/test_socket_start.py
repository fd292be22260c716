"""Starting over Socket Mode: a token that Slack refuses is one line, and a Slack that is away keeps nobody from stopping the bot."""

from __future__ import annotations

import signal
from dataclasses import replace

import httpx
import pytest

from tests.kit.engines import database_on
from tests.kit.postgres import free_port
from tests.kit.processes import house_on

pytestmark = pytest.mark.asyncio


@pytest.fixture
def house_of(request, warm, tmp_path):
    """On SQLite only: the database has no part in it."""
    with database_on("sqlite", request, tmp_path) as url:
        yield lambda: house_on(url, warm, tmp_path)


async def put_over_sockets(house):
    house.office.world.app = replace(house.office.world.app, transport="socket")


async def test_an_app_token_that_slack_refuses_is_one_line_and_exit_code_2(house_of):
    async with house_of() as house:
        await put_over_sockets(house)
        process = house.launch("serve", SLACK_APP_TOKEN="xapp-wrong")

        assert await process.ended() == 2
        (line,) = [line for line in process.said().splitlines() if line.startswith("placet: ")]
        assert "SLACK_APP_TOKEN (invalid_auth)" in line
        assert "Traceback" not in process.said()


async def test_an_app_whose_socket_mode_is_off_is_told_so(house_of):
    async with house_of() as house:
        process = house.launch("serve", SLACK_APP_TOKEN="xapp-demo")

        assert await process.ended() == 2
        assert "switch its Socket Mode on" in process.said()


async def test_while_the_socket_cannot_be_opened_the_bot_is_not_ready_and_stops_when_it_is_told(house_of):
    async with house_of() as house:
        await put_over_sockets(house)
        await house.office.fault("apps.connections.open", status=503, times=None)
        port = free_port()
        process = house.launch("serve", SLACK_APP_TOKEN="xapp-demo", PLACET_PORT=str(port))

        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False) as client:

            async def answered():
                try:
                    return await client.get("/readyz")
                except httpx.TransportError:
                    return None

            ready = await house.office.until(answered, "an answer")
        process.signal(signal.SIGTERM)

        assert ready.status_code == 503
        assert "socket" in ready.text
        assert await process.ended(patience=10) == 0
