"""What every test of the agent side needs: one TLS context and clients that are closed."""

import ssl
from collections.abc import AsyncIterator

import httpx
import pytest
import pytest_asyncio

from bot.runtimes.langgraph.transport import make_http


@pytest.fixture(scope="session")
def tls() -> ssl.SSLContext:
    return httpx.create_ssl_context(trust_env=False)


@pytest_asyncio.fixture
async def http(tls: ssl.SSLContext) -> AsyncIterator[httpx.AsyncClient]:
    async with make_http(tls) as client:
        yield client
