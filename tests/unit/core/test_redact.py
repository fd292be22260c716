"""What is hidden of a call, and that nothing else is."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.core.redaction import (
    HIDDEN,
    Masked,
    looks_secret,
    masks_of,
    redact_text,
    secret_name,
    secrets_in,
    shapes_hidden,
)

SHAPED = [
    "Authorization: Bearer abc123def456ghi",
    "curl -u x --password hunter2xyz",
    "AKIAABCDEFGHIJKLMNOP",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc",
    "postgres://u:FAKE-PW@db/x",
    "https://api.example.com?token=FAKE-TOKEN-0001",
    "ghp_" + "a1" * 18,
    "xox" + "b-1234567890-abcdefghij",
    'password: "hunter2"',
    "PASSWORD=hunter2",
    "api_key: 93jd83hd",
]
HONEST = [
    "",
    "please reset the password",
    "the token: expired",
    "Basic authentication is needed",
    "https://example.com/a@b:c?x=1",
    "http://localhost:80/path",
    "disable user u_4821",
    "signal strength = high",
    "SELECT key FROM t WHERE a = 1",
]


@pytest.mark.parametrize("text", SHAPED)
def test_a_credential_is_recognised_by_its_shape(text):
    assert looks_secret(text)
    assert looks_secret(f"before {text} after")
    assert HIDDEN in shapes_hidden(f"before {text} after", HIDDEN)


@pytest.mark.parametrize("text", HONEST)
def test_honest_text_is_left_alone(text):
    assert not looks_secret(text)
    assert shapes_hidden(text, HIDDEN) == text


@pytest.mark.parametrize(
    ("name", "value", "secret"),
    [
        ("password", "x", True),
        ("newPassword", "x", True),
        ("api_key", "short", True),
        ("access_token", "x", True),
        ("max_tokens", 4096, False),
        ("token_count", 12, False),
        ("pin", 1234, True),
        ("key", "user/123", False),
        ("key", "d7Gf93kLmQ0zXv82HsWb", True),
        ("key", "8f14e45f-ceea-4e7a-9b6e-5a1f0c2d3e4f", False),
        ("author", "Ann", False),
        ("password", "", False),
    ],
)
def test_a_name_makes_a_value_suspect(name, value, secret):
    assert secret_name(name, value) is secret


def test_declared_names_are_arguments_or_dotted_paths_through_lists():
    source = json.dumps({"pin": "1", "a.b": 2, "users": [{"pin": 3}, {"pin": 4}], "deep": {"x": {"y": 5}}})

    masks = masks_of(source, ("pin", "a.b", "users.pin", "deep.*.y", "absent.path"))

    assert {mask.path for mask in masks if mask.declared} == {
        ("pin",),
        ("a.b",),
        ("users", 0, "pin"),
        ("users", 1, "pin"),
        ("deep", "x", "y"),
    }


def test_a_declared_name_deeper_than_an_argument_is_only_suspected():
    assert masks_of('{"cmd": {"note": "rm -rf /"}}', ("note",)) == (Masked(("cmd", "note"), declared=False),)


def test_only_the_outermost_hidden_place_is_listed():
    source = json.dumps({"login": {"password": "a", "token": "b"}})

    assert masks_of(source, ("login", "login.password")) == (Masked(("login",), declared=True),)


def test_a_secret_in_a_name_hides_the_object_around_it():
    assert masks_of(json.dumps({"headers": {"Bearer abc123def456": 1}})) == (Masked(("headers",), declared=False),)


def test_text_that_is_no_json_is_hidden_whole():
    assert masks_of('{"password": ', ("password",)) == (Masked((), declared=True),)
    assert masks_of('{"x": "Bearer abc123def456') == (Masked((), declared=False),)
    assert masks_of('{"x": ') == ()


@pytest.mark.parametrize("write", [str, repr, json.dumps, lambda value: json.dumps(value, ensure_ascii=False)])
def test_a_hidden_value_is_hidden_in_texts_in_whatever_notation(write):
    source = json.dumps({"note": "Grüße\n'und' \"so\""})
    secrets = secrets_in(source, masks_of(source, ("note",)))

    text = redact_text(f"Args: {write(json.loads(source)['note'])} end", secrets)

    assert "Grü" not in text
    assert "Gr\\u" not in text


def test_a_short_secret_is_hidden_as_a_word_and_not_inside_others():
    assert redact_text("pin 42 of 1942", ("42",)) == f"pin {HIDDEN} of 1942"


@pytest.mark.parametrize("text", ["{'code': 'ab cd', 'n': 1}", 'code="ab cd"', "code: ab", "Code=ab"])
def test_a_declared_name_hides_what_is_assigned_to_it(text):
    assert "ab" not in redact_text(text, (), ("code",))


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.text(max_size=8), values, max_size=5), st.text(min_size=4, max_size=20))
@settings(deadline=None, max_examples=60)
def test_masks_never_fail_and_a_declared_argument_is_always_hidden(tree, secret):
    source = json.dumps({**tree, "vault": secret})

    masks = masks_of(source, ("vault",))

    assert Masked(("vault",), declared=True) in masks
    text = redact_text(f"said {secret}!", secrets_in(source, masks), ("vault",)) or ""
    assert not secret.strip() or secret not in text or secret in f"said {HIDDEN}!"


@given(st.text(max_size=300))
@settings(deadline=None, max_examples=60)
def test_hiding_twice_is_hiding_once(text):
    once = shapes_hidden(text, HIDDEN)

    assert shapes_hidden(once, HIDDEN) == once
