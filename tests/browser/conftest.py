"""One browser for all browser tests, all of them in one event loop."""

from __future__ import annotations

import pytest
import pytest_asyncio

from tests.kit.browser import chromium, looking, served, why_no_browser


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def browser():
    if reason := why_no_browser():
        pytest.skip(reason)
    async with chromium() as running:
        yield running


@pytest.fixture
def look_at(browser):
    """`async with look_at(url) as (page, complaints)`."""

    def opened(url, **context):
        return looking(browser, url, **context)

    return opened


@pytest.fixture
def workspace():
    """`async with workspace(reply) as slack`: a served workspace, `reply` in the app's place."""
    return served
