"""The door of everything that the page serves: loopback only, no foreign page, in no frame, nothing from elsewhere.

It exists because a browser on this machine also shows other people's pages, which can reach the loopback. It knows
nothing of what it guards.
"""

from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bot.sandbox.slack.control.guard import LOOPBACK

HEADERS = {
    "content-security-policy": (
        "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


class Door:
    """Wraps an ASGI application: refuses whom the page is not for, and puts `HEADERS` on every answer."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        app = self._app if _admits(scope) else PlainTextResponse("The page is served on this machine only.", 403)
        await app(scope, receive, send_with_headers)


def _admits(scope: Scope) -> bool:
    headers = Headers(scope=scope)
    host = headers.get("host", "")
    return _is_loopback(host) and headers.get("origin") in (None, f"{scope['scheme']}://{host}")


def _is_loopback(host: str) -> bool:
    try:
        return urlsplit(f"//{host}").hostname in LOOPBACK
    except ValueError:
        return False
