"""When an interrupt that a thread does not list any more may be called gone.

A single reading proves nothing: a proxy's 404, a replica that lags or a state between two checkpoints looks the same as
a thread that moved on. Gone takes two readings in a row, far enough apart, and a list of threads that tells the same.
"""

from __future__ import annotations

LEAST_APART_MS = 2_000
# What the list of threads is asked for: a thread in none of these does not wait for anybody.
NOT_IDLE = ("interrupted", "error", "busy")


def far_enough(missing_since: int, began: int, *, every_ms: int) -> bool:
    """Whether a reading that began then can be the second one; `every_ms` is the polling interval."""
    return began - missing_since >= max(LEAST_APART_MS, every_ms)


def list_agrees(read: str | None, listed: str | None) -> bool:
    """Whether the list says of a thread what its own reading said.

    `read` is the thread's status, None where it answered 404; `listed` its status among those that are `NOT_IDLE`.
    """
    return listed == (read if read in NOT_IDLE else None)
