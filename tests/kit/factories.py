"""Domain objects with defaults, so that a test names only what it is about.

Actions are made without a digest of their own; `make_review` gives each the digest that belongs to its place, as thread
sync does.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from bot.core.decide import Authority, Click, Intent, Permission, Refusal, review_digest
from bot.core.decision import decided_digest
from bot.core.digest import CallAddress, call_digest
from bot.core.json import dump, parse
from bot.core.model import (
    Action,
    Decision,
    DecisionType,
    InterruptShape,
    Offer,
    PersonId,
    Review,
    ReviewState,
    Showing,
    ShowingKind,
    Target,
)
from bot.runtimes.langgraph.interrupts import ParsedInterrupt, parse_interrupt
from bot.runtimes.langgraph.run_context import RunContext, StartedRun

APPROVE, EDIT, REJECT, RESPOND = DecisionType
ALL = (APPROVE, EDIT, REJECT, RESPOND)
INTERRUPT = "0f1e2d3c4b5a69788796a5b4c3d2e1f0"
OTHER_INTERRUPT = "13579bdf02468ace13579bdf02468ace"
TARGET = Target("http://127.0.0.1:2026", "aegra", "approvals", "agent_platform")
ADA, BEN, CLEO = (PersonId("T0ACME", user) for user in ("U0ADA", "U0BEN", "U0CLEO"))
OPENED = 1_700_000_000_000
DAY = 86_400_000


def tree(value: Any) -> Any:
    """Plain Python data as the lossless tree that a server's body becomes."""
    return parse(json.dumps(value), constants=True)


def make_request(name: Any = "disable_user", args: Any = None, **more: Any) -> dict[str, Any]:
    """One action request as the middleware writes it."""
    given = {"user_id": "u_4821"} if args is None else args
    return {"name": name, "args": given, "description": "Tool execution requires approval", **more}


def make_config(name: str = "disable_user", allowed: Iterable[Any] = ALL) -> dict[str, Any]:
    """One review config as the middleware writes it."""
    return {"action_name": name, "allowed_decisions": [*allowed]}


def make_batch(requests: Any, configs: Any = None) -> dict[str, Any]:
    """A batched interrupt's value; without configs each request gets one that allows everything."""
    given = [make_config(request["name"]) for request in requests] if configs is None else configs
    return {"action_requests": requests, "review_configs": given}


def make_approval(name: Any = "disable_user", args: Any = None, **more: Any) -> dict[str, Any]:
    """A per-call interrupt's value."""
    return {"type": "tool_approval", "tool_call_id": "call_1", **make_request(name, args), **more}


def make_interrupt(actions: int = 1, *, value: Any = None, interrupt_id: str = INTERRUPT) -> ParsedInterrupt:
    """A parsed interrupt: so many calls, all allowed, or any other value."""
    given = make_batch([make_request(args={"n": n}) for n in range(actions)]) if value is None else value
    return parse_interrupt(interrupt_id, tree(given))


def make_action(position: int = 0, **changes: Any) -> Action:
    """One proposed call; `args` may be plain data or source text."""
    args = changes.pop("args", {"user_id": f"u_{position}"})
    source = args if isinstance(args, str) or args is None else dump(tree(args))
    made: dict[str, Any] = {
        "position": position,
        "tool": "disable_user",
        "args": source,
        "args_object": source is not None and source.startswith("{"),
        "description": None,
        "allowed": ALL,
        "digest": "",
    }
    return Action(**(made | changes))


def make_review(*actions: Action, **changes: Any) -> Review:
    """A delivered review, open for another day."""
    made: dict[str, Any] = {
        "id": "r_one",
        "tenant": "acme",
        "target": TARGET,
        "thread_id": "thread-1",
        "interrupt_id": INTERRUPT,
        "content_hash": "c" * 64,
        "shape": InterruptShape.BATCHED,
        "state": ReviewState.OPEN,
        "why": "",
        "salt": bytes(range(16)),
        "requester": "U0CLEO",
        "opened_at": OPENED,
        "delivered_at": OPENED,
        "decide_by": OPENED + DAY,
        "settled_at": None,
        "response_schema": None,
        "problem": "",
        "version": 0,
        "actions": actions or (make_action(),),
    }
    return with_digests(Review(**(made | changes)))


def with_digests(review: Review) -> Review:
    """Every action bound to the review's own place."""
    return review.evolve(actions=tuple(_bound(review.place, action) for action in review.actions))


def _bound(place: CallAddress, action: Action) -> Action:
    digest = call_digest(place, action.position, action.tool, action.args, action.allowed)
    return action.evolve(digest=digest)


def review_of(parsed: ParsedInterrupt, **changes: Any) -> Review:
    """The review that thread sync would open for a parsed interrupt."""
    actions = tuple(
        make_action(
            call.position,
            tool=call.tool,
            args=call.args,
            args_object=call.args_object,
            description=call.description,
            allowed=call.allowed,
            problem=call.problem,
            tool_call_id=call.tool_call_id,
        )
        for call in parsed.calls
    )
    made: dict[str, Any] = {
        "interrupt_id": parsed.interrupt_id,
        "content_hash": parsed.content_hash,
        "shape": parsed.shape,
        "response_schema": parsed.response_schema,
        "problem": parsed.problem,
    }
    return make_review(*actions, **(made | changes))


def make_offer(action: Action, **changes: Any) -> Offer:
    """Everything that the call allows, shown in full."""
    made: dict[str, Any] = {"position": action.position, "offered": action.allowed, "complete": True}
    return Offer(**(made | changes))


def make_showing(review: Review, position: int | None = 0, **changes: Any) -> Showing:
    """A card of one call, or with `position=None` a view of the whole review, as they stand now."""
    shown = review.actions if position is None else review.actions[position : position + 1]
    made: dict[str, Any] = {
        "id": "s_one",
        "review_id": review.id,
        "position": position,
        "kind": ShowingKind.CARD if position is not None else ShowingKind.MODAL,
        "digest": review_digest(review) if position is None else review.actions[position].digest,
        "offers": tuple(make_offer(action) for action in shown),
        "at": review.opened_at,
    }
    return Showing(**(made | changes))


def make_intent(kind: DecisionType = APPROVE, position: int = 0, **changes: Any) -> Intent:
    """What a person asks; an answer has words and an edit new arguments unless given."""
    made: dict[str, Any] = {}
    if kind is EDIT:
        made["final_args"] = '{"user_id":"u_other"}'
    if kind is RESPOND:
        made["message"] = "Use the second account."
    return Intent(position, kind, **(made | changes))


def make_press(review: Review, *intents: Intent, **changes: Any) -> Click:
    """A press on what stands there now: on a card for one intent, on a view of all calls for several."""
    asked = intents or (make_intent(),)
    place = asked[0].position if len(asked) == 1 else None
    if "showing" not in changes:
        changes["showing"] = make_showing(review, place)
    made: dict[str, Any] = {"who": ADA, "intents": asked, "now": review.opened_at + 1_000}
    return Click(**(made | changes))


def make_decision(review: Review, kind: DecisionType = APPROVE, position: int = 0, **changes: Any) -> Decision:
    """A recorded decision, bound to what the review holds at that position."""
    intent = make_intent(kind, position)
    final_args = changes.get("final_args", intent.final_args)
    made: dict[str, Any] = {
        "id": f"d_{position}",
        "position": position,
        "type": kind,
        "by": ADA,
        "at": review.opened_at + 1_000,
        "showing_id": "s_one",
        "digest": decided_digest(review, review.actions[position], final_args),
        "final_args": final_args,
        "message": intent.message,
    }
    return Decision(**(made | changes))


def decide_all(review: Review, kinds: Sequence[DecisionType]) -> Review:
    """The review with one decision for each position."""
    return record(review, [make_decision(review, kind, position) for position, kind in enumerate(kinds)])


def record(review: Review, decisions: Iterable[Decision]) -> Review:
    """What the store does with accepted decisions: put each at its position, and call a full review decided."""
    by_position = {decision.position: decision for decision in decisions}
    actions = tuple(
        action.evolve(decision=by_position.get(action.position, action.decision)) for action in review.actions
    )
    done = all(action.decision is not None for action in actions)
    return review.evolve(actions=actions, state=ReviewState.DECIDED if done else review.state)


def anybody(_action: Action, _kind: DecisionType, _final_args: str | None) -> Permission:
    """An authority that permits everything."""
    return Permission(allowed=True, rule="reviewers[0] user U0ADA allows everything", policy_version=7)


def nobody(refusal: Refusal | None = None) -> Authority:
    """An authority that refuses everything."""

    def ask(_action: Action, _kind: DecisionType, _final_args: str | None) -> Permission:
        return Permission(allowed=False, refusal=refusal)

    return ask


async def started_bare():
    """What a reading asks for: the run that asked was started with nothing but its input."""
    return StartedRun("run-1", RunContext())
