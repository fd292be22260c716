"""What a policy file says that cannot be meant: rules without effect, tools that nobody may decide, and the like.

A file that can be read is judged here, so nothing is fatal: findings are warnings (the policy will not do what it
seems to) or notes. Membership is taken from the caller where it is known; a group of unknown size counts as large
enough. This module must not know Slack or the environment.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import combinations

from bot.core.policy_check_rules import rule_findings
from bot.core.policy_check_tools import tool_findings
from bot.core.policy_conflicts import server
from bot.core.policy_finding import Finding, note, warning
from bot.core.policy_model import SECOND, Policy, TenantPolicy
from bot.core.policy_settings import channels_of
from bot.core.secret_shapes import may_name_secret

Members = Mapping[str, Collection[str]]

TESTED_SETTLE_MS = 2 * SECOND


def check(policy: Policy, members: Members | None = None) -> list[Finding]:
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


def mentioned_ids(tenant: TenantPolicy) -> dict[str, tuple[str, ...]]:
    """Every id that a live workspace should know, by kind, for whoever can ask it: users, groups, channels."""
    mentioned = [each for settings in tenant.tools.values() for each in settings.mention or ()]
    foreign = {user for _, user in tenant.outsiders}
    users = [rule.user for rule in tenant.reviewers if rule.user and rule.user not in foreign]
    groups = [rule.group for rule in tenant.reviewers if rule.group]
    return {
        "users": _distinct([*users, *tenant.guests, *(each for each in mentioned if each[0] != "S")]),
        "groups": _distinct([*groups, *(each for each in mentioned if each[0] == "S")]),
        "channels": channels_of(tenant),
    }


def _distinct(ids: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(ids))


def _file_findings(policy: Policy) -> Iterator[Finding]:
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


def _tenant_findings(tenant: TenantPolicy) -> Iterator[Finding]:
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


def _arrival_findings(tenant: TenantPolicy, at: str) -> Iterator[Finding]:
    patterns = [user for user in tenant.agent.users if "*" in user]
    if patterns and not tenant.intake_token_env:
        fault = f"threads of {', '.join(patterns)} never arrive: patterns only admit hints, and no token admits any"
        yield warning(tenant.name, f"{at}.agent.users", fault, "Set intake_token_env, or write the identities out")
    elif not tenant.agent.polled:
        fault = "no identity is polled, so a lost hint is never made up for"
        yield note(tenant.name, f"{at}.agent.users", fault, "Write out the identities that matter")


def _shown_findings(tenant: TenantPolicy, at: str) -> Iterator[Finding]:
    for name in tenant.agent.show_context:
        if may_name_secret(name):
            fault = f"{name} reads like the name of a secret, so cards may say only that it is hidden"
            yield warning(tenant.name, f"{at}.agent.show_context", fault, "Show what says for whom a tool acts")


def _fence_findings(tenant: TenantPolicy, at: str) -> Iterator[Finding]:
    asked = {tenant.resend, *(settings.resend for settings in tenant.tools.values())}
    if "fence" in asked and (tenant.agent.kind, tenant.agent.resume) == ("langgraph", "commands"):
        fault = "a fence cannot stand on this route, so what may have been sent is never sent again"
        yield note(tenant.name, f"{at}.agent.resume", fault, "Use resume: runs")


def _visitor_findings(tenant: TenantPolicy, at: str) -> Iterator[Finding]:
    if any(rule.group for rule in tenant.reviewers):
        return  # anybody may be in the group
    named = {rule.user for rule in tenant.reviewers if rule.may}
    visitors = [("guests", user) for user in tenant.guests] + [("outsiders", user) for _, user in tenant.outsiders]
    for kind, user in visitors:
        if user not in named:
            yield note(
                tenant.name, f"{at}.{kind}", f"{user} is admitted, but no rule names them", "Add a rule, or remove"
            )
