"""How often the bot asks an agent server about a thousand threads that wait, with time made to pass.

The watcher's clock is turned by hand, half a second a step, so that minutes of watching take seconds. Counted are the
requests that arrive at the server.
"""

from __future__ import annotations

import asyncio

from bot.sandbox.serving import serving
from tests.bench.crowd import thread_id
from tests.bench.rooms import Engine, Room, room
from tests.bench.standin import Standin
from tests.bench.table import Line
from tests.kit.office import policy_text

WAITING = 1_000
STEP_S = 0.5
MINUTES = 2  # after the first reading: every thread is read again about once in them
CHANGES_A_MINUTE = 100
EVERY_S = 5
PAGE = 100


async def reads(engine: Engine) -> list[Line]:
    """Requests a minute at a thousand waiting threads, idle and busy."""
    standin = Standin({"approvals": range(WAITING)})
    async with serving(standin) as agent:
        policy = policy_text(agent).replace("every: 1s", f"every: {EVERY_S}s")
        async with room(engine, policy=policy) as here:
            await here.crowd(WAITING, agent=agent)
            clock = [0.0]
            here.placet.watcher.clock = lambda: clock[0]
            await _watched(here, standin, clock, seconds=STEP_S, changes=0)
            standin.reads.clear()
            idle = await _watched(here, standin, clock, seconds=60 * MINUTES, changes=0) / MINUTES
            busy = await _watched(here, standin, clock, seconds=60, changes=CHANGES_A_MINUTE)
    listing = 60 / EVERY_S * (WAITING / PAGE + 2)
    floor = f"listing alone {listing:.0f} a minute"
    return [
        Line(f"reads of {WAITING:,} waiting threads, idle", engine.name, f"{idle:.0f} a minute", floor, idle / listing),
        Line(
            f"the same, {CHANGES_A_MINUTE} change in a minute",
            engine.name,
            f"{busy:.0f} a minute",
            floor,
            busy / listing,
        ),
    ]


async def _watched(here: Room, standin: Standin, clock: list[float], *, seconds: float, changes: int) -> int:
    """Requests while so much time passes; `changes` threads move, spread over it."""
    before, steps = standin.reads.total(), round(seconds / STEP_S)
    for step in range(steps):
        for number in range(step * changes // steps, (step + 1) * changes // steps):
            standin.changed[thread_id(number)] = f"2026-01-01T00:{step % 60:02d}:{number % 60:02d}+00:00"
        await here.placet.watcher.step()
        await asyncio.gather(*here.placet.watcher._rounds.values())
        clock[0] += STEP_S
    return standin.reads.total() - before
