"""The page's addresses: the page itself, its side panel, what was typed, and the files that make it up.

Acting goes through the workspace's own control endpoints; nothing here changes anything but what stands in a form.
"""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.middleware.exceptions import ExceptionMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Mount, Route, Router, request_response
from starlette.staticfiles import StaticFiles

from bot.sandbox.page.door import Door
from bot.sandbox.page.menu import OTHERS, TELLING
from bot.sandbox.page.names import Names
from bot.sandbox.page.panel import Records, Whereabouts, read_panel
from bot.sandbox.page.screens import HOME, screen_of
from bot.sandbox.page.typing_in import keep_typed
from bot.sandbox.slack.control.agent import effects
from bot.sandbox.slack.control.guard import guarded
from bot.sandbox.slack.lookup import NotThere
from bot.sandbox.slack.seed import PEOPLE
from bot.sandbox.slack.wire import world_of

FOLDER = Path(__file__).parent
ASKER = next(person.id for person in PEOPLE if not person.reviewer)
"""On whose behalf runs are started unless the page says otherwise."""

TEMPLATES = Environment(
    loader=FileSystemLoader(FOLDER / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
Endpoint = Callable[[Request], Awaitable[Response]]


def pages(records: Records | None = None) -> list[BaseRoute]:
    """Return the routes to serve beside the workspace's own; `records` tells the app's newest audit events, if it can."""

    async def panel(request: Request) -> Response:
        return await show_panel(request, records)

    below = Router(
        [
            Route("/panel", panel),
            Route("/typed", guarded(keep_typed), methods=["POST"]),
            Mount("/static", StaticFiles(directory=FOLDER / "static")),
        ]
    )
    # Without a handler of its own, what a missing file raises would be answered outside the door.
    behind = Door(ExceptionMiddleware(below))
    return [Route("/", Door(request_response(show_page)), methods=["GET"]), Mount("/page", behind)]


async def show_page(request: Request) -> Response:
    """Draw what somebody sees: `?as=` whom, `?in=` a channel's id or `home`."""
    query = request.query_params
    try:
        screen = screen_of(world_of(request), user=query.get("as"), place=query.get("in"), asker=ASKER)
    except NotThere as missing:
        return PlainTextResponse(str(missing), 404)
    return _drawn("page.html", screen=screen, telling=TELLING, others=OTHERS, asker=ASKER, home=HOME)


async def show_panel(request: Request, records: Records | None) -> Response:
    """Draw the live part of the side panel; `?thread=` (any number of them) opens a thread."""
    world = world_of(request)
    bot_url = urljoin(world.app.bot_url, "/") if world.app.bot_url else None
    where = Whereabouts(request.app.state.agent_url, bot_url)
    panel = await read_panel(where, await effects(request), opened=request.query_params.getlist("thread"))
    recorded = await records() if records else ()
    return _drawn("panel.html", panel=panel, recorded=recorded, names=Names(world))


def _drawn(template: str, **given: Any) -> Response:
    # Lone surrogates are texts in Python and none in UTF-8.
    return HTMLResponse(TEMPLATES.get_template(template).render(**given).encode("utf-8", "replace"))
