"""Figures as lines of a table: ours, the floor of the same run, their ratio, and the target where there is one.

A ratio says more than a time: the floor was measured in the same minute, in turn with ours, on the same busy machine.
Nothing here measures, and nothing fails on a figure.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

HEAD = "| figure | engine | ours | floor, same run | ratio | target | met |\n|---|---|---|---|---|---|---|"


@dataclass(frozen=True, slots=True)
class Line:
    """One figure. `met` is None where there is no target."""

    figure: str
    engine: str
    ours: str
    floor: str = ""
    ratio: float | None = None
    target: str = ""
    met: bool | None = None

    def __str__(self) -> str:
        ratio = "" if self.ratio is None else f"{self.ratio:.2f}"
        met = {None: "", True: "yes", False: "**no**"}[self.met]
        return f"| {self.figure} | {self.engine} | {self.ours} | {self.floor} | {ratio} | {self.target} | {met} |"


def p50(taken: Sequence[float]) -> float:
    """The median."""
    return statistics.median(taken)


def p95(taken: Sequence[float]) -> float:
    """The value that 95 in 100 do not pass."""
    ordered = sorted(taken)
    return ordered[max(0, round(len(ordered) * 0.95) - 1)]


def spread(taken: Sequence[float]) -> str:
    """Median and 95th percentile of milliseconds."""
    return f"{p50(taken):.1f} / {p95(taken):.1f} ms"


def held(figure: str, engine: str, ours: Sequence[float], floor: Sequence[float], *, of: str) -> Line:
    """A line of two spreads and the ratio of their medians; `of` says what the floor is."""
    return Line(figure, engine, spread(ours), f"{of} {spread(floor)}", p50(ours) / p50(floor))
