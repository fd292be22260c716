"""`/approvals`: my queue, who may decide a tool, help. Each answer is private and stands in the acknowledgement.

A command decides nothing, so it cannot be misused to decide. Whoever asks learns only about the tenants of the workspace
that they typed it in.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import structlog
from slack_bolt.async_app import AsyncAck, AsyncApp

from blocks import words
from blocks.home import RuleLine, WhoView, help_answer, queue_answer, who_answer
from blocks.models import Rendered
from bot.access.person import Actor
from bot.policy.explain import who_decides
from bot.policy.matching import tool_settings
from bot.policy.model import TenantPolicy, touches
from bot.slack.client.people import PeopleReader
from bot.slack.inbound.payloads import MalformedPayload, parse_command
from bot.slack.outbound.home import MOST, queue_of
from bot.slack.outbound.projection import call_view
from bot.store.engine import Store
from bot.store.policies import Policies

log = structlog.get_logger("placet")
COMMAND = "/approvals"
LONGEST_TOOL = 200

Body = dict[str, Any]


@dataclass(frozen=True, slots=True)
class SlashCommands:
    """What answers the slash command."""

    store: Store
    policies: Policies
    people: PeopleReader
    asked: Callable[[], None]  # hurries the reader of people on

    def register(self, app: AsyncApp) -> None:
        """Put the command on the app."""
        app.command(COMMAND)(self.command)

    async def command(self, ack: AsyncAck, body: Body) -> None:
        """Answer in the acknowledgement."""
        try:
            actor, text = parse_command(body)
        except MalformedPayload as exc:
            log.warning("A malformed command was refused.", action="malformed", fault=str(exc))
            answer = queue_answer((), words.NO_TENANT_HERE)
        else:
            answer = await self._answer(actor, text)
        await ack(response_type="ephemeral", text=answer.text, blocks=answer.blocks)

    async def _answer(self, actor: Actor, text: str) -> Rendered:
        verb, _, rest = text.strip().partition(" ")
        match verb.lower():
            case "":
                return await self._queue(actor)
            case "who":
                return await self._decides(actor, rest.strip())
            case "help":
                return help_answer()
        return help_answer(words.NOT_A_COMMAND)

    async def _queue(self, actor: Actor) -> Rendered:
        async with self.store.read() as tx:
            found = await queue_of(tx, await self.policies.in_force(tx), actor)
        if found.unsure:
            self.people.want(actor.account)
            self.asked()
        calls = [call_view(one.review, one.action, one.drawing, showing="") for one in found.calls]
        return queue_answer(calls, found.ask, MOST if found.cut else None)

    async def _decides(self, actor: Actor, tool: str) -> Rendered:
        if not tool:
            return help_answer(words.WHO_USAGE)
        async with self.store.read() as tx:
            in_force = await self.policies.in_force(tx)
        here = [tenant for tenant in in_force.tenants() if touches(tenant, actor.team)]
        if not here:
            return queue_answer((), words.NO_TENANT_HERE)
        return who_answer(tool[:LONGEST_TOOL], [_view(tenant, tool[:LONGEST_TOOL]) for tenant in here])


def _view(tenant: TenantPolicy, tool: str) -> WhoView:
    rules = tuple(RuleLine(rule.user, rule.group, line) for rule, line in who_decides(tenant, tool))
    return WhoView(tenant.name, tool_settings(tenant, tool).approvals, rules)
