"""How a call is refused: Slack's error name, what goes with it, and the status where it is not 200.

The only exception type that the API half raises on purpose. It knows no method and no HTTP library.
"""

from collections.abc import Sequence
from typing import Any

from bot.sandbox.slack.blockkit.problem import Problem
from bot.sandbox.slack.records import Json


class ApiError(Exception):
    """A call was refused; `body` is the whole answer."""

    def __init__(self, error: str, *, messages: Sequence[str] = (), status: int = 200, **more: Any) -> None:
        super().__init__(error)
        self.error = error
        self.status = status
        self.messages = list(messages)
        self.more = more
        self.retry_after: int | None = None

    @property
    def body(self) -> Json:
        body: Json = {"ok": False, "error": self.error, **self.more}
        if self.messages:
            body["response_metadata"] = {"messages": self.messages}
            body["errors"] = self.messages
        return body


class ApiRateLimited(ApiError):
    """Too many calls; the answer is a 429 that says how many seconds to wait."""

    def __init__(self, retry_after: int) -> None:
        super().__init__("ratelimited", status=429)
        self.retry_after = retry_after


def refuse(problems: Sequence[Problem]) -> None:
    """Raise what Slack answers to these problems: the first one's error, with a line for each of its kind."""
    if problems:
        error = problems[0].error
        raise ApiError(error, messages=[p.line for p in problems if p.error == error and p.pointer is not None])
