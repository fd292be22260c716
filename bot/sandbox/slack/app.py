"""The workspace as one ASGI application: Web API, hooks, Socket Mode, and the control endpoints.

It is handed a world and gives it its transports; the bot's address is a fact of the world, not of this module.
"""

import contextlib
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import httpx
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.types import Receive, Scope, Send

from bot.sandbox.serving import serving
from bot.sandbox.slack.api.endpoint import api
from bot.sandbox.slack.api.hooks import respond
from bot.sandbox.slack.control import act, agent, alter, look, sockets
from bot.sandbox.slack.control.guard import Handler, guarded
from bot.sandbox.slack.signed_http import HttpCourier
from bot.sandbox.slack.socket_mode import SocketCourier
from bot.sandbox.slack.wire import CONNECTION
from bot.sandbox.slack.world import World

__all__ = ["SlackSandbox", "create_app", "serving"]

LOOKING: dict[str, Handler] = {
    "people": look.people,
    "channels": look.channels,
    "messages": look.messages,
    "ephemerals": look.ephemerals,
    "modal": look.modal,
    "home": look.home,
    "faults": look.faults,
    "calls": look.calls,
    "deliveries": look.deliveries,
    "effects": agent.effects,
    "socket": sockets.connections,
    "changes": look.changes,
}
ACTING: dict[str, Handler] = {
    "click": act.click,
    "submit": act.submit,
    "close": act.close,
    "command": act.command,
    "propose": agent.propose,
    "faults": alter.fault,
    "people": alter.person,
    "channels": alter.channel,
    "delete-message": alter.delete_message,
    "event": alter.event,
    "installation": alter.installation,
    "socket": sockets.disconnect,
    "replay": sockets.replay,
}


class SlackSandbox(Starlette):
    """Starlette that notes a request's connection, so that a fault can cut it, and the address it is reached at."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope[CONNECTION] = getattr(send, "__self__", None)
        if scope["type"] in ("http", "websocket"):
            host = dict(scope["headers"]).get(b"host")
            if host:
                self.state.world.base_url = f"http://{host.decode('latin-1')}"
        await super().__call__(scope, receive, send)


def create_app(
    world: World,
    *,
    agent_url: str | None = None,
    effects_file: Path | None = None,
    bot: httpx.AsyncBaseTransport | None = None,
    pages: Sequence[BaseRoute] = (),
) -> SlackSandbox:
    """Build the application.

    `agent_url` is where `/sandbox/propose` starts runs, `effects_file` what `/sandbox/effects` reads; `bot` carries HTTP
    deliveries some other way than over the network (httpx.ASGITransport, in tests). `pages` are served beside the rest.
    """
    courier = SocketCourier(world)
    world.couriers |= {"http": HttpCourier(world, bot), "socket": courier}
    app = SlackSandbox(routes=[*_routes(courier), *pages], lifespan=_lifespan)
    app.state.world = world
    app.state.sockets = courier
    app.state.agent_url = agent_url
    app.state.effects_file = effects_file
    return app


def _routes(courier: SocketCourier) -> list[BaseRoute]:
    return [
        Route("/api/{method}", api, methods=["GET", "POST"]),
        Route("/actions/{rest:path}", respond, methods=["POST"]),
        Route("/commands/{rest:path}", respond, methods=["POST"]),
        Route("/ok", _ok),
        WebSocketRoute("/link/", courier.serve),
        *(Route(f"/sandbox/{name}", guarded(handler), methods=["GET"]) for name, handler in LOOKING.items()),
        *(Route(f"/sandbox/{name}", guarded(handler), methods=["POST"]) for name, handler in ACTING.items()),
    ]


async def _ok(request: Request) -> Response:
    del request
    return Response("ok", media_type="text/plain")


@contextlib.asynccontextmanager
async def _lifespan(app: Starlette) -> AsyncIterator[None]:
    yield
    await app.state.world.aclose()
