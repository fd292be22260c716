"""Fixtures of the local Slack workspace's tests."""

import pytest_asyncio

from tests.kit.slack_sandbox import open_workspace


@pytest_asyncio.fixture
async def slack():
    """The demo's workspace with an app that acknowledges everything."""
    async with open_workspace() as workspace:
        yield workspace
