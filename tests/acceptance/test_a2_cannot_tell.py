"""A2 cannot tell: where Slack cannot be asked, a decision is neither sent nor lost."""

from __future__ import annotations

import pytest

from tests.kit.crossing import ONE_AND_TWO
from tests.kit.forging import forge, pressed, showing_of
from tests.kit.office import BEN
from tests.kit.steps import change, heal, heard, opened, pause, redrawn, refusals, reread, resume, stands

pytestmark = pytest.mark.asyncio
REPLICAS = ONE_AND_TWO

ASKED = ("users.info", "usergroups.users.list")


async def silence(office):
    """Slack answers no question about people any more."""
    for method in ASKED:
        await office.fault(method, error="internal_error", times=None)


async def bens_approval(office):
    thread = await office.propose("one")
    (review,) = await opened(office, thread)
    card = await office.card_of(review, button="decide.approve")
    return review, card


async def test_a2_cannot_tell_the_decision_waits_and_goes_out_once_it_is_confirmed(office_of):
    async with office_of() as office:
        review, card = await bens_approval(office)
        await silence(office)

        await office.click(BEN, card, "decide.approve")
        await stands(office, review, "decided", why="cannot_confirm")
        await redrawn(office, review, "Slack cannot be asked")
        assert heard(office, review.thread_id) == []

        await heal(office)
        office.advance(6_000)
        await stands(office, review, "resumed")
        assert office.ran() == ["disable_user"]


async def test_a2_cannot_tell_who_was_removed_meanwhile_is_voided(office_of):
    async with office_of() as office:
        review, card = await bens_approval(office)
        await silence(office)
        await office.click(BEN, card, "decide.approve")
        await stands(office, review, "decided", why="cannot_confirm")

        await change(office, BEN, groups=[])
        await heal(office)
        office.advance(6_000)

        await stands(office, review, "open", why="voided_authority")
        assert heard(office, review.thread_id) == []
        assert office.ran() == []


async def test_a2_cannot_tell_what_was_read_long_before_the_dispatch_confirms_nothing(office_of):
    async with office_of() as office:
        review, card = await bens_approval(office)
        await pause(office)
        await office.click(BEN, card, "decide.approve")
        await reread(office, BEN)
        await silence(office)
        await change(office, BEN, groups=[])

        office.advance(600_000)
        await resume(office)

        await stands(office, review, "decided", why="cannot_confirm")
        assert heard(office, review.thread_id) == []
        await heal(office)
        office.advance(6_000)
        await stands(office, review, "open", why="voided_authority")
        assert office.ran() == []


async def test_a2_cannot_tell_a_press_that_was_refused_for_it_stays_refused_when_it_is_delivered_again(office_of):
    async with office_of() as office:
        review, card = await bens_approval(office)
        await silence(office)
        office.advance(200_000)
        press = pressed(BEN, showing_of(card, "decide.approve"), "decide.approve", card=card)
        await forge(office, press)
        await office.told(BEN, "Slack could not be asked")

        await heal(office)
        await reread(office, BEN)
        await forge(office, press)

        assert (await stands(office, review, "open")).actions[0].decision is None
        assert await refusals(office) == [(BEN, "cannot_confirm")]
        await office.click(BEN, await office.card_of(review, button="decide.approve"), "decide.approve")
        await stands(office, review, "resumed")
        assert office.ran() == ["disable_user"]
