"""What a client checks before it sends a modal: required fields, lengths, numbers. The app hears of none of it."""

from decimal import Decimal, InvalidOperation

from bot.sandbox.slack.blockkit.weight import units
from bot.sandbox.slack.client import REQUIRED
from bot.sandbox.slack.dress import STATEFUL
from bot.sandbox.slack.records import Json


def field_error(element: Json, state: Json, block: Json) -> str | None:
    """Return what the client writes under this field, or None where it may be sent."""
    value = state[STATEFUL[element["type"]][0]]
    if value is None or value == []:
        return None if block.get("optional") else REQUIRED
    if element["type"] == "plain_text_input":
        return _length_error(element, value)
    if element["type"] == "number_input":
        return _number_error(element, value)
    if element["type"] == "email_text_input" and "@" not in value:
        return "Please enter a valid email address."
    if element["type"] == "url_text_input" and "://" not in value:
        return "Please enter a valid URL."
    return None


def _length_error(element: Json, value: str) -> str | None:
    if units(value) > element.get("max_length", units(value)):
        return f"Please use at most {element['max_length']} characters."
    if units(value) < element.get("min_length", 0):
        return f"Please use at least {element['min_length']} characters."
    return None


def _number_error(element: Json, value: str) -> str | None:
    try:
        number = Decimal(value)
    except InvalidOperation:
        return "Please enter a valid number."
    if not number.is_finite():
        return "Please enter a valid number."
    if not element["is_decimal_allowed"] and number != number.to_integral_value():
        return "Please enter a whole number."
    if "min_value" in element and number < Decimal(element["min_value"]):
        return f"Please enter a number of at least {element['min_value']}."
    if "max_value" in element and number > Decimal(element["max_value"]):
        return f"Please enter a number of at most {element['max_value']}."
    return None
