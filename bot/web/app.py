"""The HTTP application: Slack's endpoint, hints, health and metrics.

What every request must keep to before anything reads it: its size.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bot.metrics import REGISTRY
from bot.settings import is_loopback
from bot.web.hints import Hints
from bot.web.slack import SlackEndpoint

LARGEST_BODY = 1024 * 1024


class _TooLarge(Exception):
    """The body passed the limit."""


class BodyLimit:
    """Answers 413 to a body over 1 MiB, whether its length was announced or not."""

    def __init__(self, app: ASGIApp, largest: int = LARGEST_BODY) -> None:
        self._app, self._largest = app, largest

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        seen = 0

        async def counted() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > self._largest:
                raise _TooLarge
            return message

        try:
            await self._app(scope, counted, send)
        except _TooLarge:
            await PlainTextResponse("the body is larger than 1 MiB", 413)(scope, receive, send)


FORWARDED = ("forwarded", "x-forwarded-for", "x-real-ip")


@dataclass(frozen=True, slots=True)
class HttpEndpoints:
    """What the routes lead to."""

    slack: SlackEndpoint | None  # None in Socket Mode: Slack then delivers nothing over HTTP
    intake: Hints
    ready: Callable[[], Awaitable[str | None]]  # None: ready; else what is missing


def create_web(endpoints: HttpEndpoints) -> Starlette:
    """The ASGI application."""

    async def healthz(_: Request) -> Response:
        return JSONResponse({"ok": True})

    async def readyz(_: Request) -> Response:
        missing = await endpoints.ready()
        return JSONResponse({"ready": missing is None, "missing": missing}, 200 if missing is None else 503)

    routes = [
        Route("/healthz", healthz),
        Route("/readyz", readyz),
        Route("/metrics", metrics),
        Route("/v1/tenants/{tenant}/threads/{thread_id}/sync", endpoints.intake.sync, methods=["POST"]),
        Route("/v1/tenants/{tenant}/webhook", endpoints.intake.webhook, methods=["POST"]),
    ]
    if endpoints.slack is not None:
        routes.append(Route("/slack/events", endpoints.slack.answer, methods=["POST"]))
    return Starlette(routes=routes, middleware=[Middleware(BodyLimit)])


async def metrics(request: Request) -> Response:
    """For a scraper on this machine only: nothing that came through a proxy."""
    local = request.client is not None and is_loopback(request.client.host)
    if not local or any(name in request.headers for name in FORWARDED):
        return JSONResponse({"error": "metrics are served on loopback only"}, 403)
    return Response(generate_latest(REGISTRY), media_type=CONTENT_TYPE_LATEST)
