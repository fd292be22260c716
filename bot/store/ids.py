"""Ids of stored rows: unguessable, because a showing's id is all that a button carries.

The prefix says what a row is; nothing may be read out of the rest.
"""

from __future__ import annotations

import base64
import os


def new_id(prefix: str) -> str:
    """`prefix`, an underscore, and 128 random bits as 26 lowercase base32 characters."""
    return f"{prefix}_{base64.b32encode(os.urandom(16)).decode().rstrip('=').lower()}"
