"""C6 no dead end: whatever Slack refuses of a window, its person is told, the next press draws it, and no decision is lost.

Cases are drawn from every window, every way of refusing and every length of it, by a seed that a failure names.
"""

from __future__ import annotations

import os
import random
import secrets

import pytest

from tests.kit.office import ADA
from tests.kit.steps import call, directly, heal, opened

pytestmark = pytest.mark.asyncio

CASES = int(os.environ.get("PLACET_C6_CASES", "6"))
AWAY = (
    {"status": 503},
    {"error": "internal_error"},
    {"status": 429, "retry_after": 30},
    {"drop": "before"},
    {"drop": "after"},
)
CHANGED = (*AWAY, {"error": "hash_conflict"}, {"error": "not_found"}, {"error": "view_too_large"})
OPENED = (*AWAY, {"error": "expired_trigger_id"}, {"error": "exchanged_trigger_id"})
PUSHED = (*OPENED, {"error": "push_limit_reached"}, {"error": "not_found"})


class Window:
    """One window up to a press that Slack refuses, and what the press is to bring up."""

    calls = tuple(call("disable_user", user_id=f"u_{at}", reason="r") for at in range(7))
    method, faults = "views.update", CHANGED

    def __init__(self, office):
        self.office = office

    async def start(self):
        self.thread = await self.office.propose(turns=[list(self.calls)])
        (self.review,) = await opened(self.office, self.thread)
        self.card = await self.office.card_of(self.review, None if len(self.calls) > 1 else 0, button="review.open")

    async def open(self):
        await self.office.click(ADA, self.card, "review.open")

    async def top(self):
        answer = await self.office.slack.get("/sandbox/modal", params={"user": ADA})
        return answer.raise_for_status().json()["view"]

    async def press(self):
        """Press in whatever view is in front, without waiting for what it brings."""
        view = await self.top()
        action, block, more = self.pressed
        if any(one["block_id"] == block for one in view["blocks"]):
            await self.office.press(ADA, view, action, block, **{"wait_s": 0, **more})

    async def there(self):
        view = await self.top()
        return view is not None and self.brings in str(view)

    async def finish(self):
        """Reject everything, from wherever the person is now."""
        await self.office.slack.post("/sandbox/close", json={"user": ADA, "all": True})
        await self.open()
        for _ in range(4):
            view = await self.top()
            if view is None:
                return
            wanted = [one["block_id"] for one in view["blocks"] if one["block_id"].startswith("d.")]
            await self.office.submit(ADA, dict.fromkeys(wanted, "reject"))
        raise AssertionError("the window never ends")


class PageBack(Window):
    pressed, brings = ("review.page.back", "pages", {}), "Page 1 of 2"

    async def start(self):
        await super().start()
        await self.open()
        await self.office.submit(ADA, {f"d.{at}": "reject" for at in range(5)})


class Choice(Window):
    """Of an option that brings an input of its own."""

    pressed, brings = ("decision", "d.1", {"value": "reject"}), "'m.1'"

    async def start(self):
        await super().start()
        await self.open()


class ChoiceOnALeftPage(Choice):
    """The next page was drawn once, and did not stay: Slack's client had lost the answer.

    That a view is another one now, or closed, is what Slack says of a press that comes late: nobody is told of those.
    """

    faults = (*AWAY, {"error": "view_too_large"})

    async def start(self):
        await super().start()
        await self.office.fault("deliver.view_submission", drop="after")
        await self.office.submit(ADA, {f"d.{at}": "approve" for at in range(5)})


class NextPage(Window):
    calls = (call("send_email", to="ada@example.com", subject="Minutes", body="Line after line. " * 1_200),)
    pressed, brings = ("review.page.next", "pages", {}), "Page 2 of"

    async def start(self):
        await super().start()
        await self.open()

    async def finish(self):
        await self.office.slack.post("/sandbox/close", json={"user": ADA, "all": True})
        await reject(self.office, self.review)


class OtherForm(NextPage):
    calls = (call("disable_user", user_id="u_1", reason="r"),)
    pressed, brings = ("edit.json", "form", {}), "'e.0'"

    async def start(self):
        self.thread = await self.office.propose(turns=[list(self.calls)])
        (self.review,) = await opened(self.office, self.thread)
        self.card = await self.office.card_of(self.review, button="decide.edit")
        await self.office.click(ADA, self.card, "decide.edit")


class FormOnTop(Window):
    method, faults = "views.push", PUSHED
    pressed, brings = ("decide.edit", "o.1", {}), "batch.edit"

    async def start(self):
        await super().start()
        await self.open()
        await self.office.press(ADA, await self.top(), "decision", "d.1", value="edit")
        await self.office.until(self.there, "the form of the edit")
        await self.office.slack.post("/sandbox/close", json={"user": ADA})

        async def listed():
            return "'o.1'" in str(await self.top())

        await self.office.until(listed, "the list to lead to the form")


class Opening(Window):
    method, faults = "views.open", OPENED
    brings = "Page 1 of 2"

    async def press(self):
        await self.office.click(ADA, self.card, "review.open", wait_s=0)


WINDOWS = (PageBack, Choice, ChoiceOnALeftPage, NextPage, OtherForm, FormOnTop, Opening)


async def reject(office, review):
    card = await office.card_of(review, button="decide.reject")
    await office.click(ADA, card, "decide.reject")
    await office.submit(ADA)


async def heard(office):
    """All that she was told in private."""
    return len(await directly(office, ADA)) + len(await office.ephemerals(ADA))


async def test_c6_a_window_that_slack_refused_is_told_drawn_at_the_next_press_and_loses_no_decision(office_of):
    seed = int(os.environ.get("PLACET_SEED", secrets.randbelow(1_000_000)))
    print(f"PLACET_SEED={seed}")
    every = [(window, fault, times) for window in WINDOWS for fault in window.faults for times in (1, None)]
    async with office_of() as office:
        for window, fault, times in random.Random(seed).sample(every, CASES):
            case = f"{window.__name__} {fault} times={times} (PLACET_SEED={seed})"
            screen = window(office)
            await screen.start()
            before = await heard(office)

            await office.fault(screen.method, **fault, times=times)
            await screen.press()

            async def answered(screen=screen, before=before):
                return await screen.there() or await heard(office) > before

            await office.until(answered, f"the person to see or hear something: {case}")
            await heal(office)
            if not await screen.there():
                await screen.press()
            await office.until(screen.there, f"the next press to draw it: {case}")
            await screen.finish()
            await office.settled(screen.thread)

            assert office.ran(screen.thread) == [], case
            (review,) = await office.reviews(screen.thread)
            kinds = {action.decision.type.value for action in review.actions}
            assert kinds == {"reject"}, case


async def test_c6_a_choice_whose_input_never_came_up_is_asked_for_again_and_not_refused(office_of):
    async with office_of() as office:
        thread = await office.propose("three")
        (review,) = await opened(office, thread)
        root = await office.card_of(review, None, button="review.open")
        await office.fault("views.update", error="internal_error", times=None)
        await office.fault("views.push", error="internal_error", times=None)
        view = (await office.click(ADA, root, "review.open"))["view"]
        for block, chosen in (("d.1", "reject"), ("d.0", "edit")):
            told = len(await directly(office, ADA))
            await office.press(ADA, view, "decision", block, value=chosen, wait_s=0)
            await office.until(lambda told=told: _told_more(office, told), "her to be told")
        await heal(office)

        again = await office.submit(ADA, {"m.2": "EU"})

        assert "Edit the arguments and keep the edit" in str(again["view"]["blocks"])
        assert any(block["block_id"] == "o.0" for block in again["view"]["blocks"]), "the way to the form"
        done = await office.submit(ADA, {"d.0": "reject"})
        await office.settled(thread)
        assert done["view"] is None


async def _told_more(office, than):
    return len(await directly(office, ADA)) > than
