"""The forms in which a reviewer types: one input for each argument, a decision, a reason, an answer, JSON text.

One input for each argument of a call, for editing without writing JSON. It exists so that the card (which offers
Edit) and the form agree on what can be typed here. An input's label is the argument's name in literal display; what
cannot be typed is named and stays as it is.

The forms in which a reviewer types: a decision, a reason, an answer, or all arguments as JSON text. It exists so that
cards, modals and the listeners agree on what can be edited here at all. Inputs are named by position (and field and
draft revision) in their block_id.
"""

from collections.abc import Sequence
from typing import Final

from blocks import elements, ids, limits, words
from blocks.args import ArgumentsShape, Parsed, name_text, parse, value_text
from blocks.elements import Json
from blocks.models import CallView, FieldView, Mask, TypedDraft
from blocks.text import cut_plain, on_one_line, units, weight
from blocks.tree import Writer, take

_HINTS: Final = {
    "text": words.FIELD_TEXT,
    "number": words.FIELD_NUMBER,
    "json": words.FIELD_JSON,
    "hidden": words.FIELD_HIDDEN,
}


def are_usable(fields: Sequence[FieldView]) -> bool:
    """Whether these fields make a form: every name fits a label, and at least one can be typed."""
    names = all(weight(name_text(one.name)) <= limits.ARGUMENT_NAME for one in fields)
    return names and any(_initial(one) is not None for one in fields)


def field_inputs(call: CallView, draft: TypedDraft, fields: Sequence[FieldView]) -> list[Json]:
    """The inputs in the order of the arguments (``f.<position>.<number>``, action ``value``)."""
    typed = dict(draft.fields)
    return [block for one in fields for block in _field(call, draft, one, typed)]


def _field(call: CallView, draft: TypedDraft, one: FieldView, typed: dict[int, str | None]) -> list[Json]:
    initial = _initial(one)
    if initial is None:
        return [_left_alone(one)]
    value = typed.get(one.index, initial)
    label = name_text(one.name)
    block_id = _block_id(call, draft, one.index)
    hint = _HINTS.get(one.kind)
    more = {"hint": elements.plain(hint)} if hint else {}
    optional = one.kind in ("text", "hidden") or len(one.states) > 1
    blocks = [elements.field(block_id, label, _element(one, value, initial), optional=optional, **more)]
    return blocks if len(one.states) == 1 else [*blocks, _state(call, draft, one, typed)]


def _element(one: FieldView, value: str | None, initial: str) -> Json:
    if one.kind == "yes_no":
        return elements.radio(ids.FIELD, [("true", words.YES), ("false", words.NO)], value)
    if one.kind == "choice":
        return elements.select(ids.FIELD, [(choice, _choice(choice)) for choice in one.choices], value)
    lines = one.kind == "json" or (one.kind == "text" and (len(initial) > limits.ONE_LINE or "\n" in initial))
    return elements.text_input(ids.FIELD, value, lines=lines)


def _state(call: CallView, draft: TypedDraft, one: FieldView, typed: dict[int, str | None]) -> Json:
    number = one.index + ids.STATE_AT
    options = [(state, words.FIELD_STATES[state]) for state in one.states]
    label = words.FIELD_STATE.format(name=name_text(one.name))
    element = elements.radio(ids.FIELD_STATE, options, typed.get(number) or one.state)
    return elements.field(_block_id(call, draft, number), label, element)


def _initial(one: FieldView) -> str | None:
    """What the input holds at first; ``None`` where this cannot be typed here."""
    if one.kind == "fixed" or len(one.value) > limits.EDIT_SOURCE:
        return None
    if one.kind == "choice":
        fits = all(units(choice) <= limits.OPTION_VALUE for choice in one.choices) and _are_told_apart(one.choices)
        return one.value if fits else None
    text = _pretty_value(one.value) if one.kind == "json" and one.value else one.value
    return text if text is not None and units(text) <= limits.EDIT_TEXT else None


def _pretty_value(source: str) -> str | None:
    try:
        text, whole = take(Writer(limits.EDIT_TEXT).lines(parse(source).node), limits.EDIT_TEXT)
    except ValueError:
        return None
    return text if whole else None


def _choice(choice: str) -> str:
    node = parse(choice).node
    text = on_one_line(value_text(node)) if type(node) is str else choice
    return cut_plain(text, limits.OPTION_TEXT)


def _are_told_apart(choices: Sequence[str]) -> bool:
    return len({_choice(choice) for choice in choices}) == len(choices)


def _left_alone(one: FieldView) -> Json:
    note = words.FIELD_FIXED if one.kind == "fixed" else words.FIELD_LONG.format(count=words.count(len(one.value)))
    return elements.rich(
        [elements.lines([elements.code(name_text(one.name), bold=True), elements.words(note, italic=True)])]
    )


def _block_id(call: CallView, draft: TypedDraft, number: int) -> str:
    return ids.encode_place(ids.BlockPlace("f", call.position, draft.revision, number))


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
    if parsed.shape not in (ArgumentsShape.OBJECT, ArgumentsShape.EMPTY):
        return words.CANNOT_EDIT_SHAPE
    text, whole = _pretty(parsed)
    if whole and units(text) <= limits.EDIT_TEXT:
        return None
    return _too_long(words.count(len(text)) if whole else words.ABOUT.format(count=words.count(length)))


def is_editable(call: CallView) -> bool:
    """Whether the Edit button leads anywhere: to a form of single arguments or to one of JSON text."""
    return call.typed or why_not_editable(call.arguments, call.masks) is None


def edit_inputs(call: CallView, draft: TypedDraft) -> list[Json]:
    """The inputs for new arguments, filled with what was typed before or else with what the agent proposed."""
    initial = draft.edited if draft.edited is not None else edit_text(call.arguments, call.masks)
    block_id = ids.encode_place(ids.BlockPlace("e", call.position, draft.revision))
    element = elements.text_input(ids.JSON_TEXT, initial)
    return [elements.field(block_id, words.EDITED_JSON, element, hint=elements.plain(words.EDIT_HINT))]


def message_input(call: CallView, draft: TypedDraft, decision: str, *, kind: str = "m") -> Json:
    """The input for a reason (may stay empty) or an answer (may not); ``kind`` as in ``ids.Place``."""
    block_id = ids.encode_place(ids.BlockPlace(kind, call.position, draft.revision))
    label = words.YOUR_ANSWER if decision == "respond" else words.WHY
    element = elements.text_input(ids.MESSAGE, draft.message)
    return elements.field(block_id, label, element, optional=decision != "respond")


def choice_input(call: CallView, draft: TypedDraft, offered: Sequence[str], *, optional: bool = False) -> Json:
    """The decision's radio buttons; choosing one tells us at once, so that its own input can be drawn."""
    block_id = ids.encode_place(ids.BlockPlace("d", call.position, draft.revision))
    label = words.DECISION if call.total == 1 else words.DECISION_FOR.format(number=call.position + 1)
    element = elements.radio(ids.CHOICE, [(each, words.CHOICES[each]) for each in offered], draft.decision)
    return elements.field(block_id, label, element, dispatch_action=True, optional=optional)


def decision_inputs(
    call: CallView, draft: TypedDraft, offered: Sequence[str], *, edit: Sequence[Json], optional: bool = False
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
