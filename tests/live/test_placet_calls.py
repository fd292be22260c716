"""One waiting interrupt at a time, from a real server to a card, a decision and its effect."""

import pytest

from bot.core.model import Outcome
from tests.kit.office import ADA, BEN

pytestmark = [pytest.mark.live, pytest.mark.asyncio]

ROUTES = pytest.mark.parametrize("route", ["runs", "commands"])


def outcomes(review):
    return [action.outcome for action in review.actions]


@ROUTES
async def test_an_approved_call_runs_once_and_the_card_says_so(live_office, route):
    async with live_office(resume=route) as office:
        thread = await office.propose("one")
        card = await office.card("disable_user", button="decide.approve")

        answer = await office.click(ADA, card, "decide.approve")
        (review,) = await office.settled(thread)

        assert answer["acked"]
        assert (review.state.value, outcomes(review)) == ("resumed", [Outcome.EXECUTED])
        assert office.ran(thread) == ["disable_user"]
        assert (await office.card("Ran", without="decide.approve"))["ts"] == card["ts"]


async def test_a_rejection_runs_nothing_and_the_agent_reads_the_reason(live_office):
    async with live_office() as office:
        thread = await office.propose("one")
        card = await office.card("disable_user", button="decide.reject")

        await office.click(BEN, card, "decide.reject")
        await office.submit(BEN, {"m.0": "Wrong account."})
        (review,) = await office.settled(thread)

        assert outcomes(review) == [Outcome.REJECTED]
        assert office.ran(thread) == []
        (message,) = await office.tool_messages(thread)
        assert "Wrong account." in message["content"]


async def test_an_edited_call_runs_with_the_final_arguments(live_office):
    async with live_office() as office:
        thread = await office.propose("one")
        card = await office.card("disable_user", button="decide.edit")

        await office.click(ADA, card, "decide.edit")
        await office.submit(ADA, {"reason": "fraud review"})
        await office.submit(ADA)
        (review,) = await office.settled(thread)

        assert outcomes(review) == [Outcome.EXECUTED]
        (effect,) = office.effects(thread)
        assert effect["args"] == {"user_id": "u_4821", "reason": "fraud review"}


async def test_an_answer_takes_the_tools_place(live_office):
    async with live_office() as office:
        thread = await office.propose("ask")
        card = await office.card("ask_user", button="decide.respond")

        await office.click(ADA, card, "decide.respond")
        await office.submit(ADA, {"m.0": "EU, please."})
        (review,) = await office.settled(thread)

        assert outcomes(review) == [Outcome.ANSWERED]
        assert office.ran(thread) == []
        (message,) = await office.tool_messages(thread)
        assert message["content"] == "EU, please."


@ROUTES
async def test_three_mixed_decisions_of_one_interrupt_leave_together_and_in_order(live_office, route):
    async with live_office(resume=route) as office:
        thread = await office.propose("three")
        root = await office.card("wait together", button="review.open")

        opened = await office.click(ADA, root, "review.open")
        await office.press(ADA, opened["view"], "decision", "d.1", value="reject")
        await office.submit(ADA, {"d.0": "approve", "d.1": "reject", "m.1": "too broad", "m.2": "EU"})
        (review,) = await office.settled(thread)

        assert outcomes(review) == [Outcome.EXECUTED, Outcome.REJECTED, Outcome.ANSWERED]
        assert sorted(office.ran(thread)) == ["disable_user", "read_data"]
        told = {message["name"]: message["content"] for message in await office.tool_messages(thread)}
        assert "too broad" in told["execute_sql"]
        assert told["ask_user"] == "EU"


async def test_the_next_proposal_of_the_same_call_is_a_review_of_its_own(live_office):
    async with live_office() as office:
        thread = await office.propose("twice")
        first = await office.review(thread, state="open")
        card = await office.card_of(first, button="decide.approve")

        await office.click(ADA, card, "decide.approve")
        await office.review(thread, state="resumed")
        await office.hint(thread)
        second = await office.review(thread, state="open")
        settled = await office.card_of(first, button=None)

        assert second.interrupt_id != first.interrupt_id
        assert settled["ts"] != (await office.card_of(second, button="decide.approve"))["ts"]
        assert office.ran(thread) == ["disable_user"]
