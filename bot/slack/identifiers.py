"""What can be an id of Slack's: printable ASCII, short.

Ids go into queries, keys and logs. Whatever else stands in an id's place (a NUL, half a character, a kilobyte) is not from
Slack, and a database may refuse it. This module must not know what an id names.
"""

from __future__ import annotations

import re
from typing import Annotated, TypeGuard

from pydantic import StringConstraints

# Slack gives 255 characters for action and block ids, and far fewer for the rest; a view's hash and a trigger are ASCII.
LONGEST = 255
_ID = re.compile(rf"[!-~]{{1,{LONGEST}}}")

Id = Annotated[str, StringConstraints(pattern=rf"^[!-~]{{0,{LONGEST}}}$")]

# What a button carries comes back as it was sent, or as somebody made it up: any printable ASCII.
Value = Annotated[str, StringConstraints(pattern=r"^[ -~]{0,2000}$")]


def is_id(value: object) -> TypeGuard[str]:
    """Whether this can be an id."""
    return isinstance(value, str) and _ID.fullmatch(value) is not None
