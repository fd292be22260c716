"""`python -m tests.chaos --minutes 10 --seed 7`: the long run, by hand; prints its figures as a table."""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path

from tests.chaos.agents import MANNERS
from tests.chaos.plan import make_plan
from tests.chaos.run import Report, chaos
from tests.chaos.stage import Setting
from tests.kit.postgres import running_postgres


def main() -> None:
    """Exit 1 where something does not hold."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--rate", type=float, default=0.35, help="new threads a second")
    parser.add_argument("--server", choices=sorted(MANNERS), default="sandbox", help="the agent server")
    parser.add_argument("--folder", type=Path, help="where logs and effects are left; a new temporary one by default")
    given = parser.parse_args()
    folder = given.folder or Path(tempfile.mkdtemp(prefix="placet-chaos-"))
    folder.mkdir(parents=True, exist_ok=True)
    plan = make_plan(given.seed, given.minutes * 60, a_second=given.rate)
    with running_postgres(folder) as postgres:
        report = asyncio.run(chaos(plan, Setting(folder, postgres, given.server)))
    print(table(report, given.server))
    if report.faults:
        print(report)
        sys.exit(1)


def table(report: Report, server: str) -> str:
    """The figures for a README."""
    lines = [f"| {name} | {value:,} |" for name, value in report.figures.items()]
    return "\n".join([f"| seed {report.seed}, {server} | |", "|---|---|", *lines])


if __name__ == "__main__":
    main()
