"""What a person typed as a call's new arguments, as JSON text or one field at a time.

Agents' JSON is read by `bot.core.json`; a person's is read here, because people need to be told what is wrong, where,
and in words. Nothing is mended behind their back: curly quotes, which keyboards put in for straight ones, come back
as a problem that carries the text as it was understood, for them to confirm.

The arguments of a call as one field each, and what a person typed into them as new arguments. It exists so that
nobody has to write JSON to change one value, and so that only what was changed changes: the source text of every
untouched argument is copied, never written anew. Types come from the value itself, and where there is none from a
schema.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from json.encoder import encode_basestring_ascii
from typing import Any

from bot.core.argument_schema import EditSchema, Property, value_refusal
from bot.core.json import JsonProblem, Number, canonical, dump, parse, too_deep, unsendable
from bot.core.redaction import Masked

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


MOST = 20
STATE_AT = 5_000  # the number of a field's state is its own plus this
NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?")
BLANK = re.compile(r"[ \t\r\n]*")
NOT_A_NUMBER = "Write a number, such as 7 or 12.70."
NOT_CHOSEN = "Choose one of these."
# What a text input may change on its way, or nobody could see there: such texts are written as JSON, with escapes.
PLAIN_TEXT = re.compile(
    r"(?![ \t\n])[\n\t -~\u00a1-\u00ac\u00ae-\u02ff\u0400-\u0482\u048a-\u052f\u3041-\u30ff\u4e00-\u9fff\uac00-\ud7a3]*(?<![ \t\n])|"
)


UNKNOWN = Property()


class FieldKind(StrEnum):
    """How a field is typed."""

    TEXT = "text"
    NUMBER = "number"
    YES_NO = "yes_no"
    CHOICE = "choice"
    JSON = "json"
    HIDDEN = "hidden"  # hidden by the policy: typed anew or left alone
    FIXED = "fixed"  # hidden in part, so it stays as it is


class FieldState(StrEnum):
    """What an argument can be besides a value."""

    SET = "set"
    NULL = "null"
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class ArgumentField:
    """One argument. `source` is its text in the proposed arguments, None where they do not have it.

    `choices` are JSON texts. `states` has more than one entry where the schema lets the argument be null or left out.
    """

    index: int
    name: str
    kind: FieldKind
    source: str | None
    choices: tuple[str, ...] = ()
    states: tuple[FieldState, ...] = (FieldState.SET,)
    rule: Property = UNKNOWN

    @property
    def state(self) -> FieldState:
        """As it is proposed."""
        if self.source is None:
            return FieldState.MISSING
        return FieldState.NULL if self.source == "null" and FieldState.NULL in self.states else FieldState.SET

    @property
    def initial(self) -> str:
        """What its input holds at first."""
        if self.source is None or self.kind in (FieldKind.HIDDEN, FieldKind.FIXED) or self.state is FieldState.NULL:
            return ""
        return str(json.loads(self.source)) if self.kind is FieldKind.TEXT else self.source


@dataclass(frozen=True, slots=True)
class TypedArguments:
    """New arguments as source text, or a sentence for each field that is at fault. `straightened`: curly quotes were read."""

    final: str | None
    errors: Mapping[int, str] = field(default_factory=dict)
    straightened: bool = False


@dataclass(frozen=True, slots=True)
class FieldMember:
    """Where one argument stands in the source text: its name from `start`, its value from `at` to `end`."""

    name: str
    start: int
    at: int
    end: int


@dataclass(frozen=True, slots=True)
class _New:
    """What one field came to: new source text, or None to leave the argument out."""

    text: str | None
    straightened: bool = False


def members(source: str) -> tuple[FieldMember, ...] | None:
    """The arguments of an object's source text, or None for anything else, and for a name that appears twice."""
    try:
        if not isinstance(parse(source, constants=True), dict):
            return None
    except JsonProblem:
        return None
    return tuple(_members(source, _past(source, 0) + 1))


def _members(source: str, at: int) -> Iterator[FieldMember]:
    decoder = json.JSONDecoder(parse_int=str, parse_float=str)
    at = _past(source, at)
    while source[at] != "}":
        start = at
        name, at = decoder.raw_decode(source, start)
        value_at = _past(source, _past(source, at) + 1)
        _, end = decoder.raw_decode(source, value_at)
        yield FieldMember(name, start, value_at, end)
        at = _past(source, end)
        at = _past(source, at + 1) if source[at] == "," else at


def _past(source: str, at: int) -> int:
    match = BLANK.match(source, at)
    return match.end() if match else at


def fields_of(source: str | None, schema: EditSchema, masks: Iterable[Masked] = ()) -> tuple[ArgumentField, ...]:
    """A field for each argument, then for each that the schema knows besides; none where JSON text suits better."""
    found = members(source) if source is not None else None
    hidden = {mask.path for mask in masks if mask.declared}
    if source is None or found is None or () in hidden:
        return ()
    have = {member.name: source[member.at : member.end] for member in found}
    names = [*have, *(name for name in schema.properties if name not in have)]
    if len(names) > MOST:
        return ()
    return tuple(_field(at, name, have.get(name), schema, hidden=hidden) for at, name in enumerate(names))


def _field(
    index: int, name: str, source: str | None, schema: EditSchema, *, hidden: set[tuple[str | int, ...]]
) -> ArgumentField:
    rule = schema.properties.get(name, UNKNOWN)
    value = parse(source, constants=True) if source is not None else None
    states = [FieldState.SET]
    states += [FieldState.NULL] if rule.nullable else []
    states += (
        [FieldState.MISSING] if source is None or (name in schema.properties and name not in schema.required) else []
    )
    made = ArgumentField(index, name, _kind(value, rule), source, states=tuple(states), rule=rule)
    if any(path[0] == name for path in hidden if path):
        whole = (name,) in hidden and isinstance(value, str | Number)
        return replace(made, kind=FieldKind.HIDDEN if whole else FieldKind.FIXED, states=(FieldState.SET,))
    return replace(made, choices=_choices(source, rule)) if made.kind is FieldKind.CHOICE else made


def _kind(value: Any, rule: Property) -> FieldKind:
    if rule.enum:
        return FieldKind.CHOICE
    match value:
        case str():
            return FieldKind.TEXT if PLAIN_TEXT.fullmatch(value) else FieldKind.JSON
        case bool():
            return FieldKind.YES_NO
        case Number():
            return FieldKind.NUMBER
        case None if rule.type:
            return {
                "string": FieldKind.TEXT,
                "boolean": FieldKind.YES_NO,
                "integer": FieldKind.NUMBER,
                "number": FieldKind.NUMBER,
            }.get(rule.type, FieldKind.JSON)
    return FieldKind.JSON


def _choices(source: str | None, rule: Property) -> tuple[str, ...]:
    """What the schema lists, and what is proposed if that is something else."""
    listed = tuple(dump(value) for value in rule.enum)
    return listed if source in (None, "null", *listed) else (str(source), *listed)


def read_fields(source: str, fields: Iterable[ArgumentField], typed: Mapping[int, str | None]) -> TypedArguments:
    """The arguments with what was typed put in; a field without an entry in `typed` stays as it is."""
    errors: dict[int, str] = {}
    changed: dict[str, _New] = {}
    for one in fields:
        new = _read_field(one, typed)
        if isinstance(new, str):
            errors[one.index] = new
        elif new is not None:
            changed[one.name] = new
    if errors:
        return TypedArguments(None, errors)
    return TypedArguments(_spliced(source, changed), straightened=any(new.straightened for new in changed.values()))


def _read_field(one: ArgumentField, typed: Mapping[int, str | None]) -> _New | str | None:
    """None: it stays as it is. A sentence: it cannot be taken."""
    if one.index not in typed and one.index + STATE_AT not in typed:
        return None
    text = (typed.get(one.index, one.initial) or "").replace("\r\n", "\n")
    same = _is_same(one, text)
    chosen = typed.get(one.index + STATE_AT) or one.state
    state = (
        FieldState.SET
        if chosen == one.state and not same
        else FieldState(chosen)
        if chosen in set(FieldState)
        else one.state
    )
    if state not in one.states or (same and state is one.state):
        return None
    if state is not FieldState.SET:
        return _New("null" if state is FieldState.NULL else None)
    return _checked(one, _value(one, text))


def _is_same(one: ArgumentField, text: str) -> bool:
    if one.kind is FieldKind.JSON and one.source is not None and text.strip():
        try:
            return canonical(parse(text)) == canonical(parse(one.source, constants=True))
        except JsonProblem:
            return False
    return text == one.initial or (one.kind is FieldKind.NUMBER and text.strip() == one.initial)


def _value(one: ArgumentField, text: str) -> _New | str:
    match one.kind:
        case FieldKind.TEXT:
            return _New(encode_basestring_ascii(text))
        case FieldKind.NUMBER:
            return _New(text.strip()) if NUMBER.fullmatch(text.strip()) else NOT_A_NUMBER
        case FieldKind.YES_NO:
            return _New(text) if text in ("true", "false") else NOT_CHOSEN
        case FieldKind.CHOICE:
            return _New(text) if text in one.choices else NOT_CHOSEN
        case FieldKind.HIDDEN:
            kept_number = one.source is not None and not one.source.startswith('"')
            return _value(replace(one, kind=FieldKind.NUMBER if kept_number else FieldKind.TEXT), text)
        case _:
            return _json(text)


def _json(text: str) -> _New | str:
    read = read_value(text)
    if not isinstance(read, EditProblem):
        return _New(read)
    return read.sentence if read.repaired is None else _New(read.repaired, straightened=True)


def _checked(one: ArgumentField, new: _New | str) -> _New | str:
    """What no agent server could hold, and what the schema does not take, is said at the field."""
    if isinstance(new, str) or new.text is None:
        return new
    value = parse(new.text)
    fault = unsendable(value)
    if fault:
        return f"{fault[0].upper()}{fault[1:]}."
    return value_refusal(one.rule, value) or new


def _spliced(source: str, changed: Mapping[str, _New]) -> str:
    """Put new values into the source text; all else stays to the byte, unless an argument comes or goes."""
    found = members(source) or ()
    names = {member.name for member in found}
    if names.issuperset(changed) and all(new.text is not None for new in changed.values()):
        return _in_place(source, found, changed)
    kept = [_pair(source, member, changed.get(member.name)) for member in found]
    kept += [
        f"{encode_basestring_ascii(name)}:{new.text}" for name, new in changed.items() if name not in names and new.text
    ]
    return "{" + ",".join(pair for pair in kept if pair is not None) + "}"


def _in_place(source: str, found: Iterable[FieldMember], changed: Mapping[str, _New]) -> str:
    parts: list[str] = []
    at = 0
    for member in found:
        new = changed.get(member.name)
        if new is not None and new.text is not None:
            parts += [source[at : member.at], new.text]
            at = member.end
    return "".join([*parts, source[at:]])


def _pair(source: str, member: FieldMember, new: _New | None) -> str | None:
    if new is None:
        return source[member.start : member.end]
    return None if new.text is None else source[member.start : member.at] + new.text
