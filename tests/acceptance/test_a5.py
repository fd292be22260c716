"""A5: one decision, one effect, however often, from how many people and through how many replicas it is asked for."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from itertools import pairwise

import pytest

from tests.kit.office import ADA, BEN, WHO
from tests.kit.steps import call, decide_in_modal, heard, opened, paused, rewrite, run_on, stands, start

pytestmark = pytest.mark.asyncio

# Named one by one: a group's members may be asked for only a few times a minute.
TWO = """\
      - {user: U0ADA, tools: ["*"], may: [approve, reject]}
      - {user: U0BEN, tools: ["*"], may: [approve, reject]}
"""
TIMES, AT_ONCE = 20, 5


async def calls_with_cards(office, count):
    """So many waiting calls, each with its card."""
    threads = await asyncio.gather(*(office.propose("one") for _ in range(count)))
    reviews = [(await opened(office, thread))[0] for thread in threads]
    return [(review, await office.card_of(review, button="decide.approve")) for review in reviews]


@pytest.mark.timeout(300)
async def test_a5_double_two_people_approve_at_once_through_two_replicas(office_of):
    async with office_of(kind="aegra", replicas=2, reviewers=TWO) as office:
        for _ in range(TIMES // AT_ONCE):
            calls = await calls_with_cards(office, AT_ONCE)
            presses = (office.click(user, card, "decide.approve") for _, card in calls for user in (ADA, BEN))
            answers = await asyncio.gather(*presses)
            assert all(answer["acked"] for answer in answers)
            for review, _ in calls:
                await stands(office, review, "resumed")

        assert Counter(office.ran()) == {"disable_user": TIMES}
        assert len({effect["tool_call_id"] for effect in office.effects()}) == TIMES
        assert all(len(heard(office, review.thread_id)) == 1 for review in await office.reviews())


@pytest.mark.timeout(300)
async def test_a5_double_an_approve_races_a_reject_and_the_loser_is_told(office_of):
    async with office_of(kind="aegra", replicas=2, reviewers=TWO) as office:
        won = Counter()
        for review, card in await calls_with_cards(office, AT_ONCE):
            await office.click(BEN, card, "decide.reject")
            told_before = len(await office.ephemerals(ADA))

            _, rejected = await asyncio.gather(
                office.click(ADA, card, "decide.approve"), office.submit(BEN, {"m.0": "No."})
            )
            ended = await stands(office, review, "resumed")

            decided = ended.actions[0].decision.type.value
            won[decided] += 1
            assert office.ran(review.thread_id) == ["disable_user"] * (decided == "approve")
            if decided == "approve":
                assert "already decided" in rejected["errors"]["m.0"]
                await office.slack.post("/sandbox/close", json={"user": BEN})
            else:
                await office.until(lambda seen=told_before: more_told(office, seen), "Ada to be told")
        assert won.total() == AT_ONCE
        assert len(office.effects()) == won["approve"]


async def more_told(office, seen):
    return [text for text in (await office.ephemerals(ADA))[seen:] if "already decided" in text]


async def test_a5_replay_a_recorded_click_or_submission_delivered_again_does_nothing_more(office_of):
    async with office_of(replicas=2) as office:
        approved, rejected = await office.propose("one"), await office.propose("email")
        (one,), (two,) = await opened(office, approved), await opened(office, rejected)

        await office.fault("deliver.block_actions", dup=True)
        await office.click(ADA, await office.card_of(one, button="decide.approve"), "decide.approve")
        await decide_in_modal(office, BEN, await office.card_of(two, button="decide.reject"), "reject", "No.")
        await stands(office, one, "resumed")
        await stands(office, two, "resumed")
        deliveries = (await office.slack.get("/sandbox/deliveries")).json()
        numbers = [one["number"] for one in deliveries]
        for fresh in (False, True):
            again = [{"number": number, "fresh": fresh} for number in numbers]
            await asyncio.gather(*(office.slack.post("/sandbox/replay", json=body) for body in again))

        assert office.ran() == ["disable_user"]
        assert [len(heard(office, thread)) for thread in (approved, rejected)] == [1, 1]
        for review in (one, two):
            made = [event for event in await office.events(review.id) if event.kind == "decision.made"]
            assert len(made) == 1
        assert await office.ephemerals(ADA) == []


async def test_a5_replay_a_click_recorded_before_its_decision_was_voided_decides_nothing_anew(office_of):
    async with office_of(replicas=2) as office:
        thread = await office.propose("one")
        (review,) = await opened(office, thread)
        card = await office.card_of(review, button="decide.approve")
        from tests.kit.steps import pause, resume

        await pause(office)
        await office.click(BEN, card, "decide.approve")
        await stands(office, review, "decided")
        (number,) = [one["number"] for one in (await office.slack.get("/sandbox/deliveries")).json()]
        await rewrite(office, reviewers='      - {user: U0ADA, tools: ["*"], may: [approve]}\n')
        await resume(office)
        await stands(office, review, "open", why="voided_authority")
        await rewrite(office, more="    on_expiry: hold\n")

        for fresh in (False, True):
            await office.slack.post("/sandbox/replay", json={"number": number, "fresh": fresh})

        assert (await stands(office, review, "open")).actions[0].decision is None
        assert heard(office, thread) == []
        assert office.ran(thread) == []


def slow_and(*scripts):
    slow = json.dumps({"turns": [[call("slow_op", seconds=1)]]})
    return {"scripts": [slow, *scripts]}


async def test_a5_busy_reviews_of_one_thread_go_out_one_after_the_other(office_of):
    async with office_of(kind="aegra", replicas=2) as office:
        thread = await start(office, "fanout", slow_and("sql", "email"))
        await paused(office, thread)
        reviews = await opened(office, thread, 3)
        cards = [await office.card_of(review, button="decide.approve") for review in reviews]

        await asyncio.gather(*(office.click(ADA, card, "decide.approve") for card in cards))
        for review in reviews:
            await stands(office, review, "resumed")

        answers = sorted(heard(office, thread), key=lambda one: one.began)
        assert len(answers) == 3
        assert all(earlier.ended <= later.began for earlier, later in pairwise(answers))
        assert Counter(office.ran(thread)) == dict.fromkeys(
            ("slow_op.begin", "slow_op", "execute_sql", "send_email"), 1
        )


@pytest.mark.parametrize("kind", ["langgraph", "aegra"])
async def test_a5_busy_a_decision_waits_while_somebody_elses_run_is_active(office_of, kind):
    async with office_of(kind=kind) as office:
        thread = await start(office, "fanout", slow_and("sql"))
        await paused(office, thread)
        reviews = {review.actions[0].tool: review for review in await opened(office, thread, 2)}
        theirs, ours = reviews["slow_op"], reviews["execute_sql"]
        card = await office.card_of(ours, button="decide.approve")
        answer = {"decisions": [{"type": "approve"}]}
        foreign = {"assistant_id": "fanout", "command": {"resume": {theirs.interrupt_id: answer}}}
        await run_on(office, thread, foreign)

        await office.click(ADA, card, "decide.approve")
        await stands(office, ours, "resumed")

        runs = (await office.agents.get(f"/threads/{thread}/runs", headers=WHO)).json()
        assert all(run["status"] not in ("pending", "running") for run in runs)
        assert Counter(office.ran(thread)) == dict.fromkeys(("slow_op.begin", "slow_op", "execute_sql"), 1)
        at = {effect["tool"]: effect["at"] for effect in office.effects(thread)}
        assert at["execute_sql"] > at["slow_op"]
        await stands(office, theirs, "superseded")
