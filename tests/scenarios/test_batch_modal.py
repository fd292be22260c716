"""Many calls in one modal: pages, gaps, drafts that survive, and what a colleague decided meanwhile."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.kit.office import ADA, BEN
from tests.kit.office_fixtures import PATIENT
from tests.kit.steps import call, opened

pytestmark = pytest.mark.asyncio


def inputs(view):
    return {block["block_id"]: block["element"] for block in view["blocks"] if block["type"] == "input"}


async def batch(office, count):
    thread = await office.propose(turns=[[call("disable_user", user_id=f"u_{at}", reason="r") for at in range(count)]])
    (review,) = await opened(office, thread)
    root = await office.card_of(review, None, button="review.open")
    return thread, review, root


def approve(*positions):
    return {f"d.{at}": "approve" for at in positions}


async def test_a_page_with_a_gap_stays_and_says_where(office_of):
    async with office_of() as office:
        thread, _, root = await batch(office, 7)
        await office.click(ADA, root, "review.open")

        gap = await office.submit(ADA, approve(0, 1, 3, 4))
        second = await office.submit(ADA, approve(2))
        done = await office.submit(ADA, approve(5, 6))
        await office.settled(thread)

        assert list(gap["errors"]) == ["d.2"]
        assert "Page 2 of 2" in str(second["view"])
        assert done["view"] is None
        assert sorted(office.ran(thread)) == ["disable_user"] * 7


async def test_what_was_chosen_and_typed_is_there_again_after_closing(office_of):
    async with office_of() as office:
        _, _, root = await batch(office, 7)
        view = (await office.click(ADA, root, "review.open"))["view"]
        view = (await office.press(ADA, view, "decision", "d.1", value="reject"))["view"]
        await office.submit(ADA, {**approve(0, 2, 3, 4), "m.1": "Wrong one."})
        await office.slack.post("/sandbox/close", json={"user": ADA})

        again = inputs((await office.click(ADA, root, "review.open"))["view"])

        assert again["d.1"]["initial_option"]["value"] == "reject"
        assert again["m.1"]["initial_value"] == "Wrong one."
        assert again["d.0"]["initial_option"]["value"] == "approve"


async def test_a_colleagues_decision_stands_in_the_list_and_the_rest_can_be_sent(office_of):
    async with office_of() as office:
        thread, review, root = await batch(office, 3)
        await office.click(ADA, root, "review.open")
        await office.click(BEN, await office.card_of(review, 1, button="decide.approve"), "decide.approve")

        # Her form still has an input for call 2, and it is not hers to decide any more.
        first = await office.submit(ADA, {"d.1": "approve", "d.0": "approve", "d.2": "approve"})
        last = await office.submit(ADA) if first["view"] else first
        await office.settled(thread)

        assert "already decided" in str(first)
        assert last["view"] is None
        assert len(office.effects(thread)) == 3


async def test_a_hundred_calls_are_decided_page_by_page_and_each_runs_once(office_of):
    # Choosing Approve changes nothing in the window; a hundred times, a person who looks on for a while is slow.
    async with office_of(rules=replace(PATIENT, quiet_seconds=0.05)) as office:
        thread, _, root = await batch(office, 100)
        answer = await office.click(ADA, root, "review.open")
        for page in range(20):
            assert f"Page {page + 1} of 20" in str(answer["view"])
            answer = await office.submit(ADA, approve(*range(page * 5, page * 5 + 5)))
        await office.settled(thread)

        assert answer["view"] is None
        assert {one["args"]["user_id"] for one in office.effects(thread)} == {f"u_{at}" for at in range(100)}
        assert len(office.effects(thread)) == 100
