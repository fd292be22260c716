"""Two tenants in two workspaces, each with its own agent server, in one process of the bot."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx

from bot.sandbox.agents.propose import propose
from bot.sandbox.slack.records import Group, Member
from bot.sandbox.slack.seed import BOT_TOKEN, add_team
from tests.kit.office import CLEO, AgentServer, Office, buttons, local_agent, open_office, policy_text

TEAM, PLACE, EVE = "T0OTHER", "C0OTHERAPPROVALS", "U0EVE"
OTHER_TOKEN = "another-intake-token-for-loopback"
OTHER = """\
  other:
    slack: {{team: T0OTHER, channel: C0OTHERAPPROVALS}}
    agent: {{url: "{agent}", kind: langgraph, users: [approvals], assistant: agent_platform}}
    intake_token_env: PLACET_INTAKE_OTHER
    watch: {{every: 1s}}
    reviewers:
      - {{user: U0EVE, tools: ["*"], may: [approve, edit, reject, respond]}}
      - {{user: U0ADA, tools: ["*"], may: [approve, edit, reject, respond]}}
"""


@dataclass(frozen=True, slots=True)
class Two:
    """The office, which is the first tenant's, and the second one's agent server."""

    office: Office
    second: AgentServer
    agents: httpx.AsyncClient

    async def propose(self, preset: str = "one", *, user: str = CLEO) -> str:
        """Start a run of the second tenant's."""
        return str((await propose(self.agents, preset=preset, turns=None, user=user))["thread_id"])

    async def other_card(self) -> dict[str, Any]:
        """Wait for the card in the second workspace's channel."""

        async def there() -> dict[str, Any] | None:
            answer = await self.office.slack.get("/sandbox/messages", params={"channel": PLACE})
            return next((one for one in answer.raise_for_status().json() if "decide.approve" in buttons(one)), None)

        return dict(await self.office.until(there, "a card in the other workspace"))


def prepare(world: Any, settings: Any) -> Any:
    """A second workspace with a token of its own; the same user ids may mean other people there."""
    add_team(world, TEAM, people=[Member(EVE, "Eve", TEAM)])
    world.add(Group("S0OTHER", "others", TEAM, (EVE,)))
    secrets = {**settings.secrets, "PLACET_INTAKE_OTHER": OTHER_TOKEN}
    tokens = {"T0DEMO": BOT_TOKEN, TEAM: "xoxb-other"}
    return replace(settings, slack_bot_token="", slack_tokens=tokens, secrets=secrets)


@contextlib.asynccontextmanager
async def open_two(database: str, folder: Path, **options: Any) -> AsyncIterator[Two]:
    """A running office for both; `options` go to `open_office`."""
    (folder / "a").mkdir()
    (folder / "b").mkdir()
    async with local_agent(folder / "a") as first, local_agent(folder / "b") as second:
        text = policy_text(first.url) + OTHER.format(agent=second.url)
        async with (
            open_office(database, first, policy=text, prepare=prepare, **options) as office,
            httpx.AsyncClient(base_url=second.url, timeout=30) as agents,
        ):
            yield Two(office, second, agents)
