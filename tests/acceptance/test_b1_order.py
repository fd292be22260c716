"""B1 order: whoever decides what first, decisions leave together, one for each call, in the order of the calls."""

from __future__ import annotations

import pytest

from tests.kit.office import ADA, BEN
from tests.kit.steps import call, decide_in_modal, heard, opened, sent, stands

pytestmark = pytest.mark.asyncio

FOUR = (
    call("disable_user", user_id="u_0", reason="first"),
    call("send_email", to="a@example.com", subject="second", body="."),
    call("refund", order_id=3, amount=1.5, currency="EUR", notify=False, labels=None),
    call("disable_user", user_id="u_3", reason="fourth"),
)


async def one_answer(office, thread, review):
    """The decisions of the one answer that left for this review."""
    (body,) = sent(office, thread)
    assert list(body["command"]["resume"]) == [review.interrupt_id]
    return body["command"]["resume"][review.interrupt_id]["decisions"]


async def test_b1_order_of_calls_is_kept_whatever_the_order_of_the_clicks(office_of):
    async with office_of(replicas=2) as office:
        thread = await office.propose(turns=[list(FOUR)])
        (review,) = await opened(office, thread)
        cards = [await office.card_of(review, position, button="decide.approve") for position in range(4)]

        await office.click(ADA, cards[3], "decide.approve")
        await decide_in_modal(office, BEN, cards[0], "reject", "Not the first.")
        await office.click(ADA, cards[2], "decide.edit")
        await office.submit(ADA, {"amount": "2.50"})
        await office.submit(ADA)
        assert heard(office, thread) == []
        await office.click(BEN, cards[1], "decide.approve")
        await stands(office, review, "resumed")

        decisions = await one_answer(office, thread, review)
        assert [one["type"] for one in decisions] == ["reject", "approve", "edit", "approve"]
        assert decisions[2]["edited_action"]["name"] == "refund"
        ran = {(effect["tool"], effect["args"].get("user_id")) for effect in office.effects(thread)}
        assert ran == {("send_email", None), ("refund", None), ("disable_user", "u_3")}


async def test_b1_order_of_calls_is_kept_between_cards_and_the_batch_window(office_of):
    async with office_of() as office:
        thread = await office.propose(turns=[list(FOUR)])
        (review,) = await opened(office, thread)
        await office.click(BEN, await office.card_of(review, 2, button="decide.approve"), "decide.approve")
        root = await office.card_of(review, None, button="review.open")

        await office.click(ADA, root, "review.open")
        closed = await office.submit(
            ADA,
            {"d.3": "reject", "m.3": "Not the fourth.", "d.0": "approve", "d.1": "reject", "m.1": "Nor the second."},
        )
        await stands(office, review, "resumed")

        assert closed["view"] is None
        decisions = await one_answer(office, thread, review)
        assert [one["type"] for one in decisions] == ["approve", "reject", "approve", "reject"]
        assert "Nor the second." in decisions[1]["message"]
        assert "Not the fourth." in decisions[3]["message"]
        assert sorted(office.ran(thread)) == ["disable_user", "refund"]


async def test_b1_order_of_calls_is_kept_over_the_pages_of_a_long_batch(office_of):
    async with office_of() as office:
        calls = [call("disable_user", user_id=f"u_{number}", reason="dormant") for number in range(10)]
        thread = await office.propose(turns=[calls])
        (review,) = await opened(office, thread)
        odd = {number: "reject" if number % 2 else "approve" for number in range(10)}

        await office.click(ADA, await office.card_of(review, None, button="review.open"), "review.open")
        first = await office.submit(ADA, {f"d.{number}": odd[number] for number in range(5)})
        assert heard(office, thread) == []
        second = await office.submit(ADA, {f"d.{number}": odd[number] for number in range(5, 10)})
        await stands(office, review, "resumed")

        assert first["view"]["submit"]["text"] == "Send decisions"
        assert second["view"] is None
        assert [one["type"] for one in await one_answer(office, thread, review)] == list(odd.values())
        ran = {effect["args"]["user_id"] for effect in office.effects(thread)}
        assert ran == {f"u_{number}" for number in range(0, 10, 2)}
