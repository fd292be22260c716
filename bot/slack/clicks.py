"""Pressed buttons: the one that decides, those that open a view, those that redraw one.

Deciding commits before it returns. Opening reads, then hands the finished view to a tracked task. Whoever is refused is
told in private: by a stored notice after a decision, or in the view's place.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import structlog

from blocks import ids
from blocks.notices import refusal_text
from bot.core.decide import Intent, Refusal, Refused
from bot.core.model import Action, DecisionType, Review, Showing
from bot.errors import RateLimited, SlackError, SlackUnavailable
from bot.policies import Policies
from bot.slack import api
from bot.slack.deciding import Asked, Desk, Tell
from bot.slack.payloads import Click
from bot.slack.people import Clients, PeopleReader
from bot.slack.private import tell
from bot.slack.submissions import merged, read_drafts
from bot.slack.views import (
    Drawn,
    Scene,
    draw_batch,
    draw_notice,
    draw_other_form,
    draw_result,
    draw_review,
    draw_small,
    facts_of,
    may_open,
    scene_of,
)
from bot.store import audit, showings
from bot.store.drafts import save_drafts
from bot.store.engine import Store
from bot.work.loops import Tasks

log = structlog.get_logger("placet")
TRIGGERS = frozenset(
    {"expired_trigger_id", "exchanged_trigger_id", "invalid_trigger_id", "trigger_expired", "trigger_exchanged"}
)
WITH_INPUTS = frozenset({"edit", "reject", "respond"})  # choices that bring up an input of their own
# An open view that its person has closed meanwhile, or that another press of theirs has redrawn: nothing to tell.
OVERTAKEN = frozenset({"not_found", "hash_conflict"})


@dataclass(frozen=True, slots=True)
class Clicks:
    """What happens when somebody presses a button."""

    store: Store
    policies: Policies
    desk: Desk
    people: PeopleReader
    clients: Clients
    tasks: Tasks
    decided: Callable[[], None]
    asked: Callable[[], None]

    async def decide(self, click: Click, kind: DecisionType) -> None:
        """A decision by one press."""

        def intents(_review: Review, showing: Showing) -> tuple[Intent, ...]:
            return () if showing.position is None else (Intent(showing.position, kind),)

        showing = ids.decode_showing(click.value) or ""
        ruling = await self.desk.rule(Asked(click.presser, showing, click.delivery_key, intents, _tell(click)))
        if ruling.unsure:
            self.people.want(click.presser.who)
            self.asked()
        self.decided()

    async def take_back(self, click: Click) -> None:
        """The author's change of mind, by one press."""
        showing = ids.decode_showing(click.value) or ""
        await self.desk.take_back(Asked(click.presser, showing, click.delivery_key, _nothing, _tell(click)))
        self.decided()

    async def open(self, click: Click) -> None:
        """Open the view that the button names, or say why not."""
        async with self.store.read() as tx:
            scene = await scene_of(tx, self.policies, click.presser, ids.decode_showing(click.value) or "")
        drawn = scene if isinstance(scene, Refused) else _opened(scene, click)
        if isinstance(drawn, Refused):
            await self._refused(click, drawn)
            return
        self.tasks.start(self._show(click, drawn), "open view")

    async def turn(self, click: Click) -> None:
        """Redraw the open view with what was chosen so far."""
        if click.view is None:
            return
        async with self.store.read() as tx:
            scene = await scene_of(tx, self.policies, click.presser, ids.decode_showing(click.view.showing_id) or "")
        if isinstance(scene, Refused):
            self.tasks.start(self._show(click, draw_notice(scene)), "refuse in view")
            return
        self.tasks.start(self._turned(click, scene), "turn view")

    async def unknown(self, click: Click) -> None:
        """Acknowledge and tell."""
        await self._refused(click, Refused(Refusal.UNKNOWN_SHOWING))

    async def _turned(self, click: Click, scene: Scene) -> None:
        changed = read_drafts(scene, click.view.values if click.view else {})
        async with self.store.begin() as tx:
            await save_drafts(tx, scene.review.id, click.presser.who, changed)
        if click.action_id == ids.CHOICE and not _asks_anew(scene, click):
            return
        fault = await self._show(click, _redrawn(replace(scene, drafts=merged(scene.drafts, changed)), click))
        if fault != "hash_conflict" or click.view is None:
            return
        # Two choices in quick succession: the first one's redraw came between. All drafts are stored, so draw them all.
        async with self.store.read() as tx:
            again = await scene_of(tx, self.policies, click.presser, scene.showing.id)
            # Who went on to another page meanwhile is not brought back.
            left = await showings.is_left(tx, scene.showing)
        if isinstance(again, Scene) and not left:
            await self._show(replace(click, view=replace(click.view, hash="")), _redrawn(again, click))

    async def _refused(self, click: Click, refused: Refused) -> None:
        """Tell in private; opening decided nothing, so only the notice is stored."""
        if refused.reason is Refusal.CANNOT_CONFIRM:
            self.people.want(click.presser.who)
            self.asked()
        if click.view is not None:
            self.tasks.start(self._show(click, draw_notice(refused), on_top=True), "refuse in view")
            return
        self._notify(click, refused)

    def _notify(self, click: Click, refused: Refused) -> None:
        """A private word, in a task: nothing was decided, so losing it loses nothing."""
        client = self.clients(click.presser.team)
        if client is None:
            return
        text = refusal_text(refused.reason.value, **facts_of(refused))
        user, channel = click.presser.user, click.channel
        self.tasks.start(tell(client, channel=channel, user=user, thread_ts=click.thread_ts, text=text), "tell")

    async def _show(self, click: Click, drawn: Drawn, *, on_top: bool = False) -> str | None:
        """Store the showing, then bring the view to Slack: opened, stacked or redrawn. Answers Slack's error, if any."""
        client = self.clients(click.presser.team)
        if client is None:
            return None
        await self.keep(click, drawn)
        trigger, view = click.trigger_id, drawn.view
        stacked = on_top or (click.view is not None and click.action_id == ids.REVIEW)
        try:
            if click.view is None:
                await api.call(client.views_open(trigger_id=trigger, view=view))
            elif stacked:
                await api.call(client.views_push(trigger_id=trigger, view=view))
            else:
                await api.call(client.views_update(view_id=click.view.id, hash=click.view.hash or None, view=view))
        except SlackError as exc:
            self._not_shown(click, exc)
            return exc.code
        return None

    def _not_shown(self, click: Click, fault: SlackError) -> None:
        """Never tried again with this trigger, which is used up or too old; the person presses again."""
        log.warning("A view could not be shown.", action="view_fault", fault=str(fault))
        if click.view is not None and fault.code in OVERTAKEN:
            return
        passing = isinstance(fault, RateLimited | SlackUnavailable)
        late = passing or fault.code in TRIGGERS or "trigger_id" in str(fault)
        self._notify(click, Refused(Refusal.TOO_SLOW if late else Refusal.INTERNAL))

    async def keep(self, click: Click, drawn: Drawn) -> None:
        """Store what the view shows before anybody can submit it."""
        if drawn.showing is None:
            return
        async with self.store.begin() as tx:
            await showings.insert_showing(tx, drawn.showing)
            if drawn.seen:
                await save_drafts(tx, drawn.showing.review_id, click.presser.who, drawn.seen)
            if drawn.event:
                await audit.record(
                    tx,
                    tenant=drawn.tenant,
                    kind=drawn.event,
                    review_id=drawn.showing.review_id,
                    position=drawn.showing.position,
                    actor=audit.slack_actor(click.presser.who),
                    content={"showing": drawn.showing.id, "page": drawn.showing.page},
                )


def _asks_anew(scene: Scene, click: Click) -> bool:
    """Whether a choice brings up another input, or takes one away; without that the view stays as it is."""
    place = ids.decode_place(click.block_id)
    action = _action(scene, place.position) if place and place.position < len(scene.review.actions) else None
    before = scene.draft(action).decision if action is not None else None
    return before in WITH_INPUTS or click.chosen in WITH_INPUTS


def _nothing(_review: Review, _showing: Showing) -> tuple[Intent, ...]:
    return ()


def _tell(click: Click) -> Tell | None:
    if click.view is not None:
        return None
    # A press in the Home tab has no channel: the person is told by direct message.
    return Tell(click.channel or click.presser.user, click.thread_ts)


def _action(scene: Scene, position: int | None) -> Action | None:
    return None if position is None else scene.review.actions[position]


def _opened(scene: Scene, click: Click) -> Drawn | Refused:
    if click.action_id == ids.REVIEW:
        return _opened_review(scene, click)
    decision = ids.decode_decision(click.action_id)
    action = _action(scene, scene.showing.position)
    if click.action_id == ids.RESULT and action is not None:
        return draw_result(scene, action)
    if decision is None or action is None:
        return Refused(Refusal.UNKNOWN_SHOWING)
    kind = DecisionType(decision)
    return may_open(scene, action, kind) or draw_small(scene, action, kind)


def _opened_review(scene: Scene, click: Click) -> Drawn | Refused:
    """`Review` on a card or in a batch opens one call, `Review all` on a root all of them."""
    place = ids.decode_place(click.block_id)
    position = scene.showing.position if scene.showing.position is not None else place.position if place else None
    action = _action(scene, position)
    refused = may_open(scene, None, None)
    if refused:
        return refused
    return draw_batch(scene) if action is None else draw_review(scene, action)


def _redrawn(scene: Scene, click: Click) -> Drawn:
    step = {ids.PAGE_NEXT: 1, ids.PAGE_BACK: -1}.get(click.action_id, 0)
    page = scene.showing.page + step
    action = _action(scene, scene.showing.position)
    if action is None:
        return draw_batch(scene, page=page)
    if click.action_id == ids.EDIT_BACK:
        return draw_small(scene, action, DecisionType.EDIT)
    if click.action_id in (ids.EDIT_AS_JSON, ids.EDIT_AS_FIELDS):
        return draw_other_form(scene, action, json=click.action_id == ids.EDIT_AS_JSON)
    revealed = click.view is not None and click.view.callback_id == ids.CALLBACK_REVEALED
    return draw_review(scene, action, page=page, reveal=revealed or click.action_id == ids.REVEAL)
