"""Wherever a decided call is named, its final values stand; and what nobody was shown, nobody has read."""

from __future__ import annotations

import json

import pytest

from blocks.reasons import why_text
from tests.kit.office import ADA, BEN, CHANNEL
from tests.kit.steps import call, opened, pause, resume, rewrite, stands
from tests.scenarios.test_home import home, shows

pytestmark = pytest.mark.asyncio

PAYS = [call("refund", order_id=at, amount=12.7, currency="EUR", notify=True, labels=[]) for at in range(2)]
TWO = "      refund: {approvals: 2, title: Pay back}\n"
LONG = [call("refund", order_id=7, note="n" * 4_000, terms="word " * 2_400)]


async def edited(office, user, card, **values):
    """Edit a call from its card and approve the final values."""
    await office.click(user, card, "decide.edit")
    await office.submit(user, values)
    return await office.submit(user)


async def answered(office, user):
    """What `/approvals` tells this person."""
    body = {"user": user, "channel": CHANNEL, "command": "/approvals", "text": ""}
    (await office.slack.post("/sandbox/command", json=body)).raise_for_status()
    private = (await office.slack.get("/sandbox/ephemerals", params={"user": user})).raise_for_status().json()
    return str(private[-1])


async def test_root_text_home_and_card_of_an_edited_batch_name_what_ran(office_of):
    async with office_of() as office:
        thread = await office.propose(turns=[PAYS])
        (review,) = await opened(office, thread)
        await home(office, ADA)
        await edited(office, ADA, await office.card_of(review, 0, button="decide.edit"), currency="USD")
        await office.click(ADA, await office.card_of(review, 1, button="decide.reject"), "decide.reject")
        await office.submit(ADA, {})
        await office.settled(thread)

        async def done():
            root = await office.card_of(review, None)
            return root if "✅ ran" in root["text"] else None

        root = await office.until(done, "the root to say what ran")
        assert "edited: 0, 12.7, USD …" in root["text"]
        assert "edited:" in json.dumps(root["blocks"])
        assert "0, 12.7, USD" in json.dumps(root["blocks"])
        assert root["text"].count("EUR") == 1, "only of the call that was not edited"
        assert "0, 12.7, USD" in json.dumps(await shows(office, ADA, "edited:"))
        assert [one["args"]["currency"] for one in office.effects(thread)] == ["USD"]


async def test_whoever_approves_an_edit_after_its_author_reads_final_values_everywhere(office_of):
    async with office_of(tools=TWO) as office:
        thread = await office.propose(turns=[PAYS[:1]])
        (review,) = await opened(office, thread)
        await edited(office, ADA, await office.card_of(review, button="decide.edit"), currency="USD")

        async def standing():
            card = await office.card_of(review, button="decide.approve")
            return card if "Edited: 1 change" in json.dumps(card["blocks"]) else None

        card = await office.until(standing, "the card to show the edit")
        assert "Edited arguments: " in card["text"]
        assert "EUR" not in card["text"]
        queue = await answered(office, BEN)
        assert "USD" in queue
        assert "EUR" not in queue
        await office.click(BEN, card, "decide.approve")
        await office.settled(thread)
        assert [one["args"]["currency"] for one in office.effects(thread)] == ["USD"]


async def test_a_page_that_changes_under_another_policy_has_not_been_read(office_of):
    async with office_of(tools="      refund: {redact: [note]}\n") as office:
        thread = await office.propose(turns=[LONG])
        (review,) = await opened(office, thread)
        await office.click(ADA, await office.card_of(review, button="review.open"), "review.open")
        view = await turned(office)
        assert "nnnn" not in json.dumps(view)

        await rewrite(office)
        view = await turned(office, until_last=True)

        assert "not shown yet" in json.dumps(view)
        assert '"approve"' not in json.dumps(view)
        while (back := block_of(view, "review.page.back")) is not None:
            view = (await office.press(ADA, view, "review.page.back", back))["view"]
        assert "nnnn" in json.dumps(view)
        view = await turned(office, until_last=True)
        assert '"approve"' in json.dumps(view)


def block_of(view, action_id):
    """The block of the view's button, if there is one."""
    for block in view["blocks"]:
        if block["type"] == "actions" and any(one["action_id"] == action_id for one in block["elements"]):
            return block["block_id"]
    return None


async def turned(office, *, until_last=False):
    """The view after its next page was opened, or all that follow."""
    view = (await office.slack.get("/sandbox/modal", params={"user": ADA})).json()["view"]
    while (turn := block_of(view, "review.page.next")) is not None:
        view = (await office.press(ADA, view, "review.page.next", turn))["view"]
        if not until_last:
            break
    return view


async def test_that_a_decision_was_taken_back_stands_on_the_card_of_its_call_alone(office_of):
    async with office_of() as office:
        await pause(office)
        thread = await office.propose(turns=[PAYS])
        (review,) = await opened(office, thread)
        await office.click(ADA, await office.card_of(review, 0, button="decide.approve"), "decide.approve")
        await office.click(BEN, await office.card_of(review, 1, button="decide.approve"), "decide.approve")
        await stands(office, review, "decided")
        office.advance(4_000)

        await office.click(ADA, await office.card_of(review, 0, button="decision.take_back"), "decision.take_back")
        await stands(office, review, "open")

        async def told():
            card = await office.card_of(review, 0)
            return card if why_text("taken_back") in json.dumps(card["blocks"]) else None

        await office.until(told, "the card to say that it was taken back")
        other = await office.card_of(review, 1)
        assert why_text("taken_back") not in json.dumps(other["blocks"])
        await resume(office)
