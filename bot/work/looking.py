"""From what was read to what is judged: one look at a thread as an `Observation` of one dispatch.

Kept apart from reading and from judging so that both stay testable by themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from bot.agent.client import Look
from bot.agent.wire import HistoryEntry, PendingInterrupt, ThreadState
from bot.core.digest import content_hash
from bot.core.judge import Observation
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
    base = observe_state(review, claim, look.state)
    mark_seen = base.mark_seen or any(entry.dispatch == claim.dispatch_id for entry in history)
    status = look.thread.status if look.thread else None
    return replace(base, thread_status=status, runs=look.runs, mark_seen=mark_seen)


def observe_state(review: Review, claim: Claim, state: ThreadState | None) -> Observation:
    """The one read after an accepted run ended: enough to believe a result, not to conclude anything else."""
    one, same = find_interrupt(review, state)
    decided = [action.decision for action in review.actions]
    return Observation(
        dispatch=claim.dispatch_id,
        kind=review.target.kind,
        sent=tuple(decision.type if decision else DecisionType.REJECT for decision in decided),
        results=results_of(review, state),
        listed=one is not None,
        same_digest=same,
        task_error=one.task_error if one else None,
        thread_status=None,
        runs=(),
        sent_args=tuple(decision.final_args if decision else None for decision in decided),
        mark_seen=state is not None and state.dispatch == claim.dispatch_id,
        accepted=claim.state == "accepted",
        run_id=claim.run_id,
        others_pending=state is not None and any(other.id != review.interrupt_id for other in state.pending),
    )
