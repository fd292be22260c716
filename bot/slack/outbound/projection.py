"""From stored rows to what people see: pure functions into the view-models of `blocks`.

A card is a projection of the store and nothing else. The result for one call depends on the review, the policy in force,
and, in private views, on the person who looks. This module must not call Slack nor read a clock.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from urllib.parse import quote

from blocks import reasons, words
from blocks.models import BatchView, CallState, CallView, Decided, Mask, RootView, TypedDraft
from bot.access.person import TenantPerson, call_of
from bot.core.decide import LAST_MINUTE_MS
from bot.core.digest import shown
from bot.core.json import parse_kept
from bot.core.model import Action, Decision, DecisionType, Outcome, PersonId, Review, ReviewState
from bot.core.quorum import RUNS_THE_TOOL
from bot.core.redaction import HIDDEN, masks_of
from bot.core.states import operations
from bot.core.take_back import authors, is_changeable, is_stoppable
from bot.policy.explain import decisions_line
from bot.policy.matching import tool_settings
from bot.policy.model import DECISIONS, REVEAL, TenantPolicy
from bot.policy.rules import judge_right, offered_on_call, who_could
from bot.runtimes.langgraph.interrupts import DECISIONS_UNKNOWN, is_silent
from bot.runtimes.langgraph.outcomes import own_words
from bot.slack.outbound.masks import CallMasks, hidden_changes, hiding_of
from bot.slack.windows.edit_form import fields_for

UNDER_WAY = {
    ReviewState.DECIDED: CallState.DECIDED,
    ReviewState.CLAIMED: CallState.DECIDED,
    ReviewState.ARMED: CallState.SENDING,
    ReviewState.SENT: CallState.SENT,
    ReviewState.UNKNOWN: CallState.UNKNOWN,
    ReviewState.SUPERSEDED: CallState.SUPERSEDED,
    ReviewState.BROKEN: CallState.BROKEN,
    ReviewState.EXPIRED: CallState.EXPIRED,
    ReviewState.HELD: CallState.HELD,
}
OUTCOMES = {
    Outcome.EXECUTED: CallState.EXECUTED,
    Outcome.FAILED: CallState.FAILED,
    Outcome.REJECTED: CallState.REJECTED,
    Outcome.ANSWERED: CallState.ANSWERED,
    Outcome.TAKEN: CallState.TAKEN,
    Outcome.SUPERSEDED: CallState.SUPERSEDED,
    Outcome.EXPIRED: CallState.EXPIRED,
    Outcome.UNKNOWN: CallState.UNKNOWN,
}
# Why a review is open again that speak of one decision: they belong to the calls that it was about.
OF_A_DECISION = frozenset({"taken_back", "stopped", "voided_authority", "voided_policy", "voided_unsendable"})
THREAD_ID = "{thread_id}"
EXPIRY = "expiry"  # the user of a decision that Placet made


@dataclass(frozen=True, slots=True)
class DrawingContext:
    """What a view is drawn against: the policy in force and the database's time; `viewer` for private views."""

    tenant: TenantPolicy
    now: int
    viewer: TenantPerson | None = None
    paused: bool = False

    @property
    def viewed_by(self) -> PersonId | None:
        """Whose private view it is."""
        return self.viewer.who if self.viewer else None


def call_state(review: Review, action: Action) -> CallState:
    """Where one call stands, as far as people need to tell states apart."""
    if review.state is ReviewState.SUPERSEDED:
        return CallState.SUPERSEDED  # whatever came of it is not by what stands here
    if action.outcome is not None:
        return OUTCOMES[action.outcome]
    if review.state is ReviewState.RESUMED:
        return CallState.TAKEN
    if review.state is not ReviewState.OPEN:
        return UNDER_WAY[review.state]
    if review.problem or action.problem:
        return CallState.READ_ONLY
    return CallState.WAITING if action.decision is None else CallState.DECIDED


def offered(review: Review, action: Action, drawing: DrawingContext) -> tuple[DecisionType, ...]:
    """The decisions to show for this call: what it allows, and what somebody (or the viewer) may do."""
    stoppable = is_stoppable(review, action)
    if call_state(review, action) is not CallState.WAITING and not stoppable:
        return ()
    call = call_of(review, action, action.proposal.final_args if action.proposal else None, review.requester_now)
    viewer = drawing.viewer
    if viewer is None:
        words_ = offered_on_call(drawing.tenant, call)
    else:
        kinds = (kind.value for kind in action.allowed)
        words_ = tuple(
            kind for kind in kinds if judge_right(drawing.tenant, call, person=viewer.person, decision=kind).allowed
        )
    kinds_ = tuple(DecisionType(word) for word in words_)
    if stoppable:
        return tuple(kind for kind in kinds_ if kind is DecisionType.REJECT)
    if review.decide_by is not None and drawing.now >= review.decide_by - LAST_MINUTE_MS:
        kinds_ = tuple(kind for kind in kinds_ if kind not in RUNS_THE_TOOL)
    return kinds_


def nobody_may(review: Review, action: Action, tenant: TenantPolicy) -> bool:
    """Whether no decision that this position allows is granted to anybody."""
    return not review.problem and not any(who_could(tenant, action.tool, kind.value) for kind in action.allowed)


def read_only_positions(review: Review, tenant: TenantPolicy) -> tuple[int, ...]:
    """Positions that keep the whole interrupt from being answered: an interrupt is answered whole or not at all."""
    alike: dict[object, bool] = {}  # a batch asks the same of many calls, and each card asks about the whole batch

    def dead(action: Action) -> bool:
        kind = (action.tool, action.allowed)
        if kind not in alike:
            alike[kind] = nobody_may(review, action, tenant)
        return alike[kind]

    return tuple(action.position for action in review.actions if action.problem or dead(action))


def call_view(review: Review, action: Action, drawing: DrawingContext, *, showing: str) -> CallView:
    """One call, as its card or a private view shows it."""
    settings = tool_settings(drawing.tenant, action.tool)
    blocked = read_only_positions(review, drawing.tenant)
    state = call_state(review, action)
    if blocked and state is CallState.WAITING:
        state = CallState.READ_ONLY
    masks = hiding_of(action, settings.redact)
    kinds = () if state is CallState.READ_ONLY else offered(review, action, drawing)
    stands = action.proposal is not None and state in (CallState.WAITING, CallState.READ_ONLY, CallState.HELD)
    return CallView(
        showing=showing,
        tool=action.tool,
        arguments=action.standing_args if stands else action.args,
        offered=tuple(kind.value for kind in kinds),
        position=action.position,
        total=len(review.actions),
        title=settings.title,
        risk=settings.risk,
        description=masks.text(action.description),
        tenant=review.tenant,
        requester=review.requester,
        thread_link=thread_link(review, drawing.tenant),
        opened_at=review.opened_at // 1000,
        decide_by=review.decide_by // 1000 if review.decide_by is not None else None,
        digest=shown(action.decision.digest if action.decision else action.standing_digest),
        state=state,
        reason=_reason(review, action, blocked, state),
        decided=decided(action.decision, masks),
        outcome=masks.text(_told(action)) if settings.result == "first_lines" else None,
        notices=(*_notices(review, action, drawing), *_hidden_notices(action, masks)),
        approvals_needed=settings.approvals,
        approvals=tuple(approval.by.user for approval in action.approvals),
        original=action.args if stands else None,
        masks=_masks(review, action, drawing, masks),
        take_back=_may_take_back(review, action, drawing),
        typed=DecisionType.EDIT in kinds and bool(fields_for(review, action, drawing.tenant)),
        revealable=any(mask.declared for mask in masks.masks) and may_reveal(review, action, drawing),
        has_result=has_result(action, settings.result),
        mention=settings.mention if len(review.actions) == 1 else (),
        operate=operations(review) if len(review.actions) == 1 and drawing.viewer is None else (),
        started_with=_started_with(review, drawing.tenant),
        policy_line=_policy_line(action, state, drawing.tenant),
        unchecked=is_silent(review) and settings.schema is None,
    )


def _policy_line(action: Action, state: CallState, tenant: TenantPolicy) -> str:
    """What an operator adds to the policy, where that alone keeps a call from being decided."""
    missing = state is CallState.READ_ONLY and action.problem == DECISIONS_UNKNOWN
    return decisions_line(tenant, action.tool).yaml if missing else ""


def _started_with(review: Review, tenant: TenantPolicy) -> tuple[tuple[str, str | None], ...]:
    """What the policy in force has shown of the run's context; texts as they are, and nothing that looks like a secret."""
    shown_: list[tuple[str, str | None]] = []
    for name, value in review.started_with:
        if name not in tenant.agent.show_context:
            continue
        if value is None:
            shown_.append((name, None))
        elif masks_of(f"{{{json.dumps(name)}:{value}}}"):
            shown_.append((name, HIDDEN))
        else:
            read = parse_kept(value)
            shown_.append((name, read if isinstance(read, str) else value))
    return tuple(shown_)


def _masks(review: Review, action: Action, drawing: DrawingContext, masks: CallMasks) -> tuple[Mask, ...]:
    """What is only suspected to be secret opens, in private, for who may decide about the call, and for nobody else."""
    viewer = drawing.viewer
    if viewer is None:
        return masks.masks
    call = call_of(review, action, action.proposal.final_args if action.proposal else None, review.requester_now)
    if any(
        judge_right(drawing.tenant, call, person=viewer.person, decision=kind.value).allowed for kind in action.allowed
    ):
        return masks.masks
    return tuple(replace(mask, declared=True) for mask in masks.masks)


def thread_link(review: Review, tenant: TenantPolicy) -> str | None:
    """Where people look at the thread itself; its id is the agent server's, so nothing of it is left to be read as more."""
    template = tenant.agent.thread_url
    return template and template.replace(THREAD_ID, quote(review.thread_id, safe=""))


def _may_take_back(review: Review, action: Action, drawing: DrawingContext) -> bool:
    """Whether somebody (or the viewer) has something of their own to take back."""
    if drawing.viewer is None or not is_changeable(review, action):
        return is_changeable(review, action)
    return drawing.viewed_by in authors(action)


def may_reveal(review: Review, action: Action, drawing: DrawingContext) -> bool:
    """Whether somebody (or the viewer) may see what the policy hides of this call."""
    if drawing.viewer is None:
        return who_could(drawing.tenant, action.tool, REVEAL)
    call = call_of(review, action, None, review.requester_now)
    return judge_right(drawing.tenant, call, person=drawing.viewer.person, decision=REVEAL).allowed


def _told(action: Action) -> str | None:
    """What the tool answered, without what the agent is told of an edit: that stands on the card already."""
    edited = action.decision is not None and action.decision.type is DecisionType.EDIT
    return own_words(action.outcome_text) if edited and action.outcome_text else action.outcome_text


def has_result(action: Action, setting: str) -> bool:
    """Whether there is an answer of the tool's own to open; what stands in a call's place is no such thing."""
    ran = action.outcome in (Outcome.EXECUTED, Outcome.FAILED)
    return ran and bool(action.outcome_text) and setting != "none"


def may_read_result(review: Review, action: Action, drawing: DrawingContext) -> bool:
    """Whether the viewer may open what the tool answered: a reviewer of the tool, or who asked for the call."""
    if drawing.viewer is None:
        return False
    person = drawing.viewer.person
    if review.requester == review.requester_now in person.ids and not person.deactivated and person.outsider is False:
        return True
    call = replace(call_of(review, action, None, review.requester_now), allowed=DECISIONS)
    return any(judge_right(drawing.tenant, call, person=person, decision=kind).allowed for kind in DECISIONS)


def decided(decision: Decision | None, masks: CallMasks) -> Decided | None:
    """A decision in the view-model's words; None as the user says that Placet made it."""
    if decision is None:
        return None
    user = None if decision.by.user == EXPIRY else decision.by.user
    return Decided(
        decision.type.value, user, decision.at // 1000 or None, masks.text(decision.message), decision.final_args
    )


def _reason(review: Review, action: Action, blocked: tuple[int, ...], state: CallState) -> str | None:
    if state is CallState.READ_ONLY:
        if review.problem and review.problem != "undecidable_position":
            return reasons.problem_text(review.problem)
        if action.problem:
            return reasons.problem_text(action.problem)
        if action.position in blocked:
            return reasons.problem_text("nobody_may")
        return reasons.problem_text("other_position", positions=", ".join(str(one + 1) for one in blocked))
    if review.why and state is CallState.SUPERSEDED:
        return reasons.theirs_text(review.why, action.outcome and action.outcome.value)
    if review.why and state in (CallState.BROKEN, CallState.UNKNOWN, CallState.HELD):
        return reasons.why_text(review.why)
    return None


def _why(review: Review, action: Action) -> str:
    """The reason code to show with one call: of its own decision or outcome, or why the whole review waits."""
    if review.state is ReviewState.DECIDED:
        return review.why
    if review.state is ReviewState.OPEN:
        if action.decision is not None:
            return ""
        return action.void_why or ("" if review.why in OF_A_DECISION else review.why)
    if review.state is ReviewState.RESUMED:
        # All of these speak of a tool that ran.
        ran = action.decision is not None and action.decision.type in RUNS_THE_TOOL
        told = action.outcome is Outcome.EXECUTED and review.why == "raised"
        return review.why if ran and not told else ""
    return ""


def _notices(review: Review, action: Action, drawing: DrawingContext) -> tuple[str, ...]:
    """Lines of ours on what a decided review waits for, or why it is open again."""
    lines: list[str] = []
    if review.erased_at is not None:
        lines.append(reasons.why_text("erased"))
    if drawing.paused and review.state in (ReviewState.OPEN, ReviewState.DECIDED):
        lines.append(reasons.why_text("paused"))
    if review.renamed is not None and review.state in (ReviewState.OPEN, ReviewState.DECIDED):
        lines.append(reasons.why_text("requester_changed"))
    lines.append(reasons.why_text(_why(review, action)))
    return tuple(dict.fromkeys(line for line in lines if line))


def _waits_for(review: Review, drawing: DrawingContext) -> tuple[str, ...]:
    """What a decided batch waits for, at its root, once for all its calls."""
    if review.state is not ReviewState.DECIDED:
        return ()
    return tuple(dict.fromkeys(line for action in review.actions for line in _notices(review, action, drawing)))


def _hidden_notices(action: Action, masks: CallMasks) -> tuple[str, ...]:
    changed = hidden_changes(action, masks)
    values = words.several(changed, "hidden value was", "hidden values were")
    return (words.HIDDEN_CHANGED.format(count=values),) if changed else ()


def root_view(review: Review, drawing: DrawingContext, *, showing: str) -> RootView:
    """The message above the calls of one interrupt."""
    calls = tuple(call_view(review, action, drawing, showing=showing) for action in review.actions)
    reviewable = review.state is ReviewState.OPEN and any(call.state is CallState.WAITING for call in calls)
    wanted = [one for action in review.actions for one in tool_settings(drawing.tenant, action.tool).mention]
    return RootView(
        showing=showing,
        calls=calls,
        reviewable=reviewable,
        notices=_waits_for(review, drawing),
        mention=tuple(dict.fromkeys(wanted)),
        operate=operations(review) if len(review.actions) != 1 else (),
    )


def batch_view(review: Review, drawing: DrawingContext, *, showing: str, drafts: dict[int, TypedDraft]) -> BatchView:
    """All calls of one interrupt for one person, at the first page."""
    calls = tuple(call_view(review, action, drawing, showing=showing) for action in review.actions)
    return BatchView(showing, calls, drafts=tuple(sorted(drafts.items(), key=lambda item: item[0])))
