"""Several calls, several interrupts, and what happens on the thread meanwhile: no decision lands on another call."""

from __future__ import annotations

import json

import pytest

from bot.sandbox.slack.delivery import deliver
from bot.sandbox.slack.parcels import Parcel
from bot.sandbox.slack.submits import obey
from tests.kit.forging import forge
from tests.kit.office import ADA, BEN, WHO
from tests.kit.running import (
    TEAM,
    approve,
    button,
    change,
    deciding,
    decisions,
    edited,
    events,
    modal,
    office_in,
    opened,
    press_of,
    relayed_office_in,
    said,
)

pytestmark = pytest.mark.asyncio


def accounts(count):
    return [
        {"name": "disable_user", "args": {"user_id": f"u_{number}", "reason": "dormant"}} for number in range(count)
    ]


async def test_case_047_twelve_decisions_leave_in_request_order_whatever_order_the_form_came_in(tmp_path):
    async with relayed_office_in(tmp_path) as (office, relay):
        thread = await office.propose(turns=[accounts(12)])
        root = await office.card("disable_user", button="review.open")
        await opened(office, ADA, root, "review.open")

        chosen = ["reject" if number in (2, 11) else "approve" for number in range(12)]
        while (view := (await modal(office, ADA))["view"]) is not None:
            await forge_page(office, view, chosen)
        await office.settled(thread)

        (sent,) = relay.resumes
        (answers,) = [tree["decisions"] for tree in sent["command"]["resume"].values()]
        assert [answer["type"] for answer in answers] == chosen
        ran = {effect["args"]["user_id"] for effect in office.effects(thread)}
        assert ran == {f"u_{number}" for number in range(12) if number not in (2, 11)}


async def forge_page(office, view, chosen):
    """Submit a page as its client would, but with its fields the other way round."""
    fields = [block["block_id"] for block in view["blocks"] if block["type"] == "input" and block["block_id"][0] == "d"]
    values = {
        block_id: {"decision": {"type": "radio_buttons", "selected_option": {"value": chosen[int(block_id[2:])]}}}
        for block_id in reversed(fields)
    }
    payload = {
        "type": "view_submission",
        "team": {"id": TEAM},
        "user": {"id": ADA, "team_id": TEAM},
        "view": {**view, "state": {"values": values}},
    }
    answer = await deliver(office.world, Parcel("view_submission", payload))
    assert obey(office.world, office.world.views[view["id"]], answer) is None


async def test_case_048_deciding_a_later_card_answers_no_sibling_and_one_answer_leaves_at_the_end(tmp_path):
    async with relayed_office_in(tmp_path) as (office, relay):
        thread = await office.propose(turns=[accounts(5)])
        await office.cards(6)
        review = await office.review(thread)

        await approve(office, ADA, await office.card_of(review, 3, button="decide.approve"))
        after_one = (await office.review(thread), list(relay.resumes))
        for position in (0, 1, 2, 4):
            card = await office.card_of(review, position, button="decide.approve")
            if position == 1:
                await said(office, BEN, card, "reject", "Keep this one.")
            else:
                await approve(office, ADA, card)
        await office.settled(thread)

        assert [action.decision is not None for action in after_one[0].actions] == [False, False, False, True, False]
        assert after_one[1] == []
        (sent,) = relay.resumes
        (tree,) = sent["command"]["resume"].values()
        assert [answer["type"] for answer in tree["decisions"]] == [
            "approve",
            "reject",
            "approve",
            "approve",
            "approve",
        ]


async def test_case_048_interrupts_of_one_thread_are_answered_each_under_its_own_key(tmp_path):
    async with relayed_office_in(tmp_path) as (office, relay):
        thread = await fan_out(office, [json.dumps({"turns": [[call]]}) for call in accounts(3)])
        reviews = await office.until(lambda: reviews_of(office, thread, 3), "three reviews")

        await approve(office, ADA, await office.card_of(reviews[1], 0, button="decide.approve"))
        await office.until(lambda: settled_one(office, reviews[1]), "the second to be answered")
        left = [(await load(office, review)).state.value for review in reviews]
        for review in (reviews[2], reviews[0]):
            await approve(office, ADA, await office.card_of(review, 0, button="decide.approve"))
        await office.settled(thread)

        assert left == ["open", "resumed", "open"]
        assert sorted(effect["args"]["user_id"] for effect in office.effects(thread)) == ["u_0", "u_1", "u_2"]
        answered = [list(sent["command"]["resume"]) for sent in relay.resumes]
        assert [key for (key,) in answered] == [reviews[at].interrupt_id for at in (1, 2, 0)]


async def fan_out(office, scripts):
    """Start a run whose branches pause side by side."""
    made = await office.agents.post("/threads", json={"metadata": {}}, headers=WHO)
    thread = made.raise_for_status().json()["thread_id"]
    body = {"assistant_id": "fanout", "input": {"scripts": scripts}}
    (await office.agents.post(f"/threads/{thread}/runs", json=body, headers=WHO)).raise_for_status()
    await office.until(lambda: office._paused(thread), "the branches to pause")
    await office.hint(thread)
    return thread


async def reviews_of(office, thread, count):
    found = await office.reviews(thread)
    return found if len(found) == count else None


async def load(office, review):
    return next(one for one in await office.reviews(review.thread_id) if one.id == review.id)


async def settled_one(office, review):
    return (await load(office, review)).state.value == "resumed"


# -- the same again


async def test_case_058_the_same_call_proposed_again_waits_for_a_decision_of_its_own(tmp_path):
    async with office_in(tmp_path) as office:
        thread = await office.propose("twice")
        card = await office.card("disable_user", button="decide.edit")

        await edited(office, ADA, card, '{"user_id": "u_other", "reason": "edited"}')
        await office.submit(ADA)
        _, second = await office.until(lambda: reviews_of(office, thread, 2), "the second call")
        again = await office.card_of(second, button="decide.approve")

        assert again["ts"] != card["ts"]
        assert [effect["args"]["user_id"] for effect in office.effects(thread)] == ["u_other"]
        assert (second.state.value, second.actions[0].decision) == ("open", None)


async def test_case_058_an_earlier_button_never_decides_the_later_call(tmp_path):
    async with office_in(tmp_path) as office:
        thread = await office.propose("twice")
        card = await office.card("disable_user", button="decide.approve")
        old = button(card, "decide.approve")["value"]

        await approve(office, ADA, card)
        await office.until(lambda: reviews_of(office, thread, 2), "the second call")
        await forge(office, press_of({**card, "ts": "9.1"}, "decide.approve", value=old))
        await office.told(ADA, "already")

        assert len(office.ran(thread)) == 1
        assert await decisions(office) == 1


# -- the thread moves on


async def test_case_059_a_new_message_on_the_thread_ends_the_waiting_call(tmp_path):
    async with office_in(tmp_path) as office:
        thread = await office.propose("one")
        card = await office.card("disable_user", button="decide.approve")

        body = {"assistant_id": "agent_platform", "input": {"messages": [{"role": "user", "content": "never mind"}]}}
        (await office.agents.post(f"/threads/{thread}/runs/wait", json=body, headers=WHO)).raise_for_status()
        await office.hint(thread)
        (review,) = await office.settled(thread, states=["superseded"])
        await forge(office, press_of(card, "decide.approve"))
        await office.told(ADA, "no longer waiting")
        gone = await office.card("disable_user", without="decide.approve")

        assert office.ran(thread) == []
        assert gone["ts"] == card["ts"]
        assert deciding(gone) == []
        assert review.why == "thread_moved_on"


async def test_case_059_a_press_before_the_bot_has_noticed_sends_nothing_to_the_moved_thread(tmp_path):
    async with office_in(tmp_path) as office:
        thread = await office.propose("one")
        card = await office.card("disable_user", button="decide.approve")

        body = {"assistant_id": "agent_platform", "input": {"messages": [{"role": "user", "content": "never mind"}]}}
        started = await office.agents.post(f"/threads/{thread}/runs", json=body, headers=WHO)
        started.raise_for_status()
        await forge(office, press_of(card, "decide.approve"))
        await office.settled(thread, states=["superseded"])

        assert office.ran(thread) == []


async def test_case_059_yes_in_the_thread_is_no_decision(tmp_path):
    async with office_in(tmp_path) as office:
        thread = await office.propose("one")
        card = await office.card("disable_user", button="decide.approve")

        said = {"type": "message", "channel": "C0APPROVALS", "user": ADA, "text": "approve", "thread_ts": card["ts"]}
        await change(office, "event", event=said)

        assert await events(office, "decision.made", "press.refused") == []
        assert (await office.review(thread)).state.value == "open"
