r"""Characters that pass for ASCII: ``p\u0430ypal.com`` with a Cyrillic a, ``\u22125`` with a minus sign for a hyphen.

Characters that Unicode's confusables say may pass for ASCII text, and that NFKC does not turn into it. Data, not
code: code points and ranges of them in hexadecimal, taken from ``confusables.json`` of confusable-homoglyphs 3.3.1
(MIT), which is made from Unicode's own list. A test compares them.

They show nothing strange to the eye, and writing them out would make honest Greek or Russian
unreadable; so they are flagged and left as they are. What may pass for what is Unicode's data (the table below and
NFKC). ASCII itself is never compared: an honest ``m`` may pass for ``rn`` as well.
"""

import re
import unicodedata
from functools import cache
from typing import Final

TWINS: Final = """
b4 b8 c6 d7 e6 131 149 152-153 181 184 187 18a 18d 193 196 198 1a0-1a1 1a4 1a6-1a7 1ac 1b3 1b7 1bc-1bd 1c0-1c1 1c3
21c 222-223 241 251 261 263 269-26a 26f 28b 28f 294 2a3 2a6 2aa-2ab 2b9-2be 2c2-2c4 2c6 2c8 2ca-2cb 2d0 2d7 2db-2dd
2ee 2f4 2f6 2f8 374 37a 37f 384 391-392 395-397 399-39a 39c-39d 39f 3a1 3a4-3a5 3a7 3b1 3b3 3b9 3bd 3bf 3c1 3c3 3c5
3d2 3dc 3e8 3f1-3f3 3f9-3fa 405-406 408 410 412 415 417 41a 41c-41e 420-423 425 42b-42c 42e 430-431 433 435 43e
440-441 443 445 455-456 458 461 474-475 491 4ae-4af 4bb 4bd 4c0 4cf 4d4-4d5 4e0 501 50c 51b-51d 54d 54f 555 55a 55d
561 563 566 570 578 57c-57d 581 584-585 589 6f0-6f1 6f5 6f7 903 966 97d 9e6 9ea 9ed a66-a67 a6a a83 ae6 b03 b20 b66
b68 be6 c02 c66 c82 ce6 d02 d20 d66 d6d d82 e50 ed0 101d 1040 10e7 10ff 1200 12d0 13a0-13a2 13a4-13a5 13a9-13ac 13ae
13b3 13b7 13bb 13bd 13c0 13c2-13c3 13ce-13cf 13d2 13d4-13d5 13d9-13da 13de-13df 13e2 13e6-13e7 13ee 13f3-13f4 1400
142f 1433 1438 144a 144c 1467 146d 146f 1472 1486-1488 148d 14aa 14bf 1541 157c-157d 1587 15af 15b4 15c5 15de 15ea
15f0 15f7 166d-166e 16b2 16b7 16c1 16cc 16d5-16d6 16ec-16ed 1735 1803 1809 1cd3 1d04 1d0f 1d11 1d1c 1d20-1d22 1d26
1d6b 1d83 1d8c 1e9d 1eff 1fbd-1fc0 1ffd-1ffe 2010-2013 2016 2018-201d 201f 2032-2037 2039-203a 2041 2043-2044 204e
2053 2057 205a 20b6 212e 213d 2212 2215-2217 221e 2223 2225 2228 222a 2236 223c 226a-226b 22a4 22c1 22c3 22d8-22d9
22ff 2373-2374 237a 23fd 244a 2571 2573 2768-2769 276e-276f 2772-2775 2795-2796 27cb 27cd 27d9 292b-292c 29f5
29f8-29f9 2a20 2a2f 2aa5 2afb 2afd 2c85 2c8e 2c92 2c94 2c98 2c9a 2c9e-2c9f 2ca2-2ca6 2ca8 2cac 2cba 2cc6 2cca 2ccc
2cd0 2cd2 2cf9 2d38-2d39 2d4f 2d51 2d54-2d55 2d5d 2e28-2e29 2e40 2f02-2f03 3003 3007 3014-3015 3033 30a0 30ce
31d3-31d4 4e36 4e3f a4d0-a4d4 a4d6-a4d7 a4d9-a4da a4dc-a4dd a4df-a4e3 a4e6-a4e7 a4ea-a4ec a4ee a4f0 a4f2-a4f4
a4f8-a4fb a4fd-a4ff a60e a644 a647 a698-a699 a6df a6eb a6ef a728 a731-a73d a74e-a74f a75a a76a a76e a777-a778 a789
a78c a798-a799 a79f a7ab a7b2-a7b4 ab32 ab35 ab3d ab47-ab48 ab4e ab52 ab5a ab63 ab75 ab81 ab83 ab93 aba9-abaa abaf
fd3e-fd3f fe58 ffe8 10282 10286-10287 1028a 10290 10292 10295-10297 1029b 102a0-102a2 102a5 102ab 102b0-102b2 102b4
102cf 102f5 10301-10302 10309 10311 10315 10317 1031a 1031f-10320 10322 10404 10415 1041b 10420 1042c 1043d 10448
104b4 104c2 104ce 104d2 104ea 104f6 10513 10516 10518 1051c-1051d 10525-10527 114d0 11700 11706 1170a 1170e-1170f
118a0 118a2-118a4 118a6 118a9 118ac 118ae-118af 118b2 118b5 118b8 118bb-118bc 118c0-118c4 118c6 118c8 118ca 118cc
118d5-118d8 118dc 118e0 118e3 118e5-118e6 118e9 118ec 118ef 118f2 16f08 16f0a 16f16 16f28 16f35 16f3a-16f3b
16f3f-16f40 16f42-16f43 16f51-16f52 1d114 1d16d 1d206 1d20d 1d20f 1d212-1d213 1d216 1d22a 1d236-1d237 1d23a-1d23b
1d6a4 1d6a8-1d6a9 1d6ac-1d6ae 1d6b0-1d6b1 1d6b3-1d6b4 1d6b6 1d6b8 1d6bb-1d6bc 1d6be 1d6c2 1d6c4 1d6ca 1d6ce 1d6d0
1d6d2 1d6d4 1d6d6 1d6e0 1d6e2-1d6e3 1d6e6-1d6e8 1d6ea-1d6eb 1d6ed-1d6ee 1d6f0 1d6f2 1d6f5-1d6f6 1d6f8 1d6fc 1d6fe
1d704 1d708 1d70a 1d70c 1d70e 1d710 1d71a 1d71c-1d71d 1d720-1d722 1d724-1d725 1d727-1d728 1d72a 1d72c 1d72f-1d730
1d732 1d736 1d738 1d73e 1d742 1d744 1d746 1d748 1d74a 1d754 1d756-1d757 1d75a-1d75c 1d75e-1d75f 1d761-1d762 1d764
1d766 1d769-1d76a 1d76c 1d770 1d772 1d778 1d77c 1d77e 1d780 1d782 1d784 1d78e 1d790-1d791 1d794-1d796 1d798-1d799
1d79b-1d79c 1d79e 1d7a0 1d7a3-1d7a4 1d7a6 1d7aa 1d7ac 1d7b2 1d7b6 1d7b8 1d7ba 1d7bc 1d7be 1d7c8 1d7ca 1f12a 1f700
1f707 1f74c 1f75c 1f768 1f76b-1f76c
"""


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
