"""`placet doctor`: everything that keeps an approval from coming or going, each fault with its mend.

It exists for the moment before the first run and the moment after something broke. It only reads: settings, the database,
Slack, agent servers. What it says holds no secret and no argument. The parts that ask Slack and agent servers stand in
modules of their own.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from sqlalchemy import func, select

from bot.access.context import ELSEWHERE
from bot.core.model import ReviewState
from bot.doctor import agent
from bot.doctor import slack as doctor_slack
from bot.doctor.finding import DoctorFinding, Grade
from bot.errors import ConfigurationError, StoreError
from bot.policy.explain import decisions_line
from bot.policy.lint import check
from bot.policy.model import PolicyFinding, TenantPolicy
from bot.runtimes.langgraph.client import Agents
from bot.runtimes.langgraph.interrupts import DECISIONS_UNKNOWN
from bot.settings import Settings, require_slack
from bot.slack.client.socket_mode import require_socket
from bot.store import tenants, threads
from bot.store.audit import events
from bot.store.engine import Store
from bot.store.policies import InForce, Policies
from bot.store.tables import actions, audit_events, messages, reviews
from bot.store.upgrade import open_store

LEAST_KEY = 32
LEAST_INTAKE = 24
SKEW_S = 5.0
DAY_MS = 86_400_000


# What only a live workspace can settle: the local Slack was written from the reference and from reports.
LIVE_ONLY = (
    "how Slack counts characters, and how many a message of many rich_text blocks really takes",
    "whether an update of a card can fail because the card is old",
    "how soon a channel's history shows a message that was posted a moment ago",
    "what Slack's apps do with right-to-left marks and control characters",
    "whether user groups list people whose accounts are deactivated",
    "how long an acknowledgement over Socket Mode takes from here",
)


async def examine(settings: Settings) -> list[DoctorFinding]:
    """Look at everything. What cannot be looked at is a finding too."""
    found = _settings(settings) + await _socket(settings)
    try:
        store = await open_store(settings.database_url)
    except StoreError as exc:
        return [
            *found,
            DoctorFinding("database", Grade.FAULT, str(exc), "Mend that first; the rest needs the database."),
        ]
    try:
        found.append(DoctorFinding("database", Grade.OK, "It opens and its schema is this version's."))
        found += await _stored(settings, store)
    finally:
        await store.close()
    return found + [DoctorFinding("live", Grade.NOTE, f"Only your workspace can tell: {point}.") for point in LIVE_ONLY]


def _settings(settings: Settings) -> list[DoctorFinding]:
    found: list[DoctorFinding] = []
    try:
        require_slack(settings)
        found.append(DoctorFinding("settings", Grade.OK, "Slack's tokens and secrets are set."))
    except ConfigurationError as exc:
        found.append(DoctorFinding("settings", Grade.FAULT, str(exc), "Set it in the environment and run this again."))
    if not settings.secret_key:
        what = "PLACET_SECRET_KEY is not set, so the audit's head is not signed."
        found.append(
            DoctorFinding("settings", Grade.WARN, what, "Set it to at least 32 random characters and keep it.")
        )
    elif len(settings.secret_key) < LEAST_KEY:
        what = f"PLACET_SECRET_KEY has fewer than {LEAST_KEY} characters."
        found.append(DoctorFinding("settings", Grade.WARN, what, "Use `openssl rand -hex 32`."))
    return found


async def _socket(settings: Settings) -> list[DoctorFinding]:
    if not settings.socket_mode:
        return []
    try:
        asked = await require_socket(settings)
    except ConfigurationError as exc:
        return [DoctorFinding("settings", Grade.FAULT, str(exc), "Set it in the environment and run this again.")]
    if not asked:
        what = "Slack could not be asked whether the app token opens a socket."
        return [DoctorFinding("settings", Grade.WARN, what, "Check the network, and run this again.")]
    return [DoctorFinding("settings", Grade.OK, "The app token opens a socket.")]


async def _stored(settings: Settings, store: Store) -> list[DoctorFinding]:
    async with store.read() as tx:
        in_force = await Policies().in_force(tx)
        now = tx.now
    found = [_clock("database", now / 1000, "the database's clock"), *await _not_ours(store)]
    if in_force.policy is None:
        what = "No policy is stored, so nothing is served."
        return [*found, DoctorFinding("policy", Grade.FAULT, what, "Run `placet policy apply FILE`.")]
    found += [_of_policy(one) for one in check(in_force.policy)]
    found += await _undelivered(store, in_force)
    found += await _unreadable(store, in_force)
    found += await _undecidable(store, in_force)
    slack = await doctor_slack.offices(settings)
    agents = Agents(settings.secret)
    try:
        for tenant in in_force.tenants():
            found += [_intake(settings, tenant)]
            found += await doctor_slack.examine(slack, tenant)
            found += await agent.examine(agents, settings, tenant)
    finally:
        await agents.close()
    return found


def _of_policy(one: PolicyFinding) -> DoctorFinding:
    grade = Grade.WARN if one.level == "warning" else Grade.NOTE
    return DoctorFinding("policy", grade, f"{one.path}: {one.text}.", f"{one.mend}.", one.tenant)


def _clock(area: str, theirs: float, whose: str) -> DoctorFinding:
    apart = abs(theirs - time.time())
    if apart <= SKEW_S:
        return DoctorFinding(area, Grade.OK, f"This machine's clock and {whose} agree.")
    what = f"This machine's clock and {whose} are {apart:.0f} s apart."
    return DoctorFinding(area, Grade.WARN, what, "Let NTP set both; Slack's signatures and deadlines rest on them.")


async def _undelivered(store: Store, in_force: InForce) -> list[DoctorFinding]:
    async with store.read() as tx:
        behind = messages.c.ts.is_(None) & (messages.c.last_error != "")
        place = (messages.c.tenant, messages.c.channel, messages.c.last_error)
        rows = (await tx.conn.execute(select(*place, func.count()).where(behind).group_by(*place))).all()
        ailing = await tenants.faults(tx)
        paused = await tenants.paused(tx)
    found = [
        DoctorFinding(
            "cards", Grade.FAULT, f"{count} cards were not delivered to {channel}: {error}.", _mend_slack(error), name
        )
        for name, channel, error, count in rows
    ]
    found += [
        DoctorFinding("cards", Grade.FAULT, _fault_text(fault), _mend_slack(fault.code), name)
        for name, fault in ailing.items()
    ]
    found += [
        DoctorFinding("pause", Grade.NOTE, f"Paused by {pause.by}.", "`placet resume` ends it.", name)
        for name, pause in paused.items()
    ]
    return (
        found
        if rows or ailing
        else [*found, DoctorFinding("cards", Grade.OK, f"No card of {len(in_force.tenants())} tenants is stuck.")]
    )


def _fault_text(fault: tenants.TenantFault) -> str:
    return f"Slack answers {fault.code}{f' for channel {fault.channel}' if fault.channel else ''}."


async def _not_ours(store: Store) -> list[DoctorFinding]:
    """Presses of the last day on what this database never drew."""
    async with store.read() as tx:
        lately = (audit_events.c.tenant == events.EVERYONE) & (audit_events.c.at > tx.now - DAY_MS)
        refused = (audit_events.c.kind == "press.refused") & audit_events.c.content.contains(f'"{ELSEWHERE}"')
        count = await tx.conn.scalar(select(func.count()).select_from(audit_events).where(lately, refused))
    if not count:
        return []
    what = f"{count} times in the last day somebody pressed a card or window that this database never drew."
    mend = "If two deployments share one Slack app, each takes the other's presses: give each an app of its own."
    return [DoctorFinding("cards", Grade.WARN, what, mend)]


async def _undecidable(store: Store, in_force: InForce) -> list[DoctorFinding]:
    """Tools whose calls wait and cannot be decided, since neither the agent server nor the policy says what they allow."""
    waits = (reviews.c.state == ReviewState.OPEN.value) & (actions.c.problem == DECISIONS_UNKNOWN)
    columns = select(reviews.c.tenant, actions.c.tool, func.count()).join_from(reviews, actions).where(waits)
    async with store.read() as tx:
        rows = (await tx.conn.execute(columns.group_by(reviews.c.tenant, actions.c.tool))).all()
    found = []
    for name, tool, count in rows:
        tenant = in_force.tenant(name)
        if tenant is not None:
            missing = decisions_line(tenant, tool)
            what = f"{count} open calls of {ascii(tool)[1:-1]} cannot be decided: nobody says what they allow."
            where = ".".join(missing.under)
            mend = f"Add `{missing.line}` under {where}, with exactly the decisions that the agent allows."
            found.append(DoctorFinding("policy", Grade.WARN, what, mend, name))
    return found


async def _unreadable(store: Store, in_force: InForce) -> list[DoctorFinding]:
    async with store.read() as tx:
        known = await threads.unreadable(tx)
    mend = "Look at the agent server's log: what the thread waits for has no card, or one that may be out of date."
    return [
        DoctorFinding("agent", Grade.WARN, f"{unreadable_line(one)}.", mend, one.tenant)
        for one in known
        if in_force.tenant(one.tenant)
    ]


def unreadable_line(one: threads.Unreadable) -> str:
    """A thread that cannot be read, in one line without anything that a terminal would obey."""
    thread, identity = ascii(one.thread_id)[1:-1], ascii(one.identity)[1:-1]
    times = "once" if one.failures == 1 else f"{one.failures} times in a row"
    return f"Thread {thread} of {identity} could not be read ({times}): {ascii(one.fault)[1:-1]}"


def _mend_slack(code: str) -> str:
    return doctor_slack.MENDS.get(code, "See Slack's page on this error; the card is tried again by itself.")


def _intake(settings: Settings, tenant: TenantPolicy) -> DoctorFinding:
    name = tenant.intake_token_env
    if name is None:
        what = "No intake token: agents cannot hint, and new calls are found by polling."
        return DoctorFinding("intake", Grade.NOTE, what, tenant=tenant.name)
    token = settings.secret(name)
    if not token:
        return DoctorFinding(
            "intake", Grade.FAULT, f"{name} is not set.", "Set it, or take it out of the policy.", tenant.name
        )
    if len(token) < LEAST_INTAKE:
        what = f"{name} has fewer than {LEAST_INTAKE} characters."
        return DoctorFinding("intake", Grade.WARN, what, "Use `openssl rand -hex 32`.", tenant.name)
    return DoctorFinding("intake", Grade.OK, f"{name} is set and long enough.", tenant=tenant.name)


def failed(found: Sequence[DoctorFinding]) -> bool:
    """Whether anything must be mended."""
    return any(one.grade is Grade.FAULT for one in found)
