"""Until it is sent, an author takes a decision back, and a reviewer stops an approval."""

from __future__ import annotations

import pytest

from tests.kit.forging import forge, pressed, showing_of
from tests.kit.office import ADA, BEN, DAN, buttons
from tests.kit.steps import opened, pause, resume, stands

pytestmark = pytest.mark.asyncio


async def approved(office, user=ADA):
    """A single call, approved and held back by a pause, with its card as it is then."""
    await pause(office)
    thread = await office.propose("one")
    (review,) = await opened(office, thread)
    await office.click(user, await office.card_of(review, button="decide.approve"), "decide.approve")
    await stands(office, review, "decided")
    office.advance(4_000)
    return thread, review, await office.card_of(review, button="decision.take_back")


async def test_the_author_takes_a_decision_back_and_the_call_waits_again(office_of):
    async with office_of() as office:
        thread, review, card = await approved(office)

        await office.click(ADA, card, "decision.take_back")
        await stands(office, review, "open")
        await office.card_of(review, button="decide.approve")
        await resume(office)

        assert office.ran(thread) == []
        assert "decision.voided" in [event.kind for event in await office.events(review.id)]


async def test_nobody_else_takes_it_back(office_of):
    async with office_of() as office:
        _, review, card = await approved(office)

        await office.click(BEN, card, "decision.take_back")

        assert "Only the person who decided" in await office.told(BEN)
        assert (await stands(office, review, "decided")).actions[0].decision is not None


async def test_a_reviewer_stops_an_approval_that_was_not_sent(office_of):
    async with office_of() as office:
        thread, review, card = await approved(office)
        assert buttons(card) == ["decision.take_back", "decide.reject"]

        opened_view = await office.click(BEN, card, "decide.reject")
        closed = await office.submit(BEN, {"m.0": "Wrong account."})
        await stands(office, review, "decided")
        await resume(office)
        await office.settled(thread)

        assert opened_view["view"]["callback_id"] == "reject"
        assert closed["view"] is None
        assert office.ran(thread) == []
        (message,) = await office.tool_messages(thread)
        assert "Wrong account." in message["content"]


async def test_somebody_without_rights_stops_nothing(office_of):
    async with office_of() as office:
        thread, review, card = await approved(office)

        await office.click(DAN, card, "decide.reject")
        assert "not a reviewer" in await office.told(DAN)
        await resume(office)
        await stands(office, review, "resumed")

        assert office.ran(thread) == ["disable_user"]


async def test_a_reject_that_was_begun_before_the_approval_has_lost_the_race(office_of):
    async with office_of() as office:
        await pause(office)
        thread = await office.propose("one")
        (review,) = await opened(office, thread)
        card = await office.card_of(review, button="decide.approve")
        await office.click(BEN, card, "decide.reject")
        await office.click(ADA, card, "decide.approve")

        late = await office.submit(BEN, {"m.0": "No."})
        await resume(office)
        await office.settled(thread)

        assert "already decided" in late["errors"]["m.0"]
        assert office.ran(thread) == ["disable_user"]


async def test_once_it_ran_it_is_too_late(office_of):
    async with office_of() as office:
        thread, review, card = await approved(office)
        await resume(office)
        await stands(office, review, "resumed")

        await forge(office, pressed(ADA, showing_of(card, "decision.take_back"), "decision.take_back", card=card))

        assert "no longer waiting" in await office.told(ADA)
        assert office.ran(thread) == ["disable_user"]
