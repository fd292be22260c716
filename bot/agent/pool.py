"""The agent servers of all tenants, over one pooled client and one SSL context.

Making an SSL context takes longer than a whole answer, so there is one. Keys come from the environment by the names that
the policy gives; they never stand in the policy or the store.
"""

from __future__ import annotations

import ssl
from collections.abc import Callable

from bot.agent.client import AgentClient, AgentServer, make_http
from bot.agent.resume import Doorway
from bot.core.model import Target
from bot.core.policy import TenantPolicy
from bot.core.policy_match import matches
from bot.errors import AgentUnreachable


class Agents:
    """Makes clients; close it once."""

    def __init__(self, secret: Callable[[str], str | None]) -> None:
        context = ssl.create_default_context()
        self._http = make_http(context)
        self._secret = secret
        self.doorway = Doorway(context)

    def client(self, target: Target, tenant: TenantPolicy) -> AgentClient:
        """A client for where a review came from.

        Raises `AgentUnreachable` when the tenant's key is not set, and for a server or identity that the tenant's policy
        has left: its key is the new server's, and that thread is none of the tenant's any more.
        """
        agent = tenant.agent
        if target.url != agent.url or not any(matches(pattern, target.identity) for pattern in agent.users):
            raise AgentUnreachable(f"tenant {tenant.name}'s policy no longer leads to this agent server and identity")
        return AgentClient(AgentServer.of(target, self._key(tenant)), self._http)

    def _key(self, tenant: TenantPolicy) -> str | None:
        name = tenant.agent.api_key_env
        if name is None:
            return None
        key = self._secret(name)
        if not key:
            raise AgentUnreachable(f"{name} is not set, so tenant {tenant.name}'s agent server cannot be asked")
        return key

    async def close(self) -> None:
        """Close the pooled connections."""
        await self._http.aclose()


def target_of(tenant: TenantPolicy, identity: str) -> Target:
    """Where a new review of this identity's threads is answered."""
    agent = tenant.agent
    return Target(agent.url, agent.kind, identity, agent.assistant, agent.resume)
