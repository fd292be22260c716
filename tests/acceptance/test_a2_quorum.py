"""A2 quorum: n different people stand behind one content, or nothing runs."""

from __future__ import annotations

import pytest

from bot.sandbox.slack.records import Group
from tests.kit.crossing import ONE_AND_TWO, crossed
from tests.kit.office import ADA, BEN, buttons
from tests.kit.steps import decide_in_modal, pause, redrawn, resume, rewrite, says, stands

pytestmark = pytest.mark.asyncio
REPLICAS = ONE_AND_TWO

BOTH = """\
      - {user: U0ADA, tools: ["*"], may: [approve, edit, reject, respond]}
      - {group: S0SUPPORT, tools: ["*"], may: [approve, edit, reject]}
      - {group: S0LEADS, tools: ["*"], may: [approve, edit, reject]}
"""


def quorum(number=2):
    return f'      "*": {{approvals: {number}}}\n'


@crossed
async def test_a2_quorum_one_person_is_not_enough_and_counts_once(office_of):
    async with office_of(tools=quorum(), reviewers=BOTH) as office:
        office.world.add(Group("S0LEADS", "leads", "T0DEMO", (BEN,)))
        thread = await office.propose("one")
        card = await office.card("Needs 2 approvals, has 0", button="decide.approve")

        await office.click(BEN, card, "decide.approve")
        again = await office.card("Needs 2 approvals, has 1", button="decide.approve")
        await office.click(BEN, again, "decide.approve")
        await office.told(BEN, "approved this call already")

        assert office.ran(thread) == []
        await office.click(ADA, again, "decide.approve")
        (review,) = await office.settled(thread)

        assert office.ran(thread) == ["disable_user"]
        assert {one.by.user for one in review.actions[0].approvals} == {ADA, BEN}
        kinds = [event.kind for event in await office.events(review.id)]
        assert (kinds.count("approval.made"), kinds.count("decision.made")) == (2, 1)


async def test_a2_quorum_an_edit_voids_earlier_approvals_and_the_old_card_is_stale(office_of):
    async with office_of(tools=quorum(), reviewers=BOTH) as office:
        thread = await office.propose("one")
        old = await office.card("has 0", button="decide.edit")
        await office.click(ADA, old, "decide.approve")
        await office.card("has 1", button="decide.edit")

        await edited(office, BEN, old)
        review = await office.review(thread)
        card = await redrawn(office, review, "edited this")
        await old_press(office, old)

        assert office.ran(thread) == []
        assert "u_edited" in says(card)
        await office.click(ADA, card, "decide.approve")
        await office.settled(thread)
        assert [one["args"]["user_id"] for one in office.effects(thread)] == ["u_edited"]


async def test_a2_quorum_an_approval_is_taken_back_by_whoever_made_it_and_counts_no_more(office_of):
    async with office_of(tools=quorum(), reviewers=BOTH) as office:
        thread = await office.propose("one")
        review = await office.review(thread)
        assert "decision.take_back" not in buttons(await office.card_of(review, button="decide.approve"))
        await office.click(ADA, await office.card_of(review), "decide.approve")
        card = await redrawn(office, review, "has 1")

        await office.click(BEN, card, "decision.take_back")
        await office.told(BEN, "Only the person who decided or approved")
        await office.click(ADA, card, "decision.take_back")
        again = await redrawn(office, review, "has 0")
        await office.click(BEN, again, "decide.approve")
        await redrawn(office, review, "has 1")

        (waiting,) = await office.reviews(thread)
        assert (waiting.state.value, office.ran(thread)) == ("open", [])
        assert [one.by.user for one in waiting.actions[0].approvals] == [BEN]
        await office.click(ADA, await office.card_of(review, button="decide.approve"), "decide.approve")
        await office.settled(thread)
        assert office.ran(thread) == ["disable_user"]
        kinds = [event.kind for event in await office.events(review.id)]
        assert (kinds.count("approval.made"), kinds.count("approval.voided")) == (3, 1)


async def edited(office, user, card):
    """Change the user id, as JSON, and approve what the difference shows."""
    answer = await office.click(user, card, "decide.edit")
    blocks = [block for block in answer["view"]["blocks"] if block["type"] == "input"]
    args = {"user_id": "u_edited"}
    named = {block["label"]["text"]: block["block_id"] for block in blocks}
    if any(name.startswith("e.") for name in named.values()):
        values = {next(iter(named.values())): '{"user_id": "u_edited"}'}
    else:
        values = {named[name]: value for name, value in args.items()}
    shown = await office.submit(user, values)
    assert shown["error"] is None, shown
    assert (await office.submit(user))["errors"] == {}


async def old_press(office, old):
    """Press the button as a phone that has not redrawn the card yet would."""
    from tests.kit.forging import forge, pressed, showing_of

    await forge(office, pressed(ADA, showing_of(old, "decide.approve"), "decide.approve", card=old))
    await office.told(ADA, "changed since")


@crossed
async def test_a2_quorum_every_approver_is_asked_about_again_at_dispatch(office_of):
    async with office_of(tools=quorum(), reviewers=BOTH) as office:
        thread = await office.propose("one")
        card = await office.card("has 0", button="decide.approve")
        await pause(office)
        await office.click(BEN, card, "decide.approve")
        await office.click(ADA, await office.card("has 1", button="decide.approve"), "decide.approve")
        review = await office.review(thread, state="decided")

        await rewrite(office, tools=quorum(), reviewers=BOTH.splitlines(keepends=True)[0])
        await resume(office)
        again = await stands(office, review, "open", why="voided_authority")

        assert office.ran(thread) == []
        assert again.actions[0].approvals == ()


async def test_a2_quorum_raised_before_the_dispatch_holds_for_what_was_decided(office_of):
    async with office_of(reviewers=BOTH) as office:
        thread = await office.propose("one")
        card = await office.card(button="decide.approve")
        await pause(office)
        await office.click(ADA, card, "decide.approve")
        review = await office.review(thread, state="decided")

        await rewrite(office, tools=quorum(), reviewers=BOTH)
        await resume(office)
        await stands(office, review, "open", why="voided_authority")

        assert office.ran(thread) == []


async def test_a2_quorum_a_rejection_needs_one_person(office_of):
    async with office_of(tools=quorum(3), reviewers=BOTH) as office:
        thread = await office.propose("one")
        card = await office.card("Needs 3 approvals", button="decide.reject")
        await office.click(ADA, card, "decide.approve")

        await decide_in_modal(office, BEN, await office.card("has 1", button="decide.reject"), "reject", "Not today.")
        (review,) = await office.settled(thread)

        assert office.ran(thread) == []
        assert (review.actions[0].outcome.value, review.actions[0].approvals) == ("rejected", ())
