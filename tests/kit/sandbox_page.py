"""A workspace with its page, in memory, for tests that read what the server draws."""

import contextlib
import html
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass

import httpx

from bot.sandbox.page.routes import pages
from bot.sandbox.slack.app import create_app
from bot.sandbox.slack.seed import make_world
from bot.sandbox.slack.world import World
from tests.kit.slack_sandbox import FAST, PLAIN, ScriptedApp, Workspace

CHANNEL = "C0APPROVALS"


@dataclass
class Paged(Workspace):
    """A workspace that can also be looked at."""

    async def page(self, **query):
        """The page's HTML; `as_` stands for the parameter that Python has no name for."""
        query = {name.rstrip("_"): value for name, value in query.items()}
        answer = await self.http.get("/", params=query)
        assert answer.status_code == 200, answer.text
        return answer.text


@contextlib.asynccontextmanager
async def open_page(world: World | None = None, reply=None, **app) -> AsyncIterator[Paged]:
    """Serve a workspace and its page without sockets."""
    world = world or make_world(rules=FAST)
    world.listen_at("http://app.invalid/slack/events")
    bot = ScriptedApp(reply or (lambda payload: None))
    served = create_app(world, bot=httpx.ASGITransport(app=bot), pages=pages(), **app)
    transport = httpx.ASGITransport(app=served)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", verify=PLAIN) as http:
        yield Paged(world, bot, http)
        await world.aclose()


def words(markup):
    """The text that a reader sees, blanks closed up."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", markup)).split())


def part(markup, tag, **attributes):
    """The start tags of a kind that have these attributes (`_` for `-`, `class_` for `class`)."""
    wanted = [f'{name.rstrip("_").replace("_", "-")}="{value}"' for name, value in attributes.items()]
    return [found for found in re.findall(rf"<{tag}\b[^>]*>", markup) if all(one in found for one in wanted)]
