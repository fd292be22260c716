"""Scripts with a name: what the pretend model proposes when somebody says a preset's word.

Plain data and no agent library, so that a caller who only starts runs does not load one. Which tools are gated, and
how, stands in `gates`; here a call is only a name and arguments.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Call = Mapping[str, Any]
"""`{"name": ..., "args": {...}}`, with `"id"` where a test wants to choose the tool call's id."""

HOSTILE_TOOL = "ok`* <!channel> \u202egnirts\u2066 <https://evil.example|Approve>"
"""The name of a gated tool that tries to mention, link, format and reorder."""


@dataclass(frozen=True, slots=True)
class Preset:
    """One agent run to start: by what assistant, proposing what, turn after turn.

    `branches` names other presets to run side by side; then there are no turns of its own.
    """

    turns: Sequence[Sequence[Call]] = ()
    assistant: str = "ops"
    branches: Sequence[str] = field(default=())


def _call(tool: str, /, **args: Any) -> Call:
    return {"name": tool, "args": args}


DISABLE = _call("disable_user", user_id="u_4821", reason="chargeback dispute")
EMAIL = _call("send_email", to="ada@example.com", subject="Your order", body="Hello Ada,\nit left today.")
SQL = _call("execute_sql", query="DELETE FROM carts WHERE age > 30")
ASK = _call("ask_user", question="Which region?")
TEAM = _call("ask_team", question="Ship on Friday?")
READ = _call("read_data", key="weather")
RESTART = _call("restart_host", host="web-3.internal")
REFUND = _call("refund", order_id=90071, amount=12.7, currency="EUR", notify=True, labels=None)

_IDS = ",\n".join(f"  {n}" for n in range(1000, 1400))
_LONG_SQL = f"UPDATE accounts SET closed = TRUE WHERE id IN (\n{_IDS}\n)"  # noqa: S608 - nothing ever runs it
_LONG_TEXT = "".join(f"{n:04d} the quick brown fox jumps over it\n" for n in range(126))[:5000]

PRESETS: Mapping[str, Preset] = {
    "one": Preset([[DISABLE]]),
    "email": Preset([[EMAIL]]),
    "sql": Preset([[SQL]]),
    "ask": Preset([[ASK]]),
    "ask-team": Preset([[TEAM]]),
    "read": Preset([[READ]]),
    "restart": Preset([[RESTART]]),
    "refund": Preset([[REFUND]]),
    "three": Preset([[DISABLE, READ, SQL, ASK]]),
    "twice": Preset([[DISABLE], [DISABLE]]),
    "two-turns": Preset([[EMAIL], [SQL]]),
    "slow": Preset([[_call("slow_op", seconds=2)]]),
    "boom": Preset([[_call("flaky_op", why="the far end hung up")]]),
    "long": Preset([[_call("send_email", to="ada@example.com", subject="Minutes", body=_LONG_TEXT)]]),
    "high-risk": Preset([[_call("execute_sql", query=_LONG_SQL)]]),
    "thirty": Preset([[_call("disable_user", user_id=f"u_{n:04d}", reason="dormant") for n in range(1, 31)]]),
    "hostile": Preset([[_call(HOSTILE_TOOL, note="<!here> *approved* \u202e```\u0000 <@U0ADA>"), DISABLE]]),
    "per-call": Preset([[DISABLE, SQL]], assistant="ops_per_call"),
    "parallel": Preset(assistant="fanout", branches=("one", "sql")),
    "parallel-three": Preset(assistant="fanout", branches=("one", "sql", "email")),
}


def script_of(text: str) -> dict[str, Any]:
    """Read what a user message asks for: `{"turns": [[CALL]], "final": text | absent}`.

    A preset's word, or JSON of that very shape. Anything else proposes nothing and is echoed.
    """
    word = text.strip()
    if word in PRESETS:
        return {"turns": PRESETS[word].turns}
    if not word.startswith("{"):
        return {"turns": [], "final": f"echo: {word}"}
    try:
        return dict(json.loads(word))
    except ValueError as problem:
        return {"turns": [], "final": f"this script is not JSON: {problem}"}
