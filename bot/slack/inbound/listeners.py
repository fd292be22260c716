"""Bolt's listeners: parse, judge or draw, acknowledge.

An acknowledged press is a stored press: with `process_before_response` Slack gets its answer when the listener returns, and
a deciding listener returns after its commit. An opening listener commits nothing: it reads by primary key and leaves
`views.open` to a tracked task, since a trigger lives three seconds. Nothing here knows how a decision is judged.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import structlog
from slack_bolt.async_app import AsyncAck, AsyncApp

from blocks import ids
from blocks.notices import refusal_text
from blocks.reasons import REFUSALS
from bot.core.decide import Refusal, Refused
from bot.core.model import DecisionType
from bot.slack.inbound.buttons import Buttons
from bot.slack.inbound.payloads import (
    ButtonClick,
    MalformedPayload,
    Submission,
    ViewPayload,
    parse_click,
    parse_submission,
)
from bot.slack.inbound.submissions import Submissions, refusal_in_place

log = structlog.get_logger("placet")
ANY = re.compile(".*")
OPENING = frozenset({ids.EDIT, ids.REJECT, ids.RESPOND, ids.REVIEW, ids.RESULT})
TURNING = frozenset(
    {
        ids.PAGE_NEXT,
        ids.PAGE_BACK,
        ids.EDIT_BACK,
        ids.EDIT_AS_JSON,
        ids.EDIT_AS_FIELDS,
        ids.REVEAL,
        ids.CHOICE,
    }
)

Body = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Listeners:
    """What answers Slack."""

    clicks: Buttons
    submits: Submissions

    def register(self, app: AsyncApp) -> None:
        """Put ours on the app, first of all: Bolt asks one listener after the other whose a press is."""
        app.action(ids.APPROVE)(self.approve)
        app.action(ids.TAKE_BACK)(self.take_back)
        for action_id in sorted(OPENING):
            app.action(action_id)(self.open)
        for action_id in sorted(TURNING):
            app.action(action_id)(self.turn)

    def register_rest(self, app: AsyncApp) -> None:
        """Put the catch-alls on the app, last of all: they answer what no version of ours has sent."""
        app.action(ANY)(self.other_action)
        app.view(ANY)(self.submit)

    async def approve(self, ack: AsyncAck, body: Body) -> None:
        """Decide at once."""
        await _answered(ack, body, self._approved)

    async def _approved(self, click: ButtonClick) -> None:
        await self.clicks.decide(click, DecisionType.APPROVE)

    async def take_back(self, ack: AsyncAck, body: Body) -> None:
        """Undo at once."""
        await _answered(ack, body, self.clicks.take_back)

    async def open(self, ack: AsyncAck, body: Body) -> None:
        """Open a private view."""
        await _answered(ack, body, self.clicks.open, self.clicks.failed)

    async def turn(self, ack: AsyncAck, body: Body) -> None:
        """Draw the open view anew: another page, another choice."""
        await _answered(ack, body, self.clicks.turn, self.clicks.failed)

    async def other_action(self, ack: AsyncAck, body: Body) -> None:
        """A button of another version, or nothing of ours."""
        await _answered(ack, body, self.clicks.unknown)

    async def submit(self, ack: AsyncAck, body: Body) -> None:
        """A submitted modal: the answer goes out with the acknowledgement."""
        try:
            submission = parse_submission(body)
        except MalformedPayload as exc:
            log.warning("A malformed submission was refused.", action="malformed", fault=str(exc))
            await ack(**refusal_in_place(Refused(Refusal.MALFORMED)))
            return
        answer = await self._submitted(submission)
        await ack(**answer)

    async def _submitted(self, submission: Submission) -> dict[str, Any]:
        try:
            return await self.submits.answer(submission)
        except Exception:
            log.exception("A submission failed.", action="listener_failed")
            return failed_submission(submission.view)


def failed_submission(view: ViewPayload) -> dict[str, Any]:
    """The answer after a fault of ours: the window stays, with all that was typed, and says so."""
    block = next(iter(view.values), None)
    if block is None:
        return refusal_in_place(Refused(Refusal.INTERNAL))
    return {"response_action": "errors", "errors": {block: REFUSALS["internal"]}}


Work = Callable[[ButtonClick], Awaitable[None]]


async def _answered(ack: AsyncAck, body: Body, work: Work, failed: Work | None = None) -> None:
    """Parse, do the work, acknowledge. A fault of ours is not acknowledged, so that the person sees that it failed.

    `failed` says it in words, where it is known that nothing was decided.
    """
    try:
        click = parse_click(body)
    except MalformedPayload as exc:
        log.warning("A malformed press was refused.", action="malformed", fault=str(exc))
        await ack()
        return
    try:
        await work(click)
    except Exception:
        if failed is not None:
            await failed(click)
        raise
    await ack()


def sentence(refused: Refused) -> str:
    """A refusal as an ephemeral message."""
    facts: dict[str, Any] = dict(refused.facts)
    if refused.position is not None:
        facts["position"] = refused.position
    return refusal_text(Refusal(refused.reason).value, **facts)
