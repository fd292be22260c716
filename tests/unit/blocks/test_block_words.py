import re
import string
from pathlib import Path

import pytest
from hypothesis import given

from blocks import words
from blocks.models import CallState
from blocks.notices import private_notice, refusal_plain, refusal_text
from blocks.reasons import REFUSALS
from bot.core.decide import Refusal
from tests.kit.block_calls import HOSTILE, TEXTS, untimed

pytestmark = pytest.mark.filterwarnings("ignore::hypothesis.errors.HypothesisWarning")  # long examples


@pytest.mark.parametrize("reason", [*Refusal, "busy", "paused", "internal"])
def test_every_reason_for_refusing_has_its_own_sentence(reason):
    assert refusal_text(reason) == refusal_plain(reason)
    assert reason == "internal" or refusal_text(reason) != refusal_text("internal")


@pytest.mark.parametrize("reason", REFUSALS)
def test_a_refusal_says_what_happened_and_what_to_do_next(reason):
    sentences = [part for part in refusal_plain(reason).split(". ") if part]
    assert len(sentences) >= 2 or ";" in refusal_plain(reason)
    assert refusal_plain(reason)[0].isupper()
    assert refusal_plain(reason).endswith(".")


@pytest.mark.parametrize("reason", REFUSALS)
def test_a_refusal_takes_no_facts_but_the_known_ones(reason):
    fields = {name for _, name, _, _ in string.Formatter().parse(REFUSALS[reason]) if name}
    assert fields <= {"by", "at", "problem", "type", "position", "elsewhere"}


def test_an_unknown_reason_is_told_as_a_fault_of_ours():
    assert refusal_text("no_such_reason") == REFUSALS["internal"]


def test_facts_are_drawn_as_mentions_and_dates_only_where_these_work():
    facts = {"by": "U03BEN", "at": 1_796_030_000, "position": 1}
    assert refusal_text("already_decided", **facts).startswith(
        "Call 2: This call was already decided by <@U03BEN> (<!date^1796030000^"
    )
    assert refusal_plain("already_decided", **facts) == (
        "Call 2: This call was already decided (2026-11-30 09:13 UTC). The card shows what became of it."
    )


def test_the_refused_decision_is_named():
    assert "this decision (Approve) for" in refusal_plain("decision_not_allowed", type="approve")


@given(TEXTS, HOSTILE)
@untimed
def test_no_fact_can_mention_or_link(problem, by):
    text = refusal_text("invalid_edit", problem=problem, by=by, type=problem, at=problem, position=problem)
    assert "<" not in text
    assert len(private_notice(text).text) <= 3_000


@pytest.mark.parametrize("table", [words.STATES, words.STATE_WORDS])
def test_every_state_has_its_words_after_an_emoji(table):
    assert set(table) == set(CallState)
    assert all(any(char.isalpha() for char in text) and not text[0].isalnum() for text in table.values())


@pytest.mark.parametrize(
    ("seconds", "text"), [(-5, "0 s"), (59, "59 s"), (120, "2 min"), (7_199, "1 h"), (200_000, "2 d")]
)
def test_a_span_is_told_in_its_largest_unit(seconds, text):
    assert words.span(seconds) == text


def test_counts_have_commas_and_agree_with_their_noun():
    assert words.several(1, "page", "pages") == "1 page"
    assert words.several(1_240, "page", "pages") == "1,240 pages"


@given(TEXTS)
@untimed
def test_words_of_others_in_a_line_of_ours_stay_on_it_and_link_nothing(text):
    quoted = words.quoted(text)
    assert not {"<", ">", "\n"} & set(quoted)
    assert len(quoted) <= 300
    assert not {"<", ">", "\n"} & set(words.named(text))


def test_no_text_is_kept_that_nobody_reads():
    blocks = Path(words.__file__).parent
    folders = (blocks, blocks.parent / "bot")
    sources = "".join(path.read_text() for folder in folders for path in folder.rglob("*.py"))
    constants = [name for name in vars(words) if name.isupper() and not name.startswith("_")]
    own = Path(words.__file__).read_text()
    inside = {name for name in constants if len(re.findall(rf"\b{name}\b", own)) > 1}
    assert [name for name in constants if not re.search(rf"words\.{name}\b", sources) and name not in inside] == []
