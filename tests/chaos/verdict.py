"""What must hold once everything is calm: counted on what the tools did, on what people were told, and on what is stored.

Effects are the agent server's own lines, one for each real execution; the store's word is checked against them, never
the other way round. Pure, so that a test can show it a lie and see it caught.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

A_MINUTE = 65.0
BEGUN = ".begin"  # a tool that takes a while writes a line when it begins, and another when it ends
GATED_RUNS = frozenset({"approve", "edit"})
ENDED = frozenset({"resumed", "superseded", "broken", "unknown"})
UNDECIDED = frozenset({"open", "superseded", "broken"})


@dataclass(frozen=True, slots=True)
class Stored:
    """One call as the store has it at the end."""

    call: str  # the tool call's id
    review: str
    state: str
    why: str
    decision: str | None
    args: str | None  # what the decision lets run, as JSON
    outcome: str | None
    attempts: int = 0
    alarm: str = ""

    @property
    def flagged(self) -> bool:
        """Whether it says that the call may have run twice."""
        return any(word in said for word in ("twice", "raced") for said in (self.why, self.alarm))


@dataclass(frozen=True, slots=True)
class Pressed:
    """A deciding press by somebody who may decide; `acked` where Slack showed it as taken. `at` is in seconds."""

    call: str
    user: str
    kind: str
    acked: bool
    at: float = 0.0


@dataclass(frozen=True, slots=True)
class Evidence:
    """Everything that is judged.

    `answered`: who got an answer on which review, a decision or a refusal, by the record. `refused`: who was refused
    when, because one event stands for a person's refusals of a minute. `running`: reviews whose run the agent server
    itself calls running, long after it was killed in the middle of it.
    """

    calls: frozenset[str]
    effects: Sequence[Mapping[str, Any]]
    stored: Sequence[Stored]
    presses: Sequence[Pressed]
    answered: frozenset[tuple[str, str]] = field(default_factory=frozenset)
    running: frozenset[str] = frozenset()
    refused: Sequence[tuple[str, float]] = ()


def completed(effects: Iterable[Mapping[str, Any]]) -> Counter[str]:
    """How often each call ran to its end."""
    return Counter(str(one["tool_call_id"]) for one in effects if not one["tool"].endswith(BEGUN))


def duplicates(seen: Evidence) -> int:
    """Completed effects less the distinct approved calls among them."""
    ran = completed(seen.effects)
    approved = {one.call for one in seen.stored if one.decision in GATED_RUNS}
    return ran.total() - len(approved & ran.keys())


def faults(seen: Evidence) -> list[str]:
    """Everything that does not hold, in words; empty when all is well."""
    return [
        *_repeated(seen),
        *_unapproved(seen),
        *_untold(seen),
        *_misreported(seen),
        *_lost_presses(seen),
    ]


def _repeated(seen: Evidence) -> list[str]:
    begun = Counter(str(one["tool_call_id"]) for one in seen.effects if one["tool"].endswith(BEGUN))
    twice = {call for counts in (completed(seen.effects), begun) for call, count in counts.items() if count > 1}
    return [f"{call} ran more than once" for call in sorted(twice)]


def _unapproved(seen: Evidence) -> list[str]:
    """By the store, and apart from it by what people who may decide have pressed at all."""
    approved = {one.call for one in seen.stored if one.decision in GATED_RUNS}
    wanted = {one.call for one in seen.presses if one.kind in GATED_RUNS}
    ran = {str(one["tool_call_id"]) for one in seen.effects}
    return [
        *(f"{call} ran and is not approved" for call in sorted(ran - approved)),
        *(f"{call} ran and nobody approved it" for call in sorted(ran - wanted)),
    ]


def _untold(seen: Evidence) -> list[str]:
    """Decisions without an end, and ends without a reason."""
    found = []
    for one in seen.stored:
        decided = one.decision is not None and one.review not in seen.running
        if decided and one.state not in (ENDED if one.outcome or one.why else {"resumed"}):
            found.append(f"{one.call} of {one.review} is decided and stands at {one.state} {one.why!r}")
        elif decided and one.outcome is None and not (one.state in ENDED - {"resumed"} and one.why):
            found.append(f"{one.call} of {one.review} has no outcome: {one.state} {one.why!r}")
        elif decided and one.state == "superseded" and not one.flagged:
            found.append(f"{one.call} of {one.review} is called {one.why!r}, and nobody else answers here")
    return found


def _misreported(seen: Evidence) -> list[str]:
    """Outcomes that the effects contradict."""
    ran, lines = completed(seen.effects), defaultdict(list)
    for line in seen.effects:
        lines[str(line["tool_call_id"])].append(line)
    found = []
    for one in seen.stored:
        count = ran[one.call]
        if one.outcome == "executed" and count == 0:
            found.append(f"{one.call} is called executed and never ran")
        elif one.outcome in {"rejected", "answered", "superseded", "expired"} and lines[one.call]:
            found.append(f"{one.call} is called {one.outcome} and ran")
        elif one.outcome == "executed" and not _same(one.args, lines[one.call][-1]["args"]):
            found.append(f"{one.call} ran with {lines[one.call][-1]['args']} and not with {one.args}")
    return found


def _same(args: str | None, ran: Any) -> bool:
    return args is not None and json.loads(args) == ran


def _lost_presses(seen: Evidence) -> list[str]:
    """What Slack showed as taken stands in the record, as a decision or as a refusal."""
    reviews = defaultdict(set)
    for one in seen.stored:
        reviews[one.call].add(one.review)
    return [
        f"{press.user}'s {press.kind} of {press.call} was acknowledged and left no trace"
        for press in seen.presses
        if press.acked
        and not any((press.user, review) in seen.answered for review in reviews[press.call])
        and not any(user == press.user and abs(at - press.at) < A_MINUTE for user, at in seen.refused)
    ]


def unexplained(seen: Evidence) -> list[str]:
    """Calls that ran more than once and of which nothing stored says that they may have."""
    flagged = {one.call for one in seen.stored if one.flagged}
    return sorted(call for call, count in completed(seen.effects).items() if count > 1 and call not in flagged)
