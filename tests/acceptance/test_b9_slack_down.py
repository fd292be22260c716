"""B9 Slack down: whatever Slack refuses, loses or takes away, decisions stand, and each card is there once in the end.

Here the faults come all at once, and one after the other on one workspace; each by itself, with what an operator and the
person see of it, stands in `tests.scenarios.test_slack_faults`, `tests.cases.test_running_slack_errors`,
`tests.cases.test_running_lost_cards` and `tests.cases.test_running_windows` (triggers that expire).
"""

from __future__ import annotations

from collections import Counter

import pytest

from bot.store import messages
from tests.kit.office import ADA, CHANNEL, buttons
from tests.kit.running import calls, change, fault_of
from tests.kit.steps import deciding, heal, heard, opened, pause, redrawn, resume, stands

pytestmark = pytest.mark.asyncio

HOUR_MS = 3_600_000
DOWN = [{"status": 503}, {"status": 429, "retry_after": 30}]


async def each_once(office, *reviews):
    """Every review has one card in the channel, and it says that the call ran, once."""
    for review in reviews:
        await stands(office, review, "resumed")
        assert not deciding(await redrawn(office, review, "Ran"))
    ran = Counter(one["thread_id"] for one in office.effects())
    assert ran == {review.thread_id: 1 for review in reviews}
    assert all(len(heard(office, review.thread_id)) == 1 for review in reviews)
    assert len(await office.messages()) == len(reviews)


@pytest.mark.parametrize("fault", DOWN, ids=["503", "429"])
async def test_b9_slack_down_for_an_hour_loses_no_decision_and_no_card(office_of, fault):
    async with office_of(replicas=2) as office:
        (before,) = await opened(office, await office.propose("one"))
        card = await office.card_of(before, button="decide.approve")
        await office.fault("chat.postMessage", drop="after")  # the last that it takes, and it does not say so
        for first in ({"drop": "before"}, {"error": "internal_error"}):
            await office.fault("*", times=3, **first)
        await office.fault("*", times=None, **fault)
        answered = await office.click(ADA, card, "decide.approve")
        thread = await office.propose("one")
        during = await office.review(thread, state="open")
        await office.until(lambda: in_doubt(office, during), "the post to be looked for in vain")

        office.advance(HOUR_MS)
        standing = await stands(office, during, "open")
        await heal(office)
        office.advance(HOUR_MS)
        (during,) = await opened(office, thread)
        await office.click(ADA, await office.card_of(during, button="decide.approve"), "decide.approve")

        assert answered["acked"]
        assert standing.delivered_at is None
        await each_once(office, before, during)
        assert len(await calls(office, "chat.postMessage", well=True)) == 2, "found, not posted again"


async def in_doubt(office, review):
    """Whether a post was taken that nobody knows of, and looking for it has failed."""
    async with office.stores[0].read() as tx:
        (row,) = await messages.messages_of(tx, review.id)
    return row.state == "posting" and row.attempts > 1


async def test_b9_one_trouble_after_the_other_leaves_one_settled_card_for_each_call(office_of):
    async with office_of(replicas=2) as office:
        reviews = [(await opened(office, await office.propose("one")))[0] for _ in range(3)]
        gone = await office.card_of(reviews[0], button="decide.approve")

        await change(office, "delete-message", channel=CHANNEL, ts=gone["ts"])
        await pause(office)  # every open card is drawn anew
        again = await office.until(lambda: another_card(office, reviews[0], gone["ts"]), "the card to be posted again")
        await office.fault("chat.update", status=429, retry_after=1)
        await office.fault("chat.update", drop="after")
        for review in reviews:
            await office.click(ADA, await office.card_of(review, button="decide.approve"), "decide.approve")
            await stands(office, review, "decided")
        await change(office, "channels", id=CHANNEL, archived=True)
        await resume(office)
        for review in reviews:
            await stands(office, review, "resumed")
        archived = await office.until(lambda: ailing(office, "is_inactive"), "the channel to be known as archived")
        await change(office, "installation", team="T0DEMO", status="token_revoked")
        office.advance(HOUR_MS)
        revoked = await office.until(lambda: ailing(office, "token_revoked"), "the token to be known as revoked")
        await change(office, "channels", id=CHANNEL, archived=False)
        await change(office, "installation", team="T0DEMO", status="active")
        office.advance(HOUR_MS)

        await each_once(office, *reviews)
        await office.until(lambda: ailing(office, None), "the tenant to be well")
        assert again["ts"] != gone["ts"]
        assert (archived, revoked) == (True, True)


async def ailing(office, code):
    return await fault_of(office) == code


async def another_card(office, review, ts):
    card = await office.card_of(review)
    return card if card["ts"] != ts and "decide.approve" in buttons(card) else None
