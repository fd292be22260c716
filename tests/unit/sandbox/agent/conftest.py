"""Agent servers of both kinds, in this process, each with its own memory and effects file."""

from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
import pytest_asyncio

from bot.sandbox.agents import effects
from bot.sandbox.agents.app import MEMORY, create_app
from bot.sandbox.serving import serving


@dataclass(frozen=True, slots=True)
class Agent:
    """A served agent server and a client that calls it as `approvals`."""

    kind: str
    url: str
    client: httpx.AsyncClient
    effects_file: Path

    def ran(self, thread_id: str | None = None) -> list[str]:
        lines = effects.read(self.effects_file)
        return [line["tool"] for line in lines if thread_id in (None, line["thread_id"])]


@pytest_asyncio.fixture
async def make_agent(tmp_path) -> Callable:
    """`await make_agent("aegra", database=..., api_key=...)`: one more server, stopped at the end of the test."""
    async with AsyncExitStack() as stack:

        async def make(kind="langgraph", database=MEMORY, api_key=None) -> Agent:
            effects_file = tmp_path / f"effects-{kind}.jsonl"
            app = create_app(database=database, effects_file=effects_file, kind=kind, api_key=api_key)
            url = await stack.enter_async_context(serving(app))
            opened = httpx.AsyncClient(base_url=url, headers={"X-User-Id": "approvals"}, timeout=20, verify=False)
            return Agent(kind, url, await stack.enter_async_context(opened), effects_file)

        yield make


@pytest_asyncio.fixture(params=["langgraph", "aegra"])
async def agent(request, make_agent) -> Agent:
    """A server of each kind in turn."""
    return await make_agent(request.param)


@pytest.fixture(scope="session")
def recorded() -> Path:
    """Where the real servers' answers are kept."""
    return Path(__file__).parents[3] / "data" / "agent"
