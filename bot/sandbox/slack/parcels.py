"""What goes to the app and what comes back, the same for both transports."""

from dataclasses import dataclass
from typing import Protocol

from bot.sandbox.slack.records import Json


@dataclass(frozen=True, slots=True)
class Parcel:
    """`kind` is the payload's type, or `command` or `event`; `retry` counts the deliveries before this one."""

    kind: str
    payload: Json
    retry: int = 0
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class ApiAnswer:
    """What the app answered; a status of None: nothing in time, or nobody there."""

    status: int | None
    body: str = ""
    no_retry: bool = False
    headers: tuple[tuple[str, str], ...] = ()
    sent: str = ""

    @property
    def acked(self) -> bool:
        """Whether Slack takes an interaction as acknowledged: 200 and nothing else."""
        return self.status == 200

    @property
    def received(self) -> bool:
        """Whether Slack takes an event as received: any 2xx."""
        return self.status is not None and 200 <= self.status < 300


class Courier(Protocol):
    """A transport: it carries one parcel and waits at most as long as Slack does."""

    async def carry(self, parcel: Parcel) -> ApiAnswer:
        """Deliver and return the answer; never raises for what the app does or fails to do."""
        ...

    async def aclose(self) -> None:
        """Let go of connections."""
        ...
