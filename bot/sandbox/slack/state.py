"""The values of a view's or message's elements, as a person's client keeps them and payloads carry them.

Values survive an update of the view only where both ids and the element's type stay. Pure; knows no people and no HTTP.
"""

from collections.abc import Iterable
from typing import Any

from bot.sandbox.slack.dress import STATEFUL, interactive
from bot.sandbox.slack.records import Json

Values = dict[str, dict[str, Json]]


class BadValue(ValueError):
    """No client could enter this value here."""


def initial(element: Json) -> Json:
    """Return an untouched element's state: its initial value or null (an empty list for checkboxes)."""
    key, initial_key = STATEFUL[element["type"]]
    empty: Any = [] if element["type"] == "checkboxes" else None
    return {"type": element["type"], key: element.get(initial_key, empty)}


def initial_values(blocks: Iterable[Json]) -> Values:
    """Return the state of blocks that nobody has touched."""
    values: Values = {}
    for block, element in interactive(list(blocks)):
        if element["type"] in STATEFUL:
            values.setdefault(block["block_id"], {})[element["action_id"]] = initial(element)
    return values


def carried(old: Values, blocks: Iterable[Json]) -> Values:
    """Return the values after an update: those of `old` where block_id, action_id and type are the same.

    This holds for untouched fields as well: a changed initial value shows up only under a new id. A kept choice that is
    no longer on offer falls back to the new element's own.
    """
    blocks = list(blocks)
    values = initial_values(blocks)
    for block, element in interactive(blocks):
        kept = old.get(block["block_id"], {}).get(element["action_id"])
        if kept and kept["type"] == element["type"] and _still_offered(element, kept):
            values[block["block_id"]][element["action_id"]] = kept
    return values


def _still_offered(element: Json, kept: Json) -> bool:
    if "options" not in element and "option_groups" not in element:
        return True
    chosen = kept.get("selected_options") or [kept.get("selected_option")]
    return all(option is None or option in options_of(element) for option in chosen)


def options_of(element: Json) -> list[Json]:
    """Return the options of a select, of radio buttons or of checkboxes, groups flattened."""
    grouped = [option for group in element.get("option_groups", []) for option in group["options"]]
    return [*element.get("options", []), *grouped]


def pick_option(element: Json, wanted: Any) -> Json:
    """Find an option by its value, else by its text, else by being equal."""
    if isinstance(wanted, dict):
        wanted = wanted.get("value")
    offered = options_of(element)
    for option in offered:
        if option["value"] == wanted:
            return option
    for option in offered:
        if option["text"]["text"] == wanted:
            return option
    raise BadValue(f"no option {wanted!r}; there are {[option['value'] for option in offered]}")


def entered(element: Json, value: Any) -> Json:
    """Return the element's state once a person has entered `value`; None and an emptied text field are null."""
    kind = element["type"]
    key, _ = STATEFUL[kind]
    if kind == "checkboxes":
        return {"type": kind, key: [pick_option(element, item) for item in _as_list(value)]}
    if value is None or value == "":
        return {"type": kind, key: None}
    if kind in ("static_select", "radio_buttons"):
        return {"type": kind, key: pick_option(element, value)}
    if kind == "datetimepicker":
        return {"type": kind, key: int(value)}
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise BadValue(f"a {kind} takes a string, not {value!r}")
    return {"type": kind, key: str(value)}


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def without_inputs(values: Values, blocks: Iterable[Json]) -> Values:
    """Return the part of the state that a view_closed payload carries."""
    inputs = {block["block_id"] for block in blocks if block["type"] == "input"}
    return {block_id: state for block_id, state in values.items() if block_id not in inputs}
