"""What an agent server was really told: every POST that reached it, byte for byte, with when it began and ended.

A test that says "one answer, under this id, in this order" reads it here and not from a row of ours.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send


@dataclass(slots=True)
class Heard:
    """One POST. `ended` is None while it is still being answered."""

    path: str
    body: bytes = b""
    began: float = 0.0
    ended: float | None = None

    @property
    def json(self) -> Any:
        """The body, parsed."""
        return json.loads(self.body)


@dataclass(slots=True)
class Wiretap:
    """An ASGI application around another that keeps the POSTs."""

    app: ASGIApp
    heard: list[Heard] = field(default_factory=list)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "POST":
            await self.app(scope, receive, send)
            return
        heard = Heard(scope["path"], began=time.monotonic())
        self.heard.append(heard)

        async def listening() -> Message:
            message = await receive()
            heard.body += message.get("body", b"")
            return message

        try:
            await self.app(scope, listening, send)
        finally:
            heard.ended = time.monotonic()


def resumes(heard: list[Heard], thread: str) -> list[Heard]:
    """The answers that Placet sent to a thread, by either route: no test of ours uses those."""
    ours = (f"/threads/{thread}/runs/wait", f"/threads/{thread}/commands")
    return [one for one in heard if one.path in ours]
