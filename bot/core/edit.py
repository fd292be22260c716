"""What a person typed as a call's new arguments.

Agents' JSON is read by `bot.core.lossless`; a person's is read here, because people need to be told what is wrong, where,
and in words. Nothing is mended behind their back: curly quotes, which keyboards put in for straight ones, come back as
a problem that carries the text as it was understood, for them to confirm. This module must not know the call's tool.
"""

from __future__ import annotations

import json
import re
import unicodedata
from dataclasses import dataclass, replace

from bot.core.lossless import JsonProblem, Number, dump, parse, too_deep, unsendable

CURLY = "“”„‟«»"
CURLY_FAULT = "curly quotes (“ ”) stand where JSON needs straight ones"
# A quoted text ends at the quote that belongs to its first one: another kind inside it is part of the text.
STRAIGHT = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
QUOTED = re.compile(
    STRAIGHT.pattern + r"|[“”‟](?:[^”\\]|\\.)*”|„(?:[^“”\\]|\\.)*[“”]|«(?:[^»\\]|\\.)*»|»(?:[^«\\]|\\.)*«", re.DOTALL
)
TOKEN = re.compile(STRAIGHT.pattern + r'|[{}\[\]]|[^\s{}\[\],:"]+', re.DOTALL)
COLON = re.compile(r"\s*:")
TRAILING_COMMA = re.compile(r",\s*[}\]]")
PYTHON_WORD = re.compile(r"(?:True|False|None)\b")
# Python's json says what it expected; beginnings of its sentences, and the same for people.
FAULTS = {
    "Expecting property name": "a name in double quotes is expected here",
    "Expecting ':'": "a colon is expected here",
    "Expecting ','": "a comma or a closing bracket is expected here",
    "Expecting value": "a value is expected here",
    "Extra data": "nothing may follow the closing bracket",
    "Invalid control character": r"a line break inside a text is written \n, a tab \t",
    "Invalid \\": r"this backslash starts nothing that JSON knows; a backslash itself is written \\",
    "Unterminated string": "this text is not closed: its last quote is missing",
}


@dataclass(frozen=True, slots=True)
class EditProblem:
    """Why typed arguments cannot be taken; `line` and `column` count from 1 and are 0 where there is no one place.

    `repaired` is the source text as it was understood, where only the quotes were wrong and one reading makes sense:
    it may be decided on after the person has seen it.
    """

    message: str
    line: int = 0
    column: int = 0
    repaired: str | None = None

    @property
    def sentence(self) -> str:
        """The message with its place."""
        if self.line:
            return f"Line {self.line}, column {self.column}: {self.message}."
        return f"{self.message[0].upper()}{self.message[1:]}."


def read_edit(text: str) -> str | EditProblem:
    """The arguments as source text that can be sent, key order and numbers as typed, or what is wrong with them.

    Measured limits of the agent servers (see `unsendable`): 64-bit integers, finite numbers, no NUL.
    """
    if not text.strip():
        return EditProblem("nothing is written here; without arguments it is {}")
    return _read(text, (dict,))


def read_value(text: str) -> str | EditProblem:
    """As `read_edit`, for one value of any kind."""
    if not text.strip():
        return EditProblem('nothing is written here; an empty text is "", nothing at all is null')
    return _read(text, (object,))


def _read(text: str, kinds: tuple[type, ...]) -> str | EditProblem:
    try:
        tree = parse(text)
    except JsonProblem as exc:
        return _misread(text, exc, kinds)
    if not isinstance(tree, kinds):
        return _at(text, len(text) - len(text.lstrip()), "the arguments must be a JSON object: {…}")
    if too_deep(tree):
        return EditProblem("the value is nested too deeply")
    return _first_fault(text) or dump(tree)


def _at(text: str, offset: int, message: str) -> EditProblem:
    before = text[:offset]
    return EditProblem(message, before.count("\n") + 1, offset - before.rfind("\n"))


def _misread(text: str, problem: JsonProblem, kinds: tuple[type, ...]) -> EditProblem:
    if not problem.line:
        return _first_fault(text) or EditProblem(problem.fault)
    found = EditProblem(_syntax_fault(text, problem), problem.line, problem.column)
    repaired = _repaired(text, kinds)
    if repaired is not None or any(char in CURLY for char in STRAIGHT.sub("", text)):
        return replace(found, message=CURLY_FAULT, repaired=repaired)
    return found


def _repaired(text: str, kinds: tuple[type, ...]) -> str | None:
    """The text with straight quotes, if all ways of putting them in that make sense come to the same."""
    candidates = (
        QUOTED.sub(lambda quoted: f'"{quoted[0][1:-1]}"', text),
        text.translate(dict.fromkeys(map(ord, CURLY), '"')),
    )
    readings = {_sendable(candidate, kinds) for candidate in candidates if candidate != text} - {None}
    return readings.pop() if len(readings) == 1 else None


def _sendable(text: str, kinds: tuple[type, ...]) -> str | None:
    try:
        tree = parse(text)
    except JsonProblem:
        return None
    return dump(tree) if isinstance(tree, kinds) and not too_deep(tree) and unsendable(tree) is None else None


def _first_fault(text: str) -> EditProblem | None:
    """The first name that appears twice, or value that no agent server can hold, in text that is JSON otherwise."""
    objects: list[set[str]] = []
    for token in TOKEN.finditer(text):
        word = token[0]
        if word in ("{", "["):
            objects.append(set())
        elif word in ("}", "]"):
            del objects[-1:]
        elif fault := _fault(word, objects[-1] if objects and COLON.match(text, token.end()) else None):
            return _at(text, token.start(), fault)
    return None


def _fault(word: str, names: set[str] | None) -> str | None:
    if not word.startswith('"'):
        return None if word in ("true", "false", "null") else unsendable(Number(word))
    value = json.loads(word)
    if names is not None and value in names:
        return f"the name {json.dumps(value)} appears twice"
    if names is not None:
        names.add(value)
    return unsendable(value)


def _syntax_fault(text: str, problem: JsonProblem) -> str:
    """What stands at the place where reading stopped, else what was expected there."""
    offset = sum(len(line) + 1 for line in text.split("\n")[: problem.line - 1]) + problem.column - 1
    here = text[offset : offset + 1]
    comma = len(text[:offset].rstrip()) - 1
    if any(TRAILING_COMMA.match(text, start) for start in (offset, max(comma, 0))):
        return "a comma stands before the closing bracket"
    if here == "'":
        return "texts and names stand in double quotes"
    if PYTHON_WORD.match(text, offset):
        return "these words are written true, false and null"
    if here and here not in " \t\r\n" and not (here.isascii() and here.isprintable()):
        return _named(here)
    return next((said for begins, said in FAULTS.items() if problem.fault.startswith(begins)), problem.fault)


def _named(char: str) -> str:
    """A character by its name: it may be one that cannot be seen, or that would reorder the sentence."""
    return f"{unicodedata.name(char, 'the character').capitalize()} (U+{ord(char):04X}) has no place here"
