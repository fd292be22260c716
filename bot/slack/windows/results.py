"""The whole of what a tool answered, for those who may read it.

Only the beginning of a long result is kept here; the rest is read from the agent server when somebody opens it, so that
nothing more has to be stored or erased. A trigger does not live as long as an agent server may take: a small view opens
at once and gives way. Where the server cannot be asked, what is kept is shown and called a beginning.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from blocks import ids, reasons
from blocks.modals import reading_modal, result_modal
from bot.core.decide import Refusal, Refused
from bot.core.model import Action
from bot.core.redaction import without_begun
from bot.errors import AgentError
from bot.policy.matching import tool_settings
from bot.runtimes.langgraph.client import Agents
from bot.runtimes.langgraph.outcomes import answer_text, is_whole
from bot.slack.inbound.payloads import ButtonClick
from bot.slack.outbound.masks import hiding_of
from bot.slack.outbound.projection import call_view, has_result, may_read_result
from bot.slack.windows.open import ViewOpener
from bot.slack.windows.review import DrawnView, ViewContext, drawn_of, new_showing_id

READ = "result.opened"
LONGEST = 1_000_000  # characters of a result that are looked at; a view shows far fewer
STEPS = {ids.PAGE_NEXT: 1, ids.PAGE_BACK: -1}


@dataclass(frozen=True, slots=True)
class ResultWindows:
    """Opens results, and turns their pages."""

    agents: Agents
    view_opener: ViewOpener

    def open(self, click: ButtonClick, context: ViewContext) -> Refused | None:
        """Start opening it, or say why not."""
        position = context.showing.position
        action = None if position is None else context.review.actions[position]
        if action is None:
            return Refused(Refusal.UNKNOWN_SHOWING)
        refused = _refused(context, action)
        if refused is None:
            self.view_opener.start(click, self._shown(click, context, action), "open result")
        return refused

    async def _shown(self, click: ButtonClick, context: ViewContext, action: Action) -> None:
        """What is kept in full opens finished; for anything else there is a view to wait in."""
        page = context.showing.page + STEPS.get(click.action_id, 0)
        kept = action.outcome_text or ""
        if is_whole(kept):
            await self.view_opener.show(click, draw_result(context, action, kept, page=page))
            return
        view_id = (
            click.view.id
            if click.view
            else (await self.view_opener.show(click, DrawnView(reading_modal().view))).view_id
        )
        if view_id:
            text, banner = await self._read(context, action)
            drawn = draw_result(context, action, kept if text is None else text, page=page, banner=banner)
            await self.view_opener.redraw(click.actor, view_id, drawn)

    async def _read(self, context: ViewContext, action: Action) -> tuple[str | None, str | None]:
        """The text as it stands in the thread, or what to say instead."""
        review = context.review
        try:
            state = await self.agents.client(review.target, context.drawing.tenant).state(review.thread_id)
        except AgentError:
            return None, reasons.RESULT_AWAY
        text = answer_text(state.all_messages, action.tool_call_id) if state else None
        return text, reasons.RESULT_GONE if text is None else None


def draw_result(
    context: ViewContext, action: Action, text: str, *, page: int = 0, banner: str | None = None
) -> DrawnView:
    """One page of it, without what is hidden of the call; goes into the record."""
    showing_id = new_showing_id()
    view = call_view(context.review, action, context.drawing, showing=showing_id)
    declared = tool_settings(context.drawing.tenant, action.tool).redact
    masks = hiding_of(action, declared)
    shown = masks.text(text[:LONGEST] if is_whole(text) else without_begun(text, masks.secrets)) or ""
    rendered = result_modal(view, shown, length=len(text), page=page, banner=banner)
    return replace(drawn_of(context, rendered, showing_id, action=action), event=READ)


def _refused(context: ViewContext, action: Action) -> Refused | None:
    """Judged at every page: who may read it may have changed, and it may be erased."""
    if not has_result(action, tool_settings(context.drawing.tenant, action.tool).result):
        return Refused(Refusal.GONE, action.position)
    if not may_read_result(context.review, action, context.drawing):
        return Refused(Refusal.NOT_A_REVIEWER, action.position)
    return None
