"""The few Block Kit pieces that we use, as dictionaries.

It exists so that every rule that holds for all of them stands once: no emoji codes in plain text, ``verbatim`` mrkdwn,
no empty text. The module must not know what is said. Shapes: Slack's Block Kit reference.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from blocks import limits
from blocks.text import cut, units

Json = dict[str, Any]


def plain(text: str) -> Json:
    """A plain_text object: no mentions, no links, and ``:name:`` stays as typed."""
    return {"type": "plain_text", "text": text, "emoji": False}


def header(text: str) -> Json:
    """A header block."""
    return {"type": "header", "text": plain(text)}


def context(lines: Iterable[str]) -> list[Json]:
    """Grey lines of mrkdwn of ours, ten to a block; no block for no lines."""
    objects = [{"type": "mrkdwn", "text": line, "verbatim": True} for line in lines]
    return [{"type": "context", "elements": objects[at : at + 10]} for at in range(0, len(objects), 10)]


def section(text: str) -> Json:
    """A section of mrkdwn of ours."""
    return {"type": "section", "text": {"type": "mrkdwn", "text": text, "verbatim": True}}


def divider() -> Json:
    """A line across."""
    return {"type": "divider"}


def rich(elements: Sequence[Json]) -> Json:
    """A rich_text block, in which text elements are literal."""
    return {"type": "rich_text", "elements": list(elements)}


def words(text: str, **style: bool) -> Json:
    """Words of ours inside rich_text, bold or italic where asked for."""
    return {"type": "text", "text": text} | ({"style": style} if style else {})


def code(text: str, **style: bool) -> Json:
    """Text that others wrote, inside rich_text: always in code style."""
    return {"type": "text", "text": text, "style": {"code": True, **style}}


def person(user: str) -> Json:
    """A mention of a person, inside rich_text."""
    return {"type": "user", "user_id": user}


def lines(elements: Sequence[Json]) -> Json:
    """A rich_text_section."""
    return {"type": "rich_text_section", "elements": list(elements)}


def box(text: str) -> Json:
    """Preformatted text that others wrote, in elements no longer than our budget for one."""
    return {"type": "rich_text_preformatted", "border": 0, "elements": [words(part) for part in _parts(text)]}


def button(label: str, action_id: str, value: str, **more: Any) -> Json:
    """A button; ``more``: style, accessibility_label, confirm."""
    return {"type": "button", "text": plain(label), "action_id": action_id, "value": value} | more


def actions(buttons: Sequence[Json], block_id: str) -> list[Json]:
    """A row of buttons; no block for no buttons."""
    return [{"type": "actions", "block_id": block_id, "elements": list(buttons)}] if buttons else []


def text_input(action_id: str, initial: str | None, *, longest: int = limits.INPUT, lines: bool = True) -> Json:
    """An input, of several lines or of one, that holds its reader to a length that Slack accepts."""
    element: Json = {"type": "plain_text_input", "action_id": action_id, "multiline": lines, "max_length": longest}
    return element | ({"initial_value": initial} if initial else {})


def radio(action_id: str, options: Sequence[tuple[str, str]], chosen: str | None) -> Json:
    """Radio buttons of (value, label); ``chosen`` counts only if it is one of them."""
    made = [{"text": plain(label), "value": value} for value, label in options]
    initial = [option for option in made if option["value"] == chosen]
    element: Json = {"type": "radio_buttons", "action_id": action_id, "options": made}
    return element | ({"initial_option": initial[0]} if initial else {})


def select(action_id: str, options: Sequence[tuple[str, str]], chosen: str | None) -> Json:
    """A menu of (value, label); ``chosen`` counts only if it is one of them."""
    return {**radio(action_id, options, chosen), "type": "static_select"}


def overflow(action_id: str, options: Sequence[tuple[str, str]]) -> Json:
    """A menu behind dots of (value, label)."""
    made = [{"text": plain(label), "value": value} for value, label in options]
    return {"type": "overflow", "action_id": action_id, "options": made}


def field(block_id: str, label: str, element: Json, **more: Any) -> Json:
    """An input block; ``more``: optional, dispatch_action, hint."""
    return {"type": "input", "block_id": block_id, "label": plain(label), "element": element, "optional": False} | more


def modal(title: str, blocks: Sequence[Json], *, callback_id: str, showing: str, **buttons: str) -> Json:
    """A modal; ``buttons``: the words of submit and close. ``showing`` is all of its private_metadata."""
    return {
        "type": "modal",
        "callback_id": callback_id,
        "private_metadata": showing,
        "title": plain(title),
        **{name: plain(label) for name, label in buttons.items()},
        "blocks": list(blocks),
    }


def _parts(text: str) -> Iterable[str]:
    while units(text) > limits.ELEMENT:
        head = cut(text, limits.ELEMENT)
        yield head
        text = text[len(head) :]
    yield text
