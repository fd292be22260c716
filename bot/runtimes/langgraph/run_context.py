"""What a run was started with beside its input, read from its row and sent along with the answer that resumes it.

Neither server gives a resumed run the context, the configurable values, the tags or the limits of the run that paused:
an approved tool would act for another account than the one that the card was about. A run's row tells them, and every
answer carries them again. They may hold credentials, so they are never stored or logged: the store keeps a salted hash
that tells whether they are still the same, and the names that a policy asks for.

Only the client's own keys are carried. The servers put ids, the caller and their own settings into `configurable`
themselves; LangGraph's development server copies a context into `configurable` and the other way round.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

from bot.core.digest import salted
from bot.core.json import Number, canonical, dump, too_deep
from bot.runtimes.langgraph.verdict import ACTIVE
from bot.runtimes.langgraph.wire import UnreadableBody, inner, mapping, milliseconds, text

# Names that a server sets for each run, in any place. In `context` a `user_id` is the client's own: no server sets it there.
_IDS = frozenset(
    {"run_id", "thread_id", "graph_id", "assistant_id", "checkpoint_id", "checkpoint_ns", "checkpoint_map", "thread_ts"}
)
_CONFIGURABLE_IDS = _IDS | {"user_id"}
_SERVERS = ("langgraph_", "__")
# LangGraph notes with it that `configurable` is a copy of the context.
_CONTEXT_PROVIDED = "__context_provided__"


class RunContextLoss(StrEnum):
    """Why a run's surroundings cannot be sent along; the codes that a review's `problem` holds."""

    GONE = "surroundings_gone"  # the run is not listed, or its row does not tell
    DIFFER = "surroundings_differ"  # several runs may have asked, and were started differently
    UNSENDABLE = "surroundings_unsendable"  # the server or the route takes them in no form


class RunContextLost(Exception):
    """They cannot be had or cannot be sent, so no answer may leave."""

    def __init__(self, loss: RunContextLoss) -> None:
        super().__init__(loss.value)
        self.loss = loss


class CarriedContext(NamedTuple):
    """What goes into a body: at its top, and into its `config`."""

    top: Mapping[str, Any]
    config: Mapping[str, Any]


NOTHING = CarriedContext({}, {})


@dataclass(frozen=True, slots=True)
class RunContext:
    """One run's, the client's own keys only; values as written, and never printed."""

    context: Mapping[str, Any] = field(default_factory=dict, repr=False)
    configurable: Mapping[str, Any] = field(default_factory=dict, repr=False)
    tags: tuple[Any, ...] = field(default=(), repr=False)
    recursion_limit: Number | None = field(default=None, repr=False)
    stops: Mapping[str, Any] = field(default_factory=dict, repr=False)  # interrupt_before, interrupt_after
    is_context: bool = field(
        default=False, repr=False, compare=False
    )  # the client sent a context, `configurable` is its copy

    def __bool__(self) -> bool:
        return bool(self.context or self.configurable or self.tags or self.recursion_limit or self.stops)

    def seal(self, salt: bytes) -> str:
        """A hash by which they are recognised and nothing of them can be guessed; only the review knows the salt."""
        held = [self.context, self.configurable, self.tags, self.recursion_limit, self.stops]
        return salted(salt, canonical(held))

    def named(self, names: Sequence[str]) -> tuple[tuple[str, str | None], ...]:
        """The values under these names as JSON texts, of the context before those of `configurable`; None where there is none."""
        found: list[tuple[str, str | None]] = []
        for name in names:
            held = [place[name] for place in (self.context, self.configurable) if name in place]
            texts = list(dict.fromkeys(dump(value) for value in held))
            found += [(name, one) for one in texts] or [(name, None)]
        return tuple(found)

    def carried(self, kind: str, route: str) -> CarriedContext:
        """How an answer to a server of this kind takes them along. Raises `RunContextLost` where it cannot."""
        top: dict[str, Any] = {}
        context, configurable = dict(self.context), dict(self.configurable)
        if kind == "langgraph" and route == "commands":
            # Commands take `config` alone, and copy `configurable` into the context without a `user_id`.
            differ = any(configurable.get(key, value) != value for key, value in context.items())
            if differ or self.stops or "user_id" in context:
                raise RunContextLost(RunContextLoss.UNSENDABLE)
            context, configurable = {}, context | configurable
        elif kind == "langgraph":
            context, configurable = self._for_langgraph()
            top |= self.stops
        if context:
            top["context"] = context
        config: dict[str, Any] = {}
        if configurable:
            config["configurable"] = configurable
        if self.tags:
            config["tags"] = list(self.tags)
        if self.recursion_limit is not None:
            config["recursion_limit"] = self.recursion_limit
        return CarriedContext(top, config)

    def _for_langgraph(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Context or configurable, as the client sent it: this server takes one and copies it into the other.

        Where the row does not tell which it was, `configurable` gives the tool the same twice, and a context might not:
        from the copy of a context in `configurable` the server takes away what the graph's context schema does not name.
        """
        context, configurable = dict(self.context), dict(self.configurable)
        copied = all(key in configurable and configurable[key] == value for key, value in context.items())
        if copied and not self.is_context and "user_id" not in context:
            return {}, configurable
        if all(key in context and context[key] == value for key, value in configurable.items()):
            return context, {}
        if self.is_context:
            raise RunContextLost(RunContextLoss.UNSENDABLE)
        return (
            context,
            configurable,
        )  # the JavaScript server copies nothing and takes both; Python's refuses, and runs nothing


def read_surroundings(row: Mapping[str, Any]) -> RunContext:
    """What a listed run was started with. Raises `RunContextLost` where the row has another shape than both servers'.

    LangGraph's rows hold it in `kwargs`. Aegra's hold it at the top, without the nodes to stop at.
    """
    held = inner(dict(row), "kwargs") if "kwargs" in row else row
    if not ("config" in held or "context" in held):
        raise RunContextLost(RunContextLoss.GONE)
    config = _object(held.get("config"))
    sent = _object(config.get("configurable"))
    tags, limit = config.get("tags"), config.get("recursion_limit")
    if not isinstance(tags, list | None) or not isinstance(limit, Number | None) or too_deep(dict(held)):
        raise RunContextLost(RunContextLoss.GONE)
    return RunContext(
        _own(_object(held.get("context")), _IDS),
        _own(sent, _CONFIGURABLE_IDS),
        tuple(tags or ()),
        limit,
        {name: held[name] for name in ("interrupt_before", "interrupt_after") if held.get(name)},
        is_context=sent.get(_CONTEXT_PROVIDED) is True,
    )


class StartedRun(NamedTuple):
    """The run that asked, and what it was started with."""

    run_id: str
    surroundings: RunContext


def started_of(rows: Sequence[Any], run_id: str | None) -> StartedRun:
    """The run that asked what a thread waits for, from the thread's listed runs.

    `run_id` is the run that wrote the newest checkpoint, as its metadata says; None where it does not say. A later one may have asked
    as well (it answered the first of two questions of one node, or of a sub-agent), and no checkpoint would tell. So all
    of them that are over must have been started alike. Raises `RunContextLost`.
    """
    try:
        runs = [mapping(row) for row in rows]
    except UnreadableBody as exc:
        raise RunContextLost(RunContextLoss.GONE) from exc
    first = next((run for run in runs if run_id in (None, run.get("run_id"))), None)
    named = first and text(first.get("run_id"))
    if not first or not named:
        raise RunContextLost(RunContextLoss.GONE)
    since = (milliseconds(first.get("created_at")) or 0) if run_id is not None else 0
    over = [run for run in runs if run is not first and run.get("status") not in ACTIVE]
    found = read_surroundings(first)
    for run in over:
        if (milliseconds(run.get("created_at")) or since) >= since and read_surroundings(run) != found:
            raise RunContextLost(RunContextLoss.DIFFER)
    return StartedRun(named, found)


def _object(value: Any) -> dict[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise RunContextLost(RunContextLoss.GONE)
    return value


def _own(held: Mapping[str, Any], ids: frozenset[str]) -> dict[str, Any]:
    return {key: value for key, value in held.items() if key not in ids and not key.startswith(_SERVERS)}
