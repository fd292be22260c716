"""Why somebody may or may not decide a tool's calls, in sentences for an operator.

Asked without a call, so a rule with conditions counts as not met and says what it would take: the same caution as for
arguments that are missing. The answer is about the rules; the account's own state (guest, deactivated) is not known
here. This module must not decide anything else than `may` does.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

import yaml

from bot.policy.matching import tool_settings
from bot.policy.model import DECISIONS, POWERS, REVEAL, Person, PolicyCall, Requester, ReviewerRule, TenantPolicy, Why
from bot.policy.rules import covering, default_requester_may, evidence, judge_right
from bot.policy.values import TOOL

PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")

# Known, and nobody: the requester rule is told in words, because a requester exists only where there is a call.
SOMEBODY_ELSE = Requester("", "")


def explain(tenant: TenantPolicy, tool: str, user: str, groups: Collection[str]) -> dict[str, dict[str, bool | str]]:
    """For each decision, and for reveal: whether it is allowed, and why.

    `groups` are the user groups that the person is in. Somebody else is taken to be the requester; where it would
    make a difference, the sentence says so.
    """
    person = _person(tenant, user, groups)
    return {decision: _answer(tenant, tool, person, decision=decision) for decision in POWERS}


def who_decides(tenant: TenantPolicy, tool: str) -> tuple[tuple[ReviewerRule, str], ...]:
    """Each rule that touches this tool, in the order of the file, with a line that says what it does."""
    lines: list[tuple[ReviewerRule, str]] = []
    for rule in tenant.reviewers:
        if covering(rule, tool):
            for verb, powers in (("allows", rule.may), ("denies", rule.deny)):
                if powers:
                    lines.append((rule, evidence(rule, verb, ", ".join(powers), tool=tool)))
    return tuple(lines)


@dataclass(frozen=True, slots=True)
class PolicyLine:
    """A line that is missing in the policy file, and the keys that it belongs under."""

    under: tuple[str, ...]
    line: str

    @property
    def yaml(self) -> str:
        """The line with the keys above it, as it would stand in the file; printable ASCII alone."""
        above = [f"{'  ' * depth}{key}:" for depth, key in enumerate(self.under)]
        return "\n".join([*above, "  " * len(self.under) + self.line])


def decisions_line(tenant: TenantPolicy, tool: str) -> PolicyLine:
    """What to add for a tool of which neither the server nor the policy says what its calls allow.

    Which decisions belong there only the agent's developer knows: two stand for them.
    """
    named = tool if TOOL.pattern.fullmatch(tool) else "*"
    under, listed = ("tenants", _key(tenant.name), "tools"), "decisions: [approve, reject]"
    if named in tenant.tools:
        return PolicyLine((*under, _key(named)), listed)
    return PolicyLine(under, f"{_key(named)}: {{{listed}}}")


def _key(name: str) -> str:
    """As a key of YAML: plain where nothing could take it for something else, in quotes and escaped otherwise."""
    if PLAIN_KEY.fullmatch(name) and yaml.safe_load(name) == name:
        return name
    return str(yaml.safe_dump(name, default_style='"', allow_unicode=False, width=10_000)).strip()


def _person(tenant: TenantPolicy, user: str, groups: Collection[str]) -> Person:
    homes = [team for team, listed in tenant.outsiders if listed == user]
    return Person(
        team=tenant.slack_team,
        user=user,
        home_team=homes[0] if homes else tenant.slack_team,
        groups=dict.fromkeys(groups, 0),
        outsider=bool(homes),
        known_as_of=0,
    )


def _answer(tenant: TenantPolicy, tool: str, person: Person, *, decision: str) -> dict[str, bool | str]:
    call = PolicyCall(tool, DECISIONS, proposed_args=None, final_args=None, requester=SOMEBODY_ELSE)
    verdict = judge_right(tenant, call, person=person, decision=decision)
    if verdict.allowed:
        return {"allowed": True, "why": f"{verdict.rule}{_own_call(tenant, tool, decision)}"}
    if verdict.why is Why.CONDITION_NOT_MET:
        return {
            "allowed": False,
            "why": f"only by its arguments: {_conditional(tenant, tool, person, decision=decision)}",
        }
    sentences = {
        Why.DENIED: f"{verdict.rule}",
        Why.NOT_A_REVIEWER: f"no rule makes them a reviewer of {tool}",
        Why.DECISION_NOT_PERMITTED: f"their rules for {tool} leave {decision} out",
        Why.BOT_USER: "a bot decides nothing",
    }
    return {"allowed": False, "why": sentences[verdict.why]}


def _own_call(tenant: TenantPolicy, tool: str, decision: str) -> str:
    explicit = tool_settings(tenant, tool).requester_may
    limit = default_requester_may(DECISIONS) if explicit is None else explicit
    return "" if decision == REVEAL or decision in limit else "; not on a call that they asked for themselves"


def _conditional(tenant: TenantPolicy, tool: str, person: Person, *, decision: str) -> str:
    about = {f"user {person.user}", *(f"group {group}" for group in person.groups)}
    rules = [
        rule for rule in tenant.reviewers if rule.subject in about and decision in rule.may and covering(rule, tool)
    ]
    return "; ".join(evidence(rule, "allows", decision, tool=tool) for rule in rules)
