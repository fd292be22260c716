"""What exactly was shown, in 32 bytes."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot.core.digest import CallAddress, call_digest, content_hash, shown
from bot.core.json import parse
from tests.kit.factories import ALL, APPROVE, EDIT, REJECT

PLACE = CallAddress(b"s" * 16, "http://127.0.0.1:2026", "thread-1", "0f1e2d3c4b5a69788796a5b4c3d2e1f0")


def digest(place: CallAddress = PLACE, position=0, tool="pay", args='{"to":"a"}', allowed=ALL) -> str:
    return call_digest(place, position, tool, args, allowed)


def test_the_same_call_has_the_same_digest():
    assert digest() == digest()


def test_a_digest_is_sixty_four_hex_characters():
    assert len(bytes.fromhex(digest())) == 32


@pytest.mark.parametrize(
    "other",
    [
        digest(place=replace(PLACE, salt=b"t" * 16)),
        digest(place=replace(PLACE, server="http://127.0.0.1:2027")),
        digest(place=replace(PLACE, thread_id="thread-2")),
        digest(place=replace(PLACE, interrupt_id="13579bdf02468ace13579bdf02468ace")),
        digest(position=1),
        digest(tool="pay "),
        digest(tool=None),
        digest(args='{"to":"b"}'),
        digest(args='{"to": "a"}'),
        digest(args="null"),
        digest(args=None),
        digest(allowed=(APPROVE, EDIT)),
        digest(allowed=()),
    ],
)
def test_a_digest_changes_with_each_part_of_a_call(other):
    assert other != digest()


def test_missing_arguments_and_the_word_null_are_told_apart():
    assert digest(args=None) != digest(args="null")


def test_parts_cannot_be_shifted_into_each_other():
    assert digest(place=replace(PLACE, thread_id='a","b')) != digest(
        place=replace(PLACE, thread_id="a", interrupt_id='b"')
    )


def test_the_spelling_of_a_number_changes_a_digest():
    assert digest(args='{"n":12.7}') != digest(args='{"n":12.70}')


def test_hostile_tool_names_have_digests_too():
    assert digest(tool="\x00\ud800\u202e") != digest(tool="\x00\ud800")


def test_a_content_hash_does_not_depend_on_key_order():
    assert content_hash(parse('{"a":1,"b":2}')) == content_hash(parse('{"b":2,"a":1}'))


def test_a_content_hash_depends_on_every_value():
    assert content_hash(parse('{"a":1}')) != content_hash(parse('{"a":"1"}'))


def test_people_are_shown_twelve_characters_of_base32():
    short = shown(digest(allowed=(REJECT,)))
    assert len(short) == 12
    assert set(short) <= set("abcdefghijklmnopqrstuvwxyz234567")
