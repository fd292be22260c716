"""From what was read to what is judged: one look at a thread as an `Observation` of one dispatch.

Kept apart from reading and from judging so that both stay testable by themselves.
"""

from __future__ import annotations

from collections.abc import Sequence

from bot.agent.client import Look
from bot.agent.wire import HistoryEntry, PendingInterrupt, ThreadState
from bot.core.digest import content_hash
from bot.core.judge import Observation, RunRow
from bot.core.model import DecisionType, Review
from bot.core.outcome import CallResult, call_results
from bot.store.dispatches import Claim


def find_interrupt(review: Review, state: ThreadState | None) -> tuple[PendingInterrupt | None, bool]:
    """The review's interrupt as the state lists it, and whether it still says what it said."""
    listed = [one for one in state.pending if one.id == review.interrupt_id] if state else []
    same = [one for one in listed if _hash(one) == review.content_hash]
    return next(iter([*same, *listed]), None), bool(same) and len(listed) == 1


def _hash(one: PendingInterrupt) -> str:
    """As `bot.core.interrupt` hashes it: with the response schema where there is one (per-call mode)."""
    per_call = (
        isinstance(one.value, dict) and one.value.get("type") == "tool_approval" and "action_requests" not in one.value
    )
    with_schema = per_call and one.response_schema is not None
    return content_hash([one.value, one.response_schema] if with_schema else one.value)


def results_of(review: Review, state: ThreadState | None) -> tuple[CallResult | None, ...]:
    """Each call's ToolMessage, as far as the state shows one."""
    ids = [action.tool_call_id for action in review.actions]
    if state is None:
        return (None,) * len(ids)
    return call_results(state.all_messages, ids, edited=state.edited_tool_calls)


def observe(review: Review, claim: Claim, look: Look, history: Sequence[HistoryEntry] = ()) -> Observation:
    """A full look: state, thread and runs."""
    status = look.thread.status if look.thread else None
    return _observation(review, claim, look.state, status=status, runs=look.runs, history=history)


def observe_state(review: Review, claim: Claim, state: ThreadState | None) -> Observation:
    """The one read after an accepted run ended: enough to believe a result, not to conclude anything else."""
    return _observation(review, claim, state, status=None, runs=(), history=())


def _observation(
    review: Review,
    claim: Claim,
    state: ThreadState | None,
    *,
    status: str | None,
    runs: tuple[RunRow, ...],
    history: Sequence[HistoryEntry],
) -> Observation:
    one, same = find_interrupt(review, state)
    mark = claim.dispatch_id
    seen = (state is not None and state.dispatch == mark) or any(entry.dispatch == mark for entry in history)
    return Observation(
        dispatch=mark,
        kind=review.target.kind,
        sent=tuple(action.decision.type if action.decision else DecisionType.REJECT for action in review.actions),
        results=results_of(review, state),
        listed=one is not None,
        same_digest=same,
        task_error=one.task_error if one else None,
        thread_status=status,
        runs=runs,
        sent_args=tuple(action.decision.final_args if action.decision else None for action in review.actions),
        mark_seen=seen,
        accepted=claim.state == "accepted",
        run_id=claim.run_id,
        others_pending=state is not None and any(other.id != review.interrupt_id for other in state.pending),
    )
