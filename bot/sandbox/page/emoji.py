"""Emoji codes as people type them, for the few that a card is likely to hold.

Slack knows thousands; a code that is not here stays as it is written, which is also what Slack does with unknown ones.
"""

import re

CODES = {
    "white_check_mark": "✅",
    "heavy_check_mark": "✔️",
    "x": "❌",
    "no_entry": "⛔",
    "no_entry_sign": "🚫",
    "warning": "⚠️",
    "lock": "🔒",
    "hourglass": "⌛",
    "clock3": "🕒",
    "question": "❓",
    "exclamation": "❗",
    "speech_balloon": "💬",
    "eyes": "👀",
    "wave": "👋",
    "robot_face": "🤖",
    "pencil2": "✏️",
    "arrow_right": "➡️",
    "tada": "🎉",
    "thumbsup": "👍",
    "+1": "👍",
    "thumbsdown": "👎",
    "-1": "👎",
}
CODE = re.compile(r":([a-z0-9_+-]+):")


def with_emoji(text: str) -> str:
    """Return the text with known codes drawn."""
    return CODE.sub(lambda found: CODES.get(found[1], found[0]), text)


def drawn(name: str, code_points: str | None) -> str:
    """Return an emoji of rich text: by its code points (`1f44d-1f3fd`) if they are given, else by name."""
    try:
        return "".join(chr(int(point, 16)) for point in (code_points or "").split("-")) if code_points else _named(name)
    except (ValueError, OverflowError):
        return _named(name)


def _named(name: str) -> str:
    return CODES.get(name, f":{name}:")
