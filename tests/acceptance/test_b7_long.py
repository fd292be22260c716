"""B7 long: everything is read before it is approved, and nothing is cut without saying how much."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from blocks.cards import call_card
from blocks.models import CallView, ReviewView
from blocks.text import literal
from blocks.windows import review_modal
from tests.kit.office import ADA, buttons
from tests.kit.steps import call, opened, says

BODY = "".join(f"line {at}: systemctl status app\n" for at in range(700)) + "rm -rf /srv"


def boxes(view):
    """What stands in the preformatted boxes of a view, in order."""
    found = []
    for block in view["blocks"]:
        for element in block.get("elements", []) if block["type"] == "rich_text" else ():
            if element["type"] == "rich_text_preformatted":
                found += [part["text"] for part in element["elements"]]
    return "".join(found)


def choices(view):
    return [
        option["value"]
        for block in view["blocks"]
        if block["type"] == "input" and block["element"]["type"] == "radio_buttons"
        for option in block["element"]["options"]
    ]


@pytest.mark.asyncio
async def test_b7_long_arguments_are_approved_only_after_every_page_was_shown(office_of):
    async with office_of() as office:
        proposed = {"to": "a@x.example", "subject": "s", "body": BODY}
        thread = await office.propose(turns=[[call("send_email", **proposed)]])
        (review,) = await opened(office, thread)
        card = await office.card_of(review, button="review.open")
        assert "decide.approve" not in buttons(card)
        assert re.search(r"\*[\d,]+ of (about )?[\d,]+ characters shown", says(card))

        view = (await office.click(ADA, card, "review.open"))["view"]
        read = boxes(view)
        pages = 1
        while any(
            each["action_id"] == "review.page.next"
            for block in view["blocks"]
            for each in block.get("elements", [])
            if "action_id" in each
        ):
            assert "approve" not in choices(view)
            view = (await office.press(ADA, view, "review.page.next", "pages"))["view"]
            read += boxes(view)
            pages += 1

        assert read == BODY
        assert pages > 3
        assert "approve" in choices(view)
        await office.submit(ADA, {"Decision": "approve"})
        await office.settled(thread)
        (effect,) = office.effects(thread)
        assert effect["args"] == proposed


@pytest.mark.asyncio
async def test_b7_long_what_is_past_all_pages_is_never_approved(office_of):
    async with office_of() as office:
        thread = await office.propose(turns=[[call("send_email", to="a", subject="s", body="x" * 130_000)]])
        (review,) = await opened(office, thread)
        card = await office.card_of(review, button="review.open")

        view = (await office.click(ADA, card, "review.open"))["view"]
        for _ in range(25):
            if "review.page.next" not in str(view["blocks"]):
                break
            view = (await office.press(ADA, view, "review.page.next", "pages"))["view"]

        assert "approve" not in choices(view)
        assert "reject" in choices(view)
        assert "too long to be approved" in str(view)
        assert office.ran(thread) == []


TEXTS = st.builds(lambda text, times: (text * times)[:60_000], st.text(min_size=1, max_size=40), st.integers(1, 3_000))


@given(TEXTS)
@settings(deadline=None, max_examples=25, suppress_health_check=list(HealthCheck))
def test_b7_long_the_pages_together_are_the_whole_text(text):
    import json

    call_ = CallView("s_" + "a" * 26, "t", json.dumps({"q": "start\n" + text + "\nend"}), ("approve", "reject"))
    card = call_card(call_)
    first = review_modal(ReviewView(call_))
    seen = frozenset(range(first.pages))
    read = "".join(boxes(review_modal(ReviewView(call_, page, seen)).view) for page in range(first.pages))

    assert card.complete or "approve" not in card.offered
    if review_modal(ReviewView(call_, first.pages - 1, seen)).offers[0].complete:
        assert read == literal("start\n" + text + "\nend")
    else:
        assert literal("start\n" + text + "\nend").startswith(read)
