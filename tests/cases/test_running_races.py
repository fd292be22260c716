"""Another client that answers in the same moment: the outcome stands at once, and that it may have run twice follows."""

from __future__ import annotations

import asyncio
import json

import httpx
import pytest
from sqlalchemy import func, select, update

from bot.core.model import Outcome
from bot.metrics import ALARMS
from bot.sandbox.agents.kinds import Aegra
from bot.store.tables import actions, lookbacks
from tests.kit.office import ADA
from tests.kit.operating import ask, offered
from tests.kit.running import approve, events, relayed_office_in
from tests.kit.steps import redrawn

pytestmark = pytest.mark.asyncio
SLOW = [[{"name": "slow_op", "args": {"seconds": 1}}]]  # so that both answers find it under way
WINDOW_S = 0.5  # the server's own, made wide enough for a loaded machine to hit


def joined_by_another(office, relay):
    """Have the next answer of Placet's reach the server together with another client's approval of the same call."""
    sent = []

    async def answer(body):
        theirs = {"assistant_id": body["assistant_id"], "command": body["command"]}
        async with httpx.AsyncClient(base_url=relay.target, timeout=30) as client:
            path = f"/threads/{office.threads[-1]}/runs/wait"
            await client.post(path, json=theirs, headers={"X-User-Id": "approvals"})

    def beside(body):
        sent.append(asyncio.ensure_future(answer(json.loads(body))))
        return body

    relay.order(rewrite=beside)
    return sent


async def left_to_look_at(office):
    async with office.stores[0].read() as tx:
        return await tx.conn.scalar(select(func.count()).select_from(lookbacks))


async def looked_back(office):
    """Wait until nothing is left to be looked back at."""

    async def none_left():
        office.advance(1_000)
        return await left_to_look_at(office) == 0

    await office.until(none_left, "every look back", every=0.1)


async def overwritten(office, review, **values):
    """As if the thread had shown something else when the outcome was stored: its last run is still to write."""
    async with office.stores[0].begin() as tx:
        await tx.conn.execute(update(actions).where(actions.c.review_id == review.id).values(**values))


async def outcome_is(office, review, outcome):
    return next(one for one in await office.reviews(review.thread_id)).actions[0].outcome is outcome


async def alarms_in(office):
    channel = [one["text"] for one in await office.messages() if "ran twice" in one["text"] and one.get("thread_ts")]
    (im,) = [one.id for one in office.world.channels.values() if one.kind == "im" and ADA in one.members]
    direct = await office.slack.get("/sandbox/messages", params={"channel": im})
    return channel, [one["text"] for one in direct.json() if "ran twice" in one["text"]]


async def test_a_race_is_told_once_beside_the_outcome_that_stands(tmp_path, monkeypatch):
    monkeypatch.setattr(Aegra, "admission_s", WINDOW_S)
    async with relayed_office_in(tmp_path, kind="aegra") as (office, relay):
        before = ALARMS.labels(kind="possibly_twice")._value.get()
        theirs = joined_by_another(office, relay)
        thread = await office.propose(turns=SLOW)
        await approve(office, ADA, await office.card(button="decide.approve"))
        (review,) = await office.settled(thread)
        await asyncio.gather(*theirs)

        card = await redrawn(office, review, "ran twice")
        await overwritten(office, review, outcome="rejected")
        office.advance(61_000)
        await office.until(lambda: outcome_is(office, review, Outcome.EXECUTED), "the server's last word")
        await looked_back(office)

        as_other = await ask(office, "settle", review=review, **{"as": "not-executed", "note": "?"})
        looked = await ask(
            office, "settle", review=review, **{"as": "executed", "note": "twice in the log, one undone"}
        )
        after = await redrawn(office, review, "An operator has looked")

        channel, direct = await alarms_in(office)
        (raised,) = await events(office, "dispatch.alarm")
        assert "Ran" in json.dumps(card)
        assert office.ran(thread).count("slow_op") == 2
        assert (as_other["ok"], looked["ok"]) == (False, True)
        assert set(offered(card)) == {"settle"}
        assert offered(after) == {}
        assert [len(channel), len(direct)] == [1, 1]
        assert "within a second of ours" in channel[0]
        assert json.loads(raised.content)["runs"][0] in channel[0]
        assert ALARMS.labels(kind="possibly_twice")._value.get() == before + 1


async def test_an_answer_that_nobody_raced_is_looked_back_at_once_and_left_alone(tmp_path):
    async with relayed_office_in(tmp_path, kind="aegra") as (office, _):
        thread = await office.propose("one")
        await approve(office, ADA, await office.card(button="decide.approve"))
        (review,) = await office.settled(thread)

        await looked_back(office)

        assert await events(office, "dispatch.alarm") == []
        assert (await office.reviews(thread))[0].version == review.version
        assert office.ran(thread) == ["disable_user"]


async def test_two_answers_of_ours_on_one_thread_race_nobody(tmp_path):
    async with relayed_office_in(tmp_path, kind="aegra") as (office, _):
        thread = await office.propose("parallel")

        async def both():
            found = await office.reviews(thread)
            return found if len(found) == 2 else None

        for review in await office.until(both, "two reviews"):
            await approve(office, ADA, await office.card_of(review, button="decide.approve"))
        await office.settled(thread)

        await looked_back(office)

        assert await events(office, "dispatch.alarm") == []
        assert len(office.ran(thread)) == 2
