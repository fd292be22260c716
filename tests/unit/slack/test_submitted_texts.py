"""A reason and an answer stand in inputs of their own, and neither is ever read as the other."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from bot.slack.windows.inputs import read_drafts
from bot.slack.windows.review import ViewContext
from bot.store.showings import Draft
from tests.kit.factories import make_review


def context(stored=None):
    review = make_review()
    draft = stored and Draft(review.actions[0].standing_digest, **stored)
    return ViewContext(review, SimpleNamespace(), SimpleNamespace(), SimpleNamespace(), {0: draft} if draft else {})


@pytest.mark.parametrize(
    ("stored", "values", "message"),
    [
        (None, {"d.0": "reject", "m.0": "no"}, "no"),
        (None, {"d.0": "respond", "a.0": "eu"}, "eu"),
        ({"decision": "reject", "message": "no"}, {"m.0": "no", "d.0": "respond"}, None),
        ({"decision": "respond", "message": None}, {"d.0": "respond", "m.0": "no"}, None),
        ({"decision": "respond", "message": "eu"}, {"d.0": "reject", "a.0": "eu"}, None),
        ({"decision": "respond", "message": "eu"}, {"m.0": "the only answer"}, "the only answer"),
        ({"decision": "respond", "message": "eu"}, {"d.0": "respond"}, "eu"),
        (None, {"m.0.r7": "about other arguments"}, "nothing read"),
    ],
)
def test_a_text_belongs_to_the_choice_that_brought_its_input_up(stored, values, message):
    read = read_drafts(context(stored), values)

    assert (read[0].message if 0 in read else "nothing read") == message
