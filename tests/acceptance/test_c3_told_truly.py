"""C3 told truly: card, root, Home, audit and export say what became of each call, whoever writes its result and how."""

from __future__ import annotations

import json

import pytest
from sqlalchemy import select

from bot.core.model import Outcome
from bot.store.tables import audit_events
from tests.kit.office import ADA, WHO
from tests.kit.steps import (
    blindfold,
    call,
    decide_in_modal,
    opened,
    paused,
    pending,
    redrawn,
    run_on,
    says,
    stands,
    start,
    told_directly,
    unblind,
)

pytestmark = pytest.mark.asyncio

DISABLE = call("disable_user", user_id="u_1", reason="fraud")
BOOM = call("flaky_op", why="the far end hung up")
ALLOWED = {"tools": "      flaky_op: {decisions: [approve, reject]}\n      send_email: {}\n"}
SOMEBODY_ELSE = ("outside Slack", "Superseded", "Broken", "answered_elsewhere", "poisoned")


def script(*calls):
    return {"messages": [{"role": "user", "content": json.dumps({"turns": [list(calls)]})}]}


def delegated(*calls):
    return script(call("delegate", script=json.dumps({"turns": [list(calls)]})))


def branches(*scripts):
    return {"scripts": [json.dumps({"turns": [[one]]}) for one in scripts]}


# Where a tool runs, as (assistant, what starts it with a call).
PLACES = {
    "flat": ("ops", script),
    "per call": ("ops_per_call", script),
    "sub-agent": ("team", delegated),
    "branch": ("fanout", branches),
    "by hand": ("by_hand", script),
}


SAID = {"approve": Outcome.EXECUTED, "reject": Outcome.REJECTED, "respond": Outcome.ANSWERED}


async def asked(office, place, *calls):
    assistant, given = PLACES[place]
    thread = await start(office, assistant, given(*calls))
    await paused(office, thread)
    return thread


async def approved(office, review):
    await office.click(ADA, await office.card_of(review, button="decide.approve"), "decide.approve")


async def told_of(office, review):
    """The card, and the whole record of a review."""
    async with office.stores[0].read() as tx:
        rows = (await tx.conn.execute(select(audit_events).where(audit_events.c.review_id == review.id))).all()
    cards = [says(await office.card_of(review, action.position)) for action in review.actions]
    return "\n".join(cards), [(row.kind, row.content) for row in rows]


def nobody_else(card, record):
    return [said for said in SOMEBODY_ELSE if said in card or said in json.dumps(record)]


def alarms(record):
    return [json.loads(content)["alarm"] for kind, content in record if kind == "dispatch.alarm"]


@pytest.mark.parametrize("kind", ["langgraph", "aegra"])
async def test_c3_an_approved_tool_that_raised_after_its_effect_is_failed_with_an_alarm_wherever_it_ran(
    office_of, kind
):
    async with office_of(kind=kind, **ALLOWED) as office:
        threads = {place: await asked(office, place, BOOM) for place in PLACES}
        asked_for = {place: (await opened(office, thread))[0] for place, thread in threads.items()}
        for review in asked_for.values():
            await approved(office, review)
        for place, thread in threads.items():
            review = asked_for[place]
            done = await stands(office, review, "resumed")
            card, record = await told_of(office, await stands(office, review, "resumed", why="raised"))

            assert done.actions[0].outcome is Outcome.FAILED, place
            await redrawn(office, review, "check the target system")
            assert alarms(record) == ["raised"], place
            assert not nobody_else(card, record), place
            assert office.ran(thread) == ["flaky_op"], place
        assert "may have had its effect" in await told_directly(office, ADA, review.id)

        # Nothing runs again, nor is anything asked anew, however often the threads are read.
        for thread in threads.values():
            await office.hint(thread)
        office.advance(120_000)
        assert len(await office.reviews()) == len(PLACES)
        assert len(office.ran()) == len(PLACES)


@pytest.mark.parametrize("kind", ["langgraph", "aegra"])
async def test_c3_what_was_decided_is_told_wherever_the_tool_is_called(office_of, kind):
    async with office_of(kind=kind, **ALLOWED) as office:
        ways = [(place, decision) for place in ("sub-agent", "branch", "by hand") for decision in SAID]
        threads = {way: await asked(office, way[0], DISABLE) for way in ways}
        reviews = {way: (await opened(office, thread))[0] for way, thread in threads.items()}
        for (_, decision), review in reviews.items():
            card = await office.card_of(review, button="decide.approve")
            if decision == "approve":
                await approved(office, review)
            else:
                await decide_in_modal(office, ADA, card, decision, "the second one")
        for (place, decision), review in reviews.items():
            done = await stands(office, review, "resumed")
            shown, record = await told_of(office, done)

            assert done.actions[0].outcome == SAID[decision], (place, decision)
            assert not nobody_else(shown, record), (place, decision)
            assert alarms(record) == [], (place, decision)
            assert office.ran(done.thread_id) == ["disable_user"] * (decision == "approve"), (place, decision)


async def test_c3_one_surprising_result_does_not_drag_the_calls_beside_it_along(office_of):
    async with office_of(**ALLOWED) as office:
        thread = await asked(office, "by hand", DISABLE, call("send_email", to="a", subject="b", body="c"))
        (review,) = await opened(office, thread)
        await approved(office, review)
        await decide_in_modal(office, ADA, await office.card_of(review, 1, button="decide.reject"), "reject", "no")
        done = await stands(office, review, "resumed")
        card, record = await told_of(office, done)

        assert [one.outcome for one in done.actions] == [Outcome.EXECUTED, Outcome.REJECTED]
        assert not nobody_else(card, record)
        root = says(await office.card_of(done, None))
        assert "outside Slack" not in root
        assert office.ran(thread) == ["disable_user"]


async def test_c3_calls_that_share_an_id_show_no_result_rather_than_anothers(office_of):
    async with office_of(**ALLOWED) as office:
        twins = [DISABLE | {"id": "x"}, call("send_email", to="a", subject="b", body="c") | {"id": "x"}]
        both = await asked(office, "flat", *twins)
        (review,) = await opened(office, both)
        for position in (0, 1):
            await office.click(ADA, await office.card_of(review, position, button="decide.approve"), "decide.approve")
        done = await stands(office, review, "resumed")
        card, record = await told_of(office, done)
        assert [one.outcome for one in done.actions] == [Outcome.TAKEN, Outcome.TAKEN]
        assert "Result" not in card
        assert not nobody_else(card, record)

        half = await asked(office, "flat", *twins)
        (review,) = await opened(office, half)
        await approved(office, review)
        await decide_in_modal(office, ADA, await office.card_of(review, 1, button="decide.reject"), "reject", "no")
        done = await stands(office, review, "resumed")
        card, record = await told_of(office, done)
        assert [one.outcome for one in done.actions] == [Outcome.TAKEN, Outcome.REJECTED]
        assert not nobody_else(card, record)


async def test_c3_an_id_that_is_used_again_in_a_later_turn_shows_the_later_result(office_of):
    async with office_of(**ALLOWED) as office:
        turns = [[DISABLE | {"id": "x"}], [DISABLE | {"id": "x"}]]
        thread = await office.propose(turns=turns)
        (first,) = await opened(office, thread)
        await approved(office, first)
        await stands(office, first, "resumed")
        await paused(office, thread)
        (second,) = await opened(office, thread)
        await decide_in_modal(office, ADA, await office.card_of(second, button="decide.reject"), "reject", "no")
        done = await stands(office, second, "resumed")

        assert done.actions[0].outcome is Outcome.REJECTED
        assert office.ran(thread) == ["disable_user"]


@pytest.mark.parametrize("kind", ["langgraph", "aegra"])
async def test_c3_somebody_elses_answer_is_told_as_theirs_where_they_gave_one(office_of, kind):
    async with office_of(kind=kind) as office:
        thread = await office.propose("one")
        (review,) = await opened(office, thread)
        blindfold(office)
        (one,) = await pending(office, thread)
        answer = {"command": {"resume": {one["id"]: {"decisions": [{"type": "reject", "message": "no"}]}}}}
        await run_on(office, thread, {"assistant_id": "agent_platform", **answer})
        await office.until(lambda: _idle(office, thread), "their run to end")
        await approved(office, review)
        unblind(office)
        done = await stands(office, review, "superseded")

        assert done.why in ("answered_elsewhere", "thread_moved_on")
        assert office.ran(thread) == []


async def _idle(office, thread):
    return (await office.thread(thread))["status"] == "idle"


@pytest.mark.parametrize("kind", ["langgraph", "aegra"])
async def test_c3_a_refused_decision_says_what_refused_it_and_goes_out_once_that_is_mended(office_of, kind):
    async with office_of(kind=kind) as office:
        made = {"assistant_id": "6d1f3c52-8f0a-4a52-9f52-0d8d4d1c9f11", "graph_id": "ops", "name": "x"}
        (await office.agents.post("/assistants", json=made, headers=WHO)).raise_for_status()
        thread = await start(office, made["assistant_id"], script(DISABLE))
        await paused(office, thread)
        (review,) = await opened(office, thread)
        gone = await office.agents.delete(f"/assistants/{made['assistant_id']}", headers=WHO)
        gone.raise_for_status()
        await approved(office, review)
        waits = await stands(office, review, "decided", why="agent_gone")
        card = says(await redrawn(office, review, "is not there any more"))
        for _ in range(8):
            office.advance(61_000)
            waits = await stands(office, waits, "decided", why="agent_gone")
        refused = [event for event in await office.events(review.id) if event.kind == "review.decided"]

        assert "nothing ran" in card
        assert office.ran(thread) == []
        assert not [event for event in await office.events(review.id) if event.kind == "dispatch.alarm"]
        assert refused

        (await office.agents.post("/assistants", json=made, headers=WHO)).raise_for_status()
        office.advance(61_000)
        await stands(office, review, "resumed")
        assert office.ran(thread) == ["disable_user"]
