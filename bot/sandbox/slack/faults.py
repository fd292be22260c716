"""Faults that a test orders in advance: the next calls of a method fail, hang, or lose their connection.

Besides the Web API's methods there are pseudo-methods for what goes the other way: `deliver`, and `deliver.` with the kind
of delivery (`deliver.block_actions`, `deliver.view_submission`, `deliver.event` and so on). `*` is any method.
"""

from dataclasses import asdict, dataclass, replace
from typing import Literal, cast

from bot.sandbox.slack.records import Json

DROPS = ("before", "after")


class BadFault(ValueError):
    """A fault that could never do anything, or whose fields are of the wrong kind."""


@dataclass(frozen=True, slots=True)
class Fault:
    """`times` counts down and None never ends; `drop` says whether the connection goes before or after the effect.

    `omit` names a key that an answer which goes well lacks all the same; `messages` go with an `error`.
    """

    method: str
    error: str | None = None
    status: int | None = None
    delay_s: float = 0.0
    drop: Literal["before", "after"] | None = None
    dup: bool = False
    retry_after: int | None = None
    omit: str | None = None
    messages: tuple[str, ...] = ()
    times: int | None = 1


def parse_fault(body: Json) -> Fault:
    """Read a fault as the control endpoint takes it; `drop: true` means before the effect."""
    unknown = set(body) - set(Fault.__dataclass_fields__)
    if unknown:
        raise BadFault(f"unknown keys {sorted(unknown)}; a fault has {sorted(Fault.__dataclass_fields__)}")
    if not isinstance(body.get("method"), str):
        raise BadFault("a fault names a method")
    drop = "before" if body.get("drop") is True else body.get("drop")
    if drop not in (*DROPS, None, False):
        raise BadFault(f"drop is one of {list(DROPS)}")
    _check_numbers(body)
    told = tuple(map(str, body.get("messages") or ()))
    return Fault(**{**body, "drop": cast("Literal['before', 'after'] | None", drop or None), "messages": told})


def _check_numbers(body: Json) -> None:
    times, status, delay = body.get("times", 1), body.get("status"), body.get("delay_s", 0)
    if times is not None and (not isinstance(times, int) or times < 1):
        raise BadFault("times is a positive number, or null for ever")
    if status is not None and (not isinstance(status, int) or not 400 <= status < 600):
        raise BadFault("status is an HTTP status from 400 to 599")
    if not isinstance(delay, int | float) or delay < 0:
        raise BadFault("delay_s is a number of seconds")
    if not any(body.get(key) for key in ("error", "status", "delay_s", "drop", "dup", "omit")):
        raise BadFault("a fault does something: error, status, delay_s, drop, dup or omit")


class FaultBook:
    """The faults still to come, in the order in which they were ordered."""

    def __init__(self) -> None:
        self._faults: list[Fault] = []

    def add(self, fault: Fault) -> None:
        self._faults.append(fault)

    def clear(self) -> None:
        self._faults.clear()

    def listed(self) -> list[Json]:
        return [asdict(fault) for fault in self._faults]

    def take(self, *names: str) -> Fault | None:
        """Use up one turn of the first fault for any of these names."""
        for index, fault in enumerate(self._faults):
            if fault.method in names:
                self._spend(index, fault)
                return fault
        return None

    def _spend(self, index: int, fault: Fault) -> None:
        if fault.times is None:
            return
        if fault.times == 1:
            del self._faults[index]
        else:
            self._faults[index] = replace(fault, times=fault.times - 1)
