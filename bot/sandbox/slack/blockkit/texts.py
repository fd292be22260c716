"""Text objects, options and confirm dialogs: the compositions that elements and blocks are made of."""

from collections.abc import Iterator
from typing import Any

from bot.sandbox.slack.blockkit import limits
from bot.sandbox.slack.blockkit.checks import (
    Check,
    Finding,
    boolean,
    by_type,
    every,
    items,
    literal,
    mrkdwn,
    obj,
    one_of,
    string,
)


def plain_text(most: int = limits.TEXT_OBJECT) -> Check:
    """A plain_text object of 1 to `most` characters."""
    return by_type({"plain_text": _plain(most)})


def any_text(most: int = limits.TEXT_OBJECT) -> Check:
    """A plain_text or mrkdwn object of 1 to `most` characters."""
    return by_type({"plain_text": _plain(most), "mrkdwn": _marked(most)})


def _plain(most: int) -> Check:
    return obj({"type": one_of("plain_text"), "text": literal(most)}, {"emoji": boolean})


def _marked(most: int) -> Check:
    return obj({"type": one_of("mrkdwn"), "text": mrkdwn(most)}, {"verbatim": boolean})


CONFIRM = obj(
    {
        "title": plain_text(limits.CONFIRM_TITLE),
        "text": any_text(limits.CONFIRM_TEXT),
        "confirm": plain_text(limits.CONFIRM_BUTTON),
        "deny": plain_text(limits.CONFIRM_BUTTON),
    },
    {"style": one_of("primary", "danger")},
)

SELECT_OPTION = obj(
    {"text": plain_text(limits.OPTION_TEXT), "value": string(limits.OPTION_VALUE, 1)},
    {"description": plain_text(limits.OPTION_DESCRIPTION)},
)
CHOICE_OPTION = obj(
    {"text": any_text(limits.OPTION_TEXT), "value": string(limits.OPTION_VALUE, 1)},
    {"description": any_text(limits.OPTION_DESCRIPTION)},
)
OVERFLOW_OPTION = obj(
    {"text": plain_text(limits.OPTION_TEXT), "value": string(limits.OPTION_VALUE, 1)},
    {"description": plain_text(limits.OPTION_DESCRIPTION), "url": string(limits.BUTTON_URL)},
)
OPTION_GROUP = obj(
    {"label": plain_text(limits.OPTION_TEXT), "options": items(SELECT_OPTION, limits.SELECT_OPTIONS, 1)},
)


def initial_is_offered(value: Any, at: str) -> Iterator[Finding]:
    """An initial choice must be one of the options, equal in every key."""
    groups = value.get("option_groups", [])
    offered = [*value.get("options", []), *(option for group in groups for option in group["options"])]
    if "initial_option" in value and value["initial_option"] not in offered:
        yield f"{at}/initial_option", "must be equal to one of the options"
    for index, option in enumerate(value.get("initial_options", [])):
        if option not in offered:
            yield f"{at}/initial_options/{index}", "must be equal to one of the options"


def options_or_groups(value: Any, at: str) -> Iterator[Finding]:
    """A select has options or option groups: one of the two."""
    if ("options" in value) == ("option_groups" in value):
        yield at, "must provide either options or option_groups"


def select(more: dict[str, Check]) -> Check:
    """A static select; `more` are the keys that every select has."""
    shape = obj(
        {"type": one_of("static_select")},
        {
            **more,
            "options": items(SELECT_OPTION, limits.SELECT_OPTIONS, 1),
            "option_groups": items(OPTION_GROUP, limits.SELECT_GROUPS, 1),
            "initial_option": SELECT_OPTION,
        },
    )
    return every(shape, options_or_groups, initial_is_offered)
