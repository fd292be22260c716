"""Decisions on their way to the agent server: the wire form, checked whole before a byte leaves.

One bad answer (wrong count, order, type, key or tool name) is stored by the server as the interrupt's answer and
comes first for ever, so `answer_tree` raises rather than send anything it cannot vouch for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from bot.core.digest import call_digest
from bot.core.json import JsonProblem, canonical, parse, too_deep, unsendable
from bot.core.model import Action, Decision, DecisionType, InterruptShape, PersonId, Review
from bot.core.response_schema import schema_refusal

REASON_FRAME = (
    "A human reviewer rejected this call and it was not executed. Their reason: {reason}\n"
    "Do not try it again unless the user explicitly asks for it."
)
EXPIRED = (
    "Nobody decided about this call in time, so it was not executed.\n"
    "Do not try it again unless the user explicitly asks for it."
)
PLACET = PersonId("placet", "expiry")  # who rejects what nobody decided in time


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
    if not isinstance(tree, dict):
        return "the arguments must be a JSON object: {…}"
    return "the value is nested too deeply" if too_deep(tree) else unsendable(tree)


def message_problem(message: str | None) -> str | None:
    """Why this reason or answer cannot be sent, or None."""
    return unsendable(message)


def same_arguments(left: str | None, right: str | None) -> bool:
    """Whether two source texts say the same, to the spelling of each number. What is not JSON is like nothing else."""
    if left is None or right is None:
        return left is right
    try:
        return left == right or canonical(parse(left, constants=True)) == canonical(parse(right, constants=True))
    except JsonProblem:
        return False


def answer_tree(review: Review) -> Any:
    """The value to resume this review's interrupt with.

    Batched: `{"decisions": [...]}` in request order. Per call: the bare decision.

    Raises `UnsendableAnswer` when any position is undecided, out of order, not allowed, or malformed.
    """
    if review.problem or review.shape is InterruptShape.OTHER:
        raise UnsendableAnswer(f"this interrupt cannot be answered: {review.problem or 'unknown shape'}")
    if not review.actions or [action.position for action in review.actions] != list(range(len(review.actions))):
        raise UnsendableAnswer("the positions are not complete and in order")
    answers = [_checked(review, action) for action in review.actions]
    if review.shape is InterruptShape.BATCHED:
        return {"decisions": answers}
    if len(answers) != 1:
        raise UnsendableAnswer("a per-call interrupt takes one decision")
    refusal = schema_refusal(answers[0], review.response_schema) if review.response_schema is not None else None
    if refusal:
        raise UnsendableAnswer(refusal)
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


def answer_problem(review: Review, decisions: Sequence[Decision]) -> str | None:
    """Why the server's own schema would refuse these decisions; None where it takes them, or there is none."""
    if review.shape is not InterruptShape.PER_CALL or review.response_schema is None:
        return None
    whole = review.evolve(actions=tuple(replace(review.actions[0], decision=one) for one in decisions[:1]))
    try:
        answer_tree(whole)
    except UnsendableAnswer as exc:
        return str(exc)
    return None


def _rejected(action: Action) -> Action:
    decision = Decision("expiry", action.position, DecisionType.REJECT, PLACET, 0, "", action.digest, message=EXPIRED)
    return replace(action, decision=decision)


def _checked(review: Review, action: Action) -> dict[str, Any]:
    decision = action.decision
    if decision is None or decision.position != action.position:
        raise UnsendableAnswer(f"position {action.position + 1} has no decision of its own")
    if action.problem or decision.type not in action.allowed:
        raise UnsendableAnswer(f"position {action.position + 1} does not allow {decision.type.value}")
    if (decision.type is DecisionType.EDIT) is (decision.final_args is None):
        raise UnsendableAnswer(f"position {action.position + 1}: final arguments belong to an edit, and only there")
    if decision.digest != decided_digest(review, action, decision.final_args):
        raise UnsendableAnswer(f"position {action.position + 1} is not what was decided on")
    return _wire(action, decision)


def decided_digest(review: Review, action: Action, final_args: str | None) -> str:
    """What a decision is bound to: the proposed call, or, for an edit, the same call with its final arguments."""
    if final_args is None:
        return action.digest
    return call_digest(review.place, action.position, action.tool, final_args, action.allowed)


def _wire(action: Action, decision: Decision) -> dict[str, Any]:
    if decision.type is DecisionType.EDIT:
        return {"type": "edit", "edited_action": {"name": action.tool, "args": _edited(decision)}}
    if decision.type is DecisionType.RESPOND:
        return {"type": "respond", "message": _answered(decision)}
    message = _reason(decision) if decision.type is DecisionType.REJECT else None
    return {"type": decision.type.value} if message is None else {"type": decision.type.value, "message": message}


def _edited(decision: Decision) -> Any:
    final_args = decision.final_args or ""
    problem = edit_problem(final_args)
    if problem:
        raise UnsendableAnswer(f"position {decision.position + 1}: {problem}")
    return parse(final_args)


def _reason(decision: Decision) -> str | None:
    if message_problem(decision.message):
        raise UnsendableAnswer(f"position {decision.position + 1}: {message_problem(decision.message)}")
    return said_of(decision)


def said_of(decision: Decision | None) -> str | None:
    """The reason or the answer as the agent gets to read it."""
    if decision is None or decision.type in (DecisionType.APPROVE, DecisionType.EDIT):
        return None
    framed = decision.type is DecisionType.REJECT and decision.by != PLACET
    return framed_reason(decision.message) if framed else decision.message


def _answered(decision: Decision) -> str:
    text = decision.message or ""
    if not text.strip() or message_problem(text):
        raise UnsendableAnswer(f"position {decision.position + 1}: {message_problem(text) or 'the answer is empty'}")
    return text
