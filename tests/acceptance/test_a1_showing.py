"""A1 stale showing: what was drawn before its content changed decides nothing, and is drawn anew."""

from __future__ import annotations

import pytest

from tests.kit.forging import forge, pressed, showing_of
from tests.kit.office import ADA, BEN, buttons
from tests.kit.steps import call, heard, opened, propose_instead, redrawn, rewrite, says, sent, stands

pytestmark = pytest.mark.asyncio

INSTEAD = call("disable_user", user_id="u_0001", reason="another one")
NO_APPROVE = """\
      - {user: U0ADA, tools: ["*"], may: [reject]}
"""


async def test_a1_showing_the_button_of_a_replaced_proposal_decides_nothing(office_of):
    async with office_of() as office:
        thread = await office.propose("one")
        card = await office.card("disable_user", button="decide.approve")
        old = await office.review(thread, state="open")
        await propose_instead(office, thread, INSTEAD)
        await stands(office, old, "superseded")
        (fresh,) = await opened(office, thread)

        await forge(office, pressed(ADA, showing_of(card, "decide.approve"), "decide.approve", card=card))

        assert "no longer waiting" in await office.told(ADA)
        assert (await stands(office, fresh, "open")).actions[0].decision is None
        assert office.ran(thread) == []


async def test_a1_showing_modals_of_a_replaced_proposal_decide_nothing(office_of):
    async with office_of() as office:
        thread = await office.propose("one")
        card = await office.card("disable_user", button="decide.approve")
        old = await office.review(thread, state="open")
        await office.click(BEN, card, "decide.reject")
        await office.click(ADA, card, "decide.edit")
        await office.submit(ADA, {"reason": "edited"})
        await propose_instead(office, thread, INSTEAD)
        await stands(office, old, "superseded")

        rejected = await office.submit(BEN, {"m.0": "No."})
        edited = await office.submit(ADA)

        assert "no longer waiting" in rejected["errors"]["m.0"]
        assert "no longer waiting" in says_view(edited["view"])
        (fresh,) = await opened(office, thread)
        assert fresh.actions[0].decision is None
        assert await office.tool_messages(thread) == []
        assert heard(office, thread) == []


async def test_a1_showing_a_card_drawn_under_an_older_policy_decides_nothing_and_is_redrawn(office_of):
    async with office_of() as office:
        thread = await office.propose("one")
        card = await office.card("disable_user", button="decide.approve")
        review = await office.review(thread, state="open")

        await rewrite(office, reviewers=NO_APPROVE)
        await forge(office, pressed(ADA, showing_of(card, "decide.approve"), "decide.approve", card=card))

        assert "policy does not let you" in await office.told(ADA)
        await office.until(lambda: _lacks(office, review, "decide.approve"), "the card without Approve")
        assert (await stands(office, review, "open")).actions[0].decision is None
        assert office.ran(thread) == []


async def test_a1_showing_a_batch_decided_in_part_by_a_colleague_is_drawn_anew_before_it_is_sent(office_of):
    async with office_of() as office:
        thread = await office.propose("three")
        (review,) = await opened(office, thread)
        root = await office.card_of(review, None, button="review.open")
        view = (await office.click(ADA, root, "review.open"))["view"]
        for position in ("d.0", "d.1"):
            view = (await office.press(ADA, view, "decision", position, value="approve"))["view"]
        first = await office.card_of(review, 0, button="decide.reject")
        await office.click(BEN, first, "decide.reject")
        await office.submit(BEN, {"m.0": "Not this account."})

        stale = await office.submit(ADA, {"m.2": "EU"})

        assert "already decided" in says_view(stale["view"])
        assert "d.0" not in [block["block_id"] for block in stale["view"]["blocks"]]
        assert office.ran(thread) == []
        assert heard(office, thread) == []

        closed = await office.submit(ADA)
        await stands(office, review, "resumed")
        assert closed["view"] is None
        (body,) = sent(office, thread)
        (answer,) = body["command"]["resume"].values()
        assert [one["type"] for one in answer["decisions"]] == ["reject", "approve", "respond"]
        assert sorted(office.ran(thread)) == ["execute_sql", "read_data"]


async def test_a1_showing_a_colleagues_edit_stands_against_an_approve_of_the_card_before_it(office_of):
    async with office_of() as office:
        thread = await office.propose("three")
        (review,) = await opened(office, thread)
        card = await office.card_of(review, 0, button="decide.edit")
        await office.click(ADA, card, "decide.edit")
        await office.submit(ADA, {"reason": "edited"})
        await office.submit(ADA)

        await forge(office, pressed(BEN, showing_of(card, "decide.approve"), "decide.approve", card=card))

        assert "already decided by <@U0ADA>" in await office.told(BEN)
        assert "edited" in says(await redrawn(office, review, "Approved with an edit"))
        assert (await stands(office, review, "open")).actions[0].decision.type.value == "edit"
        assert heard(office, thread) == []


async def _lacks(office, review, button):
    return button not in buttons(await office.card_of(review))


def says_view(view):
    return str(view["blocks"])
