"""How long Slack would find a string.

Slack does not say in what unit it counts; the reading that is never too generous is UTF-16 code units of the text with
`&`, `<` and `>` escaped, which is what it stores.
"""

import re
from typing import Any

_BARE_AMPERSAND = re.compile(r"&(?!(?:amp|lt|gt);)")
_CONTROL = re.compile(r"<[^<>]*>")
_COUNTED_KEYS = frozenset({"text", "alt_text", "fallback", "user_id", "usergroup_id", "channel_id", "name"})


def units(text: str) -> int:
    """Return UTF-16 code units; a lone surrogate is one."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def plain_weight(text: str) -> int:
    """Return the length of literal text once escaped."""
    return units(text) + 4 * text.count("&") + 3 * text.count("<") + 3 * text.count(">")


def mrkdwn_weight(text: str) -> int:
    """Return the length of mrkdwn, whose entities and `<...>` sequences already are what Slack stores."""
    outside = _CONTROL.sub("", text)
    bare = len(_BARE_AMPERSAND.findall(text))
    return units(text) + 4 * bare + 3 * outside.count("<") + 3 * outside.count(">")


def total_weight(node: Any) -> int:
    """Return the length of all text that blocks show, labels and mentions included, values and ids of ours not."""
    if isinstance(node, list):
        return sum(total_weight(item) for item in node)
    if not isinstance(node, dict):
        return 0
    weigh = mrkdwn_weight if node.get("type") == "mrkdwn" else plain_weight
    return sum(
        weigh(value) if isinstance(value, str) and key in _COUNTED_KEYS else total_weight(value)
        for key, value in node.items()
    )
