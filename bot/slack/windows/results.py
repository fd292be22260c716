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
from bot.slack.inbound.payloads import Click
from bot.slack.outbound.masks import hiding_of
from bot.slack.outbound.projection import call_view, has_result, may_read_result
from bot.slack.windows.open import Screens
from bot.slack.windows.review import Drawn, Scene, drawn_of, new_showing_id

READ = "result.opened"
LONGEST = 1_000_000  # characters of a result that are looked at; a view shows far fewer
STEPS = {ids.PAGE_NEXT: 1, ids.PAGE_BACK: -1}


@dataclass(frozen=True, slots=True)
class Results:
    """Opens results, and turns their pages."""

    agents: Agents
    screens: Screens

    def open(self, click: Click, scene: Scene) -> Refused | None:
        """Start opening it, or say why not."""
        position = scene.showing.position
        action = None if position is None else scene.review.actions[position]
        if action is None:
            return Refused(Refusal.UNKNOWN_SHOWING)
        refused = _refused(scene, action)
        if refused is None:
            self.screens.start(click, self._shown(click, scene, action), "open result")
        return refused

    async def _shown(self, click: Click, scene: Scene, action: Action) -> None:
        """What is kept in full opens finished; for anything else there is a view to wait in."""
        page = scene.showing.page + STEPS.get(click.action_id, 0)
        kept = action.outcome_text or ""
        if is_whole(kept):
            await self.screens.show(click, draw_result(scene, action, kept, page=page))
            return
        view_id = click.view.id if click.view else (await self.screens.show(click, Drawn(reading_modal().view))).view_id
        if view_id:
            text, banner = await self._read(scene, action)
            drawn = draw_result(scene, action, kept if text is None else text, page=page, banner=banner)
            await self.screens.redraw(click.presser, view_id, drawn)

    async def _read(self, scene: Scene, action: Action) -> tuple[str | None, str | None]:
        """The text as it stands in the thread, or what to say instead."""
        review = scene.review
        try:
            state = await self.agents.client(review.target, scene.stage.tenant).state(review.thread_id)
        except AgentError:
            return None, reasons.RESULT_AWAY
        text = answer_text(state.all_messages, action.tool_call_id) if state else None
        return text, reasons.RESULT_GONE if text is None else None


def draw_result(scene: Scene, action: Action, text: str, *, page: int = 0, banner: str | None = None) -> Drawn:
    """One page of it, without what is hidden of the call; goes into the record."""
    showing_id = new_showing_id()
    view = call_view(scene.review, action, scene.stage, showing=showing_id)
    declared = tool_settings(scene.stage.tenant, action.tool).redact
    hiding = hiding_of(action, declared)
    shown = hiding.text(text[:LONGEST] if is_whole(text) else without_begun(text, hiding.secrets)) or ""
    rendered = result_modal(view, shown, length=len(text), page=page, banner=banner)
    return replace(drawn_of(scene, rendered, showing_id, action=action), event=READ)


def _refused(scene: Scene, action: Action) -> Refused | None:
    """Judged at every page: who may read it may have changed, and it may be erased."""
    if not has_result(action, tool_settings(scene.stage.tenant, action.tool).result):
        return Refused(Refusal.GONE, action.position)
    if not may_read_result(scene.review, action, scene.stage):
        return Refused(Refusal.NOT_A_REVIEWER, action.position)
    return None
