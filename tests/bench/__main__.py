"""`python -m tests.bench`: every figure of the bot's speed beside its floor, as one Markdown table.

Nothing fails on a figure. `--only WORD` takes the figures whose function's name holds it, `--engine` one engine.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import logging
import os
import platform
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import structlog

from tests.bench.approving import approvals
from tests.bench.clicking import clicks, flatness
from tests.bench.reading import reads
from tests.bench.rooms import Engine
from tests.bench.rushing import neighbours, rushes
from tests.bench.serving import restarts
from tests.bench.table import HEAD, Line
from tests.kit.postgres import Postgres, running_postgres

Measure = Callable[[Engine], Awaitable[list[Line]]]
FIGURES: tuple[Measure, ...] = (clicks, approvals, rushes, neighbours, flatness, reads, restarts)
ANY_ENGINE = frozenset({reads})  # what is counted there is not the database's
LONGEST_S = 90


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--only", default="", help="part of a figure's name: " + ", ".join(map(_name, FIGURES)))
    parser.add_argument("--engine", choices=["sqlite", "postgresql"])
    given = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    logging.disable(logging.ERROR)
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="placet-bench-")))
        postgres = stack.enter_context(running_postgres(folder, durable=True))
        engines = [one for one in _engines(folder, postgres) if given.engine in (None, one.name.lower())]
        lines = asyncio.run(_measured(engines, [one for one in FIGURES if given.only in _name(one)]))
    print(f"{os.cpu_count()} cores, Python {platform.python_version()}, load {os.getloadavg()[0]:.1f}\n")
    print(HEAD, *lines, sep="\n")


def _name(measure: Measure) -> str:
    return str(getattr(measure, "__name__", measure))


def _engines(folder: Path, postgres: Postgres) -> list[Engine]:
    return [Engine("SQLite", folder), Engine("PostgreSQL", folder, postgres)]


async def _measured(engines: list[Engine], figures: list[Measure]) -> list[Line]:
    for engine in engines:
        await engine.prepare()
    lines: list[Line] = []
    for measure in figures:
        for engine in engines[:1] if measure in ANY_ENGINE else engines:
            began = time.perf_counter()
            lines += await _within(measure, engine)
            took = f"{_name(measure)} on {engine.name}: {time.perf_counter() - began:.0f} s"
            print(took, file=sys.stderr, flush=True)
    return lines


async def _within(measure: Measure, engine: Engine) -> list[Line]:
    """A figure that a busy machine cannot give in time says so, and does not hold up the others."""
    try:
        async with asyncio.timeout(LONGEST_S):
            return await measure(engine)
    except TimeoutError:
        return [Line(_name(measure), engine.name, f"not measured within {LONGEST_S} s")]


if __name__ == "__main__":
    main()
