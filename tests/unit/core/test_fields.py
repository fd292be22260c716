"""Arguments as fields: what was not touched stays to the byte, what was typed is what it says."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.core.argument_schema import NOTHING, edit_schema
from bot.core.editing import STATE_AT, FieldKind, FieldState, fields_of, members, read_fields
from bot.core.redaction import Masked

MIXED = (
    '{ "n":5, "f": 12.70,"b":true,"z":null,"list":[1,"1"],"obj":{"k":false},"s":"5","t":"true","e":"",'
    '"hidden":"a\\u202eb","big":123456789012345678}'
)


def fields(source=MIXED, schema=NOTHING, masks=()):
    return {one.name: one for one in fields_of(source, schema, masks)}


def typed(source=MIXED, schema=NOTHING, masks=(), **values):
    made = fields(source, schema, masks)
    return read_fields(source, made.values(), {made[name].index: text for name, text in values.items()})


def test_each_value_is_typed_by_its_own_kind():
    assert {name: one.kind for name, one in fields().items()} == {
        "n": FieldKind.NUMBER,
        "f": FieldKind.NUMBER,
        "b": FieldKind.YES_NO,
        "z": FieldKind.JSON,
        "list": FieldKind.JSON,
        "obj": FieldKind.JSON,
        "s": FieldKind.TEXT,
        "t": FieldKind.TEXT,
        "e": FieldKind.TEXT,
        "hidden": FieldKind.JSON,
        "big": FieldKind.NUMBER,
    }


def test_what_comes_back_untouched_is_the_very_same_text():
    made = fields()

    assert read_fields(MIXED, made.values(), {one.index: one.initial for one in made.values()}).final == MIXED


def test_one_change_leaves_every_other_byte():
    assert typed(n="6").final == MIXED.replace('"n":5', '"n":6')
    assert typed(f="12.7").final == MIXED.replace("12.70", "12.7")
    assert typed(s="6").final == MIXED.replace('"s":"5"', '"s":"6"')
    assert typed(e=None).final == MIXED
    assert typed(s=None).final == MIXED.replace('"s":"5"', '"s":""')


def test_json_that_says_the_same_is_no_change():
    assert typed(list='[\n  1,\n  "1"\n]', obj='{ "k" : false }').final == MIXED


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("n", "6x", "Write a number"),
        ("n", "", "Write a number"),
        ("n", "NaN", "Write a number"),
        ("n", "+1", "Write a number"),
        ("n", "9223372036854775808", "does not fit 64 bits"),
        ("n", "1e400", "too large"),
        ("n", "0.1000000000000000000001", "rounding"),
        ("s", "a\x00", "NUL"),
        ("s", "a\ud800", "NUL or half a character"),
        ("list", "[1,]", "Line 1, column 4"),
        ("list", "", "Nothing is written here"),
        ("list", "[9223372036854775808]", "does not fit 64 bits"),
        ("list", '{"a": 1, "a": 2}', "appears twice"),
        ("b", "maybe", "Choose one"),
    ],
)
def test_a_bad_value_is_said_at_its_field(name, text, said):
    read = typed(**{name: text})

    assert read.final is None
    assert said in read.errors[fields()[name].index]


def test_curly_quotes_in_json_are_read_and_said():
    read = typed(list="[“x”, 1]")

    assert read.straightened
    assert json.loads(read.final)["list"] == ["x", 1]


SCHEMA = edit_schema(
    json.dumps(
        {
            "required": ["n"],
            "properties": {
                "n": {"type": "integer", "minimum": 3},
                "region": {"enum": ["eu", "us"]},
                "note": {"anyOf": [{"type": "string", "maxLength": 5}, {"type": "null"}]},
                "force": {"type": "boolean"},
            },
        }
    ),
    None,
)
SMALL = '{"n":5,"region":"eu","note":null}'


def test_a_schema_keeps_null_empty_and_missing_apart():
    made = fields(SMALL, SCHEMA)
    number = made["note"].index

    def read(**values):
        return read_fields(
            SMALL,
            made.values(),
            {number + STATE_AT if key == "state" else number: text for key, text in values.items()},
        ).final

    assert made["note"].states == (FieldState.SET, FieldState.NULL, FieldState.MISSING)
    assert read(text=None) == SMALL
    assert read(text=None, state="set") == SMALL.replace("null", '""')
    assert read(text=None, state="missing") == '{"n":5,"region":"eu"}'
    assert read(text="hi") == SMALL.replace("null", '"hi"')


def test_an_argument_that_only_the_schema_knows_can_be_added():
    assert fields(SMALL, SCHEMA)["force"].state is FieldState.MISSING
    assert typed(SMALL, SCHEMA, force="true").final == '{"n":5,"region":"eu","note":null,"force":true}'
    assert typed(SMALL, SCHEMA).final == SMALL


def test_the_schema_judges_what_was_typed():
    assert typed(SMALL, SCHEMA, n="2").errors == {0: "At least 3 is needed."}
    assert typed(SMALL, SCHEMA, n="7.5").errors == {0: "This must be a whole number."}
    assert typed(SMALL, SCHEMA, region='"xx"').errors == {1: "Choose one of these."}
    assert typed(SMALL, SCHEMA, region='"us"').final == SMALL.replace("eu", "us")


def test_an_interrupts_own_schema_of_an_edit_is_followed():
    args = {"type": "object", "properties": {"n": {"type": "integer", "maximum": 9}}}
    edit = {"properties": {"type": {"const": "edit"}, "edited_action": {"properties": {"args": args}}}}
    schema = edit_schema(None, json.dumps({"oneOf": [{"$ref": "#/$defs/Edit"}], "$defs": {"Edit": edit}}))

    assert typed('{"n":1}', schema, n="10").errors == {0: "At most 9 is allowed."}


def test_what_the_policy_hides_is_kept_or_typed_anew_and_never_shown():
    source = '{"pw":"old","pin":1234,"login":{"password":"x","user":"ann"}}'
    masks = [
        Masked(("pw",), declared=True),
        Masked(("pin",), declared=True),
        Masked(("login", "password"), declared=True),
    ]
    made = fields(source, masks=masks)

    assert [one.kind for one in made.values()] == [FieldKind.HIDDEN, FieldKind.HIDDEN, FieldKind.FIXED]
    assert [one.initial for one in made.values()] == ["", "", ""]
    assert typed(source, masks=masks, pw=None, pin="").final == source
    assert typed(source, masks=masks, pw="new", pin="7").final == source.replace('"old"', '"new"').replace("1234", "7")
    assert typed(source, masks=masks, pin="x").errors


@pytest.mark.parametrize("source", [None, "[1]", "{", '"x"', '{"a":1,"a":2}'])
def test_what_is_no_object_has_no_fields(source):
    assert fields_of(source, NOTHING) == ()


def test_more_arguments_than_a_form_takes_have_no_fields():
    assert fields_of(json.dumps({f"a{at}": at for at in range(21)}), NOTHING) == ()


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**62), 2**62)
    | st.text(max_size=20)
    | st.floats(allow_nan=False, allow_infinity=False, width=32),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(st.text(max_size=8), json_values, min_size=1, max_size=8)


@given(objects, st.sampled_from([None, 1, 2]), st.booleans())
@settings(deadline=None, max_examples=80)
def test_untouched_fields_are_byte_equal_whatever_they_hold(tree, indent, ascii_only):
    source = json.dumps(tree, indent=indent, ensure_ascii=ascii_only)
    made = fields_of(source, NOTHING)

    assert read_fields(source, made, {one.index: one.initial for one in made}).final == source
    spans = members(source)
    assert {member.name: json.loads(source[member.at : member.end]) for member in spans} == json.loads(source)


@given(objects, st.data())
@settings(deadline=None, max_examples=80)
def test_changing_one_field_changes_that_value_alone(tree, data):
    source = json.dumps(tree)
    made = fields_of(source, NOTHING)
    one = data.draw(st.sampled_from(made))
    new = {
        FieldKind.TEXT: "other text",
        FieldKind.NUMBER: "4242",
        FieldKind.YES_NO: "true",
        FieldKind.JSON: '["other"]',
    }[one.kind]

    final = read_fields(source, made, {one.index: new}).final

    value = new if one.kind is FieldKind.TEXT else json.loads(new)
    assert json.loads(final) == {**json.loads(source), one.name: value}
