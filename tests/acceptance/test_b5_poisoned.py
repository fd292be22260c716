"""B5 poisoned: an interrupt that can never be answered is shown as broken, and repaired only where that is safe."""

from __future__ import annotations

import pytest

from tests.kit.office import ADA, buttons
from tests.kit.operating import ask
from tests.kit.steps import blindfold, opened, paused, pending, redrawn, run_on, stands, unblind

pytestmark = pytest.mark.asyncio


async def poison(office, thread):
    """Answer as a careless client would, with something that no middleware understands."""
    (one, *_) = await pending(office, thread)
    wrong = {"command": {"resume": {one["id"]: {"decisions": [{"type": "nonsense"}]}}}}
    await run_on(office, thread, {"assistant_id": "agent_platform", **wrong})

    async def failed():
        return (await office.thread(thread))["status"] == "error"

    await office.until(failed, "the thread to fail")


async def a_broken_review(office):
    thread = await office.propose("one")
    (review,) = await opened(office, thread)
    await poison(office, thread)
    await office.hint(thread)
    return await stands(office, review, "broken", why="poisoned")


async def test_b5_poisoned_is_shown_as_broken_without_buttons_and_a_repair_asks_anew(office_of):
    async with office_of() as office:
        broken = await a_broken_review(office)
        card = await redrawn(office, broken, "Broken")
        assert buttons(card) == []

        told = await ask(office, "repair", review=broken)
        twice = await ask(office, "repair", review=broken)
        await paused(office, broken.thread_id)
        (fresh,) = await opened(office, broken.thread_id)
        await office.click(ADA, await office.card_of(fresh, button="decide.approve"), "decide.approve")
        await stands(office, fresh, "resumed")

        assert told["ok"], told
        assert not twice["ok"]
        assert fresh.id != broken.id
        assert fresh.interrupt_id != broken.interrupt_id
        assert office.ran() == ["disable_user"]
        kinds = [event.kind for event in await office.events(broken.id)]
        assert kinds.count("repair.asked") == 1
        assert [event.actor for event in await office.events(broken.id) if event.kind == "repair.asked"] == [
            "operator:ops"
        ]


async def test_b5_poisoned_beside_another_question_is_not_repaired_and_says_why(office_of):
    async with office_of() as office:
        thread = await office.propose("parallel")
        first, _ = await opened(office, thread, 2)
        blindfold(office)
        wrong = {"command": {"resume": {first.interrupt_id: {"decisions": [{"type": "nonsense"}]}}}}
        await run_on(office, thread, {"assistant_id": "fanout", **wrong})

        async def failed():
            return (await office.thread(thread))["status"] == "error"

        await office.until(failed, "the thread to fail")
        unblind(office)
        await office.hint(thread)
        broken = await stands(office, first, "broken")
        before = len(office.agent.heard)

        told = await ask(office, "repair", review=broken)

        assert not told["ok"]
        assert "questions are pending" in told["text"] or "review step" in told["text"]
        assert not any(one.path.endswith("/runs") for one in office.agent.heard[before:])


async def test_b5_what_is_not_broken_is_not_repaired(office_of):
    async with office_of() as office:
        thread = await office.propose("one")
        (review,) = await opened(office, thread)

        told = await ask(office, "repair", review=review)

        assert told == {"ok": False, "text": f"{review.id} is open, not broken: there is nothing to repair."}
