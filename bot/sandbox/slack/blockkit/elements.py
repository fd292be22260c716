"""Interactive elements and where each may stand: in a section, among actions, in an input block."""

from collections.abc import Iterator
from typing import Any

from bot.sandbox.slack.blockkit import limits, texts
from bot.sandbox.slack.blockkit.checks import (
    Check,
    Finding,
    boolean,
    by_type,
    every,
    integer,
    items,
    literal,
    matching,
    obj,
    one_of,
    string,
)
from bot.sandbox.slack.blockkit.weight import units

ACTION_ID = string(limits.ACTION_ID)
COMMON: dict[str, Check] = {"action_id": ACTION_ID, "confirm": texts.CONFIRM, "focus_on_load": boolean}
PICKED: dict[str, Check] = {**COMMON, "placeholder": texts.plain_text(limits.PLACEHOLDER)}
NUMBER = matching(r"-?(?:\d+(?:\.\d*)?|\.\d+)", "must be a string that holds a number")
DATE = matching(r"\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])", "must be a date: YYYY-MM-DD")
TIME = matching(r"(?:[01]\d|2[0-3]):[0-5]\d", "must be a time: HH:mm")
USER = matching(r"[UW][A-Z0-9]+", "must be a user id")
MOMENT = integer(1_000_000_000, 9_999_999_999)
DISPATCH = obj(
    {"trigger_actions_on": items(one_of("on_enter_pressed", "on_character_entered"), 2, 1)},
)


def _picker(kind: str, initial: str, check: Check) -> Check:
    return obj({"type": one_of(kind)}, {**PICKED, initial: check})


def _choice(kind: str, initial: dict[str, Check]) -> Check:
    options = items(texts.CHOICE_OPTION, limits.CHOICE_OPTIONS, 1)
    return every(obj({"type": one_of(kind), "options": options}, {**COMMON, **initial}), texts.initial_is_offered)


BUTTON = obj(
    {"type": one_of("button"), "text": texts.plain_text(limits.BUTTON_TEXT)},
    {
        "action_id": ACTION_ID,
        "value": string(limits.BUTTON_VALUE),
        "url": string(limits.BUTTON_URL),
        "style": one_of("primary", "danger"),
        "confirm": texts.CONFIRM,
        "accessibility_label": literal(limits.ACCESSIBILITY_LABEL),
        "visible_to_user_ids": items(USER),
    },
)
OVERFLOW = obj(
    {"type": one_of("overflow"), "options": items(texts.OVERFLOW_OPTION, limits.OVERFLOW_OPTIONS, 1)},
    {"action_id": ACTION_ID, "confirm": texts.CONFIRM},
)
IMAGE = obj(
    {"type": one_of("image"), "image_url": string(limits.IMAGE_URL, 1), "alt_text": literal(limits.ALT_TEXT)},
)
RADIO = _choice("radio_buttons", {"initial_option": texts.CHOICE_OPTION})
CHECKBOXES = _choice("checkboxes", {"initial_options": items(texts.CHOICE_OPTION, limits.CHOICE_OPTIONS, 1)})


def _lengths_agree(value: Any, at: str) -> Iterator[Finding]:
    most = value.get("max_length", limits.INPUT_LENGTH)
    if value.get("min_length", 0) > most:
        yield f"{at}/min_length", "must not be greater than max_length"
    if units(value.get("initial_value", "")) > most:
        yield f"{at}/initial_value", f"must be less than {most + 1} characters"


PLAIN_TEXT_INPUT = every(
    obj(
        {"type": one_of("plain_text_input")},
        {
            "action_id": ACTION_ID,
            "placeholder": texts.plain_text(limits.PLACEHOLDER),
            "initial_value": string(limits.INPUT_LENGTH),
            "multiline": boolean,
            "min_length": integer(0, limits.INPUT_LENGTH),
            "max_length": integer(1, limits.INPUT_LENGTH),
            "focus_on_load": boolean,
            "dispatch_action_config": DISPATCH,
        },
    ),
    _lengths_agree,
)


def _decimals_agree(value: Any, at: str) -> Iterator[Finding]:
    for key in ("initial_value", "min_value", "max_value"):
        if not value["is_decimal_allowed"] and "." in value.get(key, ""):
            yield f"{at}/{key}", "must be a whole number where decimals are not allowed"


NUMBER_INPUT = every(
    obj(
        {"type": one_of("number_input"), "is_decimal_allowed": boolean},
        {
            "action_id": ACTION_ID,
            "placeholder": texts.plain_text(limits.PLACEHOLDER),
            "initial_value": NUMBER,
            "min_value": NUMBER,
            "max_value": NUMBER,
            "focus_on_load": boolean,
            "dispatch_action_config": DISPATCH,
        },
    ),
    _decimals_agree,
)


def _typed(kind: str) -> Check:
    return obj(
        {"type": one_of(kind)},
        {
            "action_id": ACTION_ID,
            "placeholder": texts.plain_text(limits.PLACEHOLDER),
            "initial_value": string(limits.INPUT_LENGTH),
            "focus_on_load": boolean,
            "dispatch_action_config": DISPATCH,
        },
    )


_PICKERS: dict[str, Check] = {
    "static_select": texts.select(PICKED),
    "users_select": _picker("users_select", "initial_user", USER),
    "datepicker": _picker("datepicker", "initial_date", DATE),
    "timepicker": _picker("timepicker", "initial_time", TIME),
    "radio_buttons": RADIO,
    "checkboxes": CHECKBOXES,
}
_MOMENT_PICKER = obj({"type": one_of("datetimepicker")}, {**COMMON, "initial_date_time": MOMENT})

ACCESSORY = by_type({**_PICKERS, "button": BUTTON, "overflow": OVERFLOW, "image": IMAGE})
ACTION = by_type({**_PICKERS, "button": BUTTON, "overflow": OVERFLOW, "datetimepicker": _MOMENT_PICKER})
INPUT = by_type(
    {
        **_PICKERS,
        "datetimepicker": _MOMENT_PICKER,
        "plain_text_input": PLAIN_TEXT_INPUT,
        "number_input": NUMBER_INPUT,
        "email_text_input": _typed("email_text_input"),
        "url_text_input": _typed("url_text_input"),
    }
)
