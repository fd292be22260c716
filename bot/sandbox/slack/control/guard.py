"""The door of the control endpoints: loopback only, no foreign page, JSON only; and errors as one clear sentence."""

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx
from pydantic import BaseModel, ValidationError
from starlette.requests import Request
from starlette.responses import Response

from bot.sandbox.slack.errors import ApiError
from bot.sandbox.slack.faults import BadFault
from bot.sandbox.slack.lookup import CannotDo, NotThere
from bot.sandbox.slack.wire import AsciiJson, json_object

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})

Body = TypeVar("Body", bound=BaseModel)
Handler = Callable[[Request], Awaitable[Any]]


def guarded(handler: Handler) -> Callable[[Request], Awaitable[Response]]:
    """Wrap a control endpoint: what it returns is the JSON answer, what it raises the refusal."""

    async def endpoint(request: Request) -> Response:
        refusal = _refusal(request)
        if refusal is not None:
            return refusal
        try:
            return AsciiJson(await handler(request))
        except NotThere as missing:
            return AsciiJson({"error": str(missing), "exists": missing.exists}, 404)
        except ValidationError as invalid:
            return AsciiJson({"error": _sentence(invalid)}, 422)
        except (CannotDo, BadFault) as wrong:
            return AsciiJson({"error": str(wrong)}, 422)
        except ApiError as error:
            return AsciiJson({"error": error.error}, 400)
        except httpx.HTTPError as failed:
            return AsciiJson({"error": f"the agent server did not answer: {failed!r}"}, 502)

    return endpoint


def _refusal(request: Request) -> Response | None:
    host = request.headers.get("host", "")
    if _hostname(host) not in LOOPBACK:
        return AsciiJson({"error": "the sandbox answers on the loopback only"}, 403)
    origin = request.headers.get("origin")
    if origin is not None and origin != f"{request.url.scheme}://{host}":
        return AsciiJson({"error": "the sandbox answers no foreign page"}, 403)
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if request.method == "POST" and kind != "application/json":
        return AsciiJson({"error": "the sandbox takes JSON (content-type: application/json)"}, 415)
    return None


def _hostname(host: str) -> str | None:
    try:
        return urlsplit(f"//{host}").hostname
    except ValueError:
        return None


def _sentence(invalid: ValidationError) -> str:
    return "; ".join(f"{'.'.join(map(str, e['loc'])) or 'body'}: {e['msg']}" for e in invalid.errors())


async def read(request: Request, model: type[Body]) -> Body:
    """Parse the body; ValidationError and ApiError are the door's to answer."""
    return model.model_validate(json_object(await request.body()))


def required_query(request: Request, name: str) -> str:
    """Return a query parameter that must be there."""
    value = request.query_params.get(name)
    if not value:
        raise CannotDo(f"the query parameter {name!r} is missing")
    return value
