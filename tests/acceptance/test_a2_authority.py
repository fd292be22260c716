"""A2 authority: who may not decide is refused at the click and at the submit, and found out at the dispatch."""

from __future__ import annotations

import pytest

from bot.sandbox.slack.records import Member
from bot.sandbox.slack.seed import add_foreigner
from tests.kit.crossing import ONE_AND_TWO, crossed
from tests.kit.forging import forge, pressed, showing_of
from tests.kit.office import ADA, BEN, CHANNEL, CLEO, DAN, GUS
from tests.kit.steps import (
    change,
    decide_in_modal,
    heard,
    hire,
    opened,
    pause,
    redrawn,
    refusals,
    reread,
    resume,
    rewrite,
    stands,
)

pytestmark = pytest.mark.asyncio
REPLICAS = ONE_AND_TWO

EVE, FAY, HAL, ZOE = "U0EVE", "U0FAY", "U0HAL", "U0ZOE"
# Everybody whose right is taken away: Eve's rule goes, Zoe is no longer listed, Cleo may not even stop her own run,
# Ben leaves the group, Fay's account is switched off, Hal becomes a guest.
LOSERS = (EVE, ZOE, CLEO, BEN, FAY, HAL)
SAID = {
    EVE: "not a reviewer",
    ZOE: "outside this workspace",
    CLEO: "You started this run",
    BEN: "not a reviewer",
    FAY: "deactivated",
    HAL: "Guests cannot decide",
}
ALWAYS = """\
      - {user: U0ADA, tools: ["*"], may: [approve, reject]}
      - {user: U0ZOE, tools: ["*"], may: [approve, reject]}
      - {user: U0CLEO, tools: ["*"], may: [approve, reject]}
      - {user: U0FAY, tools: ["*"], may: [approve, reject]}
      - {group: S0SUPPORT, tools: ["*"], may: [approve, reject]}
"""
AT_FIRST = {
    "reviewers": ALWAYS + '      - {user: U0EVE, tools: ["*"], may: [approve, reject]}\n',
    "more": "    outsiders: [{team: T0OTHER, user: U0ZOE}]\n",
}
LATER = {"reviewers": ALWAYS, "tools": '      "*": {requester_may: []}\n'}


def staffed(office):
    """Put everybody to work before the first card is drawn."""
    hire(office, EVE)
    hire(office, FAY)
    hire(office, HAL, group=True)
    add_foreigner(office.world, Member(ZOE, "Zoe", "T0OTHER"), channel=CHANNEL)


async def demote(office):
    """Take the right to decide from all of them."""
    await rewrite(office, **LATER)
    await change(office, BEN, groups=[])
    await change(office, FAY, deleted=True)
    await change(office, HAL, is_restricted=True)


async def a_call_for_each(office):
    """One waiting call for each of them, with its card."""
    found = {}
    for user in LOSERS:
        thread = await office.propose("one")
        (review,) = await opened(office, thread)
        found[user] = (review, await office.card_of(review, button="decide.reject"))
    return found


async def test_a2_authority_whoever_may_not_decide_is_refused_at_the_click(office_of):
    named = "".join(f'      - {{user: {user}, tools: ["*"], may: [approve]}}\n' for user in (GUS, CLEO, ZOE, FAY))
    support = "      - {group: S0SUPPORT, tools: [execute_sql], may: [approve, reject]}\n"
    async with office_of(reviewers=named + support) as office:
        hire(office, FAY, deleted=True)
        add_foreigner(office.world, Member(ZOE, "Zoe", "T0OTHER"), channel=CHANNEL)
        thread = await office.propose("one")
        (review,) = await opened(office, thread)
        card = await office.card_of(review, button="decide.approve")

        told = {}
        for user in (DAN, BEN, GUS, CLEO, ZOE, FAY):
            await office.click(user, card, "decide.approve")
            told[user] = await office.told(user)

        assert [reason for _, reason in await refusals(office)] == [
            "not_a_reviewer",  # of nothing
            "not_a_reviewer",  # of another tool
            "guest",
            "own_request",
            "outsider",
            "deactivated",
        ]
        assert all("nothing was decided" in text or "." in text for text in told.values())
        assert (await stands(office, review, "open")).actions[0].decision is None
        assert office.ran(thread) == []


@crossed
@pytest.mark.timeout(300)
async def test_a2_authority_lost_while_the_card_is_open_is_refused_at_the_click(office_of):
    async with office_of(**AT_FIRST) as office:
        staffed(office)
        calls = await a_call_for_each(office)
        await demote(office)
        await reread(office, FAY, HAL, CLEO, ZOE)

        for user, (_, card) in calls.items():
            await forge(
                office, pressed(user, showing_of(card, "decide.approve"), "decide.approve", card=card, home=home(user))
            )
            assert SAID[user] in await office.told(user)

        assert office.effects() == []
        assert [await office.reviews(review.thread_id) for review, _ in calls.values()]
        for review, _ in calls.values():
            assert (await stands(office, review, "open")).actions[0].decision is None


@pytest.mark.timeout(300)
async def test_a2_authority_lost_while_the_modal_is_open_is_refused_at_the_submit(office_of):
    async with office_of(**AT_FIRST) as office:
        staffed(office)
        calls = await a_call_for_each(office)
        for user, (_, card) in calls.items():
            assert (await office.click(user, card, "decide.reject"))["view"]["callback_id"] == "reject"
        await demote(office)
        await reread(office, FAY, HAL, CLEO, ZOE)

        for user, (review, _) in calls.items():
            answer = await office.submit(user, {"m.0": "No."})
            assert SAID[user] in answer["errors"]["m.0"]
            assert (await stands(office, review, "open")).actions[0].decision is None
            assert heard(office, review.thread_id) == []


@crossed
@pytest.mark.timeout(300)
async def test_a2_authority_lost_after_the_click_is_found_out_at_the_dispatch(office_of):
    async with office_of(**AT_FIRST) as office:
        staffed(office)
        calls = await a_call_for_each(office)
        await pause(office)
        for user, (review, card) in calls.items():
            if user == CLEO:
                await decide_in_modal(office, user, card, "reject", "Mine, and not wanted any more.")
            else:
                await office.click(user, card, "decide.approve")
            await stands(office, review, "decided")
        await demote(office)
        await resume(office)

        for review, _ in calls.values():
            voided = await stands(office, review, "open", why="voided_authority")
            assert voided.actions[0].decision is None
            await redrawn(office, review, "may no longer decide this")
            assert heard(office, review.thread_id) == []
        assert office.effects() == []

        review, _ = calls[BEN]
        await office.click(ADA, await office.card_of(review, button="decide.approve"), "decide.approve")
        await stands(office, review, "resumed")
        assert office.ran() == ["disable_user"]


def home(user):
    return "T0OTHER" if user == ZOE else None
