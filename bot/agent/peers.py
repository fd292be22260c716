"""Whom a connection has really reached, once a name was resolved.

The policy's addresses are checked as they are written; a name may still lead to a link-local address, where a cloud's
metadata service answers. The connection itself says where it ends, so this is asked of it, before a byte is written:
no second resolution can say something else. This module must not know what is sent.
"""

from __future__ import annotations

from typing import Any

from bot.core.policy_values import is_no_server
from bot.errors import AgentUnreachable

CONNECTED = "connection.connect_tcp.complete"


async def check_peer(event: str, info: dict[str, Any]) -> None:
    """A trace hook of httpx: raises `AgentUnreachable` for a connection that ends where no agent server can be."""
    if event != CONNECTED:
        return
    stream = info["return_value"]
    peer = stream.get_extra_info("server_addr")
    if peer and is_no_server(str(peer[0]).partition("%")[0]):
        await stream.aclose()
        raise AgentUnreachable("the agent server's name leads to a link-local address, where none is asked")
