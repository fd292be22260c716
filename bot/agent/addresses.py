"""Where an agent server is and who we are there.

One place builds every URL path and every header, so that an id from outside can never climb out of its place in a
path, and no credential ends up in a message. It opens nothing and knows no endpoint's meaning.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import quote

from bot.core.model import Target
from bot.errors import AgentRejected, ConfigurationError

# One line of visible ASCII: what is sure to survive as a header on both servers.
_HEADER = re.compile(r"[!-~](?:[ -~]{0,254}[!-~])?")


@dataclass(frozen=True, slots=True)
class AgentServer:
    """One agent server as one identity: what every request to it needs.

    Raises `ConfigurationError` for an identity or key that cannot stand in a header.
    """

    url: str
    kind: str  # aegra | langgraph
    identity: str  # sent as X-User-Id
    api_key: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        for name, value in (("identity", self.identity), ("API key", self.api_key)):
            if value is not None and not _HEADER.fullmatch(value):
                raise ConfigurationError(f"the agent server's {name} must be one line of visible ASCII characters")

    @classmethod
    def of(cls, target: Target, api_key: str | None = None) -> AgentServer:
        """The server that a stored review names."""
        return cls(target.url, target.kind, target.identity, api_key)

    @property
    def headers(self) -> dict[str, str]:
        """Headers of every request; the deployment's own auth handler decides what they mean."""
        key = {} if self.api_key is None else {"Authorization": f"Bearer {self.api_key}"}
        return {"X-User-Id": self.identity, "Accept": "application/json", **key}

    def at(self, path_: str) -> str:
        """The full URL of a path made by `path`; a base path of the server's own is kept."""
        return self.url.rstrip("/") + path_


def path(*segments: str) -> str:
    """Join segments into a URL path, each percent-encoded whole.

    Raises `AgentRejected` for a segment that is empty, `.` or `..` (a client or proxy would fold it away) or not
    encodable: nothing was sent.
    """
    return "".join(f"/{_encoded(segment)}" for segment in segments)


def _encoded(segment: str) -> str:
    if segment in ("", ".", ".."):
        raise AgentRejected("an id that cannot stand in an address was refused")
    try:
        return quote(segment, safe="")
    except UnicodeEncodeError as exc:
        raise AgentRejected("an id that cannot stand in an address was refused") from exc
