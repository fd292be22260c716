"""What stands in a window changed while somebody typed: nothing typed about one thing is taken for another."""

from __future__ import annotations

import pytest

from tests.kit.office import ADA, BEN
from tests.kit.steps import call, opened

pytestmark = pytest.mark.asyncio

TWICE = "      refund: {approvals: 2}\n"
PAYS = [call("refund", order_id=at, amount=12.7, currency="EUR", notify=True, labels=[]) for at in range(2)]


def inputs(view):
    return {block["block_id"]: block["element"] for block in view["blocks"] if block["type"] == "input"}


async def edited_meanwhile(office, review, position=0):
    """Ben's edit, which awaits a second approval."""
    card = await office.card_of(review, position, button="decide.edit")
    await office.click(BEN, card, "decide.edit")
    await office.submit(BEN, {"currency": "USD"})
    await office.submit(BEN)

    async def stands():
        (now,) = await office.reviews(review.thread_id)
        return now.actions[position].proposal

    await office.until(stands, "his edit")


async def test_what_was_chosen_about_other_arguments_is_dropped_and_told(office_of):
    async with office_of(tools=TWICE) as office:
        thread = await office.propose(turns=[PAYS])
        (review,) = await opened(office, thread)
        root = await office.card_of(review, None, button="review.open")
        view = (await office.click(ADA, root, "review.open"))["view"]
        await office.press(ADA, view, "decision", "d.0", value="approve")

        await edited_meanwhile(office, review)
        told = (await office.submit(ADA, {"d.1": "reject"}))["view"]

        assert "has changed since it was drawn" in str(told["blocks"])
        first, *_ = inputs(told)
        assert first.startswith("d.0.r"), "another id, so that Slack drops what was chosen"
        assert "initial_option" not in inputs(told)[first]
        assert inputs(told)["d.1"]["initial_option"]["value"] == "reject"
        done = await office.submit(ADA, {first: "approve"})
        await office.settled(thread)

        assert done["view"] is None
        assert [one["args"]["currency"] for one in office.effects(thread)] == ["USD"]


async def test_an_edit_of_arguments_that_changed_meanwhile_keeps_its_typing_and_is_not_taken(office_of):
    async with office_of(tools=TWICE) as office:
        thread = await office.propose(turns=[PAYS[:1]])
        (review,) = await opened(office, thread)
        card = await office.card_of(review, button="decide.edit")
        await office.click(ADA, card, "decide.edit")

        await edited_meanwhile(office, review)
        answer = await office.submit(ADA, {"currency": "CHF"})
        there = (await office.slack.get("/sandbox/modal", params={"user": ADA})).json()

        assert "has changed since it was drawn" in str(answer["errors"])
        assert "CHF" in str(there["state"])
        assert office.ran(thread) == []
