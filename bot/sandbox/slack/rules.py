"""The clocks and counts of the workspace in one place, so that a test can shorten a wait without touching behaviour.

Every default is Slack's own figure where Slack names one.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rules:
    """Seconds and counts. `quiet_seconds` and `opening_seconds` are this sandbox's own: how long a person looks on."""

    ack_seconds: float = 3.0
    trigger_seconds: float = 3.0
    hook_seconds: float = 1800.0
    hook_uses: int = 5
    retry_delays: tuple[float, ...] = (0.0, 60.0, 300.0)
    connections: int = 10
    stack: int = 3
    strict_rates: bool = False
    block_mismatch: bool = False
    quiet_seconds: float = 0.8
    opening_seconds: float = 3.0
