"""Two people and two replicas at once, on live Aegra, which by itself runs a tool twice for two answers.

Counted on what the tools wrote, call by call, against what the store says was decided.
"""

import asyncio
from collections import Counter

import pytest
from sqlalchemy import select

from bot.core.model import DecisionType, Outcome
from bot.sandbox.agents.propose import propose
from bot.store.reviews import load_review
from bot.store.tables import messages, reviews
from tests.kit.office import ADA, BEN, CLEO

pytestmark = [pytest.mark.live, pytest.mark.asyncio, pytest.mark.timeout(600)]

DOUBLE_CLICKS, RACES = 100, 50
AT_ONCE = 25  # calls in a round: enough to keep both replicas busy, and few enough for a small machine
STEP_S = 0.02
ENDED = ("resumed", "superseded", "broken", "unknown")


async def proposed(office, count):
    """So many waiting calls: the card of each one, by its review's id."""
    threads = [(await propose(office.agents, preset="one", user=CLEO))["thread_id"] for _ in range(count)]
    posted = select(messages.c.review_id, messages.c.ts).join(reviews, reviews.c.id == messages.c.review_id)

    async def there():
        rows = await found(office, posted.where(reviews.c.thread_id.in_(threads), messages.c.ts.is_not(None)))
        return {review: {"ts": ts} for review, ts in rows} if len(rows) == count else None

    return await office.until(there, f"{count} cards", patience=120, every=0.2)


async def settled(office, cards):
    """The one call of each of these reviews, once all of them have ended."""
    over = select(reviews.c.id).where(reviews.c.id.in_(cards), reviews.c.state.in_(ENDED))

    async def there():
        return len(await found(office, over)) == len(cards)

    await office.until(there, "every decision to be carried out", patience=240, every=0.2)
    async with office.stores[0].read() as tx:
        return [(await load_review(tx, one)).actions[0] for one in cards]


async def found(office, statement):
    async with office.stores[0].read() as tx:
        return (await tx.conn.execute(statement)).all()


def runs(office, actions):
    """How often each of these calls ran."""
    wanted = {action.tool_call_id for action in actions}
    return Counter(effect["tool_call_id"] for effect in office.effects() if effect["tool_call_id"] in wanted)


async def test_a_hundred_double_clicks_have_a_hundred_effects(aegra_office):
    async with aegra_office() as office:
        actions = []
        for _ in range(DOUBLE_CLICKS // AT_ONCE):
            cards = await proposed(office, AT_ONCE)
            for card in cards.values():
                await asyncio.gather(*(office.click(who, card, "decide.approve", wait_s=0) for who in (ADA, BEN)))
            actions += await settled(office, cards)

        assert runs(office, actions) == {action.tool_call_id: 1 for action in actions}
        assert len({action.tool_call_id for action in actions}) == DOUBLE_CLICKS
        assert {action.outcome for action in actions} == {Outcome.EXECUTED}


async def race(office, card, *, lead):
    """Ben rejects and Ada approves at once, he so many seconds ahead; True if his came first."""
    opened = await office.click(BEN, card, "decide.reject")
    assert opened["view"], opened

    async def approve():
        await asyncio.sleep(lead)  # not a wait: a head start, since a submitted modal takes the longer way
        await office.click(ADA, card, "decide.approve", wait_s=0)

    submitted, _ = await asyncio.gather(office.submit(BEN, {"m.0": "no"}), approve())
    office.world.set_modals(BEN, ())  # a modal that says that he came too late stays open
    return submitted["view"] is None


async def test_approve_against_reject_runs_what_was_approved_and_nothing_else(aegra_office):
    async with aegra_office() as office:
        actions, lead = [], 0.05
        for _ in range(RACES // AT_ONCE):
            cards = await proposed(office, AT_ONCE)
            for card in cards.values():
                # The loser starts a little earlier next time, so that every race is a close one.
                lead += -STEP_S if await race(office, card, lead=max(lead, 0.0)) else STEP_S
            actions += await settled(office, cards)

        approved = [action for action in actions if action.decision.type is DecisionType.APPROVE]
        rejected = [action for action in actions if action.decision.type is DecisionType.REJECT]
        assert approved
        assert rejected
        assert len(approved) + len(rejected) == RACES
        assert runs(office, actions) == {action.tool_call_id: 1 for action in approved}
        assert {action.outcome for action in approved} == {Outcome.EXECUTED}
        assert {action.outcome for action in rejected} == {Outcome.REJECTED}
