r"""Characters that pass for ASCII: ``p\u0430ypal.com`` with a Cyrillic a, ``\u22125`` with a minus sign for a hyphen.

It exists because they show nothing strange to the eye, and writing them out would make honest Greek or Russian unreadable;
so they are flagged and left as they are. What may pass for what is Unicode's data (`blocks.twins` and NFKC). ASCII itself
is never compared: an honest ``m`` may pass for ``rn`` as well. The module must not know where a text stands.
"""

import re
import unicodedata
from functools import cache
from typing import Final

from blocks.twins import TWINS

_EAST: Final = "EAST ASIAN"  # written without blanks, and with Latin words among it
_WRITTEN: Final = frozenset(
    f"{_EAST}|GREEK|CYRILLIC|ARMENIAN|GEORGIAN|HEBREW|ARABIC|SYRIAC|THAANA|ETHIOPIC|DEVANAGARI|BENGALI|GURMUKHI|GUJARATI|ORIYA|"
    "TAMIL|TELUGU|KANNADA|MALAYALAM|SINHALA|THAI|LAO|TIBETAN|MYANMAR|KHMER|MONGOLIAN".split("|")
)  # in daily use: their words are judged as words, the letters of any other alphabet one by one
_SCRIPTS: Final = {"ARABIC-INDIC": "ARABIC", "EXTENDED": "ARABIC"} | dict.fromkeys(
    ("CJK", "IDEOGRAPHIC", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "HANGUL", "BOPOMOFO"), _EAST
)
# In the data for one glyph or another, and ordinary in prose: quotes, raised figures, letters of Latin alphabets.
_ORDINARY: Final = frozenset(
    "\u2018\u2019\u201a\u201c\u201d\u201e\u2039\u203a\u2026\u2122\u2116\xaa\xba\xb9\xb2\xb3\u2013\xd7\xe6\xc6\u0153\u0152\u01a0\u01a1"
)
_DASH_FOR_A_MINUS: Final = re.compile(r"(?<![\w)\]}\u2013])\u2013(?=\w)")
_CROSS_FOR_AN_X: Final = re.compile(r"[A-Za-z]\xd7|\xd7[A-Za-z]")
_DRAWN_LETTER: Final = re.compile(r"\b(?:SMALL CAPITAL|NEGATIVE (?:SQUARED|CIRCLED)) ")
_WORD: Final = re.compile(r"[^\W\d_](?:[^\W\d_]|[\u0300-\u036f])*")
_TOKEN: Final = re.compile(r"\w+(?:[-.@/_:]+\w+)*")
_ADDRESS: Final = re.compile(r"\w[_.@/]+\w")


def has_lookalikes(text: str) -> bool:
    """Whether anything in the text may be taken for ASCII that it is not.

    Words of a script in daily use are left alone where a word beside them could not be Latin; not if they are mixed with
    Latin letters, or are all of doubles in an address.
    """
    if text.isascii():
        return False
    foreign = {char for char in text if not char.isascii()}
    if any(_is_flagged(char) for char in foreign):
        return True
    if _DASH_FOR_A_MINUS.search(text) or _CROSS_FOR_AN_X.search(text):
        return True
    doubled = {_script(char) for char in foreign if _is_twin(char)} & (_WRITTEN | {"FULLWIDTH"})
    honest = {_script(char) for char in foreign if char.isalpha() and not _is_twin(char)}
    if doubled - honest - ({"FULLWIDTH"} if _EAST in honest else set()):
        return True
    return any(_deceives(token.group()) for token in _TOKEN.finditer(text) if not token.group().isascii())


def _is_flagged(char: str) -> bool:
    """Whether a character needs no neighbours to be flagged."""
    script = _script(char)
    if script in _WRITTEN or (script == "FULLWIDTH" and not char.isalnum()):
        return False
    return _is_twin(char) or (char.isalpha() and script in _alphabets())


def _deceives(token: str) -> bool:
    """Whether a word mixes scripts, or an address holds one that is all of doubles, or a number digits of two kinds."""
    words = _WORD.findall(token)
    for word in words:
        scripts = {_script(char) for char in word if char.isalpha()} & (_WRITTEN | {"LATIN"})
        if len(scripts - {_EAST}) > 1 or (_EAST in scripts and len(scripts) > 2):
            return True
    if any(char.isdecimal() and not char.isascii() for char in token) and re.search("[0-9]", token):
        return True
    parts = [part for word in words for part in re.findall(r"[A-Za-z]+|[^A-Za-z]+", word)]
    doubles = [part for part in parts if not part.isascii() and all(map(_is_twin, part))]
    if doubles and any(part.isascii() for part in parts):
        return True
    words_of_doubles = len(doubles) == len(parts) and any(len(part) > 1 for part in doubles)
    return words_of_doubles and _ADDRESS.search(token) is not None


@cache
def _is_twin(char: str) -> bool:
    if char in _ORDINARY:
        return False
    if char.isdecimal() or ord(char) in _twins():
        return True
    return unicodedata.normalize("NFKC", char).isascii() or _DRAWN_LETTER.search(_name(char)) is not None


@cache
def _script(char: str) -> str:
    first = _name(char).partition(" ")[0]
    return _SCRIPTS.get(first, first)


def _name(char: str) -> str:
    return unicodedata.name(char, "")


@cache
def _twins() -> frozenset[int]:
    ranges = (each.split("-") for each in TWINS.split())
    return frozenset(point for each in ranges for point in range(int(each[0], 16), int(each[-1], 16) + 1))


@cache
def _alphabets() -> frozenset[str]:
    """The scripts, not in daily use, of which at least one letter passes for a Latin one: then any of their words may."""
    letters = (chr(point) for point in _twins() if chr(point).isalpha())
    return frozenset(map(_script, letters)) - _WRITTEN - {"LATIN", "MODIFIER", "FEMININE", "MASCULINE", "MICRO"}
