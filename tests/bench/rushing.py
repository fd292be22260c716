"""Many clicks at once: decisions a second, and how one tenant's rush or Slack's refusals weigh on another's click.

Rates are told twice: by the clock, and by the processor time that the bot itself used, which is what one core would give
if nobody else had it.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Sequence

from bot.sandbox.serving import serving
from bot.sandbox.slack.faults import Fault
from bot.sandbox.slack.seed import APPROVALS
from tests.bench.crowd import Waiting
from tests.bench.floors import bare_commit
from tests.bench.presses import Press, deliver, press
from tests.bench.rooms import Engine, Room, room, until
from tests.bench.standin import Standin
from tests.bench.table import Line, held
from tests.kit.office import policy_text

PARALLEL = {1: 60, 8: 120, 40: 200, 200: 400}  # how many at once, how many in all
COMMITS = 60
WANTED_A_SECOND = 300
QUIET_CLICKS = 30
NOISY_CLICKS = 120
PAUSE_S = 0.1
NOISE_A_SECOND = 20
STORM_S = 2


async def rushes(engine: Engine) -> list[Line]:
    """Decisions a second with more and more clicks under way."""
    lines = []
    async with room(engine) as here, bare_commit(here.url) as commit:
        await _rush(here, 40, 100)  # opens the pool's connections and fills the caches
        for parallel, count in PARALLEL.items():
            before = [await commit() for _ in range(COMMITS)]
            by_clock, by_processor = await _rush(here, parallel, count)
            after = [await commit() for _ in range(COMMITS)]
            bare = 2 * COMMITS * 1000 / sum(before + after)
            lines.append(_rate(engine.name, (parallel, by_clock, by_processor), bare))
    return lines


async def _rush(here: Room, parallel: int, count: int) -> tuple[float, float]:
    left = [press(one.showing.id) for one in await here.crowd(count)]

    async def person() -> None:
        while left:
            await deliver(here.placet.web, left.pop())

    began, used = time.perf_counter(), time.process_time()
    await asyncio.gather(*(person() for _ in range(parallel)))
    return count / (time.perf_counter() - began), count / (time.process_time() - used)


def _rate(engine: str, rush: tuple[int, float, float], bare: float) -> Line:
    parallel, by_clock, by_processor = rush
    ours = f"{by_clock:.0f} a second ({by_processor:.0f} a second of processor)"
    target, met = "", None
    if parallel == max(PARALLEL) and engine == "SQLite":
        target, met = "half of the bare commits", by_clock >= bare / 2
    elif parallel == max(PARALLEL):
        target, met = f"≥ {WANTED_A_SECOND} a second of one core", by_processor >= WANTED_A_SECOND
    figure = f"decisions with {parallel} parallel click{'s' if parallel > 1 else ''}"
    return Line(figure, engine, ours, f"{bare:.0f} bare commits a second, one by one", by_clock / bare, target, met)


@contextlib.asynccontextmanager
async def _working(engine: Engine) -> AsyncIterator[tuple[Room, Sequence[Waiting], Sequence[Waiting]]]:
    """A replica whose workers run, with two tenants: reviews of the quiet one, and of the noisy one."""
    quiet_ones, noisy_ones = range(3 * QUIET_CLICKS), range(3 * QUIET_CLICKS, 3 * QUIET_CLICKS + NOISY_CLICKS)
    standin = Standin({"approvals": quiet_ones, "noise": noisy_ones})
    async with serving(standin) as agent:
        quiet = policy_text(agent)
        noisy = quiet.partition("tenants:\n")[2].replace("  demo:", "  noisy:", 1)
        noisy = noisy.replace("users: [approvals]", "users: [noise]").replace(APPROVALS, "C0GENERAL")
        noisy = noisy.replace("    intake_token_env: PLACET_INTAKE_DEMO\n", "")
        async with room(engine, policy=quiet + noisy) as here:
            found = await here.crowd(len(quiet_ones), agent=agent)
            others = await here.crowd(len(noisy_ones), agent=agent, tenant="noisy", identity="noise")
            await here.placet.start()
            every = len(found) + len(others)
            await until(lambda: standin.reads["thread"] >= every or None, "every thread to be read once")
            yield here, found, others


async def neighbours(engine: Engine) -> list[Line]:
    """A quiet tenant's ack alone, beside a tenant that clicks without pause, and while Slack answers 429."""
    async with _working(engine) as (here, found, others):
        alone = await _calm(here, found[:QUIET_CLICKS])
        noise = asyncio.create_task(_noise(here, [press(one.showing.id) for one in others]))
        beside = await _calm(here, found[QUIET_CLICKS : 2 * QUIET_CLICKS])
        noise.cancel()
        await asyncio.gather(noise, return_exceptions=True)
        refused = len(here.world.calls)
        for method in ("chat.update", "chat.postMessage", "chat.postEphemeral"):
            here.world.faults.add(Fault(method, status=429, retry_after=STORM_S, times=None))
        stormy = await _calm(here, found[2 * QUIET_CLICKS :])
        refused = sum(1 for call in list(here.world.calls)[refused:] if call.error)
    noisy = f"click → ack beside a tenant of {NOISE_A_SECOND} clicks a second"
    storm = f"click → ack while Slack answers 429 ({refused} times)"
    return [
        held(noisy, engine.name, beside, alone, of="alone"),
        held(storm, engine.name, stormy, alone, of="alone"),
    ]


async def _calm(here: Room, some: Sequence[Waiting]) -> list[float]:
    taken = []
    for one in some:
        taken.append(await deliver(here.placet.web, press(one.showing.id)))
        await asyncio.sleep(PAUSE_S)
    return taken


async def _noise(here: Room, presses: Sequence[Press]) -> None:
    """At a steady rate, whether the earlier ones are answered or not."""
    async with asyncio.TaskGroup() as group:
        for sent in presses:
            group.create_task(deliver(here.placet.web, sent))
            await asyncio.sleep(1 / NOISE_A_SECOND)
