"""A small approvals bot on the real slack_bolt, to meet the sandbox over both transports."""

import asyncio
import contextlib

import httpx
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.adapter.starlette.async_handler import AsyncSlackRequestHandler
from slack_bolt.async_app import AsyncApp
from starlette.applications import Starlette
from starlette.routing import Route

from bot.sandbox.serving import serving
from bot.sandbox.slack.app import create_app
from bot.sandbox.slack.seed import make_world
from tests.kit.slack_sandbox import PLAIN, Workspace, actions, button, home, modal, section

PING_S = 1
"""How soon Bolt notices a connection that went without a word; its own default is ten seconds."""


class Approvals:
    """Opens a modal in a task after its ack, decides submissions, and remembers what it saw."""

    def __init__(self, api_url):
        self.app = AsyncApp(token="xoxb-demo", signing_secret="demo-signing-secret", process_before_response=True)
        self.app.client.base_url = api_url
        self.seen = []
        self._tasks = set()
        self.app.action("edit")(self._edit)
        self.app.action("approve")(self._approve)
        self.app.view("edit")(self._submitted)
        self.app.command("/placet")(self._command)
        self.app.event("app_home_opened")(self._home)
        self.app.event("user_change")(self._user_change)

    async def _approve(self, ack, body, respond):
        self.seen.append(("approve", body["user"]["id"], body["actions"][0]["value"]))
        await ack()

    async def _edit(self, ack, body, client):
        await ack()
        opening = client.views_open(trigger_id=body["trigger_id"], view=modal(callback_id="edit"))
        task = asyncio.get_running_loop().create_task(opening)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _submitted(self, ack, view):
        value = view["state"]["values"]["f"]["v"]["value"]
        self.seen.append(("submit", value))
        if value == "bad":
            await ack(response_action="errors", errors={"f": "Say why"})
        elif value == "more":
            await ack(response_action="update", view=modal(section("done"), callback_id="edit"))
        else:
            await ack()

    async def _command(self, ack, command):
        await ack(f"heard {command['text']}")

    async def _home(self, event, client):
        await client.views_publish(user_id=event["user"], view=home(section("yours")))

    async def _user_change(self, event):
        self.seen.append(("user_change", event["user"]["id"]))

    async def post_card(self):
        buttons = actions(button("approve"), button("edit"))
        return (await self.app.client.chat_postMessage(channel="C0APPROVALS", text="card", blocks=[buttons]))["ts"]


@contextlib.asynccontextmanager
async def bolt_over_http(world=None):
    """Yield a workspace and the bot, joined by signed HTTP."""
    world = world or make_world()
    async with serving(create_app(world)) as url, httpx.AsyncClient(base_url=url, verify=PLAIN) as http:
        bot = Approvals(f"{url}/api/")
        handler = AsyncSlackRequestHandler(bot.app)

        async def receive(request):
            return await handler.handle(request)

        async with serving(Starlette(routes=[Route("/slack/events", receive, methods=["POST"])])) as bot_url:
            world.listen_at(f"{bot_url}/slack/events")
            yield Workspace(world, bot, http), bot


@contextlib.asynccontextmanager
async def bolt_over_sockets(world=None, connections=1):
    """Yield a workspace and the bot, joined by that many Socket Mode connections."""
    world = world or make_world(transport="socket")
    sandbox = create_app(world)
    async with serving(sandbox) as url, httpx.AsyncClient(base_url=url, verify=PLAIN) as http:
        bot = Approvals(f"{url}/api/")
        handlers = [AsyncSocketModeHandler(bot.app, "xapp-demo", ping_interval=PING_S) for _ in range(connections)]
        try:
            for handler in handlers:
                await handler.connect_async()
            yield Workspace(world, bot, http), bot, sandbox.state.sockets
        finally:
            for handler in handlers:
                await handler.close_async()
