"""A2 requester: whoever asked for a call does not wave it through, and nobody does where that cannot be told."""

from __future__ import annotations

import json

import pytest

from bot.sandbox.slack.records import Member
from bot.sandbox.slack.seed import add_foreigner
from tests.kit.crossing import ONE_AND_TWO
from tests.kit.forging import forge, pressed, showing_of
from tests.kit.office import ADA, BEN, CHANNEL, CLEO, WHO, buttons
from tests.kit.steps import blindfold, decide_in_modal, paused, redrawn, run_on, stands, start

pytestmark = pytest.mark.asyncio
REPLICAS = ONE_AND_TWO

RULED = "      refund: {requester_may: [reject]}\n"
REFUND = {
    "name": "refund",
    "args": {"order_id": 7, "amount": 1, "currency": "EUR", "notify": True, "labels": None},
}
EVERYBODY = '      - {group: S0SUPPORT, tools: ["*"], may: [approve, edit, reject, respond]}\n' + "".join(
    f'      - {{user: {user}, tools: ["*"], may: [approve, edit, reject, respond]}}\n' for user in (ADA, CLEO)
)


def asking(*calls):
    return {"messages": [{"role": "user", "content": json.dumps({"turns": [list(calls)]})}]}


async def started(office, metadata):
    """A run whose thread says this about itself."""
    made = await office.agents.post("/threads", json={"metadata": metadata}, headers=WHO)
    thread = str(made.raise_for_status().json()["thread_id"])
    await run_on(office, thread, {"assistant_id": "ops", "input": asking(REFUND)})
    await paused(office, thread)
    return thread


@pytest.mark.parametrize(
    "metadata", [{}, {"slack_user": "cleo"}, {"slack_user": ["U0CLEO"]}], ids=["missing", "name", "list"]
)
async def test_a2_requester_that_cannot_be_told_leaves_only_reject_where_the_tool_has_a_rule(office_of, metadata):
    async with office_of(tools=RULED, reviewers=EVERYBODY) as office:
        await started(office, metadata)
        card = await office.card(button="decide.reject")

        assert set(buttons(card)) == {"decide.reject"}


async def test_a2_requester_that_changes_before_the_dispatch_voids_the_approval(office_of):
    async with office_of(tools=RULED, reviewers=EVERYBODY) as office:
        thread = await started(office, {"slack_user": CLEO})
        card = await office.card(button="decide.approve")
        blindfold(office)
        await rename(office, thread, BEN)

        await office.click(ADA, card, "decide.approve")
        review = await office.review(thread)
        await stands(office, review, "open", why="voided_authority")

        assert office.ran(thread) == []


async def rename(office, thread, user):
    """Have the thread name another requester."""
    changed = {"metadata": {"slack_user": user}}
    (await office.agents.patch(f"/threads/{thread}", json=changed, headers=WHO)).raise_for_status()


async def test_a2_requester_that_changes_while_the_card_is_open_leaves_only_reject_until_it_is_the_first_again(
    office_of,
):
    async with office_of(tools=RULED, reviewers=EVERYBODY) as office:
        thread = await started(office, {"slack_user": CLEO})
        review = await office.review(thread)
        card = await office.card_of(review, button="decide.approve")

        await rename(office, thread, BEN)
        narrowed = await redrawn(office, review, "names another requester")
        await forge(office, pressed(ADA, showing_of(card, "decide.approve"), "decide.approve", card=card))
        assert "who started this run" in await office.told(ADA)
        await rename(office, thread, CLEO)
        await office.click(ADA, await office.card_of(review, button="decide.approve"), "decide.approve")
        await office.settled(thread)

        assert buttons(narrowed) == ["decide.reject"]
        assert office.ran(thread) == ["refund"]
        changes = [event for event in await office.events(review.id) if event.kind == "requester.changed"]
        assert [json.loads(event.content)["now"] for event in changes] == [BEN, CLEO]


async def test_a2_requester_of_before_and_of_now_may_both_not_approve_without_a_rule_of_the_tool(office_of):
    async with office_of(reviewers=EVERYBODY) as office:
        thread = await started(office, {"slack_user": CLEO})
        review = await office.review(thread)
        card = await office.card_of(review, button="decide.approve")
        await rename(office, thread, BEN)
        await redrawn(office, review, "names another requester")

        for user in (CLEO, BEN):
            await office.click(user, card, "decide.approve")
            assert "You started this run" in await office.told(user)
        assert (await stands(office, review, "open")).actions[0].decision is None


async def test_a2_requester_of_another_workspace_is_nobody_known(office_of):
    async with office_of(tools=RULED, reviewers=EVERYBODY) as office:
        add_foreigner(office.world, Member("U0EXT", "Ext", "T0OTHER"), channel=CHANNEL)
        thread = await started(office, {"slack_user": "U0EXT"})
        card = await office.card(button="decide.approve")

        await office.click(ADA, card, "decide.approve")
        await stands(office, await office.review(thread), "open", why="voided_authority")

        assert office.ran(thread) == []


async def test_a2_requester_may_answer_the_agent_s_question_to_them(office_of):
    async with office_of(reviewers=EVERYBODY) as office:
        thread = await start(office, "ops", asking({"name": "ask_user", "args": {"question": "Which account?"}}))
        card = await office.card("ask_user", button="decide.respond")

        await decide_in_modal(office, CLEO, card, "respond", "The second one.")
        await office.settled(thread)

        assert [one["content"] for one in await office.tool_messages(thread)] == ["The second one."]


async def test_a2_requester_may_not_approve_their_own_call_unless_the_policy_says_so(office_of):
    async with office_of(reviewers=EVERYBODY) as office:
        thread = await office.propose("one", user=CLEO)
        card = await office.card(button="decide.approve")

        await office.click(CLEO, card, "decide.approve")
        await office.told(CLEO, "You started this run")

        assert office.ran(thread) == []
