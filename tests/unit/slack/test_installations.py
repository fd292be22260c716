"""Whose token Slack refuses is said by the setting that it came from."""

from __future__ import annotations

import pytest

from bot.errors import ConfigurationError
from bot.sandbox.serving import serving
from bot.sandbox.slack.app import create_app
from bot.sandbox.slack.seed import BOT_TOKEN, make_world
from bot.slack.client import web_api
from bot.slack.client.installations import identify, install

pytestmark = pytest.mark.asyncio


async def test_a_refused_token_of_the_file_is_named_by_its_workspace_and_the_file():
    async with serving(create_app(make_world())) as url:
        client = web_api.make_client("xoxb-nobodys", f"{url}/api/")

        with pytest.raises(ConfigurationError) as caught:
            await install({"T0OTHER": client})

    assert "PLACET_SLACK_TOKENS: the token for T0OTHER" in str(caught.value)
    assert "SLACK_BOT_TOKEN" not in str(caught.value)


async def test_the_one_token_is_named_by_its_own_setting():
    async with serving(create_app(make_world())) as url:
        with pytest.raises(ConfigurationError, match="SLACK_BOT_TOKEN is refused by Slack"):
            await identify(web_api.make_client("xoxb-nobodys", f"{url}/api/"))
        found = await identify(web_api.make_client(BOT_TOKEN, f"{url}/api/"))

    assert found.team == "T0DEMO"
