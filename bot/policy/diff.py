"""What a new policy file would change, as a security reviewer asks: where decisions go, who gains, who loses.

How the rights of each group and user differ between two versions of a tenant. A right is looked up for a pattern as
if the pattern were a tool's name: an allow counts where it covers all of the pattern, and so does a deny. Narrower
rules show up under their own, narrower pattern.

How settings differ between two versions of a tenant: the tenant's own, and those that a pattern sets. A tool's values
are compared as they hold, so that a setting which only moved to another pattern shows what it means.

Rights are compared by their effect on each group or user, not by lines: a rule that was split, moved or repeated is
no change. Tools are compared pattern by pattern, and a change that a wider pattern shows already is not repeated.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import Any

from bot.policy.matching import covers, explicit, tool_settings
from bot.policy.model import POWERS, FrozenMap, Policy, ReviewerRule, TenantPolicy, ToolSettings
from bot.policy.rules import covering


class RightShift(Enum):
    """Which way a right moves."""

    GAINS = "gains"
    LOSES = "loses"
    CHANGES = "changes"


@dataclass(frozen=True, slots=True)
class RightTerms:
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
class MovedRight:
    """A right that differs."""

    subject: str
    pattern: str
    decision: str
    before: RightTerms
    after: RightTerms

    def within(self, other: MovedRight) -> bool:
        """Whether the other's wider pattern says this already."""
        same = (self.subject, self.decision, self.before, self.after) == (
            other.subject,
            other.decision,
            other.before,
            other.after,
        )
        return same and self.pattern != other.pattern and covers(other.pattern, self.pattern)


def shifts(old: TenantPolicy, new: TenantPolicy) -> Iterator[tuple[RightShift, str]]:
    """Each gain, loss and change as a sentence, decisions that move alike put together."""
    moved = [*_moved(old, new)]
    kept = [each for each in moved if not any(each.within(other) for other in moved)]
    together: dict[tuple[str, str, RightTerms, RightTerms], list[str]] = {}
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


def _moved(old: TenantPolicy, new: TenantPolicy) -> Iterator[MovedRight]:
    rules = (*old.reviewers, *new.reviewers)
    patterns = dict.fromkeys(pattern for rule in rules for pattern in rule.tools)
    for subject in dict.fromkeys(rule.subject for rule in rules):
        for pattern in patterns:
            for decision in POWERS:
                before, after = (_right(each, subject, pattern, decision=decision) for each in (old, new))
                if before != after:
                    yield MovedRight(subject, pattern, decision, before, after)


def _right(tenant: TenantPolicy, subject: str, pattern: str, *, decision: str) -> RightTerms:
    about = [rule for rule in tenant.reviewers if rule.subject == subject and covering(rule, pattern)]
    return RightTerms(
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


def _shift(before: RightTerms, after: RightTerms) -> RightShift:
    if before.rank == after.rank:
        return RightShift.CHANGES
    return RightShift.GAINS if after.rank > before.rank else RightShift.LOSES


def _sentence(what: str, before: RightTerms, after: RightTerms) -> str:
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


TENANT_SETTINGS = (
    "intake_token_env",
    "watch_every_ms",
    "resend",
    "settle_for_ms",
    "decide_within_ms",
    "on_expiry",
    "requester_path",
    "retain_arguments_ms",
    "retain_audit_ms",
)
UNITS = (("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000))
# What each setting means when it is not there.
UNSET = {"requester_may": "the default", "decide_within_ms": "never", "decisions": "what the server says"}


RESULTS = ("none", "status", "first_lines")
RESEND = ("settle", "fence", "never")  # ever less may run twice


def _more(before: Collection[str] | None, after: Collection[str] | None) -> bool:
    return not set(after or ()) <= set(before or ())


# Whether a change makes the gate weaker. Settings that are not here only change.
LOOSENS: Mapping[str, Callable[[Any, Any], bool]] = {
    "risk": lambda _, after: after == "normal",
    "approvals": lambda before, after: after < before,
    # Left to the default, the rule no longer holds approve back when the requester is unknown.
    "requester_may": lambda before, after: after is None or _more(before or ("reject",), after),
    "redact": lambda before, after: _more(after, before),
    "result": lambda before, after: RESULTS.index(after) > RESULTS.index(before),
    "resend": lambda before, after: RESEND.index(after) < RESEND.index(before),
    "decisions": lambda before, after: after is None or (before is not None and _more(before, after)),
    "after_unknown": lambda _, after: after == "proceed",
}


def setting_changes(old: TenantPolicy, new: TenantPolicy) -> Iterator[tuple[bool, str]]:
    """Each changed setting as one line, old value first; with it, whether the change makes the gate weaker."""
    for name in TENANT_SETTINGS:
        yield from _line("", name, getattr(old, name), getattr(new, name))
    for pattern in dict.fromkeys([*old.tools, *new.tools]):
        before, after = tool_settings(old, pattern), tool_settings(new, pattern)
        set_here = {**_explicit(old, pattern), **_explicit(new, pattern)}
        for name in set_here:
            yield from _line(f"{pattern}: ", name, getattr(before, name), getattr(after, name))


def _explicit(tenant: TenantPolicy, pattern: str) -> dict[str, Any]:
    return explicit(tenant.tools.get(pattern, ToolSettings()))


def _line(prefix: str, name: str, before: Any, after: Any) -> Iterator[tuple[bool, str]]:
    if before != after:
        looser = name in LOOSENS and LOOSENS[name](before, after)
        yield looser, f"{prefix}{name.removesuffix('_ms')} changes from {_shown(name, before)} to {_shown(name, after)}"


def _shown(name: str, value: Any) -> str:
    if value is None:
        return UNSET.get(name, "none")
    if name.endswith("_ms"):
        return duration_text(value)
    return f"[{', '.join(value)}]" if isinstance(value, tuple) else str(value)


def duration_text(milliseconds: int) -> str:
    """The shortest way to write it in a policy file."""
    unit, size = next((unit, size) for unit, size in UNITS if milliseconds % size == 0)
    return f"{milliseconds // size}{unit}"


class ChangeKind(IntEnum):
    """What a change is about, in the order in which it is shown."""

    URL = 0  # decisions would be sent elsewhere: applying it needs consent of its own
    TARGET = 1  # the same server in another way: identity, key, route
    TENANT = 2
    PLACE = 3  # where cards are posted
    GAINS = 4
    LOOSENS = 5  # a setting that makes the gate weaker
    CHANGES = 6  # rights under other conditions
    LOSES = 7
    SETTING = 8


@dataclass(frozen=True, slots=True)
class PolicyChange:
    """One line of a plan. `tenant` is "" for the file itself."""

    kind: ChangeKind
    tenant: str
    text: str

    def __str__(self) -> str:
        return f"{self.tenant}: {self.text}" if self.tenant else self.text


def plan(old: Policy | None, new: Policy) -> list[PolicyChange]:
    """Everything that applying `new` over `old` changes, the gravest first; empty if it changes nothing."""
    before = old or Policy(version=new.version, operators=(), tenants=FrozenMap())
    found = [*_operators(before, new)]
    for name in dict.fromkeys([*before.tenants, *new.tenants]):
        found += _tenant(name, before.tenants.get(name), new.tenants.get(name))
    return sorted(found, key=lambda change: change.kind)


def _operators(old: Policy, new: Policy) -> Iterator[PolicyChange]:
    for user in sorted({*new.operators} - {*old.operators}):
        yield PolicyChange(
            ChangeKind.GAINS, "", f"user {user} becomes an operator: may repair, settle, reopen and pause"
        )
    for user in sorted({*old.operators} - {*new.operators}):
        yield PolicyChange(ChangeKind.LOSES, "", f"user {user} is no operator any more")


def _tenant(name: str, old: TenantPolicy | None, new: TenantPolicy | None) -> Iterator[PolicyChange]:
    if new is None:
        yield PolicyChange(
            ChangeKind.TENANT, name, "the tenant is removed: its open reviews are superseded, nobody decides there"
        )
    elif old is None:
        where = f"decisions go to {new.agent.url}, cards to {new.slack_channel} of {new.slack_team}"
        yield PolicyChange(ChangeKind.TENANT, name, f"the tenant is new: {where}")
        yield from _rights(_without_rights(new), new)
    else:
        yield from _target(old, new)
        yield from _place(old, new)
        yield from _shown_context(old, new)
        yield from _rights(old, new)
        for looser, text in setting_changes(old, new):
            yield PolicyChange(ChangeKind.LOOSENS if looser else ChangeKind.SETTING, name, text)


def _without_rights(tenant: TenantPolicy) -> TenantPolicy:
    return TenantPolicy(tenant.name, tenant.slack_team, tenant.slack_channel, tenant.agent)


def _target(old: TenantPolicy, new: TenantPolicy) -> Iterator[PolicyChange]:
    parts = (
        (ChangeKind.URL, "the agent URL", old.agent.url, new.agent.url),
        (ChangeKind.TARGET, "the kind of agent server", old.agent.kind, new.agent.kind),
        (ChangeKind.TARGET, "the list of identities", ", ".join(old.agent.users), ", ".join(new.agent.users)),
        (ChangeKind.TARGET, "the assistant", old.agent.assistant, new.agent.assistant),
        (ChangeKind.TARGET, "the route of resumes", old.agent.resume, new.agent.resume),
        (
            ChangeKind.TARGET,
            "the agent key's variable",
            old.agent.api_key_env or "none",
            new.agent.api_key_env or "none",
        ),
        (
            ChangeKind.TARGET,
            "where cards link to",
            old.agent.thread_url or "nowhere",
            new.agent.thread_url or "nowhere",
        ),
    )
    for kind, what, before, after in parts:
        if before != after:
            yield PolicyChange(kind, new.name, f"{what} changes from {before} to {after}{_consequence(what)}")


def _shown_context(old: TenantPolicy, new: TenantPolicy) -> Iterator[PolicyChange]:
    before, after = old.agent.show_context, new.agent.show_context
    if before != after:
        shown = [", ".join(names) or "nothing" for names in (before, after)]
        kind = ChangeKind.SETTING if set(after) <= set(before) else ChangeKind.LOOSENS
        yield PolicyChange(kind, new.name, f"what cards show of a run's context changes from {shown[0]} to {shown[1]}")


def _consequence(what: str) -> str:
    moved = what in ("the agent URL", "the kind of agent server", "the list of identities")
    return "; reviews of threads that lie elsewhere now are superseded" if moved else ""


def _place(old: TenantPolicy, new: TenantPolicy) -> Iterator[PolicyChange]:
    before = (old.slack_team, old.slack_channel, old.slack_enterprise)
    after = (new.slack_team, new.slack_channel, new.slack_enterprise)
    if before != after:
        shown = [" ".join(part for part in each if part) for each in (before, after)]
        yield PolicyChange(ChangeKind.PLACE, new.name, f"the Slack place changes from {shown[0]} to {shown[1]}")


def _rights(old: TenantPolicy, new: TenantPolicy) -> Iterator[PolicyChange]:
    kinds = {
        RightShift.GAINS: ChangeKind.GAINS,
        RightShift.LOSES: ChangeKind.LOSES,
        RightShift.CHANGES: ChangeKind.CHANGES,
    }
    for shift, text in shifts(old, new):
        yield PolicyChange(kinds[shift], new.name, text)
    visitors = (("guest", set(old.guests), set(new.guests)), ("outsider", _people(old), _people(new)))
    for kind, before, after in visitors:
        for user in sorted(after - before):
            yield PolicyChange(ChangeKind.GAINS, new.name, f"the {kind} {user} is admitted")
        for user in sorted(before - after):
            yield PolicyChange(ChangeKind.LOSES, new.name, f"the {kind} {user} is not admitted any more")


def _people(tenant: TenantPolicy) -> set[str]:
    return {f"{user} of {team}" for team, user in tenant.outsiders}
