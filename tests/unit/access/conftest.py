"""A store per test, on each engine."""

import pytest_asyncio

from bot.store.upgrade import open_store


@pytest_asyncio.fixture
async def store(database):
    opened = await open_store(database)
    yield opened
    await opened.close()
