"""What Slack adds to blocks when it takes them: the ids and defaults that the sender left out.

A bot that compares what it sent with what it reads back finds a difference here as it would there. Nothing is judged: the
validator has been here before.
"""

import copy
from collections.abc import Callable, Iterator
from typing import Any

from bot.sandbox.slack.records import Json

STATEFUL = {
    "plain_text_input": ("value", "initial_value"),
    "number_input": ("value", "initial_value"),
    "email_text_input": ("value", "initial_value"),
    "url_text_input": ("value", "initial_value"),
    "static_select": ("selected_option", "initial_option"),
    "radio_buttons": ("selected_option", "initial_option"),
    "checkboxes": ("selected_options", "initial_options"),
    "users_select": ("selected_user", "initial_user"),
    "datepicker": ("selected_date", "initial_date"),
    "timepicker": ("selected_time", "initial_time"),
    "datetimepicker": ("selected_date_time", "initial_date_time"),
}
"""Elements that hold a value: its key in a payload's state, and the key of the value it starts with."""

INTERACTIVE = {*STATEFUL, "button", "overflow"}


def elements(block: Json) -> list[Json]:
    """Return the interactive elements of a block."""
    candidates = [block.get("accessory"), block.get("element")]
    candidates += block.get("elements", []) if block["type"] == "actions" else []
    return [element for element in candidates if element and element.get("type") in INTERACTIVE]


def interactive(blocks: tuple[Json, ...] | list[Json]) -> Iterator[tuple[Json, Json]]:
    """Yield every interactive element with the block it stands in, in order."""
    for block in blocks:
        for element in elements(block):
            yield block, element


def dressed(blocks: list[Json], new_id: Callable[[str], str]) -> list[Json]:
    """Return a copy with ids where none were given and with text objects' defaults."""
    copies = copy.deepcopy(blocks)
    for block in copies:
        if block["type"] != "rich_text":
            _default_texts(block)
        block["block_id"] = block.get("block_id") or new_id("b")
        for element in elements(block):
            element["action_id"] = element.get("action_id") or new_id("a")
    return copies


def with_defaults(view: Json) -> Json:
    """Return a view without its blocks, its own text objects with their defaults."""
    rest = copy.deepcopy({key: value for key, value in view.items() if key != "blocks"})
    _default_texts(rest)
    return rest


def _default_texts(node: Any) -> None:
    if isinstance(node, list):
        for item in node:
            _default_texts(item)
    if not isinstance(node, dict):
        return
    if node.get("type") == "plain_text":
        node.setdefault("emoji", True)
    if node.get("type") == "mrkdwn":
        node.setdefault("verbatim", False)
    for value in node.values():
        _default_texts(value)
