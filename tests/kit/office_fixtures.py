"""The office as a fixture, for every folder of tests that wants one: on each engine in turn, with a local agent server."""

from __future__ import annotations

import contextlib

import pytest

from bot.sandbox.slack.rules import Rules
from tests.kit.office import local_agent, open_office, policy_text

# A loaded machine must not look like a slow bot: how fast it acknowledges is measured elsewhere.
PATIENT = Rules(ack_seconds=20, trigger_seconds=20, opening_seconds=20)


@pytest.fixture
def office_of(database, tmp_path):
    """A factory: `async with office_of(replicas=2, tools=…) as office`. Policy lines go to `policy_text`."""

    @contextlib.asynccontextmanager
    async def make(*, kind="langgraph", replicas=1, transport="http", lease_ms=15_000, rules=PATIENT, **lines):
        async with local_agent(tmp_path, kind=kind) as agent:
            text = policy_text(agent.url, kind=kind, **lines)
            async with open_office(
                database, agent, replicas=replicas, transport=transport, policy=text, lease_ms=lease_ms, rules=rules
            ) as office:
                yield office

    return make
