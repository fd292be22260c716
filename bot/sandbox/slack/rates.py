"""Rate limits: calls a minute by tier for each method and workspace, and messages a second for each channel.

User group methods are always limited, because a bot that re-reads them at every decision must notice; the rest only where
the rules say so. Slack's bursts are not published; ours is a guess on the mean side.
"""

import math
from collections import defaultdict, deque

from bot.sandbox.slack.errors import ApiRateLimited

PER_MINUTE = {1: 1, 2: 20, 3: 50, 4: 100}
MINUTE = 60.0
POST_BURST = 5
POSTS_PER_MINUTE = 300
ALWAYS = "usergroups."


class Rates:
    """Remembers when what was called; a refused call does not count."""

    def __init__(self) -> None:
        self._calls: defaultdict[tuple[str, ...], deque[float]] = defaultdict(deque)

    def spend(self, key: tuple[str, ...], most: int, window: float, now: float) -> None:
        """Count one call, or raise RateLimited with the seconds until there is room again."""
        calls = self._calls[key]
        while calls and calls[0] <= now - window:
            calls.popleft()
        if len(calls) >= most:
            raise ApiRateLimited(max(1, math.ceil(calls[0] + window - now)))
        calls.append(now)

    def spend_tier(self, team_id: str, method: str, tier: int, *, now: float, strict: bool) -> None:
        """Count a call against its method's tier."""
        if tier and (strict or method.startswith(ALWAYS)):
            self.spend((team_id, method), PER_MINUTE[tier], MINUTE, now)

    def spend_post(self, team_id: str, channel: str, now: float) -> None:
        """Count a message: about one a second in a channel with a short burst, some hundreds a minute in a workspace."""
        self.spend((team_id, "post", channel), POST_BURST, float(POST_BURST), now)
        self.spend((team_id, "post"), POSTS_PER_MINUTE, MINUTE, now)
