"""The first thing that looks at a signed payload: is it of a shape that Bolt itself can take apart?

Bolt reads the first action or the view before any listener runs, and answers 500 where there is none. Slack never sends such
a thing; whoever does gets a plain refusal.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import structlog
from slack_bolt.async_app import AsyncBoltRequest
from slack_bolt.middleware.async_middleware import AsyncMiddleware
from slack_bolt.response import BoltResponse

log = structlog.get_logger("placet")


class Entrance(AsyncMiddleware):
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


def is_readable(body: Mapping[str, Any]) -> bool:
    """Whether the part that Bolt reads by itself is there."""
    match body.get("type"):
        case "block_actions":
            actions = body.get("actions")
            return isinstance(actions, list) and bool(actions) and isinstance(actions[0], dict)
        case "view_submission" | "view_closed":
            return isinstance(body.get("view"), dict)
        case "event_callback":
            return isinstance(body.get("event"), dict)
    return True
