"""What a policy file says that cannot be meant, and what its parts say against each other.

Reviewer rules that can have no effect: contradictory, cancelled, repeated, or about nobody. Only what is certain is
reported: a rule counts as cancelled or repeated only by a rule about the very same group or user.

Tools whose settings cannot work with the reviewers: nobody may decide, too few for the quorum, and so on. A pattern
is judged generously, by whatever rule touches any tool of it, so that a warning is always true.

Faults that lie between two places of a policy file. Two tenants may not claim one thread or one channel, for then two
policies would decide about the same call; two tool patterns that are equally specific may not disagree, for then the
order of lines would decide.

What a policy file says that cannot be meant: rules without effect, tools that nobody may decide, and the like. A file
that can be read is judged here, so nothing is fatal: findings are warnings (the policy will not do what it seems to)
or notes. Membership is taken from the caller where it is known; a group of unknown size counts as large enough.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import combinations
from urllib.parse import urlsplit

from bot.core.redaction import may_name_secret
from bot.policy.conditions import satisfiable
from bot.policy.matching import covers, explicit, overlap, specificity, tool_settings
from bot.policy.model import (
    DECISIONS,
    SECOND,
    EffectiveSettings,
    Policy,
    PolicyFinding,
    ReviewerRule,
    TenantPolicy,
    note,
    warning,
)
from bot.policy.nodes import PolicyNode
from bot.policy.rules import cancelled, same_subject
from bot.policy.values import is_loopback


def rule_findings(tenant: TenantPolicy, members: Mapping[str, Collection[str]]) -> Iterator[PolicyFinding]:
    """At most one finding for each rule: the gravest."""
    for rule in tenant.reviewers:
        at = f"tenants.{tenant.name}.reviewers[{rule.index}]"
        found = (
            _contradiction(tenant, rule, at)
            or _nobody(tenant, rule, at, members=members)
            or _cancellation(tenant, rule, at)
            or _repetition(tenant, rule, at)
            or _idle_denial(tenant, rule, at)
        )
        if found:
            yield found


def _contradiction(tenant: TenantPolicy, rule: ReviewerRule, at: str) -> PolicyFinding | None:
    if satisfiable(rule.when):
        return None
    shown = " and ".join(map(str, rule.when))
    return warning(tenant.name, f"{at}.when", f"no arguments can meet {shown}", "Mend the bounds, or remove the rule")


def _nobody(
    tenant: TenantPolicy, rule: ReviewerRule, at: str, *, members: Mapping[str, Collection[str]]
) -> PolicyFinding | None:
    if rule.group is None or rule.group not in members or members[rule.group]:
        return None
    return warning(tenant.name, at, f"group {rule.group} has no members", "Fill the group, or name a user")


def _cancellation(tenant: TenantPolicy, rule: ReviewerRule, at: str) -> PolicyFinding | None:
    void = [(tool, power) for tool in rule.tools for power in rule.may if _void(tenant, rule, tool=tool, power=power)]
    if not void or rule.deny:
        return None
    if len(void) == len(rule.tools) * len(rule.may):
        return warning(
            tenant.name, at, "every decision that it allows is denied to them", "Remove this rule or the deny"
        )
    shown = ", ".join(f"{power} on {tool}" for tool, power in void)
    return note(tenant.name, at, f"some of what it allows is denied to them: {shown}", "Fine, if that is meant")


def _void(tenant: TenantPolicy, rule: ReviewerRule, *, tool: str, power: str) -> bool:
    return cancelled(tenant, rule, tool=tool, decision=power)


def _repetition(tenant: TenantPolicy, rule: ReviewerRule, at: str) -> PolicyFinding | None:
    for other in same_subject(tenant, rule):
        if other is not rule and _says_all(other, rule) and (other.index < rule.index or not _says_all(rule, other)):
            fault = f"it adds nothing to reviewers[{other.index}]"
            return note(tenant.name, at, fault, "Remove it, unless it stands for later")
    return None


def _says_all(wide: ReviewerRule, narrow: ReviewerRule) -> bool:
    return (
        set(narrow.may) <= set(wide.may)
        and set(narrow.deny) <= set(wide.deny)
        and (not wide.when or wide.when == narrow.when)
        and all(any(covers(pattern, tool) for pattern in wide.tools) for tool in narrow.tools)
    )


def _idle_denial(tenant: TenantPolicy, rule: ReviewerRule, at: str) -> PolicyFinding | None:
    if rule.may or any(_bites(rule, other) for other in tenant.reviewers):
        return None
    return note(tenant.name, at, "it denies what no rule allows anybody", "Remove it, unless it stands for later")


def _bites(deny: ReviewerRule, allow: ReviewerRule) -> bool:
    return bool(set(deny.deny) & set(allow.may)) and any(overlap(a, b) for a in deny.tools for b in allow.tools)


Members = Mapping[str, Collection[str]]

LAST_MINUTE_MS = 60 * SECOND


def tool_findings(tenant: TenantPolicy, members: Members) -> Iterator[PolicyFinding]:
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


def _judgements(tenant: TenantPolicy, tool: str, at: str, *, open_to_some: tuple[str, ...]) -> Iterator[PolicyFinding]:
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


def _quorum(tenant: TenantPolicy, tool: str, at: str, *, members: Members) -> Iterator[PolicyFinding]:
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


def blame_conflicts(policy: Policy, root: PolicyNode) -> None:
    """Note every conflict at the later of its two places. Only for a file that is otherwise without fault."""
    places = root.entries()["tenants"].entries()
    for one, other in combinations(policy.tenants.values(), 2):
        _blame_shared_threads(one, other, places[other.name])
        _blame_shared_channel(one, other, places[other.name])
    for tenant in policy.tenants.values():
        entries = places[tenant.name].entries()
        if "tools" in entries:
            _blame_ties(tenant, entries["tools"].entries())


def _blame_shared_threads(one: TenantPolicy, other: TenantPolicy, place: PolicyNode) -> None:
    if server(one.agent.url) != server(other.agent.url):
        return
    items = list(place.entries()["agent"].entries()["users"].items())
    for item, user in zip(items, other.agent.users, strict=True):
        shared = next((mine for mine in one.agent.users if overlap(mine, user)), None)
        if shared:
            item.blame(
                f"{user!r} overlaps {shared!r} of tenant {one.name} on the same agent server",
                "Give each tenant identities of its own: one thread belongs to one tenant",
            )


def server(url: str) -> tuple[str, int | None, str]:
    """What makes two addresses one server; the spellings of this machine are one."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if is_loopback(host):
        return "loopback", parts.port, parts.path
    return host, parts.port, parts.path


def _blame_shared_channel(one: TenantPolicy, other: TenantPolicy, place: PolicyNode) -> None:
    if not _workspaces(one) & _workspaces(other):
        return
    taken = dict(_channels(one))
    for channel, tool in _channels(other):
        if channel in taken:
            entries = place.entries()
            at = (
                entries["tools"].entries()[tool].entries()["channel"] if tool else entries["slack"].entries()["channel"]
            )
            at.blame(
                f"tenant {one.name} uses {channel} of {one.slack_team} already", "Give each tenant its own channel"
            )


def _workspaces(tenant: TenantPolicy) -> set[str]:
    """Channels may be shared by all workspaces of an enterprise, so those count as one."""
    return {tenant.slack_team, tenant.slack_enterprise or tenant.slack_team}


def _channels(tenant: TenantPolicy) -> Iterator[tuple[str, str]]:
    """Each channel that the tenant posts to, with the tool pattern that names it ("" for the tenant's own)."""
    yield tenant.slack_channel, ""
    for pattern, settings in tenant.tools.items():
        if settings.channel:
            yield settings.channel, pattern


def _blame_ties(tenant: TenantPolicy, places: dict[str, PolicyNode]) -> None:
    for one, other in combinations(tenant.tools, 2):
        if specificity(one) != specificity(other) or not overlap(one, other):
            continue
        mine, theirs = explicit(tenant.tools[one]), explicit(tenant.tools[other])
        for name in sorted(name for name in mine.keys() & theirs.keys() if mine[name] != theirs[name]):
            places[other].blame_key(
                f"{other!r} and {one!r} are equally specific, meet in some name, and differ in {name.removesuffix('_ms')}",
                "Make one of the patterns more specific, or set the same",
            )


TESTED_SETTLE_MS = 2 * SECOND


def check(policy: Policy, members: Members | None = None) -> list[PolicyFinding]:
    """All findings, tenant by tenant in the order of the file.

    `members` maps group ids to the user ids in them, as far as they are known.
    """
    known = members or {}
    found = [*_file_findings(policy)]
    for tenant in policy.tenants.values():
        found += _tenant_findings(tenant)
        found += rule_findings(tenant, known)
        found += tool_findings(tenant, known)
    return found


def _file_findings(policy: Policy) -> Iterator[PolicyFinding]:
    if not policy.tenants:
        yield warning("", "tenants", "there is no tenant, so nothing is watched", "Add one under tenants")
    if not policy.operators:
        yield note("", "operators", "nobody may repair, settle or pause from Slack", "Add operators: [U…]")
    for one, other in combinations(policy.tenants.values(), 2):
        at = f"tenants.{other.name}"
        if one.intake_token_env and one.intake_token_env == other.intake_token_env:
            fault = f"tenant {one.name} has the same intake token: each can send hints for the other"
            yield warning(other.name, f"{at}.intake_token_env", fault, "Give each tenant a token of its own")
        key = one.agent.api_key_env
        if key and key == other.agent.api_key_env and server(one.agent.url) != server(other.agent.url):
            fault = f"the agent key of tenant {one.name} is sent to another server here"
            yield warning(other.name, f"{at}.agent.api_key_env", fault, "Give each agent server a key of its own")


def _tenant_findings(tenant: TenantPolicy) -> Iterator[PolicyFinding]:
    at = f"tenants.{tenant.name}"
    yield from _arrival_findings(tenant, at)
    yield from _fence_findings(tenant, at)
    yield from _shown_findings(tenant, at)
    if not any(rule.may for rule in tenant.reviewers):
        yield warning(tenant.name, f"{at}.reviewers", "nobody may decide anything", "Add a rule with may: […]")
    if tenant.settle_for_ms < TESTED_SETTLE_MS:
        fault = "a re-send after less than 2 s was never tested and may run a tool twice"
        yield warning(tenant.name, f"{at}.settle_for", fault, "Use 5s, or more than any proxy's request queue")
    if tenant.retain_arguments_ms and tenant.retain_audit_ms and tenant.retain_audit_ms < tenant.retain_arguments_ms:
        fault = "arguments would be kept longer than the record of who decided on them"
        yield warning(tenant.name, f"{at}.retain.audit", fault, "Keep the audit at least as long as the arguments")
    yield from _visitor_findings(tenant, at)


def _arrival_findings(tenant: TenantPolicy, at: str) -> Iterator[PolicyFinding]:
    patterns = [user for user in tenant.agent.users if "*" in user]
    if patterns and not tenant.intake_token_env:
        fault = f"threads of {', '.join(patterns)} never arrive: patterns only admit hints, and no token admits any"
        yield warning(tenant.name, f"{at}.agent.users", fault, "Set intake_token_env, or write the identities out")
    elif not tenant.agent.polled:
        fault = "no identity is polled, so a lost hint is never made up for"
        yield note(tenant.name, f"{at}.agent.users", fault, "Write out the identities that matter")


def _shown_findings(tenant: TenantPolicy, at: str) -> Iterator[PolicyFinding]:
    for name in tenant.agent.show_context:
        if may_name_secret(name):
            fault = f"{name} reads like the name of a secret, so cards may say only that it is hidden"
            yield warning(tenant.name, f"{at}.agent.show_context", fault, "Show what says for whom a tool acts")


def _fence_findings(tenant: TenantPolicy, at: str) -> Iterator[PolicyFinding]:
    asked = {tenant.resend, *(settings.resend for settings in tenant.tools.values())}
    if "fence" in asked and (tenant.agent.kind, tenant.agent.resume) == ("langgraph", "commands"):
        fault = "a fence cannot stand on this route, so what may have been sent is never sent again"
        yield note(tenant.name, f"{at}.agent.resume", fault, "Use resume: runs")


def _visitor_findings(tenant: TenantPolicy, at: str) -> Iterator[PolicyFinding]:
    if any(rule.group for rule in tenant.reviewers):
        return  # anybody may be in the group
    named = {rule.user for rule in tenant.reviewers if rule.may}
    visitors = [("guests", user) for user in tenant.guests] + [("outsiders", user) for _, user in tenant.outsiders]
    for kind, user in visitors:
        if user not in named:
            yield note(
                tenant.name, f"{at}.{kind}", f"{user} is admitted, but no rule names them", "Add a rule, or remove"
            )
