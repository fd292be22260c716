"""What holds for all JSON: nothing is lost, nothing raises, nothing unsendable gets through."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from bot.core.decision import edit_problem, same_arguments
from bot.core.digest import CallAddress, call_digest
from bot.core.editing import EditProblem, read_edit
from bot.core.json import Number, canonical, dump, parse, unsendable
from tests.kit.json_texts import NUMBERS, OBJECTS, STRINGS, TEXTS


def reversed_keys(tree: Any) -> Any:
    if isinstance(tree, dict):
        return {key: reversed_keys(tree[key]) for key in reversed(tree)}
    return [reversed_keys(item) for item in tree] if isinstance(tree, list) else tree


def numbers_in(tree: Any) -> list[str]:
    if isinstance(tree, Number):
        return [tree.text]
    inner = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ()
    return [found for item in inner for found in numbers_in(item)]


@given(TEXTS)
def test_text_without_blanks_comes_back_byte_for_byte(text):
    assert dump(parse(text)) == text


@given(TEXTS)
def test_reading_what_was_written_gives_the_same_value(text):
    assert parse(dump(parse(text))) == parse(text)


@given(st.lists(NUMBERS))
def test_every_number_keeps_its_spelling(numbers):
    assert numbers_in(parse(f"[{','.join(numbers)}]")) == numbers


@given(TEXTS)
def test_canonical_bytes_do_not_depend_on_key_order(text):
    tree = parse(text)
    assert canonical(tree) == canonical(reversed_keys(tree))


@given(TEXTS, TEXTS)
def test_different_values_have_different_canonical_bytes(left, right):
    same = reversed_keys(parse(left)) == parse(right)
    assert (canonical(parse(left)) == canonical(parse(right))) is same


@given(TEXTS)
def test_canonical_bytes_mean_what_any_reader_of_json_reads(text):
    assert json.loads(canonical(parse(text)), parse_float=str, parse_int=str) == json.loads(
        text, parse_float=str, parse_int=str
    )


@given(OBJECTS, OBJECTS)
def test_arguments_are_the_same_exactly_if_their_canonical_bytes_are(left, right):
    assert same_arguments(left, right) is (canonical(parse(left)) == canonical(parse(right)))


PLACES = st.builds(CallAddress, st.binary(min_size=16, max_size=16), STRINGS, STRINGS, STRINGS)
KINDS = st.lists(st.sampled_from(["approve", "edit", "reject", "respond"]), max_size=4).map(tuple)
CALLS = st.tuples(PLACES, st.integers(0, 30), st.none() | STRINGS, st.none() | TEXTS, KINDS)


@given(CALLS, CALLS)
def test_two_calls_have_one_digest_exactly_if_every_part_is_the_same(one, other):
    assert (call_digest(*one) == call_digest(*other)) is (_readable(one) == _readable(other))


def _readable(call: tuple[Any, ...]) -> str:
    """Half characters side by side mean one character, for a digest as for a reader."""
    place, *rest = call
    parts = [place.salt.hex(), place.server, place.thread_id, place.interrupt_id, *rest]
    return json.dumps(parts)


@given(CALLS, st.data())
def test_changing_any_one_part_changes_a_digest(call, data):
    part = data.draw(st.integers(0, 4))
    changed = list(call)
    changed[part] = data.draw(CALLS.map(lambda other: other[part]).filter(lambda value: value != call[part]))
    assert (call_digest(*changed) == call_digest(*call)) is (_readable(tuple(changed)) == _readable(call))


@given(OBJECTS)
def test_an_object_typed_is_taken_as_typed_exactly_if_a_server_can_hold_it(text):
    assert (read_edit(text) == text) is (unsendable(parse(text)) is None)


def laid_out(tree: Any, blank: str) -> str:
    """The same value with blanks wherever JSON allows them."""
    if isinstance(tree, dict):
        pairs = (f"{json.dumps(key)}{blank}:{laid_out(value, blank)}" for key, value in tree.items())
        return f"{blank}{{{blank}{','.join(pairs)}}}{blank}"
    if isinstance(tree, list):
        return f"{blank}[{blank}{','.join(laid_out(item, blank) for item in tree)}]{blank}"
    return f"{blank}{tree.text if isinstance(tree, Number) else json.dumps(tree)}{blank}"


@given(OBJECTS, st.sampled_from([" ", "\n", "\t", "\r\n  "]))
def test_how_an_object_is_laid_out_does_not_count(text, blank):
    plain, spread = read_edit(text), read_edit(laid_out(parse(text), blank))
    assert spread == plain or (isinstance(plain, EditProblem) and isinstance(spread, EditProblem))


TYPED = st.one_of(
    st.text(st.characters(), max_size=40),
    st.text(st.sampled_from("{}[]\":,“”„«»'\\ \n\u00a0aeE+-.019tnN"), max_size=40),
    OBJECTS.map(lambda text: text.replace('"', "“")),
    OBJECTS.map(lambda text: text.replace(",", ",,")),
    OBJECTS.map(lambda text: text[:-1]),
)


@given(TYPED)
def test_whatever_is_typed_is_taken_or_explained_and_never_a_crash(text):
    found = read_edit(text)
    source = found.repaired if isinstance(found, EditProblem) else found
    assert source is None or edit_problem(source) is None


@given(TYPED)
def test_a_fault_s_place_lies_within_what_was_typed(text):
    found = read_edit(text)
    if isinstance(found, EditProblem) and found.line:
        line = [*text.split("\n"), ""][found.line - 1]
        assert 1 <= found.column <= len(line) + 1


@given(TYPED)
def test_a_fault_is_told_in_characters_that_can_be_seen(text):
    found = read_edit(text)
    if isinstance(found, EditProblem):
        assert found.sentence.isprintable()


@given(OBJECTS)
def test_nothing_is_repaired_that_was_right(text):
    found = read_edit(text)
    assert not isinstance(found, EditProblem) or found.repaired is None
