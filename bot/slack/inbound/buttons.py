"""Pressed buttons: the one that decides, those that open a view, those that redraw one.

Deciding commits before it returns. Opening reads, then hands the finished view to a tracked task. Whoever is refused is
told in private: by a stored notice after a decision, or in the view's place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from blocks import ids
from blocks.notices import refusal_plain
from bot.access.context import untraced
from bot.access.deciding import DecisionRequest, DecisionService, ReplyTo
from bot.core.decide import Intent, Refusal, Refused
from bot.core.model import Action, DecisionType, Review, ReviewState, Showing
from bot.loops import Tasks
from bot.slack.client.people import PeopleReader
from bot.slack.inbound.payloads import ButtonClick
from bot.slack.windows.inputs import merged, read_drafts
from bot.slack.windows.open import CLOSED, OVERTAKEN, OpenedView, ViewOpener
from bot.slack.windows.results import ResultWindows
from bot.slack.windows.review import (
    DrawnView,
    ViewContext,
    draw_batch,
    draw_notice,
    draw_other_form,
    draw_review,
    draw_small,
    may_open,
    scene_of,
)
from bot.store import showings
from bot.store.engine import Store, Tx
from bot.store.policies import Policies
from bot.store.showings import Draft, hold_drafts, load_drafts, save_drafts

WITH_INPUTS = frozenset({"edit", "reject", "respond"})  # choices that bring up something of their own


@dataclass(frozen=True, slots=True)
class Buttons:
    """What happens when somebody presses a button."""

    store: Store
    policies: Policies
    decision_service: DecisionService
    people: PeopleReader
    view_opener: ViewOpener
    results: ResultWindows
    tasks: Tasks
    decided: Callable[[], None]
    asked: Callable[[], None]

    async def decide(self, click: ButtonClick, kind: DecisionType) -> None:
        """A decision by one press."""

        def intents(_review: Review, showing: Showing) -> tuple[Intent, ...]:
            return () if showing.position is None else (Intent(showing.position, kind),)

        showing = ids.decode_showing(click.value) or ""
        result = await self.decision_service.rule(
            DecisionRequest(click.actor, showing, click.delivery_key, intents, _tell(click), click.message_ts)
        )
        if result.unsure:
            self.people.want(click.actor.account)
            self.asked()
        self.decided()

    async def take_back(self, click: ButtonClick) -> None:
        """The author's change of mind, by one press."""
        showing = ids.decode_showing(click.value) or ""
        asked = DecisionRequest(click.actor, showing, click.delivery_key, _nothing, _tell(click), click.message_ts)
        await self.decision_service.take_back(asked)
        self.decided()

    async def open(self, click: ButtonClick) -> None:
        """Open the view that the button names, or say why not."""
        async with self.store.read() as tx:
            context = await self._context(tx, click, click.value)
        if isinstance(context, ViewContext):
            click = replace(click, actor=context.actor)
        if isinstance(context, ViewContext) and click.action_id == ids.RESULT:
            refused = self.results.open(click, context)
            if refused is not None:
                self._refused(click, refused)
            return
        drawn = context if isinstance(context, Refused) else _opened(context, click)
        if isinstance(drawn, Refused):
            self._refused(click, drawn)
            return
        self.view_opener.start(click, self._shown(click, context, drawn), "open view")

    async def _context(self, tx: Tx, click: ButtonClick, showing: str) -> ViewContext | Refused:
        context = await scene_of(tx, self.policies, click.actor, ids.decode_showing(showing) or "")
        if isinstance(context, Refused) and context.reason is Refusal.UNKNOWN_SHOWING:
            return await untraced(tx, showing, channel=click.channel, ts=click.message_ts)
        return context

    async def _shown(self, click: ButtonClick, context: ViewContext | Refused, drawn: DrawnView) -> None:
        """Open it; where Slack does not put it on top of the view of all calls, that view says so."""
        shown = await self.view_opener.show(click, drawn)
        if (
            shown.fault
            and click.view is not None
            and isinstance(context, ViewContext)
            and context.showing.position is None
        ):
            await self._say_below(click, context, Refusal.TOO_SLOW)

    async def turn(self, click: ButtonClick) -> None:
        """Redraw the open view with what was chosen so far."""
        if click.view is None:
            return
        async with self.store.read() as tx:
            context = await self._context(tx, click, click.view.showing_id)
        refused = context if isinstance(context, Refused) else None
        if isinstance(context, ViewContext):
            click = replace(click, actor=context.actor)
        if isinstance(context, ViewContext) and click.view and click.view.callback_id == ids.CALLBACK_RESULT:
            refused = self.results.open(click, context)
        elif isinstance(context, ViewContext):
            self.view_opener.start(click, self._turned(click, context), "turn view")
        if refused is not None:
            self._note(click, refused)
            told = self.view_opener.show(click, draw_notice(refused), instead=refused)
            self.view_opener.start(click, told, "refuse in view")

    async def failed(self, click: ButtonClick) -> None:
        """Opening or turning failed on our side: Slack marks the button, which says nothing of why."""
        self.view_opener.notify(click, Refused(Refusal.INTERNAL))

    async def unknown(self, click: ButtonClick) -> None:
        """Acknowledge and tell."""
        self._refused(click, Refused(Refusal.UNKNOWN_SHOWING))

    async def _turned(self, click: ButtonClick, context: ViewContext) -> None:
        who, review_id = click.actor.who, context.review.id
        async with self.store.begin() as tx:
            await hold_drafts(tx, review_id, who)
            # Read again under the lock: an edit may have been kept since.
            context = replace(context, drafts=await load_drafts(tx, review_id, who))
            changed = read_drafts(context, click.view.values if click.view else {})
            left = context.showing.position is None and await showings.is_left(tx, context.showing)
            if not left:
                await save_drafts(tx, review_id, who, changed)
        now = replace(context, drafts=merged(context.drafts, changed))
        if left:
            await self._turned_if_there(click, now, changed)
            return
        if click.action_id == ids.CHOICE and not _asks_anew(context, click):
            return
        form = _form_for_choice(now, click)
        if form is not None:  # first, because a trigger does not wait
            await self.view_opener.show(click, form, on_top=True)
        shown = await self.view_opener.show(click, _redrawn(now, click))
        if shown.fault == OVERTAKEN:
            # Two choices in quick succession: the first one's redraw came between. All drafts are stored, so draw them all.
            shown = await self._turned_again(click, context, refused=shown)
        if shown.fault in (OVERTAKEN, CLOSED) and await self._is_missed(click, context):
            self.view_opener.notify(click, Refused(Refusal.NOT_REDRAWN))

    async def _turned_if_there(self, click: ButtonClick, context: ViewContext, changed: Mapping[int, Draft]) -> None:
        """Another page was drawn since this one. Either it never reached the screen, or the press comes late.

        Slack knows which: it changes the view only if it is still the one that was pressed. What was chosen in a view
        that is gone does not count: what was sent from it since stands, and is sent with the last page.
        """
        shown = await self.view_opener.show(click, _redrawn(context, click))
        if shown.fault:
            return
        async with self.store.begin() as tx:
            await save_drafts(tx, context.review.id, click.actor.who, changed)
        form = _form_for_choice(context, click)
        if form is not None:
            await self.view_opener.show(click, form, on_top=True)

    async def _turned_again(self, click: ButtonClick, before: ViewContext, *, refused: OpenedView) -> OpenedView:
        """Draw what is stored now over whatever view stands there."""
        async with self.store.read() as tx:
            context = await scene_of(tx, self.policies, click.actor, before.showing.id)
            # Who went on to another page meanwhile is not brought back.
            left = await showings.is_left(tx, before.showing, but=refused.showing)
        if isinstance(context, Refused) or left or click.view is None:
            return OpenedView()
        return await self.view_opener.show(replace(click, view=replace(click.view, hash="")), _redrawn(context, click))

    async def _is_missed(self, click: ButtonClick, before: ViewContext) -> bool:
        """Whether a view that could not be changed is one that its person still needs: not after they have decided."""
        async with self.store.read() as tx:
            context = await scene_of(tx, self.policies, click.actor, before.showing.id)
        if isinstance(context, Refused) or context.review.state is not ReviewState.OPEN:
            return False
        return any(before.showing.position in (None, action.position) for action in context.review.undecided)

    async def _say_below(self, click: ButtonClick, context: ViewContext, reason: Refusal) -> None:
        """A line on the view of all calls, with what was chosen in it."""
        changed = read_drafts(context, click.view.values if click.view else {})
        now = replace(context, drafts=merged(context.drafts, changed))
        drawn = draw_batch(now, page=context.showing.page, banner=refusal_plain(reason.value))
        await self.view_opener.redraw(click.actor, click.view.id if click.view else "", drawn)

    def _refused(self, click: ButtonClick, refused: Refused) -> None:
        """Tell in private; opening decided nothing, so the record of it is written beside."""
        self._note(click, refused)
        if refused.reason is Refusal.CANNOT_CONFIRM:
            self.people.want(click.actor.account)
            self.asked()
        if click.view is not None:
            told = self.view_opener.show(click, draw_notice(refused), on_top=True, instead=refused)
            self.view_opener.start(click, told, "refuse in view")
            return
        self.view_opener.notify(click, refused)

    def _note(self, click: ButtonClick, refused: Refused) -> None:
        """Into the record, in a task: an opening listener commits nothing before its window opens."""
        showing = ids.decode_showing(click.view.showing_id if click.view else click.value) or ""
        self.tasks.start(self.decision_service.note(click.actor, showing, refused), "record a refusal")


def _asks_anew(context: ViewContext, click: ButtonClick) -> bool:
    """Whether a choice brings up another input, or takes one away; without that the view stays as it is."""
    action = _pressed(context, click)
    before = context.draft(action).decision if action is not None else None
    return before in WITH_INPUTS or click.chosen in WITH_INPUTS


def _nothing(_review: Review, _showing: Showing) -> tuple[Intent, ...]:
    return ()


def _tell(click: ButtonClick) -> ReplyTo | None:
    if click.view is not None:
        return None
    # A press in the Home tab has no channel: the person is told by direct message.
    return ReplyTo(click.channel or click.actor.user, click.thread_ts)


def _action(context: ViewContext, position: int | None) -> Action | None:
    return None if position is None else context.review.actions[position]


def _opened(context: ViewContext, click: ButtonClick) -> DrawnView | Refused:
    if click.action_id == ids.REVIEW:
        return _opened_review(context, click)
    decision = ids.decode_decision(click.action_id)
    action = _pressed(context, click)
    if decision is None or action is None:
        return Refused(Refusal.UNKNOWN_SHOWING)
    kind = DecisionType(decision)
    in_batch = context.showing.position is None
    return may_open(context, action, kind) or draw_small(context, action, kind, in_batch=in_batch)


def _pressed(context: ViewContext, click: ButtonClick) -> Action | None:
    """The call that a press is about: its view's own, or in a batch the one that the pressed block names."""
    place = ids.decode_place(click.block_id)
    position = context.showing.position if context.showing.position is not None else place.position if place else None
    return _action(context, position) if position is None or position < len(context.review.actions) else None


def _form_for_choice(context: ViewContext, click: ButtonClick) -> DrawnView | None:
    """In a batch, choosing to edit opens the form on top, unless an edit is kept already."""
    action = _pressed(context, click) if click.action_id == ids.CHOICE and click.chosen == "edit" else None
    if action is None or context.showing.position is not None or context.draft(action).kept is not None:
        return None
    if may_open(context, action, DecisionType.EDIT) is not None:
        return None
    return draw_small(context, action, DecisionType.EDIT, in_batch=True)


def _opened_review(context: ViewContext, click: ButtonClick) -> DrawnView | Refused:
    """`Review` on a card or in a batch opens one call, `Review all` on a root all of them."""
    action = _pressed(context, click)
    refused = may_open(context, None, None)
    if refused:
        return refused
    return draw_batch(context) if action is None else draw_review(context, action)


def _redrawn(context: ViewContext, click: ButtonClick) -> DrawnView:
    step = {ids.PAGE_NEXT: 1, ids.PAGE_BACK: -1}.get(click.action_id, 0)
    page = context.showing.page + step
    banner = refusal_plain(Refusal.STALE_SHOWING.value) if context.is_stale else None
    action = _action(context, context.showing.position)
    if action is None:
        return draw_batch(context, page=page, banner=banner)
    callback = click.view.callback_id if click.view else ""
    in_batch = callback in (ids.CALLBACK_BATCH_EDIT, ids.CALLBACK_KEEP)
    if click.action_id == ids.EDIT_BACK:
        return draw_small(context, action, DecisionType.EDIT, in_batch=in_batch, banner=banner)
    if click.action_id in (ids.EDIT_AS_JSON, ids.EDIT_AS_FIELDS):
        return draw_other_form(context, action, json=click.action_id == ids.EDIT_AS_JSON, in_batch=in_batch)
    revealed = callback == ids.CALLBACK_REVEALED
    return draw_review(context, action, page=page, reveal=revealed or click.action_id == ids.REVEAL, banner=banner)
