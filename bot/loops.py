"""Background loops that a hint wakes and an interval backs up.

Level-triggered: a lost hint costs one interval and nothing else. A failure is logged, counted and tried again; a loop
never ends by itself. This module must not know what a loop does.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import structlog

from bot.errors import PlacetError
from bot.metrics import LOOP_FAILURES

log = structlog.get_logger("placet")
LONGEST_PAUSE_S = 30.0


class Loop:
    """Runs `step` whenever woken, and at least every `every` seconds. `step` answers whether there is more to do."""

    def __init__(self, name: str, step: Callable[[], Awaitable[bool]], *, every: float) -> None:
        self.name = name
        self._step, self._every = step, every
        self._woken = asyncio.Event()
        self._stopping = False
        self._failures = 0

    def wake(self) -> None:
        """Hint that there is something to do."""
        self._woken.set()

    def stop(self) -> None:
        """Let the step that runs come to its end, and begin no other."""
        self._stopping = True
        self._woken.set()

    async def run(self) -> None:
        """Run until stopped."""
        while not self._stopping:
            self._woken.clear()
            more = await self._guarded()
            if more or self._stopping:
                continue
            pause = min(self._every * 2**self._failures, LONGEST_PAUSE_S) if self._failures else self._every
            with contextlib.suppress(TimeoutError):
                # Not `wait_for`: on Python 3.11 that swallows a cancellation that comes with the wake-up.
                async with asyncio.timeout(pause):
                    await self._woken.wait()

    async def _guarded(self) -> bool:
        try:
            more = await self._step()
        except PlacetError as exc:
            self._failed(str(exc), type(exc).__name__)
            return False
        except Exception as exc:
            log.exception("A background loop failed and goes on.", action="loop_failed", loop=self.name)
            self._failed("", type(exc).__name__)
            return False
        self._failures = 0
        return more

    def _failed(self, fault: str, kind: str) -> None:
        self._failures = min(self._failures + 1, 8)
        LOOP_FAILURES.labels(loop=self.name).inc()
        if fault:
            log.warning(
                "A background loop could not do its work.", action="loop_fault", loop=self.name, fault=fault, kind=kind
            )


class Tasks:
    """Tracked tasks: none is lost to the garbage collector, none outlives `stop`, and each failure is logged."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[Any]] = set()

    def __len__(self) -> int:
        return len(self._running)

    def start(self, work: Coroutine[Any, Any, Any], name: str) -> asyncio.Task[Any]:
        """Run in the background."""
        task = asyncio.create_task(work, name=name)
        self._running.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._running.discard(task)
        if not task.cancelled() and (exc := task.exception()):
            log.error(
                "A task failed.", action="task_failed", task=task.get_name(), kind=type(exc).__name__, exc_info=exc
            )

    async def stop(self, grace_s: float) -> None:
        """Wait this long for what runs, then cancel it."""
        if self._running:
            await asyncio.wait(self._running, timeout=grace_s)
        running = list(self._running)
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
