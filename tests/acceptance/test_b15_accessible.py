"""B15 accessible: who only hears the text knows what runs, or is not offered to approve it."""

from __future__ import annotations

import html
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from blocks.cards import call_card
from blocks.models import CallView
from tests.kit.office import buttons
from tests.kit.steps import call, opened


@pytest.mark.asyncio
async def test_b15_accessible_text_says_tool_arguments_requester_and_deadline(office_of):
    async with office_of() as office:
        thread = await office.propose("one")
        (review,) = await opened(office, thread)
        card = await office.card_of(review, button="decide.approve")

        for said in ("disable_user", "u_4821", "<@U0CLEO>", "Decide by"):
            assert said in card["text"]
        assert len(card["text"]) < 4_000


@pytest.mark.asyncio
async def test_b15_accessible_text_that_leaves_something_out_says_so_and_offers_no_approve(office_of):
    async with office_of() as office:
        thread = await office.propose(turns=[[call("send_email", to="a", subject="s", body="word " * 200)]])
        (review,) = await opened(office, thread)
        card = await office.card_of(review, button="review.open")

        assert "Not all of it is in this text" in card["text"]
        assert "decide.approve" not in buttons(card)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=30) | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=10,
)


@given(st.dictionaries(st.text(max_size=10), VALUES | st.text(max_size=900), max_size=6))
@settings(deadline=None, max_examples=60, suppress_health_check=list(HealthCheck))
def test_b15_accessible_either_the_text_holds_every_argument_or_approve_is_not_offered(tree):
    card = call_card(CallView("s_" + "a" * 26, "run", json.dumps(tree), ("approve", "reject")))

    if "approve" in card.offered:
        told = html.unescape(card.text.split("Arguments: ", 1)[1].split("\n")[0])
        assert json.loads(told) == tree
