"""What several cases look for once something has happened."""

from __future__ import annotations

from typing import Any

from tests.kit.office import Office
from tests.kit.running import decisions, rows_of


async def undecided(office: Office, thread: str) -> bool:
    """Whether nothing was decided, sent or run."""
    review = await office.review(thread)
    return review.state.value == "open" and await decisions(office) == 0 and office.ran(thread) == []


async def cards_of(office: Office) -> list[dict[str, Any]]:
    """The channel's messages that are neither replies nor tombstones."""
    return [message for message in await office.messages() if message["thread_ts"] is None and not message["deleted"]]


async def known_at(office: Office, thread: str, card: dict[str, Any]) -> bool:
    """Whether the bot knows that its card stands there."""
    (row,) = await rows_of(office, (await office.reviews(thread))[0])
    return row.ts == card["ts"]
