from __future__ import annotations

import pytest

from tests.kit.office import ADA, BEN, DAN

pytestmark = pytest.mark.asyncio


async def test_an_approved_call_runs_once_and_the_card_says_so(office_of):
    async with office_of() as office:
        thread = await office.propose("one")
        card = await office.card("disable_user", button="decide.approve")

        answer = await office.click(ADA, card, "decide.approve")
        await office.settled(thread)

        assert answer["acked"]
        assert office.ran(thread) == ["disable_user"]
        settled = await office.card("Ran", without="decide.approve")
        assert settled["ts"] == card["ts"]


async def test_a_person_without_rights_is_refused_in_private(office_of):
    async with office_of() as office:
        thread = await office.propose("one")
        card = await office.card("disable_user", button="decide.approve")

        await office.click(DAN, card, "decide.approve")

        assert "not a reviewer" in await office.told(DAN)
        assert office.ran(thread) == []


async def test_a_rejection_runs_nothing_and_the_agent_reads_the_reason(office_of):
    async with office_of() as office:
        thread = await office.propose("one")
        card = await office.card("disable_user", button="decide.reject")

        opened = await office.click(BEN, card, "decide.reject")
        closed = await office.submit(BEN, {"m.0": "Wrong account."})
        await office.settled(thread)

        assert opened["view"]["callback_id"] == "reject"
        assert closed["view"] is None
        assert office.ran(thread) == []
        (message,) = await office.tool_messages(thread)
        assert "Wrong account." in message["content"]
        assert "not executed" in message["content"]


async def test_an_edit_runs_with_the_final_arguments(office_of):
    async with office_of() as office:
        thread = await office.propose("one")
        card = await office.card("disable_user", button="decide.edit")

        await office.click(ADA, card, "decide.edit")
        shown = await office.submit(ADA, {"reason": "fraud review"})
        closed = await office.submit(ADA)
        await office.settled(thread)

        assert shown["view"]["callback_id"] == "edit.confirm"
        assert closed["view"] is None
        (effect,) = office.effects(thread)
        assert effect["args"] == {"user_id": "u_4821", "reason": "fraud review"}


async def test_an_answer_takes_the_tools_place(office_of):
    async with office_of() as office:
        thread = await office.propose("ask")
        card = await office.card("ask_user", button="decide.respond")

        await office.click(ADA, card, "decide.respond")
        await office.submit(ADA, {"m.0": "EU, please."})
        await office.settled(thread)

        assert office.ran(thread) == []
        (message,) = await office.tool_messages(thread)
        assert message["content"] == "EU, please."


async def test_a_batch_is_decided_in_its_modal_and_leaves_in_request_order(office_of):
    async with office_of() as office:
        thread = await office.propose("three")
        root = await office.card("wait together", button="review.open")

        opened = await office.click(ADA, root, "review.open")
        view = opened["view"]
        await office.press(ADA, view, "decision", "d.1", value="reject")
        sent = await office.submit(ADA, {"d.0": "approve", "d.1": "reject", "m.1": "too broad", "m.2": "EU"})
        assert (sent["view"], sent["errors"], sent["error"]) == (None, {}, None)
        await office.settled(thread)

        assert sorted(office.ran(thread)) == ["disable_user", "read_data"]
