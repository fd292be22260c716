"""An office with a gate before its agent server: for what a wire does to one answer on its way."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from bot.sandbox.agents.app import create_app as create_agent
from bot.sandbox.serving import serving
from tests.kit.gate import Gate
from tests.kit.office import AgentServer, Office, open_office, policy_text
from tests.kit.office_fixtures import PATIENT
from tests.kit.wiretap import Wiretap


@contextlib.asynccontextmanager
async def wired_office(
    database: str, folder: Path, *, kind: str = "langgraph", replicas: int = 1, settle: str = "1s", **lines: Any
) -> AsyncIterator[tuple[Office, Gate]]:
    """The office, and the gate that all its requests to the agent server pass.

    `settle` is the time between the two looks that prove a request not taken; policy lines go to `policy_text`.
    """
    effects = folder / "effects.jsonl"
    tapped = Wiretap(create_agent(database=folder / "agent.sqlite", effects_file=effects, kind=kind))
    gate = Gate(tapped)
    async with serving(gate) as url:
        agent = AgentServer(url, effects, kind, tapped.heard)
        policy = policy_text(url, kind=kind, **lines).replace("settle_for: 1s", f"settle_for: {settle}")
        async with open_office(database, agent, policy=policy, replicas=replicas, rules=PATIENT) as office:
            yield office, gate
