"""Delivery by signed HTTP requests to the app's one address.

Signature `v0`: HMAC-SHA256 with the signing secret over `v0:<timestamp>:<raw body>`. Commands are plain form fields,
interactions one form field `payload`, events JSON.
"""

import asyncio
import hashlib
import hmac
import json
import ssl
from urllib.parse import urlencode

import httpx

from bot.sandbox.slack.parcels import ApiAnswer, Parcel
from bot.sandbox.slack.world import World

FORM = "application/x-www-form-urlencoded"


def signature(secret: str, timestamp: str, body: str) -> str:
    """Return the value of X-Slack-Signature."""
    signed = f"v0:{timestamp}:{body}".encode()
    return "v0=" + hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()


def encoded(parcel: Parcel) -> tuple[str, str]:
    """Return the content type and the body."""
    if parcel.kind == "event":
        return "application/json", json.dumps(parcel.payload)
    if parcel.kind == "command":
        return FORM, urlencode({key: value or "" for key, value in parcel.payload.items()}, errors="replace")
    return FORM, urlencode({"payload": json.dumps(parcel.payload)})


class HttpCourier:
    """Posts to `world.app.bot_url`; a fresh connection each time, so that a restarted app is simply there again."""

    def __init__(self, world: World, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self._world = world
        self._transport = transport
        self._client: httpx.AsyncClient | None = None

    async def carry(self, parcel: Parcel) -> ApiAnswer:
        content_type, body = encoded(parcel)
        headers = self.signed(body) | {"content-type": content_type}
        if parcel.retry:
            headers |= {"x-slack-retry-num": str(parcel.retry), "x-slack-retry-reason": parcel.reason or "http_error"}
        return await self.post(body, headers)

    def signed(self, body: str) -> dict[str, str]:
        """Return the headers that prove this body to come from here, now."""
        timestamp = str(int(self._world.clock()))
        secret = self._world.app.signing_secret
        return {
            "x-slack-request-timestamp": timestamp,
            "x-slack-signature": signature(secret, timestamp, body),
            "user-agent": "Slackbot 1.0 (+https://api.slack.com/robots)",
        }

    async def post(self, body: str, headers: dict[str, str]) -> ApiAnswer:
        """Send exactly these bytes, signed well or not."""
        sent = tuple(headers.items())
        url = self._world.app.bot_url
        if url is None:
            return ApiAnswer(None, headers=sent, sent=body)
        try:
            async with asyncio.timeout(self._world.rules.ack_seconds):
                response = await self._http().post(url, content=body.encode(), headers=headers)
        except (TimeoutError, httpx.HTTPError):
            return ApiAnswer(None, headers=sent, sent=body)
        no_retry = response.headers.get("x-slack-no-retry") == "1"
        return ApiAnswer(response.status_code, response.text, no_retry=no_retry, headers=sent, sent=body)

    def _http(self) -> httpx.AsyncClient:
        if self._client is None:
            limits = httpx.Limits(max_keepalive_connections=0)
            # A context without certificates: the app is on the loopback, and loading them holds up the first ack.
            plain = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            transport = self._transport or httpx.AsyncHTTPTransport(verify=plain, limits=limits)
            self._client = httpx.AsyncClient(transport=transport, timeout=None, trust_env=False)  # noqa: S113 asyncio's clock cuts it off
        return self._client

    async def aclose(self) -> None:
        if self._client is not None:
            await self._client.aclose()
            self._client = None
