"""Payloads that Slack never sent, signed as if it had: what somebody could post who holds the secret, or recorded a request.

The shapes are those of Slack's payload reference. A test says only what is wrong about its payload.
"""

from __future__ import annotations

import itertools
import json
import time
from typing import Any
from urllib.parse import urlencode

import httpx

from bot.sandbox.slack.parcels import Parcel
from bot.sandbox.slack.seed import SIGNING_SECRET
from bot.sandbox.slack.signed_http import FORM, signature
from tests.kit.office import CHANNEL, Office

TEAM = "T0DEMO"
_numbers = itertools.count(1)

Json = dict[str, Any]


def showing_of(message: Json, action_id: str) -> str:
    """What the button of a drawn card carries."""
    blocks = [block for block in message.get("blocks") or [] if block["type"] == "actions"]
    return next(one["value"] for block in blocks for one in block["elements"] if one["action_id"] == action_id)


def pressed(
    user: str,
    showing: str,
    action_id: str,
    *,
    card: Json | None = None,
    team: str = TEAM,
    home: str | None = None,
    block_id: str = "act",
) -> Json:
    """A `block_actions` payload for a button on a message."""
    stamp = f"{int(time.time())}.{next(_numbers):06d}"
    ts = card["ts"] if card else stamp
    action = {"type": "button", "action_id": action_id, "block_id": block_id, "value": showing, "action_ts": stamp}
    return {
        "type": "block_actions",
        "team": {"id": team, "domain": "x"},
        "user": {"id": user, "team_id": home or team, "name": "x", "username": "x"},
        "api_app_id": "A0PLACET",
        "trigger_id": f"forged.{stamp}",
        "container": {"type": "message", "message_ts": ts, "channel_id": CHANNEL, "is_ephemeral": False},
        "channel": {"id": CHANNEL, "name": "approvals"},
        "actions": [action],
    }


def submitted(
    user: str, showing: str, callback_id: str, values: dict[str, Json] | None = None, *, team: str = TEAM
) -> Json:
    """A `view_submission` payload; `values` maps block ids to `{action_id: element}`."""
    number = next(_numbers)
    view = {
        "id": f"V0FORGED{number}",
        "hash": f"{number}.forged",
        "type": "modal",
        "callback_id": callback_id,
        "private_metadata": showing,
        "state": {"values": values or {}},
        "app_installed_team_id": team,
    }
    who = {"id": user, "team_id": team, "name": "x", "username": "x"}
    asked = {"type": "view_submission", "trigger_id": f"forged.{number}", "team": {"id": team, "domain": "x"}}
    return {**asked, "user": who, "view": view}


def typed(action_id: str, text: str | None) -> dict[str, Json]:
    """A text input's state."""
    return {action_id: {"type": "plain_text_input", "value": text}}


def chosen(decision: str) -> dict[str, Json]:
    """The state of a batch's radio buttons."""
    option = {"text": {"type": "plain_text", "text": decision}, "value": decision}
    return {"decision": {"type": "radio_buttons", "selected_option": option}}


async def forge(
    office: Office, payload: Json, *, replica: int = 0, headers: dict[str, str] | None = None
) -> httpx.Response:
    """Deliver an interaction as Slack would: signed well over HTTP, or in an envelope on a socket of the bot's."""
    if office.world.app.transport == "socket":
        answer = await office.world.couriers["socket"].carry(Parcel(payload["type"], payload))
        return httpx.Response(answer.status or 503, text=answer.body)
    return await post(office, urlencode({"payload": json.dumps(payload)}), replica=replica, headers=headers)


async def post(
    office: Office,
    body: str,
    *,
    secret: str = SIGNING_SECRET,
    signed_body: str | None = None,
    at: float | None = None,
    without: tuple[str, ...] = (),
    replica: int = 0,
    headers: dict[str, str] | None = None,
) -> httpx.Response:
    """Post any bytes; the signature is good unless another secret, another signed body or another time is named."""
    stamp = str(int(time.time() if at is None else at))
    signed = {
        "content-type": FORM,
        "x-slack-request-timestamp": stamp,
        "x-slack-signature": signature(secret, stamp, body if signed_body is None else signed_body),
        **(headers or {}),
    }
    kept = {name: value for name, value in signed.items() if name not in without}
    return await office.bots[replica].post("/slack/events", content=body.encode(), headers=kept)
