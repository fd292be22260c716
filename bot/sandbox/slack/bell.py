"""Waiting for something to have happened, without asking again and again.

Whatever changes the world rings; whoever waits looks at its own condition each time. It knows nothing of what changed.
"""

import asyncio
from collections.abc import Callable


class Bell:
    """Wakes everybody who waits; bound to no event loop until somebody does."""

    def __init__(self) -> None:
        self._rung = asyncio.Event()
        self.count = 0

    def ring(self) -> None:
        """Wake all waiters; they look at their conditions before anything else can ring."""
        self.count += 1
        rung, self._rung = self._rung, asyncio.Event()
        rung.set()

    async def until(self, condition: Callable[[], bool], seconds: float) -> bool:
        """Return whether `condition` came true within `seconds` of real time."""
        loop = asyncio.get_running_loop()
        end = loop.time() + seconds
        while not condition():
            rung = self._rung
            try:
                async with asyncio.timeout_at(end):
                    await rung.wait()
            except TimeoutError:
                return condition()
        return True
