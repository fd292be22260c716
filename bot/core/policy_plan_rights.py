"""How the rights of each group and user differ between two versions of a tenant.

A right is looked up for a pattern as if the pattern were a tool's name: an allow counts where it covers all of the
pattern, and so does a deny. Narrower rules show up under their own, narrower pattern. This module must not know
settings or people.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from bot.core.policy_match import covers
from bot.core.policy_model import POWERS, ReviewerRule, TenantPolicy
from bot.core.policy_rules import covering


class Shift(Enum):
    """Which way a right moves."""

    GAINS = "gains"
    LOSES = "loses"
    CHANGES = "changes"


@dataclass(frozen=True, slots=True)
class Right:
    """One decision of one subject on one pattern: when it is allowed, when it is denied, as text.

    None: never; "": always; else the conditions.
    """

    allowed: str | None
    denied: str | None

    @property
    def rank(self) -> int:
        """Never or denied, sometimes, always: moving up is a gain."""
        if self.denied == "":
            return -1
        if self.allowed is None:
            return 0 if self.denied is None else -1
        return 1 if self.allowed or self.denied else 2

    def __str__(self) -> str:
        if self.denied == "":
            return "denied"
        allowed = "not allowed" if self.allowed is None else f"allowed {self.allowed}".strip()
        return f"{allowed}, but denied {self.denied}" if self.denied else allowed


@dataclass(frozen=True, slots=True)
class Moved:
    """A right that differs."""

    subject: str
    pattern: str
    decision: str
    before: Right
    after: Right

    def within(self, other: Moved) -> bool:
        """Whether the other's wider pattern says this already."""
        same = (self.subject, self.decision, self.before, self.after) == (
            other.subject,
            other.decision,
            other.before,
            other.after,
        )
        return same and self.pattern != other.pattern and covers(other.pattern, self.pattern)


def shifts(old: TenantPolicy, new: TenantPolicy) -> Iterator[tuple[Shift, str]]:
    """Each gain, loss and change as a sentence, decisions that move alike put together."""
    moved = [*_moved(old, new)]
    kept = [each for each in moved if not any(each.within(other) for other in moved)]
    together: dict[tuple[str, str, Right, Right], list[str]] = {}
    for each in kept:
        together.setdefault((each.subject, each.pattern, each.before, each.after), []).append(each.decision)
    for (subject, pattern, before, after), decisions in together.items():
        what = f"{', '.join(decisions)} on {pattern}"
        aside = _asides(new, subject, pattern, decisions=decisions)
        yield _shift(before, after), f"{subject} {_sentence(what, before, after)}{aside}"


def _asides(new: TenantPolicy, subject: str, pattern: str, *, decisions: list[str]) -> str:
    """Where, within a pattern, the subject's own narrower rules leave it otherwise than the line says."""
    narrower = [each for rule in new.reviewers for each in rule.tools if each != pattern and covers(pattern, each)]
    found: dict[str, None] = {}
    for decision in decisions:
        general = _right(new, subject, pattern, decision=decision)
        for tool in narrower:
            right = _right(new, subject, tool, decision=decision)
            if right != general:
                found[f"{decision} on {tool} is {right}"] = None
    return f"; but {', '.join(found)}" if found else ""


def _moved(old: TenantPolicy, new: TenantPolicy) -> Iterator[Moved]:
    rules = (*old.reviewers, *new.reviewers)
    patterns = dict.fromkeys(pattern for rule in rules for pattern in rule.tools)
    for subject in dict.fromkeys(rule.subject for rule in rules):
        for pattern in patterns:
            for decision in POWERS:
                before, after = (_right(each, subject, pattern, decision=decision) for each in (old, new))
                if before != after:
                    yield Moved(subject, pattern, decision, before, after)


def _right(tenant: TenantPolicy, subject: str, pattern: str, *, decision: str) -> Right:
    about = [rule for rule in tenant.reviewers if rule.subject == subject and covering(rule, pattern)]
    return Right(
        allowed=_times([rule for rule in about if decision in rule.may]),
        denied=_times([rule for rule in about if decision in rule.deny]),
    )


def _times(rules: list[ReviewerRule]) -> str | None:
    if not rules:
        return None
    if any(not rule.when for rule in rules):
        return ""
    times = sorted({" and ".join(sorted(map(str, rule.when))) for rule in rules})
    return "when " + " or ".join(times)


def _shift(before: Right, after: Right) -> Shift:
    if before.rank == after.rank:
        return Shift.CHANGES
    return Shift.GAINS if after.rank > before.rank else Shift.LOSES


def _sentence(what: str, before: Right, after: Right) -> str:
    if before.rank == 0 and after.rank == 2:
        return f"gains {what}"
    if before.rank == 2 and after.rank == 0:
        return f"loses {what}"
    if after.denied == "":
        return f"is denied {what} (before: {before})"
    if before.denied == "" and after.allowed is None:
        return f"is no longer denied {what}, so that other rules may allow it"
    verb = _shift(before, after).value
    return f"{verb} {what}: {after} (before: {before})"
