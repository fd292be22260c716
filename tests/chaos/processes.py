"""Real processes that are killed, stopped and started again: two replicas of `placet serve`, and the agent server.

Each is a child of the run and is only ever signalled by its own process id. One that ends by itself is started again, as
any supervisor would, and counted.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.chaos.plan import Blow, Stroke

ROOT = Path(__file__).parents[2]
PASSED_ON = ("PATH", "HOME", "LANG", "TMPDIR", "VIRTUAL_ENV")


@dataclass(slots=True)
class Process:
    """A program that is kept running. `ready` is a loopback port that answers once it is up."""

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str]
    log: Path
    port: int
    told: Callable[[str], None]
    counts: Counter[str]
    cwd: Path = ROOT
    wanted: bool = True
    born: float = 0.0  # when its present life began, in seconds since the epoch
    _child: asyncio.subprocess.Process | None = None
    _stopped: bool = False
    _keeper: asyncio.Task[None] | None = None
    _back_at: float = 0.0

    async def start(self) -> None:
        """Start it and keep it running."""
        await self._spawn()
        self._keeper = asyncio.create_task(self._keep(), name=f"keep {self.name}")

    async def _spawn(self) -> None:
        self.born = time.time()
        kept = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        with self.log.open("ab") as output:
            self._child = await asyncio.create_subprocess_exec(
                *self.command,
                cwd=self.cwd,
                env={**kept, "PYTHONUNBUFFERED": "1", "LANGSMITH_TRACING": "false", **self.environment},
                stdin=asyncio.subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )

    async def _keep(self) -> None:
        while self.wanted:
            assert self._child is not None
            code = await self._child.wait()
            if not self.wanted:
                return
            if code != -signal.SIGKILL:
                self.counts["ended by themselves"] += 1
                self.told(f"{self.name} ended by itself with {code}")
                self._back_at = time.monotonic() + 0.5
            await asyncio.sleep(max(0.0, self._back_at - time.monotonic()))
            self._stopped = False
            await self._spawn()
            self.told(f"{self.name} started again")

    @property
    def up(self) -> bool:
        """Whether there is a process, stopped or not."""
        return self._child is not None and self._child.returncode is None

    def kill(self, away: float) -> bool:
        """kill -9, and start it again after so many seconds; False where it was down already."""
        if not self.up:
            return False
        self._back_at = time.monotonic() + away
        self._signal(signal.SIGKILL)
        return True

    def stop(self) -> bool:
        """SIGSTOP; False where there is nothing to stop."""
        if not self.up or self._stopped:
            return False
        self._stopped = True
        self._signal(signal.SIGSTOP)
        return True

    def go_on(self) -> None:
        """SIGCONT."""
        if self._stopped and self.up:
            self._stopped = False
            self._signal(signal.SIGCONT)

    async def answering(self, patience: float = 60.0) -> None:
        """Wait until its port takes connections. Raises RuntimeError with the log's end where it never does."""
        end = time.monotonic() + patience
        while time.monotonic() < end:
            with contextlib.suppress(OSError):
                _, writer = await asyncio.open_connection("127.0.0.1", self.port)
                writer.close()
                return
            await asyncio.sleep(0.1)  # paces the asking; the condition is the connection
        raise RuntimeError(f"{self.name} does not answer:\n{self.log.read_text()[-3000:]}")

    async def end(self) -> int | None:
        """Ask it to end, insist after ten seconds, and return its exit code."""
        self.wanted = False
        if self._keeper is not None:
            self._keeper.cancel()
            await asyncio.gather(self._keeper, return_exceptions=True)
        if self._child is None:
            return None
        self.go_on()
        self._signal(signal.SIGTERM)
        try:
            return await asyncio.wait_for(self._child.wait(), 12)
        except TimeoutError:
            self._signal(signal.SIGKILL)
            await self._child.wait()
            return -signal.SIGKILL

    def _signal(self, number: signal.Signals) -> None:
        if self._child is not None and self._child.returncode is None:
            self._child.send_signal(number)


def python(*arguments: str) -> tuple[str, ...]:
    """A command for this interpreter."""
    return (sys.executable, *arguments)


@dataclass(slots=True)
class Executioner:
    """Carries out the strokes of a plan."""

    processes: Mapping[str, Process]
    told: Callable[[str], None]
    counts: Counter[str]
    _aimed: list[Stroke] = field(default_factory=list)
    _waking: set[asyncio.Task[None]] = field(default_factory=set)

    async def carry_out(self, strokes: tuple[Stroke, ...], began: float) -> None:
        """Each at its time; an aimed one at the next answer to an interrupt after its time."""
        for stroke in strokes:
            await asyncio.sleep(max(0.0, began + stroke.at - time.monotonic()))
            if stroke.aimed:
                self._aimed.append(stroke)
            else:
                self._strike(stroke)

    @property
    def aiming(self) -> bool:
        """Whether a blow still waits for an answer to leave."""
        return bool(self._aimed)

    def resume_passes(self) -> None:
        """An answer to an interrupt is on its way: now."""
        while self._aimed:
            self._strike(self._aimed.pop())

    def _strike(self, stroke: Stroke) -> None:
        for name in stroke.whom:
            process = self.processes[name]
            kind = "agent server" if name == "agent" else "replica"
            if stroke.blow is Blow.KILL and process.kill(stroke.lasts):
                self.counts[f"{kind} killed"] += 1
                self.told(f"kill -9 {name}, away for {stroke.lasts:.1f} s{', aimed' * stroke.aimed}")
            elif stroke.blow is Blow.STOP and process.stop():
                self.counts[f"{kind} stopped"] += 1
                self.told(f"SIGSTOP {name} for {stroke.lasts:.1f} s{', aimed' * stroke.aimed}")
                waking = asyncio.create_task(self._wake(process, stroke.lasts))
                self._waking.add(waking)
                waking.add_done_callback(self._waking.discard)

    async def _wake(self, process: Process, after: float) -> None:
        await asyncio.sleep(after)
        process.go_on()
        self.told(f"SIGCONT {process.name}")

    def mercy(self) -> None:
        """No more blows; whoever sleeps is woken."""
        self._aimed.clear()
        for process in self.processes.values():
            process.go_on()
