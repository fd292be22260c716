"""One reading for everybody who waits for it, and no more of them than the other side allows.

Who asks says how new an answer must be; a reading serves all whose questions are older than its beginning. This module
must not know what is read.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass


class Pace:
    """A few starts at once, then one at a time: at most `burst + 60 / every` in any minute, and nobody waits long."""

    def __init__(self, clock: Callable[[], float], *, burst: int, every: float) -> None:
        self._clock, self._burst, self._every = clock, burst, every
        self._left, self._at = float(burst), clock()

    def take(self) -> float:
        """0 when it may start now, which counts; else seconds to wait."""
        now = self._clock()
        self._left = min(self._burst, self._left + (now - self._at) / self._every)
        self._at = now
        if self._left < 1:
            return (1 - self._left) * self._every
        self._left -= 1
        return 0.0

    def hold(self, seconds: float) -> None:
        """Start nothing for so long: the other side said so."""
        self._left = min(self._left, 1 - seconds / self._every)


@dataclass(slots=True, eq=False)
class Reading:
    """One reading, asked for or under way. Its maker sets `began` (ms) just before asking the other side."""

    since: int  # the newest question's time
    began: int | None = None
    task: asyncio.Task[None] | None = None

    def serves(self, since: int) -> bool:
        """Whether its answer will be new enough."""
        return self.began is None or self.began >= since


class Readings:
    """The readings of one process by what they read."""

    def __init__(self) -> None:
        self._open: dict[Hashable, Reading] = {}

    async def join(self, key: Hashable, since: int, make: Callable[[Reading], Awaitable[None]]) -> None:
        """Wait for a reading that is no older than `since`, made now if none is open. Raises what the reading raised."""
        reading = self._open.get(key)
        if reading is None or not reading.serves(since):
            reading = self._open[key] = Reading(since)
            reading.task = asyncio.ensure_future(self._made(key, reading, make))
        reading.since = max(reading.since, since)
        if reading.task is not None:
            await asyncio.shield(reading.task)

    async def _made(self, key: Hashable, reading: Reading, make: Callable[[Reading], Awaitable[None]]) -> None:
        try:
            await make(reading)
        finally:
            if self._open.get(key) is reading:
                del self._open[key]
