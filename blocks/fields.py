"""One input for each argument of a call, for editing without writing JSON.

It exists so that the card (which offers Edit) and the form agree on what can be typed here. It must not read what was
typed. An input's label is the argument's name in literal display; what cannot be typed is named and stays as it is.
"""

from collections.abc import Sequence
from typing import Final

from blocks import ids, kit, limits, words
from blocks.args import name_text, parse, value_text
from blocks.kit import Json
from blocks.models import CallView, Draft, FieldView
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


def field_inputs(call: CallView, draft: Draft, fields: Sequence[FieldView]) -> list[Json]:
    """The inputs in the order of the arguments (``f.<position>.<number>``, action ``value``)."""
    typed = dict(draft.fields)
    return [block for one in fields for block in _field(call, draft, one, typed)]


def _field(call: CallView, draft: Draft, one: FieldView, typed: dict[int, str | None]) -> list[Json]:
    initial = _initial(one)
    if initial is None:
        return [_left_alone(one)]
    value = typed.get(one.index, initial)
    label = name_text(one.name)
    block_id = _block_id(call, draft, one.index)
    hint = _HINTS.get(one.kind)
    more = {"hint": kit.plain(hint)} if hint else {}
    optional = one.kind in ("text", "hidden") or len(one.states) > 1
    blocks = [kit.field(block_id, label, _element(one, value, initial), optional=optional, **more)]
    return blocks if len(one.states) == 1 else [*blocks, _state(call, draft, one, typed)]


def _element(one: FieldView, value: str | None, initial: str) -> Json:
    if one.kind == "yes_no":
        return kit.radio(ids.FIELD, [("true", words.YES), ("false", words.NO)], value)
    if one.kind == "choice":
        return kit.select(ids.FIELD, [(choice, _choice(choice)) for choice in one.choices], value)
    lines = one.kind == "json" or (one.kind == "text" and (len(initial) > limits.ONE_LINE or "\n" in initial))
    return kit.text_input(ids.FIELD, value, lines=lines)


def _state(call: CallView, draft: Draft, one: FieldView, typed: dict[int, str | None]) -> Json:
    number = one.index + ids.STATE_AT
    options = [(state, words.FIELD_STATES[state]) for state in one.states]
    label = words.FIELD_STATE.format(name=name_text(one.name))
    element = kit.radio(ids.FIELD_STATE, options, typed.get(number) or one.state)
    return kit.field(_block_id(call, draft, number), label, element)


def _initial(one: FieldView) -> str | None:
    """What the input holds at first; ``None`` where this cannot be typed here."""
    if one.kind == "fixed" or len(one.value) > limits.EDIT_SOURCE:
        return None
    if one.kind == "choice":
        fits = all(units(choice) <= limits.OPTION_VALUE for choice in one.choices) and _are_told_apart(one.choices)
        return one.value if fits else None
    text = _pretty(one.value) if one.kind == "json" and one.value else one.value
    return text if text is not None and units(text) <= limits.EDIT_TEXT else None


def _pretty(source: str) -> str | None:
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
    return kit.rich([kit.lines([kit.code(name_text(one.name), bold=True), kit.words(note, italic=True)])])


def _block_id(call: CallView, draft: Draft, number: int) -> str:
    return ids.encode_place(ids.Place("f", call.position, draft.revision, number))
