"""One finding about a policy: how grave, where, what, and how to mend it. This module must not judge."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """`path` can be turned into line and column by `policyfile.locate`; `tenant` is "" for the file itself."""

    level: str  # warning | note
    tenant: str
    path: str
    text: str
    mend: str

    def __str__(self) -> str:
        return f"{self.level}: {self.path}: {self.text}. {self.mend}."


def warning(tenant: str, path: str, text: str, mend: str) -> Finding:
    """The policy will not do what it seems to."""
    return Finding("warning", tenant, path, text, mend)


def note(tenant: str, path: str, text: str, mend: str) -> Finding:
    """Worth knowing, and possibly meant."""
    return Finding("note", tenant, path, text, mend)
