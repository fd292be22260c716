"""What somebody else did to the thread on a real server, as its card then says it."""

import contextlib
import json

import pytest

from bot.core.model import Outcome
from bot.store import tenants
from tests.kit.office import ADA, buttons
from tests.live.offices import answered_elsewhere

pytestmark = [pytest.mark.live, pytest.mark.asyncio]

APPROVE = {"decisions": [{"type": "approve"}]}
REJECT = {"decisions": [{"type": "reject", "message": "no"}]}
TWO_FOR_ONE = {"decisions": [{"type": "approve"}, {"type": "approve"}]}


@contextlib.asynccontextmanager
async def held_back(office):
    """Decisions are stored, and none leaves before the block ends."""
    async with office.stores[0].begin() as tx:
        await tenants.pause(tx, "demo", by="test")
    yield
    async with office.stores[0].begin() as tx:
        await tenants.resume(tx, "demo", by="test")
    office.wake()


async def test_a_poisoned_interrupt_is_shown_broken_and_without_buttons(live_office):
    async with live_office() as office:
        thread = await office.propose("one")
        card = await office.card("disable_user", button="decide.approve")

        await answered_elsewhere(office, thread, TWO_FOR_ONE)
        await office.hint(thread)
        (review,) = await office.settled(thread)

        assert (review.state.value, review.why) == ("broken", "poisoned")
        shown = await office.card("Broken", without="decide.approve")
        assert shown["ts"] == card["ts"]
        assert buttons(shown) == []
        assert office.ran(thread) == []


@pytest.mark.parametrize(
    ("answer", "ran", "theirs"),
    [(REJECT, [], Outcome.REJECTED), (APPROVE, ["disable_user"], Outcome.EXECUTED)],
    ids=["reject", "approve"],
)
async def test_a_call_that_was_answered_elsewhere_is_never_reported_as_ours(live_office, answer, ran, theirs):
    async with live_office() as office:
        thread = await office.propose("one")
        card = await office.card("disable_user", button="decide.approve")

        async with held_back(office):
            await office.click(ADA, card, "decide.approve")
            await answered_elsewhere(office, thread, answer)
        (review,) = await office.settled(thread)

        assert review.state.value == "superseded"
        # What came of it is theirs, where whoever found it gone could still read that.
        assert review.actions[0].outcome in (theirs, None)
        shown = await office.card("Superseded", without="decide.approve")
        assert shown["ts"] == card["ts"]
        assert "✅" not in json.dumps(shown, ensure_ascii=False)
        assert office.ran(thread) == ran
