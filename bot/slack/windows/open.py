"""Bringing drawn views to one person's screen: opened, stacked, or in the place of what is there.

What a view shows is stored before Slack hears of it, because a submission names it; that it is stored says nothing about
what stands on the screen. A trigger is used once and lives for three seconds, so opening is not tried again: the person is
told to press again. Changing a view needs no trigger and is. This module must not decide or draw.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any

import structlog
from slack_sdk.web.async_client import AsyncWebClient

from blocks import ids
from blocks.notices import refusal_text
from bot.access.deciding import facts_of
from bot.access.person import Actor
from bot.core.decide import Refusal, Refused
from bot.errors import RateLimited, SlackError, SlackUnavailable
from bot.loops import Tasks
from bot.slack.client import web_api
from bot.slack.client.people import Clients
from bot.slack.inbound.payloads import ButtonClick
from bot.slack.outbound.notices import try_to_tell
from bot.slack.windows.review import DrawnView
from bot.store import showings
from bot.store.audit import events
from bot.store.engine import Store
from bot.store.showings import save_drafts

log = structlog.get_logger("placet")
TRIGGERS = frozenset(
    {"expired_trigger_id", "exchanged_trigger_id", "invalid_trigger_id", "trigger_expired", "trigger_exchanged"}
)
# An open view that its person has closed meanwhile, or that another press of theirs has redrawn: whoever draws knows more.
CLOSED, OVERTAKEN = "not_found", "hash_conflict"
AGAIN_S = (0.3, 1.0)  # the pauses before a view is tried to be changed again
LONGEST_WAIT_S = 3.0  # that Slack may ask for meanwhile; somebody is looking at the window
STACKED = frozenset({ids.REVIEW, ids.EDIT})  # pressed inside a view, these put another on top of it


@dataclass(frozen=True, slots=True)
class OpenedView:
    """What came of it: the view's id, or Slack's error. `showing`: what was stored for it all the same."""

    view_id: str = ""
    fault: str = ""
    showing: str = ""


@dataclass(frozen=True, slots=True)
class ViewOpener:
    """Speaks to Slack about views. Nothing here raises a `SlackError`."""

    store: Store
    clients: Clients
    tasks: Tasks

    def start(self, click: ButtonClick, work: Coroutine[Any, Any, object], name: str) -> None:
        """Do what is left of an acknowledged press, in a task; if it fails, nobody but us can say so."""
        self.tasks.start(self._told_of_failure(click, work), name)

    async def _told_of_failure(self, click: ButtonClick, work: Coroutine[Any, Any, object]) -> None:
        try:
            await work
        except Exception:
            self.notify(click, Refused(Refusal.INTERNAL))
            raise

    async def show(
        self, click: ButtonClick, drawn: DrawnView, *, on_top: bool = False, instead: Refused | None = None
    ) -> OpenedView:
        """Open the view, stack it, or put it into the place of the one that was pressed.

        Where Slack does not take it the person is told, in private: to press again, or what the view would have said
        (`instead`). Not about a view that was closed or redrawn meanwhile: that is for the caller to find out.
        """
        client = self.clients(click.actor.team)
        if client is None:
            return OpenedView()
        await self.keep(click.actor, drawn)
        trigger, view = click.trigger_id, drawn.view
        stacked = on_top or (click.view is not None and click.action_id in STACKED)
        try:
            if click.view is None:
                answer = await web_api.call(client.views_open(trigger_id=trigger, view=view))
            elif stacked:
                answer = await web_api.call(client.views_push(trigger_id=trigger, view=view))
            else:
                answer = await _updated(client, click.view.id, click.view.hash, view)
        except SlackError as exc:
            log.warning("A view could not be shown.", action="view_fault", fault=str(exc))
            changed = click.view is not None and not stacked
            if instead is not None or not (changed and exc.code in (CLOSED, OVERTAKEN)):
                self.notify(click, instead or Refused(_why(exc, changed=changed)))
            return OpenedView(fault=exc.code or "error", showing=drawn.showing.id if drawn.showing else "")
        return OpenedView(str((answer.get("view") or {}).get("id", "")))

    async def redraw(self, actor: Actor, view_id: str, drawn: DrawnView) -> None:
        """Put a view into the place of one that is open; where that fails, what is there stays right until it is sent."""
        client = self.clients(actor.team)
        if client is None:
            return
        await self.keep(actor, drawn)
        try:
            await _updated(client, view_id, "", drawn.view)
        except SlackError as exc:
            log.warning("A view could not be redrawn.", action="view_fault", fault=str(exc))
            self._tell(actor, Refused(Refusal.NOT_REDRAWN))

    def notify(self, click: ButtonClick, refused: Refused) -> None:
        """A private word, in a task: nothing was decided, so losing it loses nothing."""
        self._tell(click.actor, refused, channel=click.channel, thread_ts=click.thread_ts)

    def _tell(
        self, actor: Actor, refused: Refused, *, channel: str | None = None, thread_ts: str | None = None
    ) -> None:
        client = self.clients(actor.team)
        if client is None:
            return
        text = refusal_text(refused.reason.value, **facts_of(refused))
        told = try_to_tell(client, channel=channel, user=actor.user, thread_ts=thread_ts, text=text)
        self.tasks.start(told, "tell")

    async def keep(self, actor: Actor, drawn: DrawnView) -> None:
        """Store what the view shows before anybody can submit it."""
        if drawn.showing is None:
            return
        async with self.store.begin() as tx:
            await showings.insert_showing(tx, drawn.showing)
            if drawn.seen:
                await save_drafts(tx, drawn.showing.review_id, actor.who, drawn.seen)
            if drawn.event:
                await events.record(
                    tx,
                    tenant=drawn.tenant,
                    kind=drawn.event,
                    review_id=drawn.showing.review_id,
                    position=drawn.showing.position,
                    actor=events.slack_actor(actor.who),
                    content={"showing": drawn.showing.id, "page": drawn.showing.page},
                )


async def _updated(client: AsyncWebClient, view_id: str, view_hash: str, view: dict[str, object]) -> dict[str, Any]:
    """Change an open view, again after a pause where Slack was away or did not find it: the same change does no harm twice."""
    for pause in AGAIN_S:
        try:
            return await web_api.call(client.views_update(view_id=view_id, hash=view_hash or None, view=view))
        except SlackError as exc:
            wait = exc.retry_after if isinstance(exc, RateLimited) else 0.0
            passing = isinstance(exc, RateLimited | SlackUnavailable) or exc.code == CLOSED
            if not passing or wait > LONGEST_WAIT_S:
                raise
        await asyncio.sleep(max(pause, wait))
    return await web_api.call(client.views_update(view_id=view_id, hash=view_hash or None, view=view))


def _why(fault: SlackError, *, changed: bool) -> Refusal:
    """What to tell: to press again, or that something is wrong on our side."""
    if changed:
        return Refusal.NOT_REDRAWN
    passing = isinstance(fault, RateLimited | SlackUnavailable)
    late = passing or fault.code in TRIGGERS or "trigger_id" in str(fault)
    return Refusal.TOO_SLOW if late else Refusal.INTERNAL
