"""Slack's rich text read into spans: one function for the pieces of a line, whatever holds the line."""

from typing import Any

from bot.sandbox.page.emoji import drawn
from bot.sandbox.page.names import Names
from bot.sandbox.page.spans import Span, Style, styled
from bot.sandbox.slack.records import Json

_INNERMOST_FIRST: tuple[Style, ...] = ("code", "strike", "italic", "bold")


def read_line(elements: list[Json], names: Names) -> tuple[Span, ...]:
    """Return the pieces of a section, a quote or preformatted text. Text is literal: no mark in it means anything."""
    return tuple(_piece(element, names) for element in elements)


def _piece(element: Json, names: Names) -> Span:
    style: dict[str, Any] = element.get("style") or {}
    return styled(_bare(element, names), [name for name in _INNERMOST_FIRST if style.get(name)])


def _bare(element: Json, names: Names) -> Span:
    match element["type"]:
        case "text":
            return Span("text", element["text"])
        case "link":
            return Span("link", element.get("text") or element["url"], target=element["url"])
        case "user":
            return Span("mention", f"@{names.person(element['user_id'])}")
        case "usergroup":
            return Span("mention", f"@{names.group(element['usergroup_id'])}")
        case "channel":
            return Span("mention", f"#{names.channel(element['channel_id'])}")
        case "broadcast":
            return Span("mention", f"@{element['range']}")
        case "emoji":
            return Span("text", drawn(element["name"], element.get("unicode")))
        case "date":
            fallback = element.get("fallback") or str(element["timestamp"])
            return Span("date", fallback, target=element["format"], unix=element["timestamp"])
        case other:
            return Span("text", f"[{other}]")
