"""What a person typed as new arguments: taken as typed, or told what is wrong and where."""

from __future__ import annotations

import pytest

from bot.core.editing import EditProblem, read_edit


def problem(text: str) -> EditProblem:
    found = read_edit(text)
    assert isinstance(found, EditProblem), found
    return found


def place(text: str) -> tuple[int, int]:
    found = problem(text)
    return found.line, found.column


def test_an_object_becomes_source_text_without_blanks():
    assert read_edit(' {\n  "b": 1,\n  "a": [1, 2]\n}\n') == '{"b":1,"a":[1,2]}'


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        '{"f":12.70,"big":9007199254740993,"e":1E5,"neg":-0}',
        '{"n":6,"f":1.5,"b":true,"z":null,"list":[1,"1"],"obj":{"k":false},"s":"5","t":"true"}',
        '{"empty":"","nested":{"z":[],"a":{}}}',
    ],
)
def test_types_numbers_and_key_order_stay_as_typed(text):
    assert read_edit(text) == text


def test_characters_outside_ascii_are_kept():
    assert read_edit('{"s":"é😀“”"}') == '{"s":"\\u00e9\\ud83d\\ude00\\u201c\\u201d"}'


@pytest.mark.parametrize("text", ["", "  \n"])
def test_nothing_typed_says_how_to_write_no_arguments(text):
    assert "{}" in problem(text).sentence


@pytest.mark.parametrize("text", ["[1]", '"x"', "7", "null", "true"])
def test_only_an_object_is_taken(text):
    assert "JSON object" in problem(text).message


def test_curly_quotes_for_straight_ones_are_named():
    assert "curly quotes" in problem("{“title”: “b”, “n”: 3}").message


@pytest.mark.parametrize(
    ("typed", "understood"),
    [
        ("{“title”: “b”, “n”: 3}", '{"title":"b","n":3}'),
        ('{"title": “b”}', '{"title":"b"}'),
        ('{"title": "b”}', '{"title":"b"}'),
        ('{"a": "x”, "b": “y"}', '{"a":"x","b":"y"}'),
        ("{„a“: „b“}", '{"a":"b"}'),
        ("{«a»: »b«}", '{"a":"b"}'),
        ('{“a”: "he said “hi”"}', '{"a":"he said \\u201chi\\u201d"}'),
        ("{“a”: “it\u2019s”}", '{"a":"it\\u2019s"}'),
        ("{“a”: “a\\\\b”}", '{"a":"a\\\\b"}'),
    ],
)
def test_curly_quotes_are_understood_and_handed_back_to_be_confirmed(typed, understood):
    assert problem(typed).repaired == understood


def test_curly_quotes_inside_a_text_are_part_of_it():
    assert read_edit('{"title":"he said “hi”"}') == '{"title":"he said \\u201chi\\u201d"}'


@pytest.mark.parametrize(
    "typed",
    [
        "{“a”: 1,}",
        "{“a”: 1, “a”: 2}",
        "{“a”: 1e400}",
        "{“a”: “\\u0000”}",
        '{“a”: “he said "hi"”}',
        "[“a”]",
        '{"a": [“b", “c”]} “',
    ],
)
def test_curly_quotes_are_not_guessed_at_where_more_is_wrong(typed):
    found = problem(typed)
    assert ("curly quotes" in found.message, found.repaired) == (True, None)


def test_curly_quotes_that_can_be_read_in_two_ways_are_not_guessed_at():
    assert problem('{"a": [“b”, "x“, ”y"]}').repaired is None


def test_curly_quotes_inside_texts_are_not_blamed_for_another_fault():
    assert problem('{"t": "say “hi”",}').message == "a comma stands before the closing bracket"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a": 1,}', "a comma stands before"),
        ('{"a": [1,2, ]}', "a comma stands before"),
        ('{"title":\u00a0"b"}', "No-break space (U+00A0)"),
        ('\ufeff{"a": 1}', "Zero width no-break space (U+FEFF)"),
        ('{"a": \u20131}', "En dash (U+2013)"),
        ('{"a":\u202e1}', "Right-to-left override (U+202E)"),
        ('{"a": \x0b1}', "U+000B"),
        ("{'a': 1}", "double quotes"),
        ('{"a": True}', "true, false and null"),
        ('{"a": None}', "true, false and null"),
        ('{"a": 1 "b": 2}', "a comma or a closing bracket"),
        ('{"a" 1}', "a colon"),
        ("{a: 1}", "a name in double quotes"),
        ('{"a": }', "a value"),
        ('{"a": 1', "a comma or a closing bracket"),
        ('{"a": "x', "not closed"),
        ('{"a": "x\ny"}', "a line break inside a text"),
        ('{"a": "C:\\dir"}', "a backslash itself"),
        ('{"a": 1} x', "nothing may follow"),
        ('{"a": 012}', "a comma or a closing bracket"),
    ],
)
def test_a_fault_of_syntax_is_said_in_words_for_people(text, said):
    assert said in problem(text).message


def test_a_character_that_cannot_be_seen_is_named_and_never_repeated():
    assert "\u202e" not in problem('{"a":\u202e1}').sentence


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a":1,"a":2}', 'the name "a" appears twice'),
        ('{"a":1,"\\u0061":2}', 'the name "a" appears twice'),
        ('{"x":[{"k":{"a":1},"l":2,"l":3}]}', 'the name "l" appears twice'),
        ('{"a": NaN}', "not a JSON number"),
        ('{"a": [-Infinity]}', "not a JSON number"),
        ('{"a": 9223372036854775808}', "does not fit 64 bits"),
        ('{"a": 1e400}', "too large"),
        ('{"a": 0.10000000000000001}', "rounding"),
        ('{"a": "\\ud800"}', "half a character"),
        ('{"a": "x\\u0000"}', "NUL"),
        ('{"a\\u0000": 1}', "NUL"),
        ('{"a":' * 300 + "1" + "}" * 300, "nested too deeply"),
        ('{"a":' * 50_000, "nested too deeply"),
        ("[" * 3000 + "]" * 5000, "nested too deeply"),
    ],
)
def test_what_no_agent_server_can_hold_is_said_before_it_is_sent(text, said):
    assert said in problem(text).message


@pytest.mark.parametrize("text", ['{"a":{"a":1}}', '[{"a":1},{"a":2}]', '{"a":"a","b":"a: 1"}'])
def test_a_name_may_appear_again_in_another_object_or_as_a_value(text):
    assert "twice" not in str(read_edit(text))


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ('{"a":1,"a":2}', (1, 8)),
        ('{\n  "n": 1e400\n}', (2, 8)),
        ('{"s": "ok",\n "t": ["x", "\\ud800"]}', (2, 13)),
        ('{"n": [1,\n\nNaN]}', (3, 1)),
        ("{\n “a”: 1}", (2, 2)),
        ("\n\n[1]", (3, 1)),
        ('{"a": 1,\n}', (2, 1)),
        ('{"é":\u00a01}', (1, 6)),
    ],
)
def test_a_fault_has_its_line_and_column(text, where):
    assert place(text) == where


def test_a_fault_with_a_place_is_one_sentence_with_it():
    assert problem('{"n":\n 1e400}').sentence == "Line 2, column 2: 1e400 is too large a number."


def test_a_fault_without_a_place_is_a_sentence_too():
    assert problem("[" * 300 + "]" * 300).sentence == "Line 1, column 1: the arguments must be a JSON object: {…}."
    assert problem('{"a":' * 300 + "1" + "}" * 300).sentence == "The value is nested too deeply."
