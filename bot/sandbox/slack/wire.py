"""Bytes in and out: ASCII-only JSON, arguments from any of the ways Slack takes them, and a connection that just goes."""

import json
from typing import Any, cast
from urllib.parse import parse_qsl

from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from bot.sandbox.slack.errors import ApiError
from bot.sandbox.slack.records import Json
from bot.sandbox.slack.world import World

CONNECTION = "sandbox.connection"
"""Where the application leaves the server's own side of the connection in a request's scope."""


class AsciiJson(Response):
    """JSON with everything beyond ASCII escaped, as Slack sends it; a lone surrogate cannot break it."""

    media_type = "application/json; charset=utf-8"

    def __init__(
        self,
        content: Any,
        status_code: int = 200,
        *,
        headers: dict[str, str] | None = None,
        background: BackgroundTask | None = None,
    ) -> None:
        super().__init__(content, status_code, headers=headers, background=background)

    def render(self, content: Any) -> bytes:
        return json.dumps(content).encode("ascii")


class Dropped(Response):
    """No answer: the connection is cut. Without a server underneath it raises ConnectionResetError instead."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        del send
        transport = getattr(scope.get(CONNECTION), "transport", None)
        if transport is None:
            raise ConnectionResetError("the connection was dropped by a fault")
        transport.abort()
        while (await receive())["type"] != "http.disconnect":
            pass


def world_of(request: Request) -> World:
    """Return the world behind the application."""
    return cast("World", request.app.state.world)


async def read_args(request: Request) -> Json:
    """Return a call's arguments: query, then a form or a JSON object."""
    args: Json = dict(request.query_params)
    body = await request.body()
    if not body:
        return args
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "application/json":
        return args | json_object(body)
    if kind == "application/x-www-form-urlencoded":
        return args | dict(parse_qsl(body.decode(errors="replace"), keep_blank_values=True))
    raise ApiError("invalid_post_type")


def json_object(body: bytes) -> Json:
    """Parse a JSON object; raises the API's own errors."""
    try:
        parsed = json.loads(body)
    except ValueError:
        raise ApiError("invalid_json") from None
    if not isinstance(parsed, dict):
        raise ApiError("json_not_object")
    return parsed
