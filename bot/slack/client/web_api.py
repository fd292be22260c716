"""Slack's Web API, with its errors told apart by what can be done about them.

The client never retries by itself (`retry_handlers=[]`): the SDK's default re-sends a POST whose connection dropped, which
posts a card twice. A timeout, a 5xx, `fatal_error` and `internal_error` are "whether it acted is not known". This module
must not know what a message says.
"""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

import aiohttp
from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.errors import InstallationRevoked, MessageGone, RateLimited, SlackError, SlackUnavailable
from bot.metrics import SLACK_CALLS

TIMEOUT_S = 10
# chat.* on a message that somebody deleted, or that the workspace lets nobody change any more.
GONE = frozenset({"message_not_found", "cant_update_message", "edit_window_closed"})
REVOKED = frozenset(
    {"invalid_auth", "not_authed", "account_inactive", "token_revoked", "token_expired", "app_uninstalled"}
)
# "Possible some aspect succeeded", says the method reference.
UNCLEAR = frozenset({"fatal_error", "internal_error", "service_unavailable", "request_timeout", "update_failed"})
LIMITED = frozenset({"ratelimited", "rate_limited"})


def make_client(token: str, base_url: str, session: aiohttp.ClientSession | None = None) -> AsyncWebClient:
    """A client for one workspace."""
    return AsyncWebClient(token=token, base_url=base_url, timeout=TIMEOUT_S, retry_handlers=[], session=session)


async def call(request: Awaitable[AsyncSlackResponse]) -> dict[str, Any]:
    """Await a client's method; its answer as a dict, or one of the `SlackError`s."""
    try:
        response = await request
    except SlackApiError as exc:
        raise _translated(exc) from exc
    except (TimeoutError, aiohttp.ClientError, OSError, SlackClientError) as exc:
        raise SlackUnavailable(
            f"Slack did not answer ({type(exc).__name__}): check the network, and PLACET_SLACK_API_URL if it is set.",
            code="unreachable",
        ) from exc
    data = response.data
    return data if isinstance(data, dict) else {}


async def counted(method: str, request: Awaitable[AsyncSlackResponse]) -> dict[str, Any]:
    """As `call`, and counted for the operator."""
    try:
        answer = await call(request)
    except SlackError as exc:
        SLACK_CALLS.labels(method=method, result=exc.code or "error").inc()
        raise
    SLACK_CALLS.labels(method=method, result="ok").inc()
    return answer


def _translated(exc: SlackApiError) -> SlackError:
    response = exc.response
    status = getattr(response, "status_code", 200)
    data = getattr(response, "data", None)
    code = data.get("error", "") if isinstance(data, dict) else ""
    headers = getattr(response, "headers", {}) or {}
    if status == 429 or code in LIMITED:
        return RateLimited(code="ratelimited", retry_after=_seconds(headers))
    if code in GONE:
        return MessageGone(code=code)
    if code in REVOKED:
        return InstallationRevoked(f"Slack refuses the token: {code}", code=code)
    if status >= 500 or code in UNCLEAR or not code:
        return SlackUnavailable(f"Slack answered {status} {code}".strip(), code=code or f"http_{status}")
    return SlackError(_with_pointers(code, data), code=code)


def _seconds(headers: Any) -> float:
    found = next((value for key, value in dict(headers).items() if key.lower() == "retry-after"), "1")
    try:
        return max(0.0, float(found))
    except (TypeError, ValueError):
        return 1.0


def _with_pointers(code: str, data: Any) -> str:
    """The error with Slack's JSON pointers, which name places in the blocks and never quote them."""
    told = (data.get("response_metadata") or {}).get("messages") or [] if isinstance(data, dict) else []
    return f"{code} {'; '.join(str(one)[:200] for one in told[:3])}".strip()
