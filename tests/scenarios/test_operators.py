"""Operators at the card: a menu that everybody sees and only they may use, and what comes of it."""

from __future__ import annotations

import json

import pytest

from bot.core.model import Outcome
from tests.acceptance.test_a6_audit import an_unknown_outcome
from tests.acceptance.test_b5_poisoned import a_broken_review
from tests.kit.office import ADA, BEN, buttons
from tests.kit.operating import chosen, offered
from tests.kit.running import events
from tests.kit.steps import opened, paused, redrawn, stands

pytestmark = pytest.mark.asyncio

ASKED = "request.asked"


async def test_an_operator_repairs_a_broken_call_from_its_card_and_is_told_how_it_went(office_of):
    async with office_of(replicas=2) as office:
        broken = await a_broken_review(office)
        card = await redrawn(office, broken, "Broken")

        window = await chosen(office, ADA, card, "repair")
        answer = await office.submit(ADA)
        told = await office.told(ADA, "Forked by run")
        await paused(office, broken.thread_id)
        (fresh,) = await opened(office, broken.thread_id)

        assert buttons(card) == []
        assert "nothing can have run" in json.dumps(window)
        assert not answer["errors"]
        assert fresh.id != broken.id
        assert "a fresh review opens" in told
        (asked,) = await events(office, ASKED)
        assert (asked.actor, asked.tenant, asked.review_id) == ("slack:T0DEMO/U0ADA", "demo", broken.id)
        assert [one.actor for one in await events(office, "repair.asked")] == ["slack:T0DEMO/U0ADA"]


async def test_who_is_no_operator_is_refused_in_private_and_in_the_record(office_of):
    async with office_of() as office:
        broken = await a_broken_review(office)
        card = await redrawn(office, broken, "Broken")

        window = await chosen(office, BEN, card, "repair")
        told = await office.told(BEN, "Only operators")
        (refused,) = await events(office, "press.refused")

        assert window is None
        assert told
        assert (refused.actor, refused.review_id) == ("slack:T0DEMO/U0BEN", broken.id)
        assert json.loads(refused.content)["reason"] == "not_an_operator"
        assert await events(office, ASKED) == []


async def test_whose_account_is_not_known_just_now_is_asked_to_try_again_even_as_an_operator(office_of):
    async with office_of() as office:
        broken = await a_broken_review(office)
        card = await redrawn(office, broken, "Broken")
        await office.fault("users.info", error="internal_error", times=1_000)
        office.advance(people_are_old := 10 * 60_000)

        window = await chosen(office, ADA, card, "repair")

        assert people_are_old
        assert window is None
        assert "could not be asked just now" in await office.told(ADA)
        assert await events(office, ASKED) == []


async def test_an_operator_settles_an_unknown_outcome_with_what_they_found_and_how_they_know(office_of):
    async with office_of() as office:
        review = await an_unknown_outcome(office)
        card = await redrawn(office, review, "Unknown")

        await chosen(office, ADA, card, "settle")
        empty = await office.submit(ADA, {"operate.found": "executed", "operate.note": "  "})
        done = await office.submit(ADA, {"operate.found": "executed", "operate.note": "seen in the log"})
        settled = await stands(office, review, "resumed", why="settled_executed")

        assert empty["errors"] == {"operate.note": "Say how you know."}
        assert not done["errors"]
        assert settled.actions[0].outcome is Outcome.EXECUTED
        event = next(one for one in await office.events(review.id) if one.kind == "review.resumed")
        assert (event.actor, json.loads(event.content)["note"]) == ("slack:T0DEMO/U0ADA", "seen in the log")
        assert "settled as executed" in await office.told(ADA)
        assert offered(await redrawn(office, review, "An operator looked")) == {}
        assert office.ran() == []
