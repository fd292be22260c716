"""A batch that something else overtakes: a choice that is delivered late, or a colleague who decided an earlier page."""

from __future__ import annotations

import time

import pytest

from bot.core.model import PersonId
from bot.store.showings import load_drafts
from tests.kit.forging import chosen, forge, submitted
from tests.kit.office import ADA, BEN
from tests.kit.steps import call, opened
from tests.scenarios.test_batch_edit import batch

pytestmark = pytest.mark.asyncio


def choice(view, decisions):
    """The press of `approve` at the first call, as the view stood then."""

    def state(kind):
        return {
            "decision": {
                "type": "radio_buttons",
                "selected_option": {"text": {"type": "plain_text", "text": kind}, "value": kind},
            }
        }

    stamp = f"{time.time():.6f}"
    held = {key: view[key] for key in ("id", "hash", "callback_id", "private_metadata", "root_view_id")}
    return {
        "type": "block_actions",
        "team": {"id": "T0DEMO", "domain": "x"},
        "user": {"id": ADA, "team_id": "T0DEMO", "name": "x", "username": "x"},
        "api_app_id": "A0PLACET",
        "trigger_id": f"forged.{stamp}",
        "container": {"type": "view", "view_id": view["id"]},
        "view": {
            **held,
            "type": "modal",
            "state": {"values": {block: state(kind) for block, kind in decisions.items()}},
        },
        "actions": [
            {
                "type": "radio_buttons",
                "action_id": "decision",
                "block_id": "d.0",
                "action_ts": stamp,
                **state("approve")["decision"],
            }
        ],
    }


async def test_what_was_rejected_on_the_first_page_does_not_run_by_a_choice_that_came_late(office_of):
    async with office_of() as office:
        calls = [call("disable_user", user_id=f"u_{at}", reason="r") for at in range(7)]
        thread, _, first = await batch(office, calls)
        await office.submit(ADA, {f"d.{at}": "reject" for at in range(5)})

        await forge(office, choice(first, {"d.0": "approve"}))
        await office.until(lambda: idle(office), "the late choice to be done with")
        done = await office.submit(ADA, {"d.5": "reject", "d.6": "reject"})
        await office.settled(thread)

        assert done["view"] is None
        assert office.effects(thread) == []


async def idle(office):
    return not any(placet.tasks._running for placet in office.replicas)


async def test_a_choice_on_an_earlier_page_that_a_colleague_overtook_is_told_before_the_rest_is_sent(office_of):
    async with office_of() as office:
        calls = [call("disable_user", user_id=f"u_{at}", reason="r") for at in range(7)]
        thread = await office.propose(turns=[calls])
        (review,) = await opened(office, thread)
        root = await office.card_of(review, None, button="review.open")
        await office.click(ADA, root, "review.open")
        await office.submit(ADA, {f"d.{at}": "reject" for at in range(5)})
        await office.click(BEN, await office.card_of(review, 0, button="decide.approve"), "decide.approve")

        sent = await office.submit(ADA, {"d.5": "reject", "d.6": "reject"})

        assert sent["view"] is not None, "her reject of call 1 was dropped without a word"
        assert "Page 1 of 2" in str(sent["view"])
        assert office.ran(thread) == []
        (now,) = await office.reviews(thread)
        assert now.state.value == "open"
        await office.submit(ADA)
        done = await office.submit(ADA)
        assert done["view"] is None
        await office.settled(thread)
        assert len(office.effects(thread)) == 1


async def test_a_choice_that_was_never_sent_in_another_window_does_not_replace_what_was_sent_in_this_one(office_of):
    async with office_of() as office:
        calls = [call("disable_user", user_id=f"u_{at}", reason="r") for at in range(7)]
        thread, review, _ = await batch(office, calls)
        decision_service = (await office.submit(ADA, {f"d.{at}": "reject" for at in range(5)}))["view"]
        root = await office.card_of(review, None, button="review.open")
        phone = (await office.click(ADA, root, "review.open"))["view"]
        await forge(office, choice(phone, {"d.0": "approve"}))

        async def stored():
            async with office.stores[0].read() as tx:
                return (await load_drafts(tx, review.id, PersonId("T0DEMO", ADA)))[0].decision == "approve"

        await office.until(stored, "the phone's choice")
        await forge(
            office,
            submitted(
                ADA, decision_service["private_metadata"], "batch", {"d.5": chosen("reject"), "d.6": chosen("reject")}
            ),
        )

        async def over():
            (now,) = await office.reviews(thread)
            return now.state.value in ("resumed", "open")

        await office.until(over, "an end")
        assert office.effects(thread) == []
