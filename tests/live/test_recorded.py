"""The recorded answers in `tests/data/agent` are still what the real servers answer."""

import json

import httpx
import pytest

from tests.live.record import DATA
from tests.live.scenarios import SCENARIOS
from tests.live.shapes import shape

pytestmark = [pytest.mark.live, pytest.mark.asyncio]


@pytest.mark.parametrize("name", SCENARIOS)
async def test_a_scenario_still_ends_as_it_was_recorded(live_server, name):
    recorded = json.loads((DATA / f"{live_server.kind}-{name}.json").read_text())

    async with httpx.AsyncClient(
        base_url=live_server.url, headers={"X-User-Id": "approvals"}, timeout=30, verify=False
    ) as client:
        seen = await SCENARIOS[name](client)

    assert {line for line in shape(seen) if ".kwargs" not in line} == shape(recorded)
    assert [run["status"] for run in seen["runs"]] == [run["status"] for run in recorded["runs"]]
    assert seen["thread"]["status"] == recorded["thread"]["status"]
