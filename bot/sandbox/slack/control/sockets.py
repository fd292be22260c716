"""Socket Mode from the outside: how many connections there are, and ending them in Slack's several ways."""

from typing import Literal, cast

from pydantic import BaseModel, ConfigDict
from starlette.requests import Request

from bot.sandbox.slack.control.guard import read
from bot.sandbox.slack.lookup import CannotDo
from bot.sandbox.slack.parcels import ApiAnswer
from bot.sandbox.slack.records import Json
from bot.sandbox.slack.signed_http import HttpCourier
from bot.sandbox.slack.socket_mode import SocketCourier
from bot.sandbox.slack.wire import world_of
from bot.sandbox.slack.world import World


class SocketBody(BaseModel):
    """`reason` goes out in a disconnect frame, `close` hangs up after it; `cut` ends connections without a word.

    `silent` leaves them open and dead: nothing comes over them any more, not even the answer to a ping.
    """

    model_config = ConfigDict(extra="forbid")

    reason: Literal["warning", "refresh_requested", "link_disabled"] = "refresh_requested"
    close: bool = False
    cut: bool = False
    silent: bool = False


class ReplayBody(BaseModel):
    """Which delivery to send again; `fresh` signs it anew instead of repeating its old signature."""

    model_config = ConfigDict(extra="forbid")

    number: int
    fresh: bool = False


async def connections(request: Request) -> Json:
    """Return how many connections are open."""
    return {"connections": len(request.app.state.sockets.connections)}


async def disconnect(request: Request) -> Json:
    """End every connection."""
    body = await read(request, SocketBody)
    sockets = request.app.state.sockets
    if body.silent:
        return {"connections": sockets.fall_silent()}
    told = sockets.cut() if body.cut else await sockets.disconnect(body.reason, hang_up=body.close)
    return {"connections": told}


async def replay(request: Request) -> Json:
    """Send a delivery once more, byte for byte, as somebody who had recorded it would."""
    world, body = world_of(request), await read(request, ReplayBody)
    answer = await _again(world, body)
    return {"status": answer.status, "body": answer.body}


async def _again(world: World, body: ReplayBody) -> ApiAnswer:
    courier = cast("HttpCourier | SocketCourier", world.couriers[world.app.transport])
    recorded = next((d for d in world.deliveries if d.number == body.number), None)
    if recorded is None or not recorded.body:
        raise CannotDo(f"no recorded delivery has the number {body.number}")
    if isinstance(courier, SocketCourier):
        return await courier.resend(recorded.body)
    signature = courier.signed(recorded.body) if body.fresh else {}
    return await courier.post(recorded.body, recorded.headers | signature)
