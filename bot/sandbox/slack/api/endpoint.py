"""The way in to the Web API: arguments, faults, token, scope, rate, method, answer; and the log of it all."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

from starlette.requests import Request
from starlette.responses import Response

from bot.sandbox.slack.api import chat, conversations, directory, modal_methods, sockets
from bot.sandbox.slack.api.calling import ApiCall, Method
from bot.sandbox.slack.api.places import need_scope
from bot.sandbox.slack.errors import ApiError
from bot.sandbox.slack.faults import Fault
from bot.sandbox.slack.organisation import by_account
from bot.sandbox.slack.records import AppInstallation, Json, RecordedCall
from bot.sandbox.slack.wire import AsciiJson, Dropped, read_args, world_of
from bot.sandbox.slack.world import World

METHODS: dict[str, Method] = {
    **chat.METHODS,
    **modal_methods.METHODS,
    **conversations.METHODS,
    **directory.METHODS,
    **sockets.METHODS,
}


async def api(request: Request) -> Response:
    """Answer `/api/{method}`."""
    world, name = world_of(request), request.path_params["method"]
    fault = world.faults.take(name, "*")
    token, args = "", {}
    try:
        args = await read_args(request)
        token = _token(request, args)
        async with _under_way(world, args):
            await _before(fault)
            body = _run(world, name, token, args)
    except ApiError as error:
        log(world, name, token, args, error=error)
        return refusal(error, _headers(world, token))
    except _Lost:
        return Dropped()
    log(world, name, token, args)
    if fault and fault.drop == "after":
        return AsciiJson({"ok": False, "error": "internal_error"}, fault.status) if fault.status else Dropped()
    told = {key: value for key, value in body.items() if fault is None or key != fault.omit}
    return AsciiJson(told, headers=_headers(world, token))


class _Lost(Exception):
    """The connection is to go before anything happened."""


async def _before(fault: Fault | None) -> None:
    if fault is None:
        return
    await asyncio.sleep(fault.delay_s)
    if fault.drop == "before":
        raise _Lost
    if fault.drop is None and (fault.error or fault.status):
        limited = fault.status == 429 or fault.error == "ratelimited"
        error = ApiError(
            fault.error or ("ratelimited" if limited else "internal_error"),
            messages=fault.messages,
            status=fault.status or (429 if limited else 200),
        )
        error.retry_after = fault.retry_after or (1 if limited else None)
        raise error


@contextlib.asynccontextmanager
async def _under_way(world: World, args: Json) -> AsyncIterator[None]:
    """Let those who look on know that a call with this trigger is being answered."""
    trigger_id = str(args.get("trigger_id", ""))
    world.in_flight[trigger_id] += 1
    world.bell.ring()
    try:
        yield
    finally:
        world.in_flight[trigger_id] -= 1
        world.bell.ring()


def _token(request: Request, args: Json) -> str:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else str(args.pop("token", ""))


def _run(world: World, name: str, token: str, args: Json) -> Json:
    method = METHODS.get(name)
    if method is None:
        raise ApiError("unknown_method", req_method=name)
    if method.token == "app":  # noqa: S105 a kind of token, not one
        return method.run(ApiCall(world, sockets.app_level(world, token), args))
    call = ApiCall(world, _installation(world, token), by_account(world, args))
    if method.scopes:
        need_scope(call, *method.scopes)
    _spend(call, name, method)
    return method.run(call)


def _installation(world: World, token: str) -> AppInstallation:
    if not token:
        raise ApiError("not_authed")
    for installation in world.installations.values():
        if installation.token == token:
            if installation.status != "active":
                raise ApiError(installation.status)
            return installation
    raise ApiError("not_allowed_token_type" if token == world.app.app_token else "invalid_auth")


def _spend(call: ApiCall, name: str, method: Method) -> None:
    world, team_id = call.world, call.installation.team_id
    strict, now = world.rules.strict_rates, world.clock()
    world.rates.spend_tier(team_id, name, method.tier, now=now, strict=strict)
    if strict and name == "chat.postMessage":
        world.rates.spend_post(team_id, str(call.args.get("channel")), now)


def log(world: World, name: str, token: str, args: Json, *, error: ApiError | None = None) -> None:
    """Remember a call as it was answered."""
    installation = _holder(world, token)
    team_id = installation.team_id if installation else None
    world.calls.append(RecordedCall(world.clock(), name, team_id, args, error.error if error else None))
    world.bell.ring()


def _holder(world: World, token: str) -> AppInstallation | None:
    return next((i for i in world.installations.values() if token and i.token == token), None)


def _headers(world: World, token: str) -> dict[str, str]:
    installation = _holder(world, token)
    return {"x-oauth-scopes": ",".join(sorted(installation.scopes))} if installation else {}


def refusal(error: ApiError, headers: dict[str, str]) -> Response:
    """Return the answer to a refused call."""
    if error.retry_after is not None:
        headers = headers | {"retry-after": str(error.retry_after)}
    return AsciiJson(error.body, error.status, headers=headers)
