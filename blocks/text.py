r"""Text that others wrote, made safe to show: literal display, escaping, counting and cutting.

It exists because a reviewer approves what the eye reads: whatever is invisible, reorders its neighbours or only looks
blank is written out as ``\u202e``. The module must not know cards or words; it sees strings only.
"""

import json
import re
import unicodedata
from collections.abc import Callable
from typing import Final

# Characters that draw nothing although their category says letter, mark or symbol (Unicode's Default_Ignorable ones
# outside Cf, and the glyphs that are blank by design).
_BLANK: Final = frozenset(
    chr(point)
    for first, last in (
        (0x034F, 0x034F), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F), (0x2800, 0x2800), (0x2D7F, 0x2D7F),
        (0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFFA0, 0xFFA0), (0xFFFC, 0xFFFC), (0x13441, 0x13442),
        (0x16FE4, 0x16FE4), (0x1D159, 0x1D159), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF),
    )
    for point in range(first, last + 1)
)  # fmt: skip

# What needs a second look: anything but plain ASCII and scripts whose whole range is visible. And a backslash that would
# read as one of our escapes.
_SAFE: Final = (
    "\\n\\t -~\u00a1-\u00ac\u00ae-\u02ff\u0400-\u0482\u048a-\u052f\u3041-\u3096\u30a1-\u30ff\u4e00-\u9fff\uac00-\ud7a3"
)
_SUSPECT: Final = re.compile(rf"[^{_SAFE}]")
_LIKE_ESCAPE: Final = re.compile(r"\\(?=u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})")
# Runs long enough to push text out of sight: blanks, tabs, and empty lines.
_RUN: Final = re.compile(r"(?<=[^ \n]) {16,}| {40,}|\t{9,}|\n(?:[ \t]*\n){4,}")
_LONG_RUN: Final = re.compile(
    r"\\u0020\{(?:1[6-9]|[2-9]\d|\d{3,})\}|\\u00(?:09|0a)\{(?:[5-9]|\d{2,})\}|(?:\\u00(?:20|09|0a)\{\d+\}){5,}|(?<=[^ \n]) {16,}"
)
_SOME_BLANKS: Final = re.compile(" {4,}")
_EDGES: Final = re.compile(r"\A[ \t\n]+|[ \t\n]+\Z")
_SAME: Final = re.compile(r"(.)\1*", re.DOTALL)
_ESCAPE: Final = re.compile(r"\\u(?!005c|00(?:20|09|0a)\{)[0-9a-f]{4}|\\U[0-9a-f]{8}")
_ESCAPE_IN_JSON: Final = re.compile(r"(?<!\\)(?:\\\\)*\\u[0-9a-f]{4}")
_WHOLE: Final = re.compile(
    r"\\ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}|\\u[0-9a-f]{4}(?:\{\d+\})?|\\U[0-9a-f]{8}(?:\{\d+\})?|&(?:amp|lt|gt);"
)
_WINDOW: Final = 30
_RIGHT_TO_LEFT: Final = re.compile(
    "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]"
)
_MARKS: Final = 3
_MARK_KINDS: Final = ("Mn", "Mc")
_PLAIN: Final = re.compile(r"[A-Za-z0-9_.@-]{1,60}")


def units(text: str) -> int:
    """Length in UTF-16 code units, the strictest of the ways in which Slack may count."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def weight(text: str) -> int:
    """Length as a message's total may count it: in UTF-16 units, with ``& < >`` as the entities that Slack stores."""
    return units(text) + 4 * text.count("&") + 3 * (text.count("<") + text.count(">"))


def escape(char: str) -> str:
    r"""One character written out: ``\u202e``, or ``\U000e0041`` above the basic plane."""
    point = ord(char)
    return f"\\u{point:04x}" if point <= 0xFFFF else f"\\U{point:08x}"


def literal(text: str) -> str:
    r"""The text as it is, with everything unseen written out; different texts always give different results.

    A backslash that happens to stand before ``u`` and four hex digits is written ``\u005c``, so that an escape in the
    result is always one of ours. Long runs of blanks become ``\u0020{57}``. Line feeds and tabs stay.
    """
    return _RUN.sub(_counted, _seen(text))


def on_one_line(text: str) -> str:
    """As ``literal``, with line feeds and tabs written out too: for places where a new line could pass for ours."""
    return literal(text).replace("\n", escape("\n")).replace("\t", escape("\t"))


def with_edges(text: str) -> str:
    """As ``literal``, with blanks at either end counted out, where nobody could see them."""
    return _RUN.sub(_counted, _EDGES.sub(_counted, _seen(text)))


def json_string(text: str) -> str:
    r"""The text as a JSON string that parses back to it, everything unseen as JSON's own ``\u`` escapes."""
    quoted = json.dumps(text, ensure_ascii=False)
    suspects = set(_SUSPECT.findall(quoted))
    return _written_out(quoted, suspects, _wire_escape) if suspects else quoted


def escapes_in(text: str, *, as_json: bool) -> int:
    """How many characters were written out in the result of ``literal`` or, ``as_json``, of ``json_string``.

    Counted blanks are left out: `has_long_blanks` is about them.
    """
    return len((_ESCAPE_IN_JSON if as_json else _ESCAPE).findall(text))


def has_long_blanks(text: str) -> bool:
    """Whether displayed text holds a run of blanks that could push what follows out of sight, counted or as it is."""
    return _LONG_RUN.search(text) is not None


def blanks_counted(text: str) -> str:
    r"""Displayed text with its runs of blanks counted, ``\u0020{12}``: for plain text, of which Slack draws one blank."""
    return _SOME_BLANKS.sub(_counted, text)


def runs_right_to_left(text: str) -> bool:
    """Whether letters of a right-to-left script may change the order in which the rest is read."""
    return not text.isascii() and _RIGHT_TO_LEFT.search(text) is not None


def is_plain(text: str) -> bool:
    """Whether this is a short ASCII identifier, which may stand inside a sentence of ours."""
    return _PLAIN.fullmatch(text) is not None


def escape_mrkdwn(text: str) -> str:
    """Slack's three control characters as entities, so that no mention, link or date can arise. Apply once."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def cut(text: str, limit: int) -> str:
    """The longest beginning within ``limit`` UTF-16 units that splits no escape, entity, pair or marked letter."""
    if units(text) <= limit:
        return text
    head = text[:limit].encode("utf-16-le", "surrogatepass")[: 2 * limit].decode("utf-16-le", "ignore")
    return text[: _boundary(text, len(head))]


def cut_by_weight(text: str, limit: int) -> str:
    """As ``cut``, with the limit in ``weight``."""
    if weight(text) <= limit:
        return text
    kept = cut(escape_mrkdwn(text), limit)
    return kept.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def cut_marked(text: str, limit: int) -> str:
    """As ``cut``, with ``…`` as the last character where anything was left out."""
    return text if units(text) <= limit else cut(text, limit - 1) + "…"


def cut_plain(text: str, limit: int) -> str:
    """As ``cut_marked``, by weight: for titles and other plain text of a fixed room."""
    return text if weight(text) <= limit else cut_by_weight(text, limit - 1) + "…"


def _boundary(text: str, at: int) -> int:
    start = max(0, at - _WINDOW)
    for whole in _WHOLE.finditer(text, start, at + _WINDOW):
        if whole.start() < at < whole.end():
            at = whole.start()
    while at and unicodedata.category(text[at])[0] == "M":
        at -= 1
    kept = len(text[:at].rstrip("\\"))
    return kept or at


def _seen(text: str) -> str:
    if "\\" in text:
        text = _LIKE_ESCAPE.sub(lambda slash: escape(slash.group()), text)
    suspects = set(_SUSPECT.findall(text))
    return _written_out(text, suspects, escape) if suspects else text


def _written_out(text: str, suspects: set[str], write: Callable[[str], str]) -> str:
    """Write out what of these characters cannot be seen, each decided once; combining marks one by one."""
    kinds = {char: unicodedata.category(char) for char in suspects}
    marks = [char for char, kind in kinds.items() if kind in _MARK_KINDS and char not in _BLANK]
    if marks:
        text = re.sub(f"[{''.join(marks)}]", lambda mark: _mark(mark, write), text)
    hidden = (char for char, kind in kinds.items() if char in _BLANK or kind[0] not in "LNPSM" or kind == "Me")
    return text.translate({ord(char): write(char) for char in hidden})


def _mark(match: re.Match[str], write: Callable[[str], str]) -> str:
    return match.group() if _is_carried(match.string, match.start()) else write(match.group())


def _wire_escape(char: str) -> str:
    wire = char.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{wire[at : at + 4]}" for at in range(0, len(wire), 4))


def _is_carried(text: str, at: int) -> bool:
    """Whether a combining mark sits on a letter and not on top of a tower of marks."""
    for back in range(1, _MARKS + 1):
        category = unicodedata.category(text[at - back]) if at >= back else "Zs"
        if category[0] != "M":
            return category[0] in "LN"
    return False


def _counted(match: re.Match[str]) -> str:
    return _SAME.sub(lambda same: f"{escape(same[1])}{{{len(same[0])}}}", match.group())
