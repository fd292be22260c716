"""The residual: requests that outlive the settle time, which no client of a server without a key can exclude.

Every first copy of an answer is kept after its sender was cut off, and delivered when the settle time has passed: together
with the copy that was sent again, or some time after it. A call may then run twice. What must hold is that nobody is
told otherwise: each such call is flagged, and nothing else goes wrong.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from random import Random

from tests.chaos.odds import SETTLE_S
from tests.chaos.plan import Act, Call, Case, Plan
from tests.chaos.run import calm, evidence
from tests.chaos.stage import Setting, Stage, staged
from tests.chaos.stored import waiting
from tests.chaos.verdict import completed, faults, unexplained
from tests.chaos.wire import Sent, Wire, shut

TOGETHER_S = 0.008  # at most between the two copies
AFTER_S = (0.3, 3.0)  # past the settle time, or past the other copy's answer
PATIENCE_S = 90.0
LOOKED_AGAIN_S = 30.0  # for whoever looks once more after the outcome is stored


class Kept(StrEnum):
    """Until when a first copy is kept."""

    TOGETHER = "until the second copy is on its way"
    AFTERWARDS = "until the second copy has been answered"
    LAPSED = "until some time after the settle time"


@dataclass
class _Copies:
    """What is known of one answer's copies."""

    kept: Kept
    again: asyncio.Event = field(default_factory=asyncio.Event)
    answered: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass
class KeepingWire(Wire):
    """Passes everything, but keeps each first answer to an interrupt and cuts its sender off."""

    kept: int = 0
    _copies: dict[str, _Copies] = field(default_factory=dict)

    async def _carry(self, sent: Sent, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        dispatch = _mark(sent)
        if dispatch is None:
            await self._through(sent, reader, writer)
            return
        random = Random(f"{self.seed}:{self.name}:{len(self._copies)}")
        copies = self._copies.get(dispatch)
        if copies is None:
            self.kept += 1
            self._copies[dispatch] = copies = _Copies(list(Kept)[len(self._copies) % len(Kept)])
            writer.close()
            await self._keep(copies, random)
            self.told(f"a kept copy of {dispatch} is delivered")
            await self._deliver(sent)
            return
        copies.again.set()
        self.told(f"{dispatch} is sent again")
        await asyncio.sleep(random.uniform(0, TOGETHER_S))
        await self._through(sent, reader, writer)
        copies.answered.set()

    async def _keep(self, copies: _Copies, random: Random) -> None:
        match copies.kept:
            case Kept.TOGETHER:
                await copies.again.wait()
                await asyncio.sleep(random.uniform(0, TOGETHER_S))
            case Kept.AFTERWARDS:
                await copies.answered.wait()
                await asyncio.sleep(random.uniform(*AFTER_S))
            case Kept.LAPSED:
                await asyncio.sleep(SETTLE_S + random.uniform(*AFTER_S))

    async def _deliver(self, sent: Sent) -> None:
        upstream, out = await self._connected()
        out.write(sent.head + sent.body)
        await out.drain()
        await upstream.read()
        await shut(out)
        self.faults["kept past the settle time"] += 1


def _mark(sent: Sent) -> str | None:
    return str(json.loads(sent.body)["config"]["metadata"]["placet_dispatch"]) if sent.resumes else None


def late_plan(seed: int, count: int) -> Plan:
    """So many calls that are all approved, most of them of a tool that raises once it had its effect.

    One in four is of a tool that ends well: fewer than copies that are kept in any one way: each way meets one that raises.
    """
    cases = []
    for number in range(count):
        id_ = f"k{number:04d}a"
        well = number % 4 == 0
        call = (
            Call(id_, "disable_user", {"user_id": id_, "reason": "late"}, Act.APPROVE)
            if well
            else Call(id_, "flaky_op", {"why": id_}, Act.APPROVE)
        )
        cases.append(Case(number, 0.1 * number, "ops", ((call,),), think=0.0, replayed=False, stale=False))
    return Plan(seed, 0.1 * count, (), tuple(cases))


@dataclass(frozen=True, slots=True)
class Residual:
    """How it ended: copies kept, calls that ran twice, calls flagged, doubles that nothing flags, and other faults."""

    kept: int
    doubled: int
    flagged: int
    silent: list[str]
    faults: list[str]
    timeline: list[str]


async def too_late(plan: Plan, setting: Setting) -> Residual:
    """Let every call's first answer arrive too late, and read what is said of it."""
    async with staged(plan, replace(setting, to_agent=KeepingWire)) as stage:
        calm(stage)
        await asyncio.gather(*(stage.crowd.play(case, stage.timeline.began) for case in plan.cases))
        await _until(lambda: _all_delivered(stage), PATIENCE_S)
        await _until(lambda: _all_flagged(stage), LOOKED_AGAIN_S)
        seen = await evidence(stage)
        return Residual(
            _keeper(stage).kept,
            sum(count > 1 for count in completed(seen.effects).values()),
            sum(one.flagged for one in seen.stored),
            unexplained(seen),
            [one for one in faults(seen) if "more than once" not in one],
            stage.timeline.lines,
        )


def _keeper(stage: Stage) -> KeepingWire:
    (wire,) = (one for one in stage.wires if isinstance(one, KeepingWire))
    return wire


async def _all_delivered(stage: Stage) -> bool:
    keeper = _keeper(stage)
    done = keeper.faults["kept past the settle time"] == keeper.kept == len(stage.plan.cases)
    return done and not await waiting(stage.store)


async def _all_flagged(stage: Stage) -> bool:
    return not unexplained(await evidence(stage))


async def _until(holds: Callable[[], Awaitable[bool]], patience: float) -> None:
    """Wait for a condition in other processes, or until patience ends: what is found then is judged."""
    end = asyncio.get_running_loop().time() + patience
    while not await holds() and asyncio.get_running_loop().time() < end:  # noqa: ASYNC110 - in other processes
        await asyncio.sleep(0.25)
