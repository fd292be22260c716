"""One click at a time: until it is acknowledged, until its decision is durable, until a view's opening is under way.

Floor and ours take turns in one loop, so that whatever else the machine does meets both.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from blocks import ids
from tests.bench.crowd import Waiting, at_rest, copy_settled
from tests.bench.floors import bare_bolt, bare_commit
from tests.bench.presses import deliver, press
from tests.bench.rooms import Engine, Room, room, until
from tests.bench.table import Line, held, p50, spread

ROUNDS = 80
DEFAULT_MODE_EVERY = 4
FEW = 200
SETTLED = 100_000
WARMING = 8


@dataclass(slots=True)
class Taken:
    """Milliseconds of every round."""

    ack: list[float] = field(default_factory=list)
    durable: list[float] = field(default_factory=list)
    opened: list[float] = field(default_factory=list)
    bare: list[float] = field(default_factory=list)
    bare_default: list[float] = field(default_factory=list)
    commit: list[float] = field(default_factory=list)


async def clicks(engine: Engine) -> list[Line]:
    """Click to ack, to durable, to `views.open`."""
    async with room(engine) as here, bare_commit(here.url) as commit:
        crowd = await here.crowd(ROUNDS + WARMING)
        taken, bare, default = (
            Taken(),
            bare_bolt(process_before_response=True),
            bare_bolt(process_before_response=False),
        )
        for number, one in enumerate(crowd):
            if number == WARMING:
                taken = Taken()
            sent = press(one.showing.id)
            if number % DEFAULT_MODE_EVERY == 0:
                taken.bare_default.append(await deliver(default, sent))
            taken.bare.append(await deliver(bare, sent))
            taken.commit.append(await commit())
            taken.opened.append(await _opening(here, one))
            await _deciding(here, one, taken)
    return _lines(engine.name, taken)


async def _deciding(here: Room, one: Waiting, taken: Taken) -> None:
    durable: list[float] = []
    here.store.woken = lambda _workers: durable.append(time.perf_counter())
    sent = press(one.showing.id)
    began = time.perf_counter()
    taken.ack.append(await deliver(here.placet.web, sent))
    taken.durable.append((durable[0] - began) * 1000)
    here.store.woken = None


async def _opening(here: Room, one: Waiting) -> float:
    """Milliseconds from the press of Edit until `views.open` reaches Slack."""
    seen = len(here.slack.arrived)
    sent = press(one.showing.id, action_id=ids.EDIT)
    began = time.perf_counter()
    await deliver(here.placet.web, sent)

    def there() -> float | None:
        return next((at for path, at in here.slack.arrived[seen:] if path.endswith("views.open")), None)

    arrived = await until(there, "views.open")
    await until(lambda: None if len(here.placet.tasks) else True, "the opening to be over")
    return (float(arrived) - began) * 1000


def _lines(engine: str, taken: Taken) -> list[Line]:
    allowed = p50(taken.bare) + 2 * p50(taken.commit)
    ratio, half = p50(taken.ack) / allowed, p50(taken.ack) / p50(taken.bare_default)
    floor = f"bare ack {spread(taken.bare)}, bare commit {spread(taken.commit)}"
    target = "bare ack and twice the bare commit"
    lines = [Line("click → ack, the commit inside", engine, spread(taken.ack), floor, ratio, target, ratio <= 1)]
    floor = f"Bolt's default mode {spread(taken.bare_default)}"
    met = half <= 0.5 if engine == "PostgreSQL" else None
    lines.append(Line("the same", engine, spread(taken.ack), floor, half, "half of it" if met is not None else "", met))
    lines.append(held("click → durable decision", engine, taken.durable, taken.commit, of="bare commit"))
    lines.append(held("click → `views.open` issued", engine, taken.opened, taken.bare, of="bare ack"))
    return lines


async def flatness(engine: Engine) -> list[Line]:
    """A click beside a few stored reviews and beside a hundred thousand, in turns."""
    async with room(engine) as few, room(engine) as many:
        crowds = [await few.crowd(FEW), await many.crowd(FEW)]
        await _decide(many, crowds[1][:1])
        await copy_settled(many.store, crowds[1][0].review.id, SETTLED)
        for url in (few.url, many.url):
            await at_rest(url)
        taken: tuple[list[float], list[float]] = ([], [])
        for beside_few, beside_many in zip(crowds[0][1:], crowds[1][1:], strict=True):
            taken[0].append(await deliver(few.placet.web, press(beside_few.showing.id)))
            taken[1].append(await deliver(many.placet.web, press(beside_many.showing.id)))
    alone, beside = taken[0][WARMING:], taken[1][WARMING:]
    ratio = p50(beside) / p50(alone)
    figure = f"click → ack beside {SETTLED:,} stored reviews"
    return [
        Line(
            figure, engine.name, spread(beside), f"beside {FEW} {spread(alone)}", ratio, "flat (≤ 1.25)", ratio <= 1.25
        )
    ]


async def _decide(here: Room, some: Sequence[Waiting]) -> None:
    for one in some:
        await deliver(here.placet.web, press(one.showing.id))
