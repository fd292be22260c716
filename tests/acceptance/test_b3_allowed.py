"""B3 allowed: for each position only what its interrupt allows is shown, and nothing else is ever taken."""

from __future__ import annotations

import pytest

from tests.kit.forging import chosen, forge, pressed, showing_of, submitted, typed
from tests.kit.office import ADA, BEN
from tests.kit.steps import decide_in_modal, deciding, heard, opened, paused, refusals, sent, stands, start

pytestmark = pytest.mark.asyncio


def request(user):
    return {"name": "disable_user", "args": {"user_id": user}, "description": ""}


def config(*allowed):
    return {"action_name": "disable_user", "allowed_decisions": list(allowed)}


# The same tool three times, with three lists; the graph behind it writes down what it was answered.
THRICE = {
    "kind": "value",
    "value": {
        "action_requests": [request("u_0"), request("u_1"), request("u_2")],
        "review_configs": [config("approve", "reject"), config("edit", "respond"), config("reject", "postpone")],
    },
}


async def thrice(office):
    thread = await start(office, "freeform", THRICE)
    await paused(office, thread)
    (review,) = await opened(office, thread)
    return review, [await office.card_of(review, position) for position in range(3)]


async def test_b3_allowed_decisions_are_shown_for_each_position_by_itself(office_of):
    async with office_of() as office:
        review, cards = await thrice(office)
        root = await office.card_of(review, None, button="review.open")

        opened_view = (await office.click(ADA, root, "review.open"))["view"]

        assert [deciding(card) for card in cards] == [
            ["decide.approve", "decide.reject"],
            ["decide.edit", "decide.respond"],
            ["decide.reject"],
        ]
        offered = {
            block["block_id"]: [option["value"] for option in block["element"]["options"]]
            for block in opened_view["blocks"]
            if block["type"] == "input" and block["block_id"].startswith("d.")
        }
        assert offered == {"d.0": ["approve", "reject"], "d.1": ["edit", "respond"], "d.2": ["reject"]}


async def test_b3_allowed_list_of_a_position_holds_against_forged_decisions(office_of):
    async with office_of() as office:
        review, cards = await thrice(office)
        windows = [
            (await office.click(user, card, f"decide.{kind}"))["view"]["private_metadata"]
            for user, card, kind in ((ADA, cards[0], "reject"), (BEN, cards[1], "edit"))
        ]

        for position, button in ((1, "decide.edit"), (2, "decide.reject")):
            await forge(
                office, pressed(ADA, showing_of(cards[position], button), "decide.approve", card=cards[position])
            )
        answers = [
            await forge(office, submitted(ADA, windows[0], "respond", {"m.0": typed("message", "yes")})),
            await forge(office, submitted(BEN, windows[1], "reject", {"m.1": typed("message", "no")})),
            await forge(
                office, submitted(ADA, windows[0], "review", {"d.0": chosen("edit"), "e.0": typed("json", "{}")})
            ),
        ]
        root = await office.card_of(review, None, button="review.open")
        batch = (await office.click(ADA, root, "review.open"))["view"]["private_metadata"]
        wrong = {
            "d.0": chosen("respond"),
            "m.0": typed("message", "x"),
            "d.1": chosen("approve"),
            "d.2": chosen("approve"),
        }
        answers.append(await forge(office, submitted(ADA, batch, "batch", wrong)))

        reasons = [reason for _, reason in await refusals(office)]
        assert set(reasons) == {"decision_not_allowed"}
        assert len(reasons) >= 4
        assert all('"clear"' not in answer.text for answer in answers)
        assert all(action.decision is None for action in (await stands(office, review, "open")).actions)
        assert heard(office, review.thread_id) == []


async def test_b3_allowed_decisions_reach_the_agent_as_they_were_taken(office_of):
    async with office_of() as office:
        review, cards = await thrice(office)

        await office.click(ADA, cards[0], "decide.approve")
        await decide_in_modal(office, ADA, cards[1], "respond", "It is done already.")
        await decide_in_modal(office, ADA, cards[2], "reject", " ")
        await stands(office, review, "resumed")

        (effect,) = office.effects(review.thread_id)
        ((answer),) = effect["args"]["answers"]
        told = [{"type": "approve"}, {"type": "respond", "message": "It is done already."}, {"type": "reject"}]
        assert answer == {"decisions": told}
        assert len(sent(office, review.thread_id)) == 1
