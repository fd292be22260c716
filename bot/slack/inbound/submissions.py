"""Submitted modals: one decision, an edit on its way to be confirmed, or a page of a batch.

Each answer is what Slack's client does next: nothing (it closes), a view in the place of this one, or errors at fields. A
decision's commit is done before the answer leaves. What was typed is stored as a draft first wherever the modal goes on,
so that no error and no redraw loses it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from blocks import ids, reasons, words
from blocks.notices import refusal_plain
from blocks.windows import page_of
from bot.access.context import untraced
from bot.access.deciding import DecisionRequest, DecisionResult, DecisionService, facts_of
from bot.core.argument_schema import argument_fault
from bot.core.decide import Intent, Refusal, Refused
from bot.core.decision import same_arguments
from bot.core.editing import EditProblem, TypedArguments, read_edit
from bot.core.model import Action, DecisionType, Review, Showing
from bot.core.take_back import authors
from bot.policy.matching import tool_settings
from bot.slack.client.people import PeopleReader
from bot.slack.inbound.payloads import InputValue, Submission
from bot.slack.windows.edit_form import error_blocks, fields_for, read_typed
from bot.slack.windows.inputs import (
    block_of,
    chosen,
    chosen_elsewhere,
    decided_meanwhile,
    first_open_page,
    intent_of,
    intents_of,
    last_page,
    merged,
    page_problems,
    read_drafts,
    sent_so_far,
    taken_away,
    undrawn,
)
from bot.slack.windows.open import ViewOpener
from bot.slack.windows.review import (
    DrawnView,
    ViewContext,
    draw_batch,
    draw_confirm,
    draw_notice,
    draw_review,
    draw_small,
    may_open,
    scene_of,
)
from bot.store import decisions, showings
from bot.store.engine import Store
from bot.store.policies import Policies
from bot.store.showings import Draft, save_drafts

Answer = dict[str, Any]
SMALL = {ids.CALLBACK_REJECT: DecisionType.REJECT, ids.CALLBACK_RESPOND: DecisionType.RESPOND}
REDRAWN_S = 1.5  # of the three seconds that an acknowledgement may take
CLEAR: Answer = {"response_action": "clear"}


@dataclass(frozen=True, slots=True)
class Submissions:
    """What happens when somebody submits a modal."""

    store: Store
    policies: Policies
    decision_service: DecisionService
    people: PeopleReader
    view_opener: ViewOpener
    decided: Callable[[], None]
    asked: Callable[[], None]

    async def answer(self, submission: Submission) -> Answer:
        """The body of the acknowledgement."""
        showing = ids.decode_showing(submission.view.showing_id) or ""
        async with self.store.read() as tx:
            if await decisions.earlier_answer(tx, submission.content_key) is not None:
                return CLEAR
            context = await scene_of(tx, self.policies, submission.actor, showing)
            if isinstance(context, Refused) and context.reason is Refusal.UNKNOWN_SHOWING:
                context = await untraced(tx, showing)
        if isinstance(context, Refused):
            await self.decision_service.note(submission.actor, showing, context)
            return _replace(draw_notice(context))
        submission = replace(submission, actor=context.actor)
        match submission.view.callback_id:
            case ids.CALLBACK_REJECT | ids.CALLBACK_RESPOND as callback:
                return await self._small(submission, context, SMALL[callback])
            case ids.CALLBACK_EDIT | ids.CALLBACK_BATCH_EDIT:
                return await self._edit(submission, context)
            case ids.CALLBACK_KEEP:
                return await self._keep_edit(submission, context)
            case ids.CALLBACK_CONFIRM:
                return await self._confirm(submission, context)
            case ids.CALLBACK_REVIEW | ids.CALLBACK_REVEALED:
                return await self._review(submission, context)
            case ids.CALLBACK_BATCH:
                return await self._batch(submission, context)
        return await self._untraced(submission)

    async def _untraced(self, submission: Submission) -> Answer:
        """No window of ours sends this."""
        refused = Refused(Refusal.UNKNOWN_SHOWING)
        await self.decision_service.note(
            submission.actor, ids.decode_showing(submission.view.showing_id) or "", refused
        )
        return _replace(draw_notice(refused))

    async def _stale(self, submission: Submission, context: ViewContext) -> str:
        """Somebody has edited what this window showed: what to say of it, once it is on record."""
        refused = Refused(Refusal.STALE_SHOWING, context.showing.position)
        await self.decision_service.note(submission.actor, context.showing.id, refused)
        return refusal_plain(refused.reason.value)

    async def _small(self, submission: Submission, context: ViewContext, kind: DecisionType) -> Answer:
        action = _action(context)
        if action is None:
            return await self._untraced(submission)
        draft = read_drafts(context, submission.view.values).get(action.position, context.draft(action))
        return await self._decide(submission, (Intent(action.position, kind, message=draft.message),))

    async def _edit(self, submission: Submission, context: ViewContext) -> Answer:
        """Read what was typed; the difference then stands in the form's place, to be approved as final values."""
        action = _action(context)
        if action is None:
            return await self._untraced(submission)
        values = submission.view.values
        if context.is_stale:  # the window stays, with what was typed, to be copied from
            stale = await self._stale(submission, context)
            return _errors(submission, {block_of(values, action.position, "f", "e"): stale})
        changed = read_drafts(context, values)
        draft = changed.get(action.position, context.draft(action))
        read = _typed(context, action, draft) if block_of(values, action.position, "f") else _as_json(draft)
        if read.final is None:
            blocks = error_blocks(action.position, read.errors, values)
            return _errors(submission, blocks or {block_of(values, action.position, "e"): read.errors.get(0, "")})
        unfit = _unfit(context, action, read.final, values)
        if unfit:
            return _errors(submission, unfit)
        banner = words.STRAIGHTENED if read.straightened else None
        in_batch = submission.view.callback_id == ids.CALLBACK_BATCH_EDIT
        drawn = draw_confirm(context, action, read.final, banner=banner, in_batch=in_batch)
        return await self._go_on(submission, context, drawn, changed)

    async def _confirm(self, submission: Submission, context: ViewContext) -> Answer:
        action, final = _action(context), context.showing.final_args
        if action is None or final is None:
            return await self._untraced(submission)
        return await self._decide(submission, (Intent(action.position, DecisionType.EDIT, final_args=final),))

    async def _keep_edit(self, submission: Submission, context: ViewContext) -> Answer:
        """An edit of a batch, kept until all is sent; what would be refused then is better said now."""
        action, final = _action(context), context.showing.final_args
        if action is None or final is None:
            return await self._untraced(submission)
        refused = await self.decision_service.foresee(
            _asked(submission, (Intent(action.position, DecisionType.EDIT, final),))
        )
        if refused is not None:
            return refusal_in_place(refused)
        edit = DecisionType.EDIT.value
        draft = replace(context.draft(action), decision=edit, kept=final, kept_in=context.showing.id)
        await self._keep(submission, context, None, {action.position: draft})
        return await self._back_to_batch(submission, action.position)

    async def _back_to_batch(self, submission: Submission, position: int) -> Answer:
        """The view of all calls again: below this one, where Slack closes it by itself, or else in its place."""
        async with self.store.read() as tx:
            showing = ids.decode_showing(submission.view.showing_id) or ""
            context = await scene_of(tx, self.policies, submission.actor, showing)
            if isinstance(context, Refused):
                return _replace(draw_notice(context))
            before = await showings.last_of_all(tx, context.review.id, submission.actor.who)
        drawn = draw_batch(replace(context, showing=before or context.showing), page=page_of(position))
        below = submission.view.lies_on
        if below is None:
            return await self._go_on(submission, context, drawn, {})
        redrawn = self.view_opener.tasks.start(self.view_opener.redraw(submission.actor, below, drawn), "redraw batch")
        # Before the person is back there: a redraw that comes later would take away what they choose meanwhile.
        await asyncio.wait({redrawn}, timeout=REDRAWN_S)
        return {}

    async def _review(self, submission: Submission, context: ViewContext) -> Answer:
        action = _action(context)
        if action is None:
            return await self._untraced(submission)
        changed = read_drafts(context, submission.view.values)
        draft = changed.get(action.position, context.draft(action))
        if chosen(draft) is DecisionType.EDIT and not context.is_stale:
            return await self._to_form(submission, context, action, changed)
        stale = await self._stale(submission, context) if context.is_stale else None
        missing = stale or undrawn(context, changed, submission.view)
        if missing is not None:
            now = replace(context, drafts=merged(context.drafts, changed))
            revealed = submission.view.callback_id == ids.CALLBACK_REVEALED
            drawn = draw_review(now, action, page=context.showing.page, reveal=revealed, banner=missing)
            return await self._go_on(submission, context, drawn, changed)
        problems = page_problems(context, changed, submission.view.values)
        if problems:
            return _errors(submission, problems.errors)
        intent = intent_of(context, action, draft)
        if intent is None:
            return _errors(submission, {block_of(submission.view.values, action.position, "d"): reasons.CHOOSE})
        return await self._decide(submission, (intent,))

    async def _to_form(
        self, submission: Submission, context: ViewContext, action: Action, changed: Mapping[int, Draft]
    ) -> Answer:
        """The form of single arguments in the place of the call's full view, so that no third view is needed."""
        refused = may_open(context, action, DecisionType.EDIT)
        now = replace(context, drafts=merged(context.drafts, changed))
        drawn = draw_notice(refused) if refused else draw_small(now, action, DecisionType.EDIT)
        return await self._go_on(submission, context, drawn, changed)

    async def _batch(self, submission: Submission, context: ViewContext) -> Answer:
        """Check this page, keep it, then turn to the next page, to one with a gap, or send everything."""
        changed = read_drafts(context, submission.view.values)
        now = replace(context, drafts=merged(context.drafts, changed))
        page = context.showing.page
        stale = await self._stale(submission, context) if context.is_stale else None
        missing = stale or undrawn(context, changed, submission.view)
        if missing is not None:
            return await self._go_on(submission, context, draw_batch(now, page=page, banner=missing), changed)
        problems = page_problems(context, changed, submission.view.values)
        if problems:
            return _errors(submission, problems.errors)
        context = now
        late = decided_meanwhile(context, submission.view.values)
        if late is not None:
            # What they chose there is not what will be sent: they must see that before the rest goes out.
            banner = refusal_plain(Refusal.ALREADY_DECIDED.value, position=late)
            return await self._go_on(
                submission, context, draw_batch(context, page=page_of(late), banner=banner), changed
            )
        lost = taken_away(context)
        if lost is not None:
            await self.decision_service.note(submission.actor, context.showing.id, lost)
            banner, at = refusal_plain(lost.reason.value, **facts_of(lost, context.review)), page_of(lost.position or 0)
            return await self._go_on(submission, context, draw_batch(context, page=at, banner=banner), changed)
        context = replace(context, showing=replace(context.showing, final_args=sent_so_far(context, changed)))
        if page < last_page(context):
            return await self._go_on(submission, context, draw_batch(context, page=page + 1), changed)
        gap = first_open_page(context, context.drafts)
        if gap is not None:
            return await self._go_on(submission, context, draw_batch(context, page=gap, banner=reasons.GAP), changed)
        other = chosen_elsewhere(context)
        if other is not None:
            banner = refusal_plain(Refusal.STALE_SHOWING.value, position=other)
            return await self._go_on(
                submission, context, draw_batch(context, page=page_of(other), banner=banner), changed
            )
        await self._keep(submission, context, None, changed)
        intents = intents_of(context, context.drafts)
        if not intents:
            return _replace(draw_notice(Refused(_nothing_to_send(context))))
        return await self._decide(submission, intents)

    async def _go_on(
        self, submission: Submission, context: ViewContext, drawn: DrawnView, changed: Mapping[int, Draft]
    ) -> Answer:
        await self._keep(submission, context, drawn.showing, {**changed, **(drawn.seen or {})})
        return _replace(drawn)

    async def _keep(
        self, submission: Submission, context: ViewContext, showing: Showing | None, changed: Mapping[int, Draft]
    ) -> None:
        async with self.store.begin() as tx:
            await save_drafts(tx, context.review.id, submission.actor.who, changed)
            if showing is not None:
                await showings.insert_showing(tx, showing)

    async def _decide(self, submission: Submission, intents: tuple[Intent, ...]) -> Answer:
        result = await self.decision_service.rule(_asked(submission, intents))
        if result.unsure:
            self.people.want(submission.actor.account)
            self.asked()
        self.decided()
        review = result.review
        if result.refused is None and submission.view.lies_on and review is not None and review.undecided:
            return await self._back_to_batch(submission, intents[0].position)
        return self._told(submission, result)

    def _told(self, submission: Submission, result: DecisionResult) -> Answer:
        """Close everything after a decision; a refusal stands at an input where there is one, else in the view's place."""
        refused = result.refused
        if refused is None:
            return CLEAR
        values = submission.view.values
        position = refused.position if refused.position is not None else 0
        block = block_of(values, position, "d", "m", "a", "e", "f") or next(iter(values), None)
        if block is None:
            return refusal_in_place(refused)
        return _errors(submission, {block: refusal_plain(refused.reason.value, **facts_of(refused, result.review))})


def refusal_in_place(refused: Refused) -> Answer:
    """A refusal of a window without inputs: in its place, or on top of it where it may be sent again as it is."""
    stays = refused.reason in (Refusal.CANNOT_CONFIRM, Refusal.GROUP_UNREADABLE, Refusal.INTERNAL)
    return {"response_action": "push" if stays else "update", "view": draw_notice(refused).view}


def _nothing_to_send(context: ViewContext) -> Refusal:
    if any(context.actor.who in authors(action) for action in context.review.undecided):
        return Refusal.ALREADY_APPROVED
    return Refusal.NOT_A_REVIEWER if context.review.undecided else Refusal.ALREADY_DECIDED


def _asked(submission: Submission, intents: tuple[Intent, ...]) -> DecisionRequest:
    def asked_for(_review: Review, _showing: Showing) -> tuple[Intent, ...]:
        return intents

    showing = ids.decode_showing(submission.view.showing_id) or ""
    taken = submission.content_key
    return DecisionRequest(submission.actor, showing, submission.delivery_key, asked_for, taken_key=taken)


def _typed(context: ViewContext, action: Action, draft: Draft) -> TypedArguments:
    return read_typed(action, fields_for(context.review, action, context.drawing.tenant), draft)


def _unfit(context: ViewContext, action: Action, final: str, values: Mapping[str, InputValue]) -> dict[str | None, str]:
    """What the policy's schema does not take of an edit, at the input that it is about; an unchanged call is no edit."""
    tenant = context.drawing.tenant
    schema = tool_settings(tenant, action.tool).schema
    fault = argument_fault(final, schema) if schema and not same_arguments(final, action.args) else None
    if fault is None:
        return {}
    at = next((one.index for one in fields_for(context.review, action, tenant) if one.name == fault.name), None)
    there = error_blocks(action.position, {} if at is None else {at: fault.sentence}, values)
    block = next(iter(there), None) or block_of(values, action.position, "e", "f")
    return {block: fault.sentence}


def _as_json(draft: Draft) -> TypedArguments:
    """What stands in the one input; curly quotes are read as straight ones, and what came of it is shown next."""
    final = read_edit(draft.edited or "")
    if not isinstance(final, EditProblem):
        return TypedArguments(final)
    return TypedArguments(final.repaired, {0: final.sentence}, straightened=final.repaired is not None)


def _action(context: ViewContext) -> Action | None:
    position = context.showing.position
    return None if position is None else context.review.actions[position]


def _replace(drawn: DrawnView) -> Answer:
    return {"response_action": "update", "view": drawn.view}


def _errors(submission: Submission, errors: Mapping[str | None, str] | Mapping[str, str]) -> Answer:
    """Field errors; a key that names no input of this view would show nothing at all."""
    kept = {block: text for block, text in errors.items() if block in submission.view.values}
    if not kept:
        return _replace(draw_notice(Refused(Refusal.INTERNAL)))
    return {"response_action": "errors", "errors": kept}
