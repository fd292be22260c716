"""JSON that keeps what was written."""

from __future__ import annotations

import json

import pytest

from bot.core.json import MAX_DEPTH, JsonProblem, Number, canonical, dump, parse, too_deep, unsendable


def nested(depth: int) -> str:
    return "[" * depth + "]" * depth


@pytest.mark.parametrize(
    "number",
    ["12.70", "0", "-0", "-0.0", "1E5", "1e-7", "9007199254740993", "123456789012345678901234567890", "1" * 6000],
)
def test_a_number_leaves_as_it_was_written(number):
    assert dump(parse(f'{{"n":{number}}}')) == f'{{"n":{number}}}'


def test_a_number_and_its_digits_as_text_are_never_equal():
    assert parse("7") != parse('"7"')


def test_two_spellings_of_one_number_are_different_values():
    assert parse("12.70") != parse("12.7")


def test_a_number_says_its_source_text():
    assert repr(Number("12.70")) == "12.70"


def test_key_order_is_kept_in_source_text():
    assert dump(parse('{"b": 1, "a": 2}')) == '{"b":1,"a":2}'


def test_canonical_text_sorts_keys_by_code_point_at_every_depth():
    assert canonical(parse('{"b":{"é":1,"z":2},"B":3,"a":4}')) == b'{"B":3,"a":4,"b":{"z":2,"\\u00e9":1}}'


def test_equal_values_in_another_order_have_one_canonical_text():
    assert canonical(parse('{"a":1,"b":[{"c":2,"d":3}]}')) == canonical(parse('{"b":[{"d":3,"c":2}],"a":1}'))


def test_list_order_counts_in_canonical_text():
    assert canonical(parse("[1,2]")) != canonical(parse("[2,1]"))


@pytest.mark.parametrize("text", ['{"a":1,"a":1}', '{"x":[{"a":1,"b":2,"a":3}]}', '{"a":1,"\\u0061":2}'])
def test_a_key_that_appears_twice_is_an_error_that_names_it(text):
    with pytest.raises(JsonProblem, match='"a" appears twice'):
        parse(text)


def test_the_same_key_in_two_objects_is_no_error():
    assert dump(parse('{"a":{"a":1}}')) == '{"a":{"a":1}}'


@pytest.mark.parametrize("constant", ["NaN", "Infinity", "-Infinity"])
def test_what_is_no_number_in_json_is_refused_from_people(constant):
    with pytest.raises(JsonProblem, match=constant):
        parse(f"[{constant}]")


@pytest.mark.parametrize("constant", ["NaN", "Infinity", "-Infinity"])
def test_what_python_servers_write_for_no_number_is_kept_when_asked(constant):
    assert dump(parse(f"[{constant}]", constants=True)) == f"[{constant}]"


def test_a_syntax_error_has_its_line_and_column():
    with pytest.raises(JsonProblem) as caught:
        parse('{\n "a": oops}')
    assert (caught.value.line, caught.value.column) == (2, 7)


def test_bytes_that_are_no_text_are_a_problem_and_not_a_crash():
    with pytest.raises(JsonProblem, match="UTF-8"):
        parse(b'{"a":"\xff\xfe"}')


def test_bytes_are_read_like_text():
    assert dump(parse('{"ä":1}'.encode())) == '{"\\u00e4":1}'


def test_nesting_beyond_what_python_can_read_is_a_problem_and_not_a_crash():
    with pytest.raises(JsonProblem, match="nested too deeply"):
        parse(nested(100_000))


def test_whatever_could_be_read_can_be_written_however_deep_it_nests():
    text = nested(700)
    assert dump(parse(text)) == text


@pytest.mark.parametrize(("depth", "verdict"), [(1, False), (MAX_DEPTH, False), (MAX_DEPTH + 1, True)])
def test_depth_is_judged_by_the_number_of_containers_around_the_innermost(depth, verdict):
    assert too_deep(parse(nested(depth))) is verdict


def test_depth_is_judged_through_objects_too():
    assert too_deep(parse('{"a":' * (MAX_DEPTH + 1) + "1" + "}" * (MAX_DEPTH + 1)))


@pytest.mark.parametrize("text", ['"\\u0000"', '"\\ud800"', '"\\udc00x"', '"\\ud83d\\ude00"', '"\\u202e"', '"\\u007f"'])
def test_every_character_survives_reading_and_writing(text):
    assert parse(dump(parse(text))) == parse(text)


def test_written_text_is_ascii_whatever_it_holds():
    assert dump(parse('"é😀\\u202e"')) == '"\\u00e9\\ud83d\\ude00\\u202e"'


@pytest.mark.parametrize(
    ("value", "text"), [(True, "true"), (False, "false"), (None, "null"), (3, "3"), (1.5, "1.5"), ("x", '"x"')]
)
def test_plain_python_values_are_written_too(value, text):
    assert dump(value) == text


def test_tuples_are_written_as_lists():
    assert dump((1, (2,))) == "[1,[2]]"


def test_what_json_has_no_word_for_is_a_fault_of_ours():
    with pytest.raises(TypeError, match="set"):
        dump({"a": {1}})


@pytest.mark.parametrize(
    "number", ["9223372036854775807", "-9223372036854775808", "-0", "12.70", "1e308", "0.1", "1e22"]
)
def test_numbers_that_a_server_holds_exactly_can_be_sent(number):
    assert unsendable(parse(f'{{"n":[{number}]}}')) is None


@pytest.mark.parametrize(
    ("number", "why"),
    [
        ("9223372036854775808", "does not fit 64 bits"),
        ("-9223372036854775809", "does not fit 64 bits"),
        ("1" * 5000, "does not fit 64 bits"),
        ("1e400", "too large"),
        ("-1e400", "too large"),
        ("1e99999999999999999999", "too large"),
        ("1e-400", "changed by rounding"),
        ("1e-99999999999999999999", "changed by rounding"),
        ("0.10000000000000001", "changed by rounding"),
        ("9007199254740993.0", "changed by rounding"),
        ("NaN", "not a JSON number"),
    ],
)
def test_numbers_that_a_server_would_change_or_choke_on_cannot_be_sent(number, why):
    assert why in (unsendable(parse(f'{{"n":[{number}]}}', constants=True)) or "")


def test_a_long_number_is_named_by_its_beginning_and_length():
    assert unsendable(Number("1" * 5000)) == "11111111111111111111… (5000 characters) does not fit 64 bits"


@pytest.mark.parametrize("text", ['"\\u0000"', '["a\\ud800"]', '{"\\ud800":1}', '{"a":{"b":["\\udfff"]}}'])
def test_a_nul_or_half_a_character_cannot_be_sent_wherever_it_stands(text):
    assert "half a character" in (unsendable(parse(text)) or "")


def test_a_whole_character_outside_the_basic_plane_can_be_sent():
    assert unsendable(parse('"\\ud83d\\ude00"')) is None


def test_deep_values_are_judged_without_recursion():
    assert unsendable(parse("[" * 700 + "1e400" + "]" * 700)) is not None


def test_source_text_is_what_any_json_reader_reads_as_the_same_value():
    value = {"n": 6, "f": 1.5, "b": True, "z": None, "list": [1, "1"], "obj": {"k": False}, "s": "5"}
    assert json.loads(dump(parse(json.dumps(value)))) == value
