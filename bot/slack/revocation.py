"""Slack says that the app was removed or its token revoked: the tenants of that workspace are marked at once.

An operator must not have to wait for the next card to learn that none can be written. The mark is no more than that:
nothing stops because of it, and the first message that Slack takes again ends it. This module must not call Slack.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import structlog

from bot.policies import Policies
from bot.store import tenants
from bot.store.engine import Store

log = structlog.get_logger("placet")
# By event: the code that a Web API call would fail with.
CODES = {"app_uninstalled": "app_uninstalled", "tokens_revoked": "token_revoked"}
TEXTS = {
    "app_uninstalled": "Slack says that the app was removed from the workspace",
    "token_revoked": "Slack says that the bot's token was revoked",
}


@dataclass(frozen=True, slots=True)
class Revocation:
    """Marks tenants."""

    store: Store
    policies: Policies

    async def note(self, body: dict[str, Any]) -> None:
        """Read one event; a revoked token of a person's own concerns nobody here."""
        event = body.get("event") or {}
        kind, tokens = event.get("type"), event.get("tokens") or {}
        code = CODES.get(str(kind))
        ours = kind == "app_uninstalled" or (isinstance(tokens, dict) and bool(tokens.get("bot")))
        if code is None or not ours:
            return
        team = str(body.get("team_id") or "")
        async with self.store.begin() as tx:
            known = await tenants.faults(tx)
            # Both events come of a removal, in either order: the graver one stays.
            gone = {name for name, fault in known.items() if fault.code == "app_uninstalled"}
            ours_there = [one.name for one in (await self.policies.in_force(tx)).tenants() if one.slack_team == team]
            concerned = [name for name in ours_there if name not in gone]
            marked = [name for name in concerned if await tenants.set_fault(tx, name, code=code, text=TEXTS[code])]
        for name in marked:
            log.error("The bot can write nothing in this workspace.", action="revoked", tenant=name, code=code)
