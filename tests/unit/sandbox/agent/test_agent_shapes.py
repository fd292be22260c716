"""The sandbox prints what the real servers print: each scenario ends as it was recorded to end on both."""

import json
import re

import pytest

from tests.live.scenarios import SCENARIOS
from tests.live.shapes import shape

NOT_IMITATED = re.compile(
    r"\.kwargs"  # LangGraph's dump of a run's insides
    r"|langsmith_session_name"
    r"|metadata\.(langgraph_|run_attempt|thread_id|checkpoint_ns|checkpoint_map)"  # the real server's own notes
    r"|\.checkpoint_map"
    r"|thread\.config\.metadata"
    r"|additional_kwargs\.(invalid_tool_calls|usage_metadata)"
    r"|values\.done\[\]"  # a thread's row may or may not hold what a half answered step wrote
    r"|thread\.values\.messages"
)


def described(seen):
    """Everything that must be equal: the shape of the documents, and the values that a client acts on."""
    lines = {line for line in shape(seen) if not NOT_IMITATED.search(line)}
    errors = [task["error"] for task in seen["state"]["tasks"]]
    acted_on = seen["thread"]["status"], [run["status"] for run in seen["runs"]], seen["state"]["next"], errors
    return lines, acted_on


@pytest.mark.asyncio
@pytest.mark.parametrize("name", SCENARIOS)
async def test_a_scenario_ends_as_it_did_on_the_real_server(agent, recorded, name):
    real = json.loads((recorded / f"{agent.kind}-{name}.json").read_text())

    ours = await SCENARIOS[name](agent.client)

    assert described(ours) == described(real)
