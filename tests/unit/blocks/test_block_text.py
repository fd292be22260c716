import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blocks.text import (
    blanks_counted,
    cut,
    cut_by_weight,
    cut_marked,
    escape_mrkdwn,
    escapes_in,
    has_long_blanks,
    is_plain,
    json_string,
    literal,
    on_one_line,
    runs_right_to_left,
    units,
    weight,
    with_edges,
)
from tests.kit.block_calls import HOSTILE, TEXTS, untimed

UNSEEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Me"}
IGNORABLE = (
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\ufe00\ufe0f\uffa0\ufffc\U000e0100\U000e01ef"
)

pytestmark = pytest.mark.filterwarnings("ignore::hypothesis.errors.HypothesisWarning")  # long examples


def is_unseen(char):
    category = unicodedata.category(char)
    return category in UNSEEN or char in IGNORABLE or (category == "Zs" and char != " ")


def unseen_in(text, *, kept="\n\t"):
    return [char for char in text if char not in kept and is_unseen(char)]


@given(TEXTS)
@untimed
def test_nothing_invisible_survives_literal_display(text):
    assert unseen_in(literal(text)) == []
    assert unseen_in(with_edges(text)) == []
    assert unseen_in(on_one_line(text), kept="") == []
    assert unseen_in(json_string(text), kept="") == []


@given(st.text() | HOSTILE, st.text() | HOSTILE)
@untimed
def test_different_texts_are_never_displayed_alike(one, other):
    assert (literal(one) == literal(other)) == (one == other)
    assert (on_one_line(one) == on_one_line(other)) == (one == other)
    assert (with_edges(one) == with_edges(other)) == (one == other)


@given(TEXTS)
@untimed
def test_a_json_string_parses_back_to_the_text(text):
    assert json.loads(json_string(text)) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("invoice\u202efdp.exe", r"invoice\u202efdp.exe"),
        ("a\u200bb", r"a\u200bb"),
        ("tag\U000e0041", r"tag\U000e0041"),
        ("half\ud800", r"half\ud800"),
        ("bell\x07", r"bell\u0007"),
        ("no\u00a0break", r"no\u00a0break"),
        (r"typed \u202e", r"typed \u005cu202e"),
        (r"C:\users\new", r"C:\users\new"),
        ("x" + " " * 57 + "rm", r"x\u0020{57}rm"),
        ("x" + "\n" * 9 + "rm", r"x\u000a{9}rm"),
        ("x" + "\n \n" * 5 + "rm", r"x\u000a{1}\u0020{1}\u000a{2}\u0020{1}\u000a{2}\u0020{1}\u000a{2}\u0020{1}\u000a{2}\u0020{1}\u000a{1}rm"),
        ("e\u0301", "e\u0301"),
        ("e" + "\u0301" * 5, "e" + "\u0301" * 3 + r"\u0301\u0301"),
        ("\u0301x", r"\u0301x"),
        ("heart\u2764\ufe0f", "heart\u2764" + r"\ufe0f"),
        ("send*rhubarb*.py :skull: `x` <b> &amp;", "send*rhubarb*.py :skull: `x` <b> &amp;"),
        ("Grüße, Привет, 日本語, 한국어", "Grüße, Привет, 日本語, 한국어"),
    ],
)  # fmt: skip
def test_literal_display_writes_out_what_cannot_be_seen_and_leaves_the_rest(text, shown):
    assert literal(text) == shown


def test_blanks_at_the_ends_of_a_text_with_lines_are_counted_out():
    assert with_edges("  a\nb \n") == r"\u0020{2}a" + "\n" + r"b\u0020{1}\u000a{1}"


def test_escapes_are_counted_but_not_those_that_were_typed():
    assert escapes_in(literal("a\u202eb\u200b"), as_json=False) == 2
    assert escapes_in(literal(r"a\u202e"), as_json=False) == 0
    assert escapes_in(with_edges("a\nb\n"), as_json=False) == 0
    assert escapes_in(json_string("a\u202e"), as_json=True) == 1
    assert escapes_in(json_string(r"a\u202e"), as_json=True) == 0


@given(TEXTS)
@untimed
def test_no_control_sequence_of_slack_survives_escaping(text):
    escaped = escape_mrkdwn(text)
    assert "<" not in escaped
    assert ">" not in escaped
    assert escaped.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&") == text


@given(TEXTS, st.integers(0, 200))
@untimed
def test_cutting_keeps_a_beginning_within_the_limit(text, limit):
    shown = literal(text)
    kept = cut(shown, limit)
    assert shown.startswith(kept)
    assert units(kept) <= limit
    assert units(cut_marked(shown, limit + 1)) <= limit + 1
    assert weight(cut_by_weight(shown, limit)) <= limit


@given(HOSTILE, st.integers(0, 120))
@untimed
def test_cutting_never_splits_an_escape_an_entity_or_a_marked_letter(text, limit):
    for shown in (literal(text), json_string(text), escape_mrkdwn(on_one_line(text))):
        kept = cut(shown, limit)
        rest = shown[len(kept) :]
        assert not (rest and unicodedata.category(rest[0])[0] == "M" and kept)
        assert units(kept) + units(rest) == units(shown)


@pytest.mark.parametrize(
    ("text", "limit", "kept"),
    [
        (r"ab\u202ecd", 5, "ab"),
        (r"ab\u202ecd", 8, r"ab\u202e"),
        (r"ab\U000e0041cd", 9, "ab"),
        (r"ab\u0020{57}cd", 10, "ab"),
        ("ab&amp;cd", 4, "ab"),
        ("ab\U0001f600cd", 3, "ab"),
        (r"\ud83d\ude00", 8, ""),
        ("ae\u0301", 2, "a"),
        (r"ab\n", 3, "ab"),
    ],
)
def test_a_cut_falls_before_what_it_would_split(text, limit, kept):
    assert cut(text, limit) == kept


def test_a_cut_through_nothing_but_backslashes_still_moves_on():
    assert cut("\\" * 50, 10) == "\\" * 10


def test_right_to_left_letters_are_noticed():
    assert runs_right_to_left("transfer \u05d0\u05d1 100")
    assert not runs_right_to_left("transfer 100 €")


@pytest.mark.parametrize(
    ("text", "plain"), [("disable_user", True), ("a b", False), ("", False), (":skull:", False), ("ümlaut", False)]
)
def test_only_short_ascii_identifiers_are_plain(text, plain):
    assert is_plain(text) is plain


@pytest.mark.parametrize(
    "text",
    [
        "x" + " " * 16 + "rm",
        "x" + " " * 57,
        "x" + "\t" * 9 + "y",
        "x" + "\n" * 9 + "rm",
        " " * 40,
        "x" + "\n \n" * 5 + "rm",
    ],
)
def test_a_run_of_blanks_that_pushes_text_out_of_sight_is_known_in_display(text):
    assert has_long_blanks(with_edges(text))
    assert has_long_blanks(literal(text))


@pytest.mark.parametrize("text", ["", "a  b", "def f():\n" + " " * 20 + "return 1\n", "a\n\nb\n", "  a\nb \n"])
def test_everyday_blanks_are_no_long_run(text):
    assert not has_long_blanks(with_edges(text))
    assert not has_long_blanks(literal(text))


def test_runs_of_blanks_are_counted_in_plain_text():
    assert blanks_counted('{"a": "x' + " " * 30 + 'y"}') == r'{"a": "x\u0020{30}y"}'
    assert blanks_counted("a   b") == "a   b"
