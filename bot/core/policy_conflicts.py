"""Faults that lie between two places of a policy file.

Two tenants may not claim one thread or one channel, for then two policies would decide about the same call; two tool
patterns that are equally specific may not disagree, for then the order of lines would decide. This module must not
know YAML beyond the places that it blames.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from urllib.parse import urlsplit

from bot.core.policy_match import overlap, specificity
from bot.core.policy_model import Policy, TenantPolicy
from bot.core.policy_settings import explicit
from bot.core.policy_values import is_loopback
from bot.core.policy_yaml import Place


def blame_conflicts(policy: Policy, root: Place) -> None:
    """Note every conflict at the later of its two places. Only for a file that is otherwise without fault."""
    places = root.entries()["tenants"].entries()
    for one, other in combinations(policy.tenants.values(), 2):
        _blame_shared_threads(one, other, places[other.name])
        _blame_shared_channel(one, other, places[other.name])
    for tenant in policy.tenants.values():
        entries = places[tenant.name].entries()
        if "tools" in entries:
            _blame_ties(tenant, entries["tools"].entries())


def _blame_shared_threads(one: TenantPolicy, other: TenantPolicy, place: Place) -> None:
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


def _blame_shared_channel(one: TenantPolicy, other: TenantPolicy, place: Place) -> None:
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


def _blame_ties(tenant: TenantPolicy, places: dict[str, Place]) -> None:
    for one, other in combinations(tenant.tools, 2):
        if specificity(one) != specificity(other) or not overlap(one, other):
            continue
        mine, theirs = explicit(tenant.tools[one]), explicit(tenant.tools[other])
        for name in sorted(name for name in mine.keys() & theirs.keys() if mine[name] != theirs[name]):
            places[other].blame_key(
                f"{other!r} and {one!r} are equally specific, meet in some name, and differ in {name.removesuffix('_ms')}",
                "Make one of the patterns more specific, or set the same",
            )
