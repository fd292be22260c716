"""One chaos run from its first blow to the verdict.

After the plan's time the blows and faults end, people finish what they began, everything is given time to come to rest,
and then the verdict is read: from the effects file, the store, the record and the cards.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from bot.sandbox.agents import effects
from tests.chaos import stored, verdict
from tests.chaos.plan import AGENT, Plan
from tests.chaos.processes import python
from tests.chaos.stage import SECRET_KEY, Setting, Stage, staged
from tests.kit.office import CHANNEL, WHO, buttons

CALM_S = 600.0
STILL_S = 120.0  # leases of 15 s and 30 s, the settle time, and back-offs of up to 30 s behind one another
LATEST = 4  # times the plan's length, for blows whose moment does not come
FINISH_S = 20.0  # for people to finish what they began
LAST_LINES = 60
ACTIVE = ("pending", "running")


@dataclass(frozen=True, slots=True)
class Report:
    """How a run ended: its figures by name, what does not hold, and the story of that."""

    seed: int
    figures: dict[str, int]
    faults: list[str]
    timeline: list[str]

    def __str__(self) -> str:
        told = [f"seed {self.seed}", *(f"  {name}: {value}" for name, value in self.figures.items())]
        return "\n".join([*told, *(f"WRONG  {one}" for one in self.faults), *self.timeline * bool(self.faults)])


async def chaos(plan: Plan, setting: Setting) -> Report:
    """Carry out a plan and judge what came of it."""
    async with staged(plan, setting) as stage:
        began = time.monotonic()
        blows = asyncio.create_task(stage.executioner.carry_out(plan.strokes, began))
        people = [asyncio.create_task(stage.crowd.play(case, began)) for case in plan.cases]
        try:
            await asyncio.sleep(plan.seconds)
            await _last_blows(stage, people, began + LATEST * plan.seconds)
        finally:
            blows.cancel()
        calm(stage)
        await _finish(stage, people)
        left = await _at_rest(stage)
        return await _judged(stage, left)


async def _last_blows(stage: Stage, people: Sequence[asyncio.Task[None]], latest: float) -> None:
    """On a busy machine answers leave late: wait for those that blows are aimed at, while people still press."""
    while stage.executioner.aiming and time.monotonic() < latest:
        _, playing = await asyncio.wait(people, timeout=0.25)
        if not playing:
            return


def calm(stage: Stage) -> None:
    """No more blows and faults."""
    for wire in stage.wires:
        wire.calm = True
    stage.executioner.mercy()
    stage.timeline.tell("calm")


async def _finish(stage: Stage, people: Sequence[asyncio.Task[None]]) -> None:
    """Let people finish what they began."""
    done, pending = await asyncio.wait(people, timeout=FINISH_S)
    for task in pending:
        task.cancel()
    await asyncio.gather(*pending, return_exceptions=True)
    for task in done:
        task.result()


async def _at_rest(stage: Stage) -> str:
    """Wait until nothing is under way, for as long as less and less is; returns what is left when that ends."""
    clock = asyncio.get_running_loop().time
    left, end, last = await _under_way(stage), clock() + STILL_S, clock() + CALM_S
    while left and clock() < min(end, last):  # another process's rows: there is nothing else to wait on
        await asyncio.sleep(0.25)
        now = await _under_way(stage)
        left, end = now, end if now == left else clock() + STILL_S
    stage.timeline.tell(f"at rest{': ' * bool(left)}{left}")
    return left


async def _under_way(stage: Stage) -> str:
    """What still moves, but for runs that a killed agent server calls running and never ends."""
    return await stored.waiting(stage.store, less=len(await _left_running(stage)))


async def _left_running(stage: Stage) -> list[str]:
    """Reviews whose run the agent server left running when it was killed: by its own word, they may still go on."""
    left = []
    if stage.counts["agent server killed"] and stage.setting.kind == "aegra":
        for review, thread, id_ in await stored.followed(stage.store):
            told = await stage.crowd.agents.get(f"/threads/{thread}/runs/{id_}", headers=WHO)
            run = told.json()
            began = datetime.fromisoformat(run["created_at"]).timestamp()
            if run["status"] in ACTIVE and began < stage.processes[AGENT].born:
                left.append(review)
    return left


async def _judged(stage: Stage, left: str) -> Report:
    running = frozenset(await _left_running(stage))
    seen = replace(await evidence(stage), running=running)
    wrong = verdict.faults(seen)
    if left:
        wrong.append(f"never at rest: {left}")
    wrong += [*_wrong_cards(stage, seen.stored), *await _audit(stage)]
    timeline = await _story(stage, seen, wrong) if wrong else []
    return Report(stage.plan.seed, await _figures(stage, seen), wrong, timeline)


async def evidence(stage: Stage) -> verdict.Evidence:
    """What tools did, what is stored, and what people pressed."""
    calls = [call for case in stage.plan.cases for call in case.calls]
    presses = [verdict.Pressed(one.call, one.user, one.kind, one.acked, one.at) for one in stage.crowd.presses]
    return verdict.Evidence(
        frozenset(call.id for call in calls),
        effects.read(stage.effects_file),
        await stored.stored_calls(stage.store, calls),
        presses,
        await stored.answered(stage.store),
        refused=await stored.refused(stage.store),
    )


def _wrong_cards(stage: Stage, found: Sequence[verdict.Stored]) -> list[str]:
    """Cards that offer what is over, and messages that stand twice."""
    world, wrong = stage.crowd.world, []
    settled = {one.call for one in found if one.state in verdict.ENDED}
    marks: Counter[str] = Counter()
    for message in world.messages.get(CHANNEL, {}).values():
        if message.tombstone:
            continue
        marks[json.dumps(message.metadata, sort_keys=True)] += bool(message.metadata)
        shown = {"blocks": list(message.blocks)}
        offered = [one for one in buttons(shown) if one.startswith("decide.")]
        over = [call for call in settled if offered and call in json.dumps(shown)]
        wrong += [f"the card of {call} still offers {offered}" for call in over]
    return wrong + [f"posted {count} times: {mark}" for mark, count in marks.items() if count > 1]


async def _audit(stage: Stage) -> list[str]:
    """`placet audit verify`, as an auditor would run it."""
    process = await asyncio.create_subprocess_exec(
        *python("-m", "bot", "audit", "verify", "--json"),
        env={"PLACET_DATABASE_URL": stage.database, "PLACET_SECRET_KEY": SECRET_KEY},
        cwd=Path(__file__).parents[2],
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, problem = await process.communicate()
    return [] if process.returncode == 0 else [f"audit verify: {(out + problem).decode()[-2000:]}"]


async def _figures(stage: Stage, seen: verdict.Evidence) -> dict[str, int]:
    counts, ran = stage.counts, verdict.completed(seen.effects)
    decided = [one for one in seen.stored if one.decision]
    attempts = {one.review: one.attempts for one in seen.stored}
    bad = sum((wire.faults for wire in stage.wires), Counter[str]())
    return {
        "seconds": int(stage.plan.seconds),
        "kill -9 of replicas": counts["replica killed"],
        "kill -9 of the agent server": counts["agent server killed"],
        "SIGSTOP of replicas": counts["replica stopped"],
        "SIGSTOP of the agent server": counts["agent server stopped"],
        "processes that ended by themselves": counts["ended by themselves"],
        "requests on the wires": sum(wire.requests for wire in stage.wires),
        "faults on the wires": bad.total(),
        "presses by reviewers": len(seen.presses),
        "of them not acknowledged": sum(not one.acked for one in seen.presses),
        "forged, foreign, stale and replayed presses": sum(stage.crowd.nasty.values()),
        "reviews": len(attempts),
        "calls decided": len(decided),
        "answers sent again": sum(max(0, count - 1) for count in attempts.values()),
        "dispatches adopted from the dead": await stored.count_events(stage.store, "dispatch.adopted"),
        "approved calls": len({one.call for one in decided if one.decision in verdict.GATED_RUNS}),
        "completed effects": ran.total(),
        "unknown, with the reason": sum(one.state == "unknown" for one in decided),
        "left running by a killed agent server": len(seen.running),
        "flagged possibly twice": sum(one.flagged for one in decided),
        "duplicate effects": verdict.duplicates(seen),
    }


async def _story(stage: Stage, seen: verdict.Evidence, wrong: Sequence[str]) -> list[str]:
    """What is on record of everything that is wrong, and what happened around it."""
    said = " ".join(wrong)
    reviews: dict[str, Any] = {one.review: one for one in seen.stored if one.call in said or one.review in said}
    told = [f"logs in {stage.setting.folder}"]
    for id_, one in list(reviews.items())[:5]:
        told += [f"review {id_}: {one}", *await stored.story(stage.store, id_)]
    return told + stage.timeline.lines[-LAST_LINES:]
