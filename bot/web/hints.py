"""Hints from applications and agent servers: "read this thread now".

A hint carries no truth and no decision: it is authenticated by the tenant's bearer token, admitted for identities that the
policy names, coalesced and limited, and then the bot reads the thread itself. Anybody on the network can post, so a flood
costs the database as little as the agent servers. This module must not read agent servers.
"""

from __future__ import annotations

import hmac
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from bot.policy.matching import matches
from bot.policy.model import TenantPolicy
from bot.store.engine import Store
from bot.store.policies import InForce, Policies

THREAD = re.compile(r"[A-Za-z0-9-]{1,64}")
IDENTITY = re.compile(r"[!-~]{1,128}")  # it becomes a header of every request about the thread
A_SECOND = 10
# Beyond so many in a second, hints are judged by the policy as read just before; what comes of one is judged anew anyway.
POLICY_READS = 20
# (tenant, identity, thread) -> nothing
Hint = Callable[[str, str, str], None]


@dataclass(slots=True)
class Window:
    """At most so many in any second."""

    most: int = A_SECOND
    starts: list[float] = field(default_factory=list)

    def take(self, now: float) -> bool:
        """Whether one more is admitted now."""
        self.starts = [start for start in self.starts if start > now - 1]
        if len(self.starts) >= self.most:
            return False
        self.starts.append(now)
        return True


@dataclass(slots=True)
class PolicyCache:
    """The policy as it was last read, and how often that was."""

    in_force: InForce | None = None
    reads: Window = field(default_factory=lambda: Window(POLICY_READS))


@dataclass(frozen=True, slots=True)
class Hints:
    """The two hint endpoints."""

    store: Store
    policies: Policies
    secret: Callable[[str], str | None]
    hint: Hint
    clock: Callable[[], float]
    windows: dict[str, Window] = field(default_factory=dict)
    known: PolicyCache = field(default_factory=PolicyCache)

    async def sync(self, request: Request) -> Response:
        """`POST /v1/tenants/{tenant}/threads/{thread_id}/sync` with `{"user_id": …}`."""
        tenant = await self._tenant(request)
        if isinstance(tenant, Response):
            return tenant
        thread = str(request.path_params["thread_id"])
        body = await _object(request)
        user = body.get("user_id") if body is not None else None
        if not THREAD.fullmatch(thread) or not isinstance(user, str) or not _admitted(tenant, user):
            return _no(422, "the thread id or user_id is not one that this tenant's policy admits")
        return self._accept(tenant, [user], thread)

    async def webhook(self, request: Request) -> Response:
        """`POST /v1/tenants/{tenant}/webhook`: a run's webhook of LangGraph Platform; only its thread id is used."""
        tenant = await self._tenant(request)
        if isinstance(tenant, Response):
            return tenant
        body = await _object(request)
        thread = body.get("thread_id") if body is not None else None
        if not isinstance(thread, str) or not THREAD.fullmatch(thread):
            return _no(422, "the body has no usable thread_id")
        return self._accept(tenant, tenant.agent.polled, thread)

    def _accept(self, tenant: TenantPolicy, users: Any, thread: str) -> Response:
        if not self.windows.setdefault(tenant.name, Window()).take(self.clock()):
            return JSONResponse({"error": "too many hints"}, 429, headers={"Retry-After": "1"})
        for user in users:
            self.hint(tenant.name, user, thread)
        return JSONResponse({"accepted": True}, 202)

    async def _in_force(self) -> InForce:
        if self.known.reads.take(self.clock()) or self.known.in_force is None:
            async with self.store.read() as tx:
                self.known.in_force = await self.policies.in_force(tx)
        return self.known.in_force

    async def _tenant(self, request: Request) -> TenantPolicy | Response:
        """The tenant whose token this is; an unknown tenant and a wrong token look the same from outside."""
        tenant = (await self._in_force()).tenant(str(request.path_params["tenant"]))
        expected = self.secret(tenant.intake_token_env) if tenant and tenant.intake_token_env else None
        scheme, _, given = request.headers.get("authorization", "").partition(" ")
        known = hmac.compare_digest(given.encode(), (expected or "").encode())
        if tenant is None or not expected or scheme.lower() != "bearer" or not known:
            return _no(401, "unknown tenant or wrong token")
        return tenant


def _admitted(tenant: TenantPolicy, user: str) -> bool:
    return IDENTITY.fullmatch(user) is not None and any(matches(pattern, user) for pattern in tenant.agent.users)


async def _object(request: Request) -> dict[str, Any] | None:
    try:
        body = json.loads(await request.body() or b"{}")
    except (ValueError, RecursionError):
        return None
    return body if isinstance(body, dict) else None


def _no(status: int, fault: str) -> Response:
    return JSONResponse({"error": fault}, status)
