"""The doctor's questions to an agent server: is it there, is it what the policy says, does it know us. It only reads."""

from __future__ import annotations

import time

from bot.doctor.finding import DoctorFinding, Grade
from bot.errors import AgentError, ConfigurationError
from bot.policy.model import TenantPolicy
from bot.runtimes.langgraph.client import Agents, target_of
from bot.settings import Settings

SKEW_S = 5.0
HALF_S = 0.5  # a Date header tells whole seconds, cut


async def examine(agents: Agents, settings: Settings, tenant: TenantPolicy) -> list[DoctorFinding]:
    """What an agent server says to one tenant."""
    name = tenant.agent.api_key_env
    if name is not None and not settings.secret(name):
        return [_finding(tenant, "fault", f"{name} is not set.", "Set it to the agent server's key.")]
    out = await _server(agents, tenant)
    if any(one.grade == "fault" for one in out):
        return out
    for identity in tenant.agent.polled:
        out.append(await _identity(agents, tenant, identity))
    if not tenant.agent.polled:
        what = "No identity is polled, so calls are found only where an agent hints."
        out.append(_finding(tenant, "warn", what, "Name at least one plain identity in agent.users."))
    return out


async def _server(agents: Agents, tenant: TenantPolicy) -> list[DoctorFinding]:
    where = tenant.agent.url
    identity = next(iter(tenant.agent.polled), "placet")
    try:
        info = await agents.client(target_of(tenant, identity), tenant).info()
    except (AgentError, ConfigurationError) as exc:
        mend = "Start it, or correct agent.url in the policy; redirects are never followed."
        return [_finding(tenant, "fault", f"{where} cannot be asked: {exc}.", mend)]
    told = f"{info.kind or 'an agent server'} {info.version}".strip()
    if info.kind and info.kind != tenant.agent.kind:
        what = f"{where} looks like {told}, and the policy says {tenant.agent.kind}."
        return [_finding(tenant, "warn", what, "Correct agent.kind in the policy.")]
    return [_finding(tenant, "ok", f"{where} answers: {told}."), *await clock_of(agents, tenant, identity)]


async def clock_of(agents: Agents, tenant: TenantPolicy, identity: str) -> list[DoctorFinding]:
    """How far apart the clocks are; half of the way there and back counts for neither."""
    before = time.time()
    try:
        theirs = await agents.client(target_of(tenant, identity), tenant).server_time()
    except (AgentError, ConfigurationError) as exc:
        mend = "Run this again; if it lasts, look at what stands between."
        return [_finding(tenant, "warn", f"The agent server's clock could not be read: {exc}.", mend)]
    if theirs is None:
        return [_finding(tenant, "note", "The agent server does not say what time it is (no Date header).")]
    apart = abs(theirs + HALF_S - (before + time.time()) / 2)
    if apart <= SKEW_S:
        return [_finding(tenant, "ok", "This machine's clock and the agent server's agree.")]
    what = f"This machine's clock and the agent server's are {apart:.0f} s apart."
    return [_finding(tenant, "warn", what, "Let NTP set both; which run was there first is read from both.")]


async def _identity(agents: Agents, tenant: TenantPolicy, identity: str) -> DoctorFinding:
    try:
        client = agents.client(target_of(tenant, identity), tenant)
        async for page in client.search_threads(limit=1):
            if page:
                return _finding(tenant, "ok", f"Identity {identity} sees its threads.")
            break
    except (AgentError, ConfigurationError) as exc:
        mend = "Check the key, and that the server lets this identity list threads."
        return _finding(tenant, "fault", f"Identity {identity} is refused: {exc}.", mend)
    what = f"Identity {identity} sees no thread. Right before the first run, wrong after it."
    return _finding(tenant, "note", what, "Check that the agents' runs are started under this X-User-Id.")


def _finding(tenant: TenantPolicy, grade: str, what: str, mend: str = "") -> DoctorFinding:
    return DoctorFinding("agent", Grade(grade), what, mend, tenant.name)
