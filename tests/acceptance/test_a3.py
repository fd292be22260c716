"""A3: a rejection runs nothing and is read as one; an answer stands where the tool's result would."""

from __future__ import annotations

import pytest

from tests.kit.forging import forge, pressed, showing_of, submitted, typed
from tests.kit.office import ADA, BEN
from tests.kit.steps import decide_in_modal, deciding, heard, opened, sent, stands

pytestmark = pytest.mark.asyncio


async def test_a3_reject_is_read_with_its_reason_and_the_same_call_again_is_a_new_review(office_of):
    async with office_of() as office:
        thread = await office.propose("twice")
        (first,) = await opened(office, thread)
        card = await office.card_of(first, button="decide.reject")
        old = showing_of(card, "decide.approve")

        await decide_in_modal(office, BEN, card, "reject", "Wrong account.")
        await stands(office, first, "resumed")
        (second,) = await opened(office, thread)

        (message,) = await office.tool_messages(thread)
        assert message["status"] == "error"
        assert "Wrong account." in message["content"]
        assert "was not executed" in message["content"]
        assert second.interrupt_id != first.interrupt_id
        assert second.actions[0].args == first.actions[0].args

        await forge(office, pressed(ADA, old, "decide.approve", card=card))
        assert "already" in await office.told(ADA)
        assert not deciding(await office.card_of(first))
        assert (await stands(office, second, "open")).actions[0].decision is None
        assert office.ran(thread) == []


async def test_a3_reject_without_a_reason_leaves_the_words_to_the_server(office_of):
    async with office_of() as office:
        thread = await office.propose("one")
        (review,) = await opened(office, thread)

        await decide_in_modal(office, BEN, await office.card_of(review, button="decide.reject"), "reject", "   ")
        await stands(office, review, "resumed")

        (body,) = sent(office, thread)
        assert body["command"]["resume"] == {review.interrupt_id: {"decisions": [{"type": "reject"}]}}
        (message,) = await office.tool_messages(thread)
        assert message["status"] == "error"
        assert office.ran(thread) == []


async def test_a3_respond_is_read_as_the_tools_result_and_an_empty_answer_never_leaves(office_of):
    async with office_of() as office:
        thread = await office.propose("ask")
        (review,) = await opened(office, thread)
        card = await office.card_of(review, button="decide.respond")

        blank = await decide_in_modal(office, ADA, card, "respond", " \n ")
        nothing = {
            text: await forge(
                office,
                submitted(ADA, blank["view"]["private_metadata"], "respond", {"m.0": typed("message", text)}),
            )
            for text in (None, "", " ")
        }

        assert "answer is empty" in blank["errors"]["m.0"]
        assert all("answer is empty" in answer.text for answer in nothing.values())
        assert heard(office, thread) == []

        closed = await office.submit(ADA, {"m.0": "EU, please."})
        await stands(office, review, "resumed")
        (message,) = await office.tool_messages(thread)
        assert closed["view"] is None
        assert (message["content"], message["status"]) == ("EU, please.", "success")
        assert office.ran(thread) == []
