"""What will happen in a chaos run, from its seed: who is killed and stopped when, what agents propose, what people do.

The same seed and length give the same plan, so a failing run is named by two numbers. What the plan cannot fix is the
order in which processes get on: two runs of one plan differ in that. Pure; knows no process and no socket.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from random import Random
from typing import Any

LEASE_S = 15.0  # what `serve` gives a worker for a dispatch
QUIET_S = 3.0  # nothing is killed before everybody has met


class Blow(StrEnum):
    """What is done to a process."""

    KILL = "kill"  # SIGKILL, started again after `lasts`
    STOP = "stop"  # SIGSTOP, SIGCONT after `lasts`


@dataclass(frozen=True, slots=True)
class Stroke:
    """One blow, `at` seconds after the start. `aimed`: at the next answer that leaves for the agent server from then on."""

    at: float
    blow: Blow
    whom: tuple[str, ...]  # replica 0, replica 1, agent
    lasts: float
    aimed: bool = False


class Act(StrEnum):
    """What people do about a call once its card is there."""

    APPROVE = "approve"
    REJECT = "reject"
    EDIT = "edit"
    RESPOND = "respond"
    DOUBLE = "double"  # two people approve at once
    RACE = "race"  # one approves while another rejects
    STRANGERS = "strangers"  # only people who may not decide press, and forgers; nobody decides
    IGNORE = "ignore"  # nobody decides


@dataclass(frozen=True, slots=True)
class Call:
    """One gated call and what becomes of it; `id` is the tool call's id and stands in an argument, so on the card."""

    id: str
    tool: str
    args: dict[str, Any]
    act: Act

    @property
    def token(self) -> str:
        """What its card shows and no other does; one tool takes nothing but a number."""
        return str(self.args["seconds"]) if self.tool == "slow_op" else self.id

    @property
    def script(self) -> dict[str, Any]:
        """The call as the pretend model takes it."""
        return {"name": self.tool, "args": self.args, "id": self.id}


@dataclass(frozen=True, slots=True)
class Case:
    """One thread: turns of calls by an assistant, begun `at` seconds after the start."""

    number: int
    at: float
    assistant: str
    turns: tuple[tuple[Call, ...], ...]
    think: float  # seconds that people take to look
    replayed: bool  # each decision's delivery reaches the bot a second time
    stale: bool  # afterwards somebody else presses what the card had offered

    @property
    def calls(self) -> tuple[Call, ...]:
        """All of its calls, in order."""
        return tuple(call for turn in self.turns for call in turn)


@dataclass(frozen=True, slots=True)
class Plan:
    """A run's whole plan."""

    seed: int
    seconds: float
    strokes: tuple[Stroke, ...]
    cases: tuple[Case, ...]


REPLICAS = ("replica 0", "replica 1")
AGENT = "agent"


def make_plan(seed: int, seconds: float, *, a_second: float = 1.0) -> Plan:
    """The plan for a seed and a length, with about `a_second` new threads a second."""
    strokes = sorted(_strokes(seed, seconds), key=lambda one: one.at)
    return Plan(seed, seconds, tuple(strokes), tuple(_cases(seed, seconds, a_second)))


# -- blows


def _strokes(seed: int, seconds: float) -> list[Stroke]:
    """However short the run: two kills, one of them aimed, a replica stopped past its lease, and the agent server killed."""
    random = Random(f"{seed}:strokes")
    first = list(REPLICAS)
    random.shuffle(first)
    asleep = Stroke(QUIET_S, Blow.STOP, (first[0],), LEASE_S + 2.0)
    kills = [
        Stroke(QUIET_S + 1.0, Blow.KILL, (first[1],), 0.3, aimed=True),
        Stroke(min(QUIET_S + 12.0, 0.4 * seconds), Blow.KILL, (AGENT,), 0.5),
        Stroke(min(QUIET_S + LEASE_S + 3.0, 0.75 * seconds), Blow.KILL, (first[0],), 1.0, aimed=True),
    ]
    begin = QUIET_S + LEASE_S + 8.0
    more = [
        *_often(random, begin, seconds, every=20.0, make=_killed),
        *_often(random, begin, seconds, every=25.0, make=_stopped),
        *_often(random, begin, seconds, every=60.0, make=_agent_killed),
        *_often(random, begin, seconds, every=50.0, make=_agent_stopped),
    ]
    return [asleep, *kills, *more]


def _often(random: Random, begin: float, end: float, *, every: float, make: Any) -> list[Stroke]:
    """Strokes at irregular times that lie `every` seconds apart on average."""
    made, at = [], begin + random.uniform(0, every)
    while at < end - 2.0:
        made.append(make(random, at))
        at += every * random.uniform(0.5, 1.5)
    return made


def _killed(random: Random, at: float) -> Stroke:
    whom = random.choice([REPLICAS[:1], REPLICAS[1:], REPLICAS])
    return Stroke(at, Blow.KILL, whom, random.uniform(0.1, 3.0), aimed=random.random() < 0.7)


def _stopped(random: Random, at: float) -> Stroke:
    whom = random.choice([REPLICAS[:1], REPLICAS[1:]])
    lasts = LEASE_S + random.uniform(1, 5) if random.random() < 0.3 else random.uniform(0.2, 4.0)
    return Stroke(at, Blow.STOP, whom, lasts, aimed=random.random() < 0.5)


def _agent_killed(random: Random, at: float) -> Stroke:
    return Stroke(at, Blow.KILL, (AGENT,), random.uniform(0.1, 4.0), aimed=random.random() < 0.5)


def _agent_stopped(random: Random, at: float) -> Stroke:
    return Stroke(at, Blow.STOP, (AGENT,), random.uniform(0.3, 4.0), aimed=random.random() < 0.5)


# -- what is proposed and what is done about it

_ACTS: tuple[tuple[Act, int], ...] = (
    (Act.APPROVE, 40),
    (Act.REJECT, 14),
    (Act.EDIT, 10),
    (Act.RESPOND, 7),
    (Act.DOUBLE, 12),
    (Act.RACE, 7),
    (Act.STRANGERS, 6),
    (Act.IGNORE, 4),
)
_SHAPES: tuple[tuple[str, int], ...] = (("one", 62), ("batch", 12), ("twice", 10), ("per call", 8), ("parallel", 8))
_APPROVABLE = ("disable_user", "disable_user", "send_email", "execute_sql", "restart_host", "slow_op", "flaky_op")


def _cases(seed: int, seconds: float, a_second: float) -> list[Case]:
    random = Random(f"{seed}:cases")
    made: list[Case] = []
    at = 0.5
    while at < seconds - 2.0:
        made.append(_case(random, len(made), at))
        at += random.uniform(0.2, 1.8) / a_second
    return made


def _case(random: Random, number: int, at: float) -> Case:
    shape = _drawn(random, _SHAPES)
    assistant = {"per call": "ops_per_call", "parallel": "fanout"}.get(shape, "ops")
    sizes = {"batch": (3,), "twice": (1, 1), "per call": (2,), "parallel": (2,)}.get(shape, (1,))
    turns, letters = [], iter("abcdef")
    for size in sizes:
        # A tool that raises ends its thread: never beside another call, and never before one.
        alone = sizes == (1,)
        turns.append(tuple(_call(random, f"k{number:04d}{next(letters)}", alone=alone) for _ in range(size)))
    return Case(
        number,
        round(at, 2),
        assistant,
        tuple(turns),
        think=round(random.uniform(0.0, 1.0), 2),
        replayed=random.random() < 0.15,
        stale=random.random() < 0.15,
    )


def _call(random: Random, id_: str, *, alone: bool) -> Call:
    act = _drawn(random, _ACTS)
    match act:
        case Act.RESPOND:
            tool = random.choice(["ask_user", "ask_team"])
        case Act.EDIT:
            tool = random.choice(["disable_user", "send_email"])
        case _:
            tool = random.choice(_APPROVABLE[:-2] if not alone else _APPROVABLE)
    return Call(id_, tool, _args(random, tool, id_), act)


def _args(random: Random, tool: str, id_: str) -> dict[str, Any]:
    match tool:
        case "disable_user":
            return {"user_id": id_, "reason": "chargeback"}
        case "send_email":
            return {"to": f"{id_}@example.com", "subject": "Your order", "body": "It left today."}
        case "execute_sql":
            return {"query": f"DELETE FROM carts WHERE id = '{id_}'"}
        case "restart_host":
            return {"host": f"{id_}.internal"}
        case "slow_op":
            # The number tells the calls apart: the tool takes nothing else.
            return {"seconds": round(round(random.uniform(0.1, 1.2), 2) + int(id_[1:5]) / 1_000_000, 6)}
        case "flaky_op":
            return {"why": id_}
    return {"question": f"What about {id_}?"}


def _drawn(random: Random, weights: Sequence[tuple[Any, int]]) -> Any:
    return random.choices([one for one, _ in weights], [weight for _, weight in weights])[0]
