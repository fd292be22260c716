"""Presses as Slack delivers them: signed, with the whole card inside, straight into an ASGI application.

A floor and the bot are asked by the same function with the same bytes, so that what differs is theirs. Nothing here
knows what an answer means beyond its status.
"""

from __future__ import annotations

import itertools
import json
import time
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from blocks import ids
from blocks.cards import call_card
from blocks.models import CallView
from bot.sandbox.slack.signed_http import FORM, signature

SECRET = "demo-signing-secret"
CHANNEL = "C0APPROVALS"
ARGS = '{"user_id": "u_4821", "reason": "chargeback dispute", "notify": false}'
ACTS = itertools.count(1)


@dataclass(frozen=True, slots=True)
class Press:
    """One delivery, ready to be sent."""

    body: bytes
    headers: tuple[tuple[bytes, bytes], ...]


def press(showing: str, *, action_id: str = ids.APPROVE, user: str = "U0ADA", team: str = "T0DEMO") -> Press:
    """A press of a card's button; each is another delivery."""
    act = f"{int(time.time())}.{next(ACTS):06d}"
    text = _payload(showing, action_id=action_id, user=user, team=team, act=act)
    body = urlencode({"payload": text})
    stamp = str(int(time.time()))
    headers = {
        "content-type": FORM,
        "content-length": str(len(body)),
        "x-slack-request-timestamp": stamp,
        "x-slack-signature": signature(SECRET, stamp, body),
    }
    return Press(body.encode(), tuple((name.encode(), value.encode()) for name, value in headers.items()))


def _payload(showing: str, *, action_id: str, user: str, team: str, act: str) -> str:
    card = call_card(CallView(showing, "disable_user", ARGS, ("approve", "edit", "reject")))
    button = {"type": "button", "action_id": action_id, "block_id": "b", "value": showing}
    return json.dumps(
        {
            "type": "block_actions",
            "team": {"id": team, "domain": "demo"},
            "user": {"id": user, "username": "ada", "name": "ada", "team_id": team},
            "api_app_id": "A0PLACET",
            "token": "deprecated",
            "enterprise": None,
            "is_enterprise_install": False,
            "trigger_id": f"t.{act}",
            "container": {"type": "message", "message_ts": "1.000001", "channel_id": CHANNEL, "is_ephemeral": False},
            "channel": {"id": CHANNEL, "name": "approvals"},
            "message": {"type": "message", "ts": "1.000001", "text": card.text, "blocks": card.blocks},
            "state": {"values": {}},
            "response_url": "http://127.0.0.1/actions/x",
            "actions": [button | {"action_ts": act}],
        }
    )


async def deliver(app: Any, sent: Press) -> float:
    """Send one press and return the milliseconds until its answer was complete; anything but 200 is an error."""
    status = 0
    unread = [{"type": "http.request", "body": sent.body, "more_body": False}]

    async def receive() -> dict[str, Any]:
        return unread.pop() if unread else {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        nonlocal status
        status = message.get("status", status)

    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": "/slack/events",
        "raw_path": b"/slack/events",
        "query_string": b"",
        "headers": list(sent.headers),
        "client": ("127.0.0.1", 40000),
        "server": ("127.0.0.1", 8420),
    }
    began = time.perf_counter()
    await app(scope, receive, send)
    took = (time.perf_counter() - began) * 1000
    if status != 200:
        raise AssertionError(f"a press was answered with {status}")
    return took
