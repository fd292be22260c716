"""Decisions on their way to the agent server: the wire form, checked whole before a byte leaves.

One bad answer (wrong count, order, type, key or tool name) is stored by the server as the interrupt's answer and
comes first for ever, so `answer_tree` raises rather than send anything it cannot vouch for.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from jsonschema import exceptions as schema_errors
from jsonschema.validators import validator_for
from referencing import Registry
from referencing.exceptions import Unresolvable

from bot.core.lossless import JsonProblem, Number, canonical, parse, unsendable
from bot.core.model import Action, Decision, DecisionType, Review, Shape

REASON_FRAME = (
    "A human reviewer rejected this call and it was not executed. Their reason: {reason}\n"
    "Do not try it again unless the user explicitly asks for it."
)


class UnsendableAnswer(Exception):
    """The decisions do not make an answer that the agent server may be given."""


def framed_reason(reason: str | None) -> str | None:
    """What the agent reads as the tool's result, or None when nothing was typed.

    A bare "no" has made models report the call as done, so a typed reason says that nothing ran.
    """
    typed = (reason or "").strip()
    return REASON_FRAME.format(reason=typed) if typed else None


def edit_problem(final_args: str) -> str | None:
    """Why these arguments cannot be sent, or None."""
    try:
        tree = parse(final_args)
    except JsonProblem as exc:
        return exc.fault
    return unsendable(tree) if isinstance(tree, dict) else "the arguments must be a JSON object: {…}"


def same_arguments(left: str | None, right: str | None) -> bool:
    """Whether two source texts say the same, to the spelling of each number."""
    if left is None or right is None:
        return left is right
    return left == right or canonical(parse(left, constants=True)) == canonical(parse(right, constants=True))


def answer_tree(review: Review) -> Any:
    """The value to resume this review's interrupt with.

    Batched: `{"decisions": [...]}` in request order. Per call: the bare decision.

    Raises `UnsendableAnswer` when any position is undecided, out of order, not allowed, or malformed.
    """
    if review.problem or review.shape is Shape.OTHER:
        raise UnsendableAnswer(f"this interrupt cannot be answered: {review.problem or 'unknown shape'}")
    if [action.position for action in review.actions] != list(range(len(review.actions))):
        raise UnsendableAnswer("the positions are not complete and in order")
    answers = [_checked(action) for action in review.actions]
    if review.shape is Shape.BATCHED:
        return {"decisions": answers}
    if len(answers) != 1:
        raise UnsendableAnswer("a per-call interrupt takes one decision")
    _against_schema(answers[0], review.response_schema)
    return answers[0]


def rejections(review: Review) -> Review:
    """The same review with every position rejected by Placet, for one that expired.

    Raises `UnsendableAnswer` if a position does not allow it; such a review is held instead.
    """
    if any(DecisionType.REJECT not in action.allowed for action in review.actions):
        raise UnsendableAnswer("a position cannot be rejected")
    return review.evolve(
        actions=tuple(_rejected(action) for action in review.actions),
    )


def _rejected(action: Action) -> Action:
    from bot.core.model import Who

    by = Who("placet", "expiry")
    decision = Decision(
        "expiry", action.position, DecisionType.REJECT, by, 0, "", action.digest, message="Nobody decided in time."
    )
    return replace(action, decision=decision)


def _checked(action: Action) -> dict[str, Any]:
    decision = action.decision
    if decision is None or decision.position != action.position:
        raise UnsendableAnswer(f"position {action.position + 1} has no decision of its own")
    if decision.type not in action.allowed:
        raise UnsendableAnswer(f"position {action.position + 1} does not allow {decision.type.value}")
    match decision.type:
        case DecisionType.APPROVE:
            return {"type": "approve"}
        case DecisionType.EDIT:
            return {"type": "edit", "edited_action": {"name": action.tool, "args": _edited(decision)}}
        case DecisionType.REJECT:
            message = framed_reason(decision.message)
            return {"type": "reject"} if message is None else {"type": "reject", "message": message}
        case DecisionType.RESPOND:
            return {"type": "respond", "message": _answered(decision)}


def _edited(decision: Decision) -> Any:
    problem = "no final arguments" if decision.final_args is None else edit_problem(decision.final_args)
    if problem or decision.final_args is None:
        raise UnsendableAnswer(f"position {decision.position + 1}: {problem}")
    return parse(decision.final_args)


def _answered(decision: Decision) -> str:
    text = decision.message or ""
    if not text.strip():
        raise UnsendableAnswer(f"position {decision.position + 1} has an empty answer")
    return text


def _against_schema(answer: dict[str, Any], schema: str | None) -> None:
    if schema is None:
        return
    tree = _plain(parse(schema, constants=True))
    # Without a registry of its own jsonschema may fetch remote references.
    validator = validator_for(tree)(tree, registry=Registry())
    try:
        validator.validate(_plain(answer))
    except (schema_errors.ValidationError, schema_errors.SchemaError) as exc:
        raise UnsendableAnswer(f"the agent server's schema refuses this answer at {exc.json_path}") from exc
    except Unresolvable as exc:
        raise UnsendableAnswer("the agent server's schema refers to something that is not in it") from exc


def _plain(tree: Any) -> Any:
    match tree:
        case Number(text=text):
            return json.loads(text)
        case dict():
            return {key: _plain(value) for key, value in tree.items()}
        case list():
            return [_plain(value) for value in tree]
    return tree
