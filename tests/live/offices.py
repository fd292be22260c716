"""An office on a real agent server, and what a person does there without Placet.

The servers live for the whole run while each office wants an empty one: every waiting thread of an earlier test would
become a card. So what stands there is deleted first. Slack is patient here, because its clocks are not what is tested
and two servers and two databases share the machine.
"""

import contextlib
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import httpx

from bot.sandbox.slack.rules import Rules
from tests.kit.agent_relay import Relay, relaying
from tests.kit.office import WHO, AgentServer, Office, open_office, policy_text
from tests.live.servers import LiveServer

PATIENT = Rules(ack_seconds=30.0, trigger_seconds=30.0, opening_seconds=30.0)


@contextlib.asynccontextmanager
async def office_at(server: LiveServer, database: str, *, replicas: int = 1, **lines: Any) -> AsyncIterator[Office]:
    """An office on `server`, emptied; policy lines go to `policy_text`."""
    await emptied(server)
    agent = AgentServer(server.url, server.effects_file, server.kind)
    policy = policy_text(server.url, kind=server.kind, **lines)
    async with open_office(database, agent, replicas=replicas, policy=policy, rules=PATIENT) as office:
        yield office


@contextlib.asynccontextmanager
async def relayed_office_at(server: LiveServer, database: str, **lines: Any) -> AsyncIterator[tuple[Office, Relay]]:
    """As `office_at`, with a relay between the bot and the server."""
    async with relaying(server.url) as relay, office_at(replace(server, url=relay.url), database, **lines) as office:
        yield office, relay


async def emptied(server: LiveServer) -> None:
    """Delete every thread that this identity can see."""
    async with httpx.AsyncClient(base_url=server.url, headers=WHO, timeout=60) as client:
        while rows := (await client.post("/threads/search", json={"limit": 100})).raise_for_status().json():
            answers = [await client.delete(f"/threads/{row['thread_id']}") for row in rows]
            if all(answer.status_code >= 400 for answer in answers):
                raise RuntimeError(f"{server.kind} deletes no threads: {answers[0].text}")


async def answered_elsewhere(office: Office, thread: str, answer: Any) -> None:
    """Another client answers the thread's first interrupt, unmarked, as somebody's own page would."""
    state = await office.state(thread)
    row = await office.thread(thread)
    body = {
        "assistant_id": row["metadata"].get("assistant_id") or "agent_platform",
        "command": {"resume": {state["interrupts"][0]["id"]: answer}},
    }
    (await office.agents.post(f"/threads/{thread}/runs/wait", headers=WHO, json=body)).raise_for_status()
