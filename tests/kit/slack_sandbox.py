"""Builders and a scripted app for the tests of the local Slack workspace.

Named apart from every other test helper, because test modules are found by path and share one namespace.
"""

import contextlib
import json
import ssl
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs

import httpx
from starlette.requests import Request
from starlette.responses import Response

from bot.sandbox.slack.app import create_app
from bot.sandbox.slack.rules import Rules
from bot.sandbox.slack.seed import SCOPES, make_world
from bot.sandbox.slack.world import World

PLAIN = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""For clients that only ever speak plain HTTP to the loopback: loading certificates is slow."""

FAST = Rules(quiet_seconds=0.05, ack_seconds=0.3, retry_delays=(0.0, 0.0, 0.0))
# The sandbox knows more of Slack than the manifest asks for.
EVERY_SCOPE = SCOPES | {"im:history", "im:read", "im:write"}


def plain(text="x"):
    return {"type": "plain_text", "text": text}


def marked(text="x"):
    return {"type": "mrkdwn", "text": text}


def button(action_id="go", **more):
    return {"type": "button", "action_id": action_id, "text": plain("Go"), "value": "s_1", **more}


def actions(*elements, block_id="act"):
    return {"type": "actions", "block_id": block_id, "elements": list(elements) or [button()]}


def section(text="x", **more):
    return {"type": "section", "text": marked(text), **more}


def option(value="a", text=None):
    return {"text": plain(text or value), "value": value}


def text_input(**more):
    return {"type": "plain_text_input", "action_id": "v", **more}


def choice(kind="radio_buttons", *values, **more):
    return {"type": kind, "action_id": "v", "options": [option(value) for value in values or ("a", "b")], **more}


def field_block(block_id="f", label="Why", element=None, **more):
    return {
        "type": "input",
        "block_id": block_id,
        "label": plain(label),
        "element": element or text_input(),
        **more,
    }


def modal(*blocks, **more):
    shown = list(blocks) or [field_block()]
    return {"type": "modal", "title": plain("Edit"), "submit": plain("Send"), "blocks": shown, **more}


def home(*blocks, **more):
    return {"type": "home", "blocks": list(blocks) or [section()], **more}


@dataclass
class ScriptedApp:
    """The app's side as one ASGI application: answers what `reply` says and keeps what it got."""

    reply: Callable[[dict], Any] = lambda payload: None
    seen: list[dict] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)

    async def __call__(self, scope, receive, send):
        request = Request(scope, receive)
        body = (await request.body()).decode()
        payload = self._parse(request, body)
        self.seen.append(payload)
        self.requests.append(request)
        answer = self.reply(payload)
        if hasattr(answer, "__await__"):
            answer = await answer
        await self._response(answer)(scope, receive, send)

    @staticmethod
    def _parse(request, body):
        if request.headers["content-type"] == "application/json":
            return json.loads(body)
        form = {key: values[0] for key, values in parse_qs(body, keep_blank_values=True).items()}
        return json.loads(form["payload"]) if "payload" in form else form

    @staticmethod
    def _response(answer):
        if isinstance(answer, Response):
            return answer
        if answer is None:
            return Response("")
        if isinstance(answer, int):
            return Response("", answer)
        return Response(answer if isinstance(answer, str) else json.dumps(answer), media_type="application/json")


@dataclass
class Workspace:
    """A world, its two ends, and short ways to use them."""

    world: World
    bot: ScriptedApp
    http: httpx.AsyncClient

    async def call(self, method, *, token="xoxb-demo", **args):
        headers = {"authorization": f"Bearer {token}"} if token else {}
        return (await self.http.post(f"/api/{method}", json=args, headers=headers)).json()

    async def post(self, *blocks, channel="C0APPROVALS", **more):
        shown = list(blocks) or [actions()]
        answer = await self.call("chat.postMessage", channel=channel, text="card", blocks=shown, **more)
        assert answer["ok"], answer
        return answer["ts"]

    async def do(self, name, **body):
        response = await self.http.post(f"/sandbox/{name}", json=body)
        return response.json()

    async def look(self, name, **query):
        return (await self.http.get(f"/sandbox/{name}", params=query)).json()

    async def click(self, ts, action_id="go", user="U0ADA", **more):
        return await self.do("click", user=user, channel="C0APPROVALS", ts=ts, action_id=action_id, **more)

    async def open(self, view=None, user="U0ADA"):
        """Let somebody click and the app answer with this modal; returns the view as opened."""
        trigger_id = await self.trigger(user)
        answer = await self.call("views.open", trigger_id=trigger_id, view=view or modal())
        assert answer["ok"], answer
        return answer["view"]

    async def trigger(self, user="U0ADA"):
        await self.click(await self.post(), user=user, wait_s=0)
        return self.bot.seen[-1]["trigger_id"]

    async def trigger_in_modal(self, action_id="more", user="U0ADA"):
        view = (await self.look("modal", user=user))["view"]
        await self.do("click", user=user, view_id=view["id"], action_id=action_id, wait_s=0)
        return self.bot.seen[-1]["trigger_id"]


class Clock:
    """A clock that stands until it is moved."""

    def __init__(self, now=1_800_000_000.0):
        self.now = now

    def __call__(self):
        return self.now


@contextlib.asynccontextmanager
async def open_workspace(world=None, reply=None) -> AsyncIterator[Workspace]:
    """Serve a world in memory: no sockets, both ends called directly."""
    world = world or make_world(rules=FAST, scopes=EVERY_SCOPE)
    if world.app.bot_url is None:
        world.listen_at("http://app.invalid/slack/events")
    bot = ScriptedApp(reply or (lambda payload: None))
    app = create_app(world, bot=httpx.ASGITransport(app=bot))
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", verify=PLAIN) as http:
        yield Workspace(world, bot, http)
        await world.aclose()
