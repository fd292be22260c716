"""Who is calling: `X-User-Id`, and a bearer key where the deployment has one.

Aegra walls identities off from each other by itself. LangGraph's development server does so only if a handler here
asks for it; none does, as in the sandbox.
"""

import hmac
import os

from langgraph_sdk import Auth

auth = Auth()


def _header(headers, name):
    texts = {
        (key.decode() if isinstance(key, bytes) else key).lower(): value.decode() if isinstance(value, bytes) else value
        for key, value in headers.items()
    }
    return texts.get(name, "")


@auth.authenticate
async def authenticate(headers: dict) -> Auth.types.MinimalUserDict:
    """Both servers hand the headers over, one as bytes and one as text."""
    wanted = os.environ.get("AGENT_API_KEY")
    if wanted and not hmac.compare_digest(_header(headers, "authorization").encode(), f"Bearer {wanted}".encode()):
        raise Auth.exceptions.HTTPException(status_code=401, detail="bad or missing bearer token")
    identity = _header(headers, "x-user-id") or "anonymous"
    return {"identity": identity, "display_name": identity, "is_authenticated": True}
