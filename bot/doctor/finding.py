"""What the doctor's parts report: one finding for each thing that was looked at."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Grade(StrEnum):
    """How bad it is."""

    OK = "ok"
    NOTE = "note"  # for people to know; nothing to mend
    WARN = "warn"
    FAULT = "fault"


@dataclass(frozen=True, slots=True)
class DoctorFinding:
    """One thing that was looked at. `mend` is what to do, "" where nothing is to be done."""

    area: str
    grade: Grade
    what: str
    mend: str = ""
    tenant: str | None = None
