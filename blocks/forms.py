"""The forms in which a reviewer types: a decision, a reason, an answer, or all arguments as JSON text.

It exists so that cards, modals and the listeners agree on what can be edited here at all. It must not parse what was
typed: the core does. Inputs are named by position (and field and draft revision) in their block_id.
"""

from collections.abc import Sequence

from blocks import ids, kit, limits, words
from blocks.args import Parsed, Shape, parse
from blocks.kit import Json
from blocks.models import CallView, Draft, Mask
from blocks.text import units
from blocks.tree import Writer, take


def edit_text(arguments: str | None, masks: Sequence[Mask] = ()) -> str | None:
    """The arguments as pretty JSON to be typed over, numbers as written; ``None`` where that cannot be done whole."""
    if why_not_editable(arguments, masks) is not None:
        return None
    return _pretty(parse(arguments))[0]


def why_not_editable(arguments: str | None, masks: Sequence[Mask] = ()) -> str | None:
    """One plain sentence on why these arguments cannot be typed as JSON in a private view, or ``None``."""
    if any(each.declared for each in masks):
        return words.CANNOT_EDIT_HIDDEN
    length = len(arguments or "")
    if length > limits.EDIT_SOURCE:
        return _too_long(words.ABOUT.format(count=words.count(length)))
    parsed = parse(arguments)
    if parsed.shape not in (Shape.OBJECT, Shape.EMPTY):
        return words.CANNOT_EDIT_SHAPE
    text, whole = _pretty(parsed)
    if whole and units(text) <= limits.EDIT_TEXT:
        return None
    return _too_long(words.count(len(text)) if whole else words.ABOUT.format(count=words.count(length)))


def is_editable(call: CallView) -> bool:
    """Whether the Edit button leads anywhere: to a form of single arguments or to one of JSON text."""
    return call.typed or why_not_editable(call.arguments, call.masks) is None


def edit_inputs(call: CallView, draft: Draft) -> list[Json]:
    """The inputs for new arguments, filled with what was typed before or else with what the agent proposed."""
    initial = draft.edited if draft.edited is not None else edit_text(call.arguments, call.masks)
    block_id = ids.encode_place(ids.Place("e", call.position, draft.revision))
    element = kit.text_input(ids.JSON_TEXT, initial)
    return [kit.field(block_id, words.EDITED_JSON, element, hint=kit.plain(words.EDIT_HINT))]


def message_input(call: CallView, draft: Draft, decision: str, *, kind: str = "m") -> Json:
    """The input for a reason (may stay empty) or an answer (may not); ``kind`` as in ``ids.Place``."""
    block_id = ids.encode_place(ids.Place(kind, call.position, draft.revision))
    label = words.YOUR_ANSWER if decision == "respond" else words.WHY
    element = kit.text_input(ids.MESSAGE, draft.message)
    return kit.field(block_id, label, element, optional=decision != "respond")


def choice_input(call: CallView, draft: Draft, offered: Sequence[str], *, optional: bool = False) -> Json:
    """The decision's radio buttons; choosing one tells us at once, so that its own input can be drawn."""
    block_id = ids.encode_place(ids.Place("d", call.position, draft.revision))
    label = words.DECISION if call.total == 1 else words.DECISION_FOR.format(number=call.position + 1)
    element = kit.radio(ids.CHOICE, [(each, words.CHOICES[each]) for each in offered], draft.decision)
    return kit.field(block_id, label, element, dispatch_action=True, optional=optional)


def decision_inputs(
    call: CallView, draft: Draft, offered: Sequence[str], *, edit: Sequence[Json], optional: bool = False
) -> list[Json]:
    """The radio buttons with the inputs that belong to what is chosen; the answer alone where nothing else is offered.

    ``edit``: what stands there when an edit is chosen; its form is a view of its own.
    """
    if tuple(offered) == ("respond",):
        return [message_input(call, draft, "respond")]
    chosen = draft.decision if draft.decision in offered else None
    more = list(edit) if chosen == "edit" else []
    if chosen in ("reject", "respond"):
        more = [message_input(call, draft, chosen, kind="a" if chosen == "respond" else "m")]
    return [choice_input(call, draft, offered, optional=optional), *more]


def _pretty(parsed: Parsed) -> tuple[str, bool]:
    try:
        return take(Writer(limits.EDIT_TEXT).lines(parsed.node), limits.EDIT_TEXT)
    except ValueError:
        return "", False


def _too_long(size: str) -> str:
    return words.CANNOT_EDIT_LONG.format(count=size, most=words.count(limits.EDIT_TEXT))
