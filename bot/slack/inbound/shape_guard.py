"""The first thing that looks at a payload: is it of a shape that Bolt itself can take apart?

Bolt reads teams, the first action, the view and the event before any listener of ours runs, and answers 500 with a traceback
where one of them is of another type. Slack never sends such a thing; whoever does gets a plain refusal. This module must not
know what a payload asks for.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any

import structlog
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from slack_bolt.async_app import AsyncBoltRequest
from slack_bolt.middleware.async_middleware import AsyncMiddleware
from slack_bolt.response import BoltResponse

from bot.slack.inbound.payloads import Id

log = structlog.get_logger("placet")

NEEDED = {"block_actions": "actions", "view_submission": "view", "view_closed": "view", "event_callback": "event"}


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)


class _Named(_Part):
    id: Id | None = None
    team_id: Id | None = None
    enterprise_id: Id | None = None


class _Action(_Part):
    type: Id
    action_id: Id
    block_id: Id | None = None


class _View(_Part):
    type: Id | None = None
    callback_id: Id | None = None
    app_installed_team_id: Id | None = None
    team_id: Id | None = None


class _Event(_Part):
    type: Id | None = None
    subtype: Id | None = None
    team_id: Id | None = None
    team: Id | None = None
    user_team: Id | None = None
    enterprise_id: Id | None = None
    user: Id | _Named | None = None
    channel: Id | _Named | None = None
    bot_id: Id | None = None


class _Payload(_Part):
    type: Id | None = None
    command: Id | None = None
    user_id: Id | None = None
    callback_id: Id | None = None
    team_id: Id | None = None
    enterprise_id: Id | None = None
    team: Id | _Named | None = None
    enterprise: Id | _Named | None = None
    user: Id | _Named | None = None
    channel: Id | _Named | None = None
    authorizations: list[_Named] | None = None
    actions: Annotated[list[_Action], Field(min_length=1)] | None = None
    view: _View | None = None
    event: _Event | None = None


class PayloadGuard(AsyncMiddleware):
    """Refuses what Bolt would stumble over."""

    async def async_process(
        self,
        *,
        req: AsyncBoltRequest,
        resp: BoltResponse,
        next: Callable[[], Awaitable[BoltResponse]],  # noqa: A002 - Bolt's own name
    ) -> BoltResponse | None:
        """Answer 400, or go on."""
        del resp
        if is_readable(req.body):
            return await next()
        log.warning("A malformed payload was refused.", action="malformed")
        return BoltResponse(status=400, body="")


def is_readable(body: Any) -> bool:
    """Whether all that Bolt reads by itself is there and of its type."""
    if not isinstance(body, Mapping) or body.get("event", body) is None:  # a null there is taken for an event
        return False
    try:
        read = _Payload.model_validate(dict(body))
    except ValidationError:
        return False
    needed = NEEDED.get(read.type or "")
    return needed is None or getattr(read, needed) is not None
