"""Slack's endpoint: what Slack signed, and what can be a payload at all, goes on to Bolt.

The signature is judged on the raw body before anything is read of it, by slack_sdk's own verifier; Bolt would take the
body apart first. This module must not know what a payload asks for.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import structlog
from slack_bolt.adapter.starlette.async_handler import (
    AsyncSlackRequestHandler,
    to_async_bolt_request,
    to_starlette_response,
)
from slack_sdk.signature import SignatureVerifier
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from bot.slack.inbound.shape_guard import is_readable

log = structlog.get_logger("placet")

# What the parser and Bolt raise on what Slack never sends.
UNREADABLE = (TypeError, ValueError, AttributeError, LookupError, RecursionError)
STAMPED = re.compile(r"[0-9]{1,12}")
SIGNATURE, STAMP = "x-slack-signature", "x-slack-request-timestamp"


@dataclass(frozen=True, slots=True)
class SlackEndpoint:
    """`POST /slack/events`."""

    handler: AsyncSlackRequestHandler
    verifier: SignatureVerifier

    async def answer(self, request: Request) -> Response:
        """401 for what Slack did not sign, 400 for what is no payload, else Bolt's answer."""
        body = await request.body()
        if not self._signed(body, request):
            return JSONResponse({"error": "invalid request"}, 401)
        try:
            # The body is taken apart here, once: a card in it is many kilobytes of escapes.
            taken = to_async_bolt_request(request, body)
            if not is_readable(taken.body):
                return _malformed("shape")
            return to_starlette_response(await self.handler.app.async_dispatch(taken))
        except UNREADABLE as exc:  # of Bolt's, before any listener: what a listener raises is Bolt's to answer
            return _malformed(type(exc).__name__)

    def _signed(self, body: bytes, request: Request) -> bool:
        stamp, signature = request.headers.get(STAMP, ""), request.headers.get(SIGNATURE, "")
        if not (STAMPED.fullmatch(stamp) and signature.isascii()):
            return False
        try:
            return self.verifier.is_valid(body, stamp, signature)
        except ValueError:  # a body that is no text
            return False


def _malformed(kind: str) -> Response:
    log.warning("A malformed request was refused.", action="malformed", kind=kind)
    return JSONResponse({"error": "invalid request"}, 400)
