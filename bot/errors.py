"""What can go wrong, split by what the caller can do about it.

A refusal of a reviewer's press is a value (`bot.core.decide.Refused`), never one of these. The tree::

    PlacetError
    ├── ConfigurationError      a setting or file is wrong: one line, exit 2
    ├── StoreError              the database is missing, foreign, locked or too new
    ├── AgentError
    │   ├── AgentUnreachable    certainly not sent: try again
    │   ├── AgentRejected       the server answered no: final for this attempt
    │   └── OutcomeUnknown      sent, no clear answer: never send again blindly
    └── SlackError
        ├── MessageGone         the message was deleted
        ├── RateLimited         wait as long as Slack says
        ├── SlackUnavailable    Slack cannot be reached, or its answer is unclear
        └── InstallationRevoked the token no longer works

A class's docstring is its message when none is given.
"""

from __future__ import annotations


class PlacetError(Exception):
    """Something in Placet failed."""

    def __str__(self) -> str:
        return super().__str__() or (type(self).__doc__ or "").strip()


class ConfigurationError(PlacetError):
    """A setting is missing or wrong."""


class StoreError(PlacetError):
    """The database cannot be used."""


class AgentError(PlacetError):
    """The agent server could not be used."""


class AgentUnreachable(AgentError):
    """The agent server could not be reached; nothing was sent."""


class AgentRejected(AgentError):
    """The agent server refused the request."""

    def __init__(self, message: str = "", *, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


class OutcomeUnknown(AgentError):
    """The request left us and no clear answer came back."""


class SlackError(PlacetError):
    """Slack refused a call."""

    def __init__(self, message: str = "", *, code: str = "") -> None:
        super().__init__(message or code)
        self.code = code


class MessageGone(SlackError):
    """The message is no longer in Slack."""


class RateLimited(SlackError):
    """Slack asks us to wait."""

    def __init__(self, message: str = "", *, code: str = "ratelimited", retry_after: float = 1.0) -> None:
        super().__init__(message, code=code)
        self.retry_after = retry_after


class SlackUnavailable(SlackError):
    """Slack cannot be reached, or whether it acted is not known."""


class InstallationRevoked(SlackError):
    """Slack no longer accepts the token."""
