"""Tools whose settings cannot work with the reviewers: nobody may decide, too few for the quorum, and so on.

A pattern is judged generously, by whatever rule touches any tool of it, so that a warning is always true. This module
must not know how a rule is written.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping

from bot.core.policy_finding import Finding, note, warning
from bot.core.policy_match import overlap
from bot.core.policy_model import DECISIONS, SECOND, EffectiveSettings, TenantPolicy
from bot.core.policy_offer import cancelled
from bot.core.policy_settings import tool_settings

Members = Mapping[str, Collection[str]]

LAST_MINUTE_MS = 60 * SECOND


def tool_findings(tenant: TenantPolicy, members: Members) -> Iterator[Finding]:
    """Findings for each tool or pattern that the policy names anywhere."""
    for tool in _named(tenant):
        settings = tool_settings(tenant, tool)
        at = f"tenants.{tenant.name}.tools.{tool}" if tool in tenant.tools else f"tenants.{tenant.name}.reviewers"
        open_to_some = _decidable(tenant, tool, settings)
        if not open_to_some:
            fault = f"nobody may decide {tool}: its calls wait until they expire"
            yield warning(tenant.name, at, fault, "Add a reviewer rule for it")
            continue
        yield from _judgements(tenant, tool, at, open_to_some=open_to_some)
        yield from _quorum(tenant, tool, at, members=members)


def _named(tenant: TenantPolicy) -> list[str]:
    exact = [tool for rule in tenant.reviewers for tool in rule.tools if "*" not in tool]
    return list(dict.fromkeys([*tenant.tools, *exact]))


def _decidable(tenant: TenantPolicy, tool: str, settings: EffectiveSettings) -> tuple[str, ...]:
    """What somebody could decide, of what the policy says is allowed (servers may say otherwise)."""
    candidates = settings.decisions or DECISIONS
    return tuple(decision for decision in candidates if _subjects(tenant, tool, decision))


def _subjects(tenant: TenantPolicy, tool: str, decision: str) -> set[tuple[str | None, str | None]]:
    """(group, user) of each rule that could grant it on the tool, or on some tool of the pattern."""
    return {
        (rule.group, rule.user)
        for rule in tenant.reviewers
        if decision in rule.may
        and any(overlap(pattern, tool) for pattern in rule.tools)
        and not cancelled(tenant, rule, tool=tool, decision=decision)
    }


def _judgements(tenant: TenantPolicy, tool: str, at: str, *, open_to_some: tuple[str, ...]) -> Iterator[Finding]:
    settings = tool_settings(tenant, tool)
    tests: tuple[Callable[[EffectiveSettings, tuple[str, ...]], tuple[str, str] | None], ...] = (
        _only_reject,
        _requester_idle,
        _requester_deadlock,
        _too_short,
        _held,
    )
    for test in tests:
        found = test(settings, open_to_some)
        if found:
            yield warning(tenant.name, at, f"{tool}: {found[0]}", found[1])


def _only_reject(settings: EffectiveSettings, possible: tuple[str, ...]) -> tuple[str, str] | None:
    if settings.decisions == ("reject",) or possible != ("reject",):
        return None
    return "nobody may do anything but reject it", "Allow somebody approve, edit or respond"


def _requester_idle(settings: EffectiveSettings, possible: tuple[str, ...]) -> tuple[str, str] | None:
    idle = [decision for decision in settings.requester_may or () if decision not in possible]
    if not idle:
        return None
    return (
        f"requester_may names {', '.join(idle)}, which no reviewer can decide here",
        "requester_may limits reviewers who are the requester; add a reviewer rule that allows it",
    )


def _requester_deadlock(settings: EffectiveSettings, possible: tuple[str, ...]) -> tuple[str, str] | None:
    if settings.requester_may is None or "reject" in possible:
        return None
    return (
        "where the requester is unknown only reject is open, and nobody may reject it",
        "Allow somebody reject, or leave requester_may out",
    )


def _too_short(settings: EffectiveSettings, possible: tuple[str, ...]) -> tuple[str, str] | None:
    if settings.decide_within_ms is None or settings.decide_within_ms > LAST_MINUTE_MS or "approve" not in possible:
        return None
    return "in the last 60 s Approve is not offered, so it never is", "Set decide_within above 1m"


def _held(settings: EffectiveSettings, _possible: tuple[str, ...]) -> tuple[str, str] | None:
    if settings.on_expiry != "reject" or not settings.decisions or "reject" in settings.decisions:
        return None
    return "on_expiry is reject, and its calls cannot be rejected: they will be held", "Say on_expiry: hold"


def _quorum(tenant: TenantPolicy, tool: str, at: str, *, members: Members) -> Iterator[Finding]:
    settings = tool_settings(tenant, tool)
    approvers, editors = (_people(_subjects(tenant, tool, each), members) for each in ("approve", "edit"))
    if approvers is None or not (approvers or editors) or "approve" not in (settings.decisions or DECISIONS):
        return
    # An edit's author counts as its first approval; all others have to approve.
    most = len(approvers) + (editors is None or bool(editors - approvers))
    if most < settings.approvals:
        fault = f"{tool} needs {settings.approvals} approvals, and at most {_count(most)} can give one"
        yield warning(tenant.name, at, fault, "Lower approvals, or let more people approve")
    elif most == settings.approvals and "approve" not in (settings.requester_may or ()):
        yield note(tenant.name, at, _tight(tool, most), "Let one more person approve")


def _tight(tool: str, people: int) -> str:
    if people == 1:
        return f"{tool} has a single approver, who cannot approve a call of their own"
    return f"{tool} needs all of its {people} approvers, so none of them gets a call of their own approved"


def _count(people: int) -> str:
    return "1 person" if people == 1 else f"{people} people"


def _people(subjects: set[tuple[str | None, str | None]], members: Members) -> set[str] | None:
    """The people behind the subjects, None if a group among them is not known."""
    people: set[str] = set()
    for group, user in subjects:
        if group is not None and group not in members:
            return None
        people.update(members[group] if group is not None else [user or ""])
    return people
