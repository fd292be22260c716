"""What the first sight of a call costs: its card, what is hidden in it, and its form.

Run with `python tests/bench/bench_cards.py`. Prints milliseconds and the ratio to `json.dumps` of the same arguments, which
says more than a time on a busy machine. Nothing is judged here.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from sys import path

from blocks.cards import call_card
from blocks.models import CallView, ReviewView
from blocks.windows import review_modal
from bot.core.argument_schema import NOTHING
from bot.core.editing import fields_of
from bot.core.json import parse_kept
from bot.core.redaction import masks_of

path.insert(0, str(Path(__file__).parent.parent.parent))


SOURCES = {
    "typical call": '{"user_id": "u_4821", "reason": "chargeback dispute", "notify": false}',
    "1 MB in one string": json.dumps({"content": "x" * 1_000_000}),
    "1 MB of prose": json.dumps({"content": "Deploy the app, then check its status.\n" * 25_000}),
    "1 MB in 30,000 objects": json.dumps({"rows": [{"a": "b c d", "n": 1}] * 36_000}),
}


def milliseconds(work: Callable[[], object], times: int) -> float:
    """The least of several runs: what the machine can do when nobody disturbs it."""
    best = float("inf")
    for _ in range(times):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best * 1_000


def hidden_anew(source: str) -> object:
    """As for arguments that were never seen before."""
    parse_kept.cache_clear()
    return masks_of(source, ("password",))


def main() -> None:
    """Print one line for each kind of work on each kind of call."""
    for name, source in SOURCES.items():
        tree = json.loads(source)
        times = 200 if len(source) < 10_000 else 5
        call = CallView("s_" + "a" * 26, "run", source, ("approve", "edit", "reject"))
        dumps = milliseconds(lambda tree=tree: json.dumps(tree), times)
        works = {
            "card": lambda call=call: call_card(call),
            "review": lambda call=call: review_modal(ReviewView(call)),
            "what is hidden": lambda source=source: hidden_anew(source),
            "first sight": lambda call=call, source=source: (hidden_anew(source), call_card(call)),
            "form": lambda source=source: fields_of(source, NOTHING),
        }
        for what, work in works.items():
            took = milliseconds(work, times)
            print(f"{name:24} {what:15} {took:9.3f} ms  {took / dumps:8.1f} x json.dumps")


if __name__ == "__main__":
    main()
