"""`placet doctor`: prints what the doctor found, worst first; exit code 1 where something must be mended."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated

import typer

from bot.cli.operators import after_restore
from bot.doctor.finding import DoctorFinding, Grade
from bot.settings import read

MARKS = {Grade.OK: "ok   ", Grade.NOTE: "note ", Grade.WARN: "WARN ", Grade.FAULT: "FAULT"}
WORST_FIRST = (Grade.FAULT, Grade.WARN, Grade.NOTE, Grade.OK)


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,  # noqa: FBT002
    restored: Annotated[  # noqa: FBT002
        bool, typer.Option("--after-restore", help="Compare every unsettled review with its thread first.")
    ] = False,
) -> None:
    """Look at settings, database, Slack and agent servers, and say how to mend what is wrong."""
    from bot import logs
    from bot.doctor.report import examine, failed

    if restored:
        after_restore(as_json=as_json)
        return
    settings = read(os.environ)
    logs.configure(settings.log_format)
    found = asyncio.run(examine(settings))
    typer.echo(json.dumps([asdict(one) for one in found]) if as_json else text_of(found))
    if failed(found):
        raise typer.Exit(1)


def text_of(found: Sequence[DoctorFinding]) -> str:
    """One line for each finding, and its mend below."""
    ordered = sorted(found, key=lambda one: WORST_FIRST.index(one.grade))
    lines = [line for one in ordered for line in _lines(one)]
    faults = sum(one.grade is Grade.FAULT for one in found)
    return "\n".join([*lines, "", f"{faults} to mend." if faults else "Nothing to mend."])


def _lines(one: DoctorFinding) -> list[str]:
    where = f"{one.area}, {one.tenant}" if one.tenant else one.area
    line = f"{MARKS[one.grade]}  {where}: {one.what}"
    return [line, f"       → {one.mend}"] if one.mend else [line]
