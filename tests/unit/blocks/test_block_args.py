import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blocks import limits
from blocks.args import ArgumentsShape, name_text, one_line, parse, read_arguments, skimmed, value_text
from blocks.cards import call_card
from blocks.fitting import deal, fit
from blocks.models import Mask
from blocks.tree import Pairs, Writer, beginning, read_json
from tests.kit.block_calls import MASKS, SOURCES, make_call, untimed

pytestmark = pytest.mark.filterwarnings("ignore::hypothesis.errors.HypothesisWarning")  # long examples


def read(source, *masks, reach=limits.READ_PAGES):
    return read_arguments(parse(source, masks), reach=reach)


def values(source, *masks):
    return {row.name: row.text for row in read(source, *masks).rows}


@pytest.mark.parametrize(
    "number",
    [
        "12.70",
        "1e400",
        "12345678901234567890",
        "-0",
        "-0.0",
        "1E+5",
        "0.1000000000000000055511151231257827",
        "NaN",
        "-Infinity",
    ],
)
def test_numbers_are_shown_as_they_were_written(number):
    assert values(f'{{"n": {number}, "l": [{number}]}}') == {"n": number, "l": f"[{number}]"}


def test_a_number_of_ten_thousand_digits_is_no_obstacle():
    assert values('{"n": ' + "7" * 10_000 + "}") == {"n": "7" * 10_000}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("7", '"7"'), ("12.70", '"12.70"'), ("-1e5", '"-1e5"'), ("true", '"true"'), ("null", '"null"'), ("NaN", '"NaN"'),
        ("", '""'), (" ", '" "'), ("a ", '"a "'), ("[hidden]", '"[hidden]"'), ('{"a": 1}', r'"{\"a\": 1}"'), ('"', r'"\""'),
        ("u_4821", "u_4821"), ("2024-01-01", "2024-01-01"), ("7 days", "7 days"), ("--force", "--force"), ("trueish", "trueish"),
    ],
)  # fmt: skip
def test_a_string_is_quoted_only_where_it_could_pass_for_something_else(text, shown):
    assert value_text(text) == shown


@given(st.text(), st.none() | st.booleans() | st.integers() | st.lists(st.integers(), max_size=3))
@untimed
def test_no_string_is_shown_like_another_kind_of_value(text, other):
    (as_text,) = read(json.dumps({"a": text})).rows
    (as_other,) = read(json.dumps({"a": other})).rows
    assert (as_text.text, as_text.as_text) != (as_other.text, as_other.as_text)


def test_a_text_of_lines_that_looks_like_json_is_marked_as_text():
    (row,) = read(json.dumps({"content": '{\n "a": 1\n}'})).rows
    assert row.as_text
    assert row.block


def test_nested_values_are_indented_and_short_ones_stay_on_a_line():
    shown = values('{"to": [{"id": 1, "tags": ["vip"]}], "labels": ["a", "b"]}')
    assert shown["to"] == '[\n  {\n    "id": 1,\n    "tags": ["vip"]\n  }\n]'
    assert shown["labels"] == '["a", "b"]'


def test_duplicate_keys_are_both_shown():
    assert [row.text for row in read('{"a": 1, "a": 2}').rows] == ["1", "2"]


@pytest.mark.parametrize(
    ("source", "shape"),
    [
        (None, ArgumentsShape.MISSING),
        ("{}", ArgumentsShape.EMPTY),
        ('{"a": 1}', ArgumentsShape.OBJECT),
        ("null", ArgumentsShape.VALUE),
        ('""', ArgumentsShape.VALUE),
        ('"{\\"a\\":1}"', ArgumentsShape.VALUE),
        ("[1]", ArgumentsShape.VALUE),
        ("", ArgumentsShape.MALFORMED),
        ('{"a":', ArgumentsShape.MALFORMED),
        ("[" * 100_000, ArgumentsShape.MALFORMED),
    ],
)
def test_what_the_arguments_are_is_told_apart(source, shape):
    arguments = read(source)
    assert arguments.shape is shape
    assert arguments.is_object == (shape in (ArgumentsShape.OBJECT, ArgumentsShape.EMPTY))


def test_an_object_too_deep_for_a_tree_is_shown_as_its_source():
    source = '{"a": ' + "[" * 60 + "]" * 60 + "}"
    arguments = read(source)
    assert arguments.shape is ArgumentsShape.OBJECT
    assert [row.text for row in arguments.rows] == [source]
    assert one_line(parse(source), 600) == (source, True)


def test_an_empty_name_and_a_blank_name_can_be_seen():
    assert list(values('{"": 1, " a": 2, "b": 3}')) == ['""', '" a"', "b"]
    assert name_text("a\nb") == r"a\u000ab"


def test_a_very_long_name_moves_into_the_value():
    name = "n" * 200
    assert values(json.dumps({name: 1})) == {"": '{\n  "' + name + '": 1\n}'}


@given(SOURCES, st.integers(1, 3_000))
@untimed
def test_reading_never_fails_and_knows_whether_it_was_all(source, reach):
    arguments = read(source, reach=reach)
    whole = read(source)
    assert not arguments.known or arguments.rows == whole.rows
    assert arguments.total >= sum(row.characters for row in arguments.rows)


@given(SOURCES, st.integers(0, 4_000))
@untimed
def test_a_fit_is_within_its_budget_and_complete_only_with_every_row(source, budget):
    arguments = read(source)
    fitted = fit(arguments, budget)
    assert sum(row.size for row in fitted.rows) <= max(budget, 0) or fitted.complete
    assert fitted.complete == (
        fitted.rows == arguments.rows and arguments.known and not any(row.more for row in fitted.rows)
    )


def test_a_long_first_argument_does_not_hide_the_others():
    arguments = read(json.dumps({"body": "x" * 9_000, "to": "ops@example.com"}))
    fitted = fit(arguments, 1_500)
    assert [row.name for row in fitted.rows] == ["body", "to"]
    assert [row.more for row in fitted.rows] == [True, False]


@given(SOURCES)
@untimed
def test_pages_hold_every_character_in_order_as_far_as_they_go(source):
    arguments = read(source)
    dealt = deal(arguments)
    dealt_text = "".join(row.text for page in dealt.pages for row in page)
    whole = "".join(row.text for row in arguments.rows)
    assert whole.startswith(dealt_text)
    assert dealt.complete == (arguments.known and dealt_text == whole)
    assert dealt.complete or not arguments.known or len(dealt.pages) == limits.PAGES
    assert all(sum(row.size for row in page) <= limits.PAGE for page in dealt.pages)


def test_pages_end_at_the_last_allowed_one_and_say_so():
    dealt = deal(read(json.dumps({"q": "<" * 100_000})))
    assert len(dealt.pages) == limits.PAGES
    assert not dealt.complete


@given(SOURCES)
@untimed
def test_pretty_json_parses_back_to_the_same_tree(source):
    try:
        node = read_json(source or "")
        text = "\n".join(Writer().lines(node))
    except (ValueError, RecursionError):
        return
    assert read_json(text) == node


def test_the_one_line_form_is_json_without_needless_blanks():
    source = '{"a": 1, "b": {"c": [[1, "x"], []]}, "long": "' + "y" * 80 + '"}'
    assert one_line(parse(source), 600) == (source, True)


def test_a_hidden_value_is_hidden_at_any_depth_and_counted():
    masks = (Mask(("auth", "token"), declared=True), Mask(("list", 1), declared=False), Mask(("gone",), declared=False))
    arguments = read('{"auth": {"token": "abc", "user": "u"}, "list": [1, 2]}', *masks)
    assert [row.text for row in arguments.rows] == ['{"token": [hidden], "user": "u"}', "[1, [hidden]]"]
    assert (arguments.declared, arguments.suspected) == (1, 2)


@given(SOURCES, MASKS)
@untimed
def test_a_hidden_value_is_in_no_row(source, masks):
    arguments = read(source, *masks, Mask((), declared=True))
    assert source is None or [row.text for row in arguments.rows] == ["[hidden]"]
    assert source is None or one_line(parse(source, (*masks, Mask((), declared=True))), 600)[0] == "[hidden]"


def test_what_was_written_out_is_counted_over_names_and_values():
    arguments = read(json.dumps({"a\u200b": "x\u202e", "b": ["\u2066"], "c": r"\u202e"}))
    assert arguments.escapes == 3


def leaves(node, path=()):
    """Every value that holds no others, with the way to it."""
    members = node if isinstance(node, Pairs) else enumerate(node) if isinstance(node, list) else None
    if members is None:
        return [(path, node)]
    return [leaf for step, value in members for leaf in leaves(value, (*path, step))]


@given(SOURCES.filter(lambda source: source is not None), st.integers(1, 200))
@untimed
def test_a_beginning_of_json_reads_by_itself_and_holds_the_first_values_and_no_other(source, reach):
    begun = beginning(source, reach)
    if begun is None:
        return
    try:
        whole = leaves(read_json(source))
    except (ValueError, RecursionError):
        return
    some = leaves(read_json(begun))
    assert len(begun) >= reach
    assert some == whole[: len(some)]


@pytest.mark.parametrize("source", ["[1]", "[1}, 2, 3]", "]1, 2, 3, 4", '["' + "x, " * 50 + '"]', "[[[[[[[[1]]]]]]]]"])
def test_text_without_a_place_to_stop_at_has_no_beginning_of_its_own(source):
    assert beginning(source, 3) is None


def test_arguments_of_which_only_a_beginning_was_read_are_never_complete():
    source = json.dumps({"rows": [{"a": "b c d", "n": 1}] * 9_000, "last": 1})
    arguments = skimmed(source, ())
    assert not arguments.known
    assert arguments.total == len(source)
    assert not one_line(parse(source, reach=limits.READ_CARD), 1_000_000)[1]
    assert call_card(make_call(arguments=source)).offered == ("reject", "respond")
