"""What a submitted modal asks for: from inputs to intents, drafts and field errors. Pure.

Inputs are found by their block ids, which name a position and a draft revision. Field errors are keyed by the block id of
an input that was really there: Slack shows nothing sensible for any other key.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace

from blocks import ids, reasons
from blocks.windows import page_of
from bot.core.decide import Intent, Refusal, Refused
from bot.core.model import Action, DecisionType
from bot.core.take_back import authors
from bot.slack.inbound.payloads import InputValue, ViewPayload
from bot.slack.outbound.projection import offered
from bot.slack.windows.review import ViewContext, may_open
from bot.store.showings import Draft

KINDS = frozenset({"d", "m", "a", "e", "f"})


@dataclass(frozen=True, slots=True)
class FieldErrors:
    """Why the modal stays: one plain sentence per input block."""

    errors: Mapping[str, str]


def read_drafts(context: ViewContext, values: Mapping[str, InputValue]) -> dict[int, Draft]:
    """The drafts after what this view's inputs hold now; positions without inputs are left out.

    Left out is also what was typed about other content than stands there now: its block ids are other ones.
    """
    changed: dict[int, Draft] = {}
    actions = {action.position: action for action in context.review.actions}
    places = [(ids.decode_place(block_id), value) for block_id, value in values.items()]
    # Choices first: whether a text is a reason or an answer is known by them.
    for place, value in sorted(places, key=lambda one: one[0] is None or one[0].kind != "d"):
        if place is None or place.kind not in KINDS or place.position not in actions:
            continue
        before = context.draft(actions[place.position])
        draft = changed.get(place.position, before)
        if place.revision == before.revision and not _of_another_choice(draft, place, values):
            changed[place.position] = _with(draft, place, value if isinstance(value, str) else None)
    return {position: _implied(draft, position, values) for position, draft in changed.items()}


def _implied(draft: Draft, position: int, values: Mapping[str, InputValue]) -> Draft:
    """Where an answer is all that a call takes, its input stands there without a choice."""
    alone = block_of(values, position, "d") is None and block_of(values, position, "m") is not None
    return replace(draft, decision=DecisionType.RESPOND.value) if alone else draft


def _of_another_choice(draft: Draft, place: ids.BlockPlace, values: Mapping[str, InputValue]) -> bool:
    """Whether this is the input of a reason while an answer is chosen, or the other way round."""
    if place.kind not in ("m", "a") or block_of(values, place.position, "d") is None:
        return False
    return (place.kind == "a") is not (draft.decision == DecisionType.RESPOND.value)


def _with(draft: Draft, place: ids.BlockPlace, text: str | None) -> Draft:
    match place.kind:
        case "d":
            # What was written as a reason is no answer, nor the other way round.
            answer = DecisionType.RESPOND.value
            turned = (draft.decision == answer) is not (text == answer)
            return replace(draft, decision=text, message=None if turned else draft.message)
        case "m" | "a":
            return replace(draft, message=text)
        case "f":
            fields = {**draft.fields, place.field or 0: text}
            return replace(draft, edited=None, fields=fields)
    return replace(draft, edited=text)


def block_of(values: Mapping[str, InputValue], position: int, *kinds: str) -> str | None:
    """The block id of the first input of these kinds that the view had for a position."""
    for kind in kinds:
        for block_id in values:
            place = ids.decode_place(block_id)
            if place is not None and place.position == position and place.kind == kind:
                return block_id
    return None


def intent_of(context: ViewContext, action: Action, draft: Draft) -> Intent | None:
    """What a draft asks for its call: None while nothing is chosen, and for an edit of which none is kept."""
    kind = chosen(draft)
    if kind is None:
        return None
    if kind is DecisionType.EDIT:
        kept = context.kept.get(draft.kept_in or "")
        return Intent(action.position, kind, final_args=kept.final_args, showing=kept) if kept else None
    told = draft.message if kind in (DecisionType.REJECT, DecisionType.RESPOND) else None
    return Intent(action.position, kind, message=told)


def chosen(draft: Draft) -> DecisionType | None:
    """The decision that a draft names, if it is one."""
    return DecisionType(draft.decision) if draft.decision in set(DecisionType) else None


def page_problems(
    context: ViewContext, drafts: Mapping[int, Draft], values: Mapping[str, InputValue]
) -> FieldErrors | None:
    """What is missing or wrong on the page that was submitted."""
    errors: dict[str, str] = {}
    for action in awaited(context):
        block = block_of(values, action.position, "d", "m")
        if block is None:
            continue
        draft = drafts.get(action.position, context.draft(action))
        intent = intent_of(context, action, draft)
        if intent is None:
            errors[block] = reasons.EDIT_FIRST if chosen(draft) is DecisionType.EDIT else reasons.CHOOSE
        elif intent.type is DecisionType.RESPOND and not (intent.message or "").strip():
            errors[block_of(values, action.position, "a", "m") or block] = reasons.EMPTY_ANSWER
    return FieldErrors(errors) if errors else None


def undrawn(context: ViewContext, drafts: Mapping[int, Draft], view: ViewPayload) -> str | None:
    """What to say where a choice wants something that this view has no place for: its redraw never reached the screen."""
    for position, draft in drafts.items():
        action = context.review.actions[position]
        form = ids.encode_place(ids.BlockPlace("o", position))
        if chosen(draft) is DecisionType.EDIT and intent_of(context, action, draft) is None and form not in view.blocks:
            return reasons.EDIT_FIRST
        if chosen(draft) is DecisionType.RESPOND and not _has_answer(view.values, position):
            return reasons.EMPTY_ANSWER
    return None


def _has_answer(values: Mapping[str, InputValue], position: int) -> bool:
    return block_of(values, position, "a" if block_of(values, position, "d") else "m") is not None


def asked(context: ViewContext) -> tuple[Action, ...]:
    """The undecided calls that are this person's to decide, or that this window has asked them about."""
    return tuple(
        action
        for action in context.review.undecided
        if _was_asked(context, action.position) or offered(context.review, action, context.drawing)
    )


def awaited(context: ViewContext) -> tuple[Action, ...]:
    """Those of them that still want a choice: what this person has approved before waits for others."""
    return tuple(action for action in asked(context) if context.actor.who not in authors(action))


def taken_away(context: ViewContext) -> Refused | None:
    """The first call that this window has asked about and that is not this person's to decide any more."""
    for action in context.review.undecided:
        if _was_asked(context, action.position) and not offered(context.review, action, context.drawing):
            kind = chosen(context.draft(action)) or DecisionType.REJECT
            refused = may_open(context, action, kind)
            # That Slack cannot be asked just now takes nothing away.
            if refused is not None and refused.reason not in (
                Refusal.CANNOT_CONFIRM,
                Refusal.GROUP_UNREADABLE,
            ):
                return refused
    return None


def _was_asked(context: ViewContext, position: int) -> bool:
    offer = context.showing.offer(position)
    return offer is not None and bool(offer.offered)


def decided_meanwhile(context: ViewContext, values: Mapping[str, InputValue]) -> int | None:
    """The first position that this view, or a page before it, still asked about and that has been decided since."""
    decided = [action.position for action in context.review.actions if action.decision is not None]
    return next((at for at in decided if block_of(values, at, "d") is not None or _asked_before(context, at)), None)


def _asked_before(context: ViewContext, position: int) -> bool:
    return _was_asked(context, position) and page_of(position) != context.showing.page


def sent_so_far(context: ViewContext, changed: Mapping[int, Draft]) -> str:
    """As JSON text, what this window has sent from its pages: the showing of the next page carries it."""
    sent = _sent(context)
    return json.dumps(sent | {str(position): _choice(draft) for position, draft in changed.items()})


def chosen_elsewhere(context: ViewContext) -> int | None:
    """The first open call of another page whose stored choice is not the one that this window has sent."""
    sent, page = _sent(context), context.showing.page
    mine = {intent.position for intent in intents_of(context, context.drafts)}
    others = (one for one in context.review.undecided if one.position in mine and page_of(one.position) != page)
    different = (one.position for one in others if sent.get(str(one.position)) != _choice(context.draft(one)))
    return next(different, None)


def _sent(context: ViewContext) -> dict[str, list[str | None]]:
    return dict(json.loads(context.showing.final_args or "{}"))


def _choice(draft: Draft) -> list[str | None]:
    return [draft.decision, draft.message, draft.kept_in]


def first_open_page(context: ViewContext, drafts: Mapping[int, Draft]) -> int | None:
    """The page of the first call that waits for this person and has no usable choice yet, or None when all have one."""
    for action in awaited(context):
        if intent_of(context, action, drafts.get(action.position, context.draft(action))) is None:
            return page_of(action.position)
    return None


def intents_of(context: ViewContext, drafts: Mapping[int, Draft]) -> tuple[Intent, ...]:
    """One intent for each undecided call that is this person's, in request order; none to approve again what they have."""
    drafted = ((action, drafts.get(action.position, context.draft(action))) for action in asked(context))
    found = ((action, intent_of(context, action, draft)) for action, draft in drafted)
    return tuple(intent for action, intent in found if intent is not None and not _again(context, action, intent))


def _again(context: ViewContext, action: Action, intent: Intent) -> bool:
    return intent.type is DecisionType.APPROVE and context.actor.who in authors(action)


def merged(stored: Mapping[int, Draft], changed: Mapping[int, Draft]) -> dict[int, Draft]:
    """Stored drafts with this view's changes on top."""
    return {**stored, **changed}


def last_page(context: ViewContext) -> int:
    """The batch's last page."""
    return page_of(max(action.position for action in context.review.actions))
