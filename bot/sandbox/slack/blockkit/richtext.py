"""Rich text: its four kinds of element and what may stand in a line of each.

Slack documents no length for rich text; it counts towards a message's total.
"""

from bot.sandbox.slack.blockkit import limits
from bot.sandbox.slack.blockkit.checks import boolean, by_type, integer, items, matching, obj, one_of, string

_STYLE = obj({}, {"bold": boolean, "italic": boolean, "strike": boolean, "code": boolean})
_ID_STYLE = obj({}, {"bold": boolean, "italic": boolean, "strike": boolean})
_ANY_LENGTH = 1_000_000
_SHOWN = string(_ANY_LENGTH, 1)

_TEXT = obj({"type": one_of("text"), "text": _SHOWN}, {"style": _STYLE})
_LINK = obj(
    {"type": one_of("link"), "url": string(limits.BUTTON_URL, 1)},
    {"text": _SHOWN, "unsafe": boolean, "style": _STYLE},
)
_INLINE = by_type(
    {
        "text": _TEXT,
        "link": _LINK,
        "user": obj(
            {"type": one_of("user"), "user_id": matching(r"[UW][A-Z0-9]+", "must be a user id")}, {"style": _ID_STYLE}
        ),
        "usergroup": obj(
            {"type": one_of("usergroup"), "usergroup_id": matching(r"S[A-Z0-9]+", "must be a group id")},
            {"style": _ID_STYLE},
        ),
        "channel": obj(
            {"type": one_of("channel"), "channel_id": matching(r"[CGD][A-Z0-9]+", "must be a channel id")},
            {"style": _ID_STYLE},
        ),
        "date": obj(
            {"type": one_of("date"), "timestamp": integer(0, 99_999_999_999), "format": _SHOWN},
            {"url": string(limits.BUTTON_URL), "fallback": _SHOWN, "style": _STYLE},
        ),
        "emoji": obj(
            {"type": one_of("emoji"), "name": _SHOWN},
            {"unicode": string(100), "skin_tone": integer(1, 6), "style": _ID_STYLE},
        ),
        "broadcast": obj(
            {"type": one_of("broadcast"), "range": one_of("here", "channel", "everyone")}, {"style": _ID_STYLE}
        ),
    }
)
_SECTION = obj({"type": one_of("rich_text_section"), "elements": items(_INLINE)})
_LIST = obj(
    {
        "type": one_of("rich_text_list"),
        "style": one_of("bullet", "ordered"),
        "elements": items(by_type({"rich_text_section": _SECTION}), None, 1),
    },
    {"indent": integer(0, 8), "offset": integer(0, 1_000_000), "border": integer(0, 1)},
)
_PREFORMATTED = obj(
    {"type": one_of("rich_text_preformatted"), "elements": items(by_type({"text": _TEXT, "link": _LINK}))},
    {"border": integer(0, 1)},
)
_QUOTE = obj({"type": one_of("rich_text_quote"), "elements": items(_INLINE)}, {"border": integer(0, 1)})

RICH_TEXT_ELEMENT = by_type(
    {
        "rich_text_section": _SECTION,
        "rich_text_list": _LIST,
        "rich_text_preformatted": _PREFORMATTED,
        "rich_text_quote": _QUOTE,
    }
)
