"""Bringing drawn views to one person's screen: opened, stacked, or in the place of what is there.

What a view shows is stored before Slack hears of it, because a submission names it. A trigger is used once and lives for
three seconds, so nothing is tried again: the person is told to press again. This module must not decide or draw.
"""

from __future__ import annotations

from dataclasses import dataclass

import structlog

from blocks import ids
from blocks.notices import refusal_text
from bot.core.decide import Refusal, Refused
from bot.errors import RateLimited, SlackError, SlackUnavailable
from bot.slack import api
from bot.slack.payloads import Click, Presser
from bot.slack.people import Clients
from bot.slack.private import try_to_tell
from bot.slack.views import Drawn, facts_of
from bot.store import audit, showings
from bot.store.drafts import save_drafts
from bot.store.engine import Store
from bot.work.loops import Tasks

log = structlog.get_logger("placet")
TRIGGERS = frozenset(
    {"expired_trigger_id", "exchanged_trigger_id", "invalid_trigger_id", "trigger_expired", "trigger_exchanged"}
)
# An open view that its person has closed meanwhile, or that another press of theirs has redrawn: nothing to tell.
OVERTAKEN = frozenset({"not_found", "hash_conflict"})
STACKED = frozenset({ids.REVIEW, ids.EDIT})  # pressed inside a view, these put another on top of it


@dataclass(frozen=True, slots=True)
class Shown:
    """What came of it: the view's id, or Slack's error."""

    view_id: str = ""
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Screens:
    """Speaks to Slack about views. Nothing here raises a `SlackError`."""

    store: Store
    clients: Clients
    tasks: Tasks

    async def show(self, click: Click, drawn: Drawn, *, on_top: bool = False) -> Shown:
        """Open the view, stack it, or put it into the place of the one that was pressed."""
        client = self.clients(click.presser.team)
        if client is None:
            return Shown()
        await self.keep(click.presser, drawn)
        trigger, view = click.trigger_id, drawn.view
        stacked = on_top or (click.view is not None and click.action_id in STACKED)
        try:
            if click.view is None:
                answer = await api.call(client.views_open(trigger_id=trigger, view=view))
            elif stacked:
                answer = await api.call(client.views_push(trigger_id=trigger, view=view))
            else:
                changed = client.views_update(view_id=click.view.id, hash=click.view.hash or None, view=view)
                answer = await api.call(changed)
        except SlackError as exc:
            self._not_shown(click, exc)
            return Shown(fault=exc.code or "error")
        return Shown(str((answer.get("view") or {}).get("id", "")))

    async def redraw(self, presser: Presser, view_id: str, drawn: Drawn) -> None:
        """Put a view into the place of one that is open; where that fails, what is there stays right until it is sent."""
        client = self.clients(presser.team)
        if client is None:
            return
        await self.keep(presser, drawn)
        try:
            await api.call(client.views_update(view_id=view_id, view=drawn.view))
        except SlackError as exc:
            log.warning("A view could not be redrawn.", action="view_fault", fault=str(exc))

    def notify(self, click: Click, refused: Refused) -> None:
        """A private word, in a task: nothing was decided, so losing it loses nothing."""
        client = self.clients(click.presser.team)
        if client is None:
            return
        text = refusal_text(refused.reason.value, **facts_of(refused))
        user, channel = click.presser.user, click.channel
        told = try_to_tell(client, channel=channel, user=user, thread_ts=click.thread_ts, text=text)
        self.tasks.start(told, "tell")

    def _not_shown(self, click: Click, fault: SlackError) -> None:
        log.warning("A view could not be shown.", action="view_fault", fault=str(fault))
        if click.view is not None and fault.code in OVERTAKEN:
            return
        passing = isinstance(fault, RateLimited | SlackUnavailable)
        late = passing or fault.code in TRIGGERS or "trigger_id" in str(fault)
        self.notify(click, Refused(Refusal.TOO_SLOW if late else Refusal.INTERNAL))

    async def keep(self, presser: Presser, drawn: Drawn) -> None:
        """Store what the view shows before anybody can submit it."""
        if drawn.showing is None:
            return
        async with self.store.begin() as tx:
            await showings.insert_showing(tx, drawn.showing)
            if drawn.seen:
                await save_drafts(tx, drawn.showing.review_id, presser.who, drawn.seen)
            if drawn.event:
                await audit.record(
                    tx,
                    tenant=drawn.tenant,
                    kind=drawn.event,
                    review_id=drawn.showing.review_id,
                    position=drawn.showing.position,
                    actor=audit.slack_actor(presser.who),
                    content={"showing": drawn.showing.id, "page": drawn.showing.page},
                )
