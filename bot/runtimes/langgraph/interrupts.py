"""Every shape of interrupt, read without guessing.

The contract (LangChain's HumanInTheLoopMiddleware) pairs `action_requests` and `review_configs` by position. What does
not fit exactly is shown and not decidable: a wrong pairing approves another call, and one bad answer poisons an
interrupt for good. This module must not know who may decide, nor how anything is stored or drawn.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bot.core.digest import content_hash
from bot.core.json import dump, too_deep
from bot.core.model import DecisionType, InterruptShape, Review
from bot.core.response_schema import admitted_types

# Neither the server nor the policy says what a per-call interrupt allows. Offered all the same, Approve on a tool that takes
# answers only broke the thread, with its siblings' approvals.
DECISIONS_UNKNOWN = "decisions_unknown"
# LangGraph's own test for a keyed answer; under any other key the whole answer would go to whatever is pending.
USABLE_ID = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class ProposedCall:
    """One action request as proposed; `problem` says why its position cannot be decided."""

    position: int
    tool: str
    args: str | None
    args_object: bool
    description: str | None
    allowed: tuple[DecisionType, ...]
    ignored: tuple[str, ...] = ()
    tool_call_id: str | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class ParsedInterrupt:
    """An interrupt ready to become a review; `problem` says why none of it can be decided."""

    interrupt_id: str
    shape: InterruptShape
    calls: tuple[ProposedCall, ...]
    content_hash: str
    raw: str
    problem: str = ""
    response_schema: str | None = None


# What a policy says of a tool whose interrupt names no allowed decisions; None: nothing, and an empty list: none.
PolicyDecisions = Callable[[str], Sequence[DecisionType] | None]


def _silent(_tool: str) -> None:
    return None


def parse_interrupt(
    interrupt_id: str, value: Any, schema: Any = None, policy: PolicyDecisions = _silent
) -> ParsedInterrupt:
    """Read one interrupt's value (a tree of `bot.core.json`)."""
    if too_deep(value) or too_deep(schema):
        parsed = _other(interrupt_id, value, problem="nested_too_deeply")
    elif isinstance(value, dict) and "action_requests" in value:
        parsed = _batched(interrupt_id, value)
    elif isinstance(value, dict) and value.get("type") == "tool_approval":
        parsed = _per_call(interrupt_id, value, schema, policy)
    else:
        parsed = _other(interrupt_id, value)
    return _whole(parsed)


def parse_pending(
    found: Sequence[tuple[str, Any, Any]], policy: PolicyDecisions = _silent, *, shared: Collection[str] = ()
) -> tuple[ParsedInterrupt, ...]:
    """Read all pending interrupts of a thread, given as (id, value, response schema).

    The same id and value twice is one interrupt, unless its id is `shared` by several tasks. That, and two values under
    one id (older LangGraph hashed the namespace alone), cannot be told apart by a keyed answer: all of them are shown
    and none is decidable.
    """
    parsed: dict[tuple[str, str], ParsedInterrupt] = {}
    for interrupt_id, value, schema in found:
        one = parse_interrupt(interrupt_id, value, schema, policy)
        parsed.setdefault((interrupt_id, one.content_hash), one)
    ids = [interrupt_id for interrupt_id, _ in parsed]
    return tuple(
        _closed(one, "shared_id") if ids.count(interrupt_id) > 1 or interrupt_id in shared else one
        for (interrupt_id, _), one in parsed.items()
    )


def _whole(parsed: ParsedInterrupt) -> ParsedInterrupt:
    """Apply the rule that an interrupt is answered whole or not at all."""
    if not parsed.problem and any(call.problem for call in parsed.calls):
        return replace(parsed, problem="undecidable_position")
    if not parsed.problem and not USABLE_ID.fullmatch(parsed.interrupt_id):
        return _closed(parsed, "unusable_id")
    return parsed


def is_silent(review: Review) -> bool:
    """Whether its server says nothing of what its call allows nor of its arguments: the policy alone does."""
    return review.shape is InterruptShape.PER_CALL and review.response_schema is None


def _closed(parsed: ParsedInterrupt, problem: str) -> ParsedInterrupt:
    return replace(parsed, problem=problem)


def _batched(interrupt_id: str, value: dict[str, Any]) -> ParsedInterrupt:
    requests, configs = value.get("action_requests"), value.get("review_configs")
    if not isinstance(requests, list) or not requests:
        return _other(interrupt_id, value, problem="no_action_requests")
    paired = isinstance(configs, list) and len(configs) == len(requests)
    calls = tuple(
        _batched_call(position, request, configs[position] if paired and configs else None)
        for position, request in enumerate(requests)
    )
    problem = "" if paired else "configs_do_not_pair"
    return ParsedInterrupt(interrupt_id, InterruptShape.BATCHED, calls, content_hash(value), dump(value), problem)


def _batched_call(position: int, request: Any, config: Any) -> ProposedCall:
    call = _call(position, request)
    if call.problem:
        return call
    if not isinstance(config, dict) or config.get("action_name") != call.tool:
        return replace(call, problem="config_names_another_tool" if isinstance(config, dict) else "no_config")
    listed = config.get("allowed_decisions")
    if not isinstance(listed, list):
        return replace(call, problem="no_allowed_decisions")
    return _allow(call, listed)


def _call(position: int, request: Any) -> ProposedCall:
    """Tool, arguments and description; nothing allowed yet."""
    if not isinstance(request, dict):
        return ProposedCall(position, "", dump(request), False, None, (), problem="not_a_call")
    tool, has_args = request.get("name"), "args" in request
    args, described = request.get("args"), request.get("description")
    text = dump(args) if has_args else None
    named = isinstance(tool, str) and bool(tool)
    return ProposedCall(
        position,
        tool if isinstance(tool, str) else "",
        text,
        isinstance(args, dict),
        described if isinstance(described, str) and described else None,
        (),
        problem="" if named else "no_tool_name",
    )


def _allow(call: ProposedCall, listed: Sequence[Any]) -> ProposedCall:
    """Keep the decisions we know, in their fixed order; without object arguments nothing may run."""
    known = tuple(kind for kind in DecisionType if kind.value in listed)
    strange = (item for item in listed if not isinstance(item, str) or item not in set(DecisionType))
    ignored = tuple(dict.fromkeys(item if isinstance(item, str) else dump(item) for item in strange))
    if not call.args_object:
        known = tuple(kind for kind in known if kind not in (DecisionType.APPROVE, DecisionType.EDIT))
    problem = "" if known else "no_usable_decision" if call.args_object else "arguments_not_an_object"
    return replace(call, allowed=known, ignored=ignored, problem=problem)


def _per_call(interrupt_id: str, value: dict[str, Any], schema: Any, policy: PolicyDecisions) -> ParsedInterrupt:
    call = _call(0, value)
    call_id = value.get("tool_call_id")
    if not call.problem:
        offered = admitted_types(schema) if schema is not None else policy(call.tool)
        call = replace(call, problem=DECISIONS_UNKNOWN) if offered is None else _allow(call, offered)
    call = replace(call, tool_call_id=call_id if isinstance(call_id, str) else None)
    kept = dump(schema) if isinstance(schema, dict) else None
    hashed = content_hash([value, schema] if schema is not None else value)
    return ParsedInterrupt(interrupt_id, InterruptShape.PER_CALL, (call,), hashed, dump(value), response_schema=kept)


def _other(interrupt_id: str, value: Any, *, problem: str = "not_a_tool_call") -> ParsedInterrupt:
    """Any other value: one read-only position that shows it."""
    call = ProposedCall(0, "", dump(value), False, None, (), problem=problem)
    return ParsedInterrupt(interrupt_id, InterruptShape.OTHER, (call,), content_hash(value), dump(value), problem)
