r"""Words in which letters of two scripts pass for one: ``p\u0430ypal.com`` with a Cyrillic a.

It exists because such a word shows nothing strange to the eye, and writing it out would make honest Greek or Russian
unreadable; so it is flagged and left as it is. The table is ours and short: letters that common fonts draw like an ASCII
letter, from Unicode's confusables. The module must not know where a word stands.
"""

import re
from typing import Final

_CYRILLIC: Final = (
    "\u0430\u0432\u0435\u043a\u043c\u043d\u043e\u0440\u0441\u0442\u0443\u0445\u044c\u0455\u0456\u0458\u04bb\u0501\u051b\u051d"
    "\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0423\u0425\u0405\u0406\u0408\u04c0\u04cf\u050c"
)
_GREEK: Final = (
    "\u03b1\u03b5\u03b9\u03ba\u03bd\u03bf\u03c1\u03c4\u03c5\u03c7\u03f2\u03f3"
    "\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7"
)
_OTHER: Final = (
    "\u0131\u0251\u0261\u0578\u057d\u0585\u0570\u0581\u13a0\u13ac\u13e2\u2010\u2011\u2024\u2044\u2215\uff0e\uff0f\uff20"
)
_TWINS: Final = f"{_CYRILLIC}{_GREEK}{_OTHER}\uff10-\uff19\uff21-\uff3a\uff41-\uff5a"
_TWIN: Final = re.compile(f"[{_TWINS}]")
_WORD: Final = re.compile(rf"[\w.@/-]*[{_TWINS}][\w.@/{_TWINS}-]*")
_ASCII_LETTER: Final = re.compile("[A-Za-z]")
_JOINT: Final = re.compile(r"[\d_.@/-]")
_LETTER: Final = re.compile(r"[^\W\d_]")


def has_lookalikes(text: str) -> bool:
    """Whether a word mixes ASCII letters with their doubles, or is an address or id made of doubles alone."""
    return not text.isascii() and any(_deceives(word.group()) for word in _WORD.finditer(text))


def _deceives(word: str) -> bool:
    if _ASCII_LETTER.search(word):
        return True
    letters = _LETTER.findall(word)
    return _JOINT.search(word) is not None and len(letters) > 1 and all(_TWIN.match(letter) for letter in letters)
