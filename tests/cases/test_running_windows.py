"""Windows that Slack does not let open, and submissions that are acknowledged late or come twice."""

from __future__ import annotations

import asyncio

import pytest

from tests.kit.office import ADA, BEN
from tests.kit.running import (
    as_json,
    calls,
    change,
    decisions,
    deliveries,
    edited,
    events,
    fields,
    modal,
    office_in,
    opened,
    relayed_office_in,
    said,
)
from tests.kit.sights import undecided

pytestmark = pytest.mark.asyncio

NOT_OPENED = [
    {"error": "expired_trigger_id"},
    {"error": "exchanged_trigger_id"},
    {"error": "trigger_expired"},
    {"error": "invalid_arguments", "messages": ["`trigger_id` expired [json-pointer:/trigger_id]"]},
    {"status": 429, "retry_after": 30},
    {"status": 503},
    {"drop": "before"},
]
TROUBLE = "We had some trouble connecting. Try again?"


async def test_case_065_a_window_that_comes_too_late_is_told_and_the_next_press_opens_it(tmp_path):
    async with office_in(tmp_path) as office:
        thread = await office.propose("one")
        card = await office.card("disable_user", button="decide.reject")

        for number, fault in enumerate(NOT_OPENED, start=1):
            await office.fault("views.open", **fault)
            failed = await office.click(ADA, card, "decide.reject", wait_s=0)

            await office.until(lambda number=number: _told_times(office, number), f"{fault} to be told")
            assert failed["acked"]
            assert failed["view"] is None
        await opened(office, ADA, card, "decide.reject")

        assert await decisions(office) == 0
        assert (await office.review(thread)).state.value == "open"
        triggers = [call["args"]["trigger_id"] for call in await calls(office, "views.open")]
        assert len(set(triggers)) == len(triggers), "a trigger was used twice"


async def _told_times(office, number):
    told = [text for text in await office.ephemerals(ADA) if "Press the button again" in text]
    return len(told) == number


async def test_case_065_nothing_is_asked_of_slack_between_the_press_and_its_window(tmp_path):
    async with office_in(tmp_path) as office:
        await office.propose("one")
        card = await office.card("disable_user", button="decide.edit")
        await office.until(lambda: calls(office, "users.info"), "the reviewers to be known")

        before = len(office.world.calls)
        await opened(office, BEN, card, "decide.edit")

        asked = [call.method for call in list(office.world.calls)[before:]]
        assert asked[0] == "views.open"


async def test_case_065_two_choices_in_quick_succession_both_bring_up_their_fields(tmp_path):
    async with office_in(tmp_path) as office:
        await office.propose("three")
        root = await office.card("wait together", button="review.open")
        view = await opened(office, ADA, root, "review.open")

        await office.fault("views.update", error="hash_conflict")
        await office.press(ADA, view, "decision", "d.0", value="reject")

        there = (await modal(office, ADA))["state"]
        assert "m.0" in there


BAD_JSON = ['{"to":\u00a0"b", "n": 3}', '{"to": "b", "n": 3,}']


async def test_case_020_text_that_is_no_json_stays_in_its_form_and_curly_quotes_are_shown_back(tmp_path):
    async with office_in(tmp_path) as office:
        thread = await office.propose("email")
        card = await office.card("send_email", button="decide.edit")
        view = await as_json(office, ADA, await opened(office, ADA, card, "decide.edit"))

        for typed in BAD_JSON:
            answer = await office.submit(ADA, {fields(view, "e")[0]: typed})
            there = await modal(office, ADA)

            assert list(answer["errors"]) == fields(view, "e")
            assert there["state"][fields(view, "e")[0]]["json"]["value"] == typed
        confirm = (await office.submit(ADA, {fields(view, "e")[0]: "{“to”: “b”, “n”: 3}"}))["view"]

        assert confirm["callback_id"] == "edit.confirm"
        assert "Curly quotes were read as straight ones" in str(confirm["blocks"])
        assert await undecided(office, thread)


async def test_case_062_a_submission_is_answered_before_the_agent_server_is_asked(tmp_path):
    async with relayed_office_in(tmp_path) as (office, relay):
        thread = await office.propose("one")
        card = await office.card("disable_user", button="decide.reject")
        slow = asyncio.Event()
        relay.order(until=slow)

        closed = await said(office, ADA, card, "reject", "Not this one.")
        waited = (await office.review(thread)).state.value
        slow.set()
        await office.settled(thread)

        assert closed["acked"]
        assert closed["view"] is None
        assert waited in ("decided", "claimed", "armed")
        assert len(relay.resumes) == 1
        assert [delivery["status"] for delivery in await deliveries(office, "view_submission")] == [200]


async def test_case_062_whoever_submits_again_after_trouble_connecting_sends_nothing_twice(tmp_path):
    async with office_in(tmp_path) as office:
        thread = await office.propose("one")
        card = await office.card("disable_user", button="decide.edit")
        await edited(office, ADA, card, '{"user_id": "u_7", "reason": "asked twice"}')

        await office.fault("deliver.view_submission", drop="after")
        first = await office.submit(ADA)
        again = await office.submit(ADA)
        await office.settled(thread)

        assert (first["acked"], first["error"]) == (False, TROUBLE)
        assert (again["acked"], again["view"]) == (True, None)
        assert [effect["args"]["user_id"] for effect in office.effects(thread)] == ["u_7"]
        assert len(await events(office, "decision.made")) == 1
        assert await events(office, "press.refused") == []


async def test_case_062_a_batch_sent_again_after_trouble_connecting_is_taken_as_sent(tmp_path):
    async with office_in(tmp_path) as office:
        thread = await office.propose("three")
        root = await office.card("wait together", button="review.open")
        view = await opened(office, ADA, root, "review.open")
        await office.press(ADA, view, "decision", "d.1", value="reject", wait_s=20)

        await office.fault("deliver.view_submission", drop="after")
        first = await office.submit(ADA, {"d.0": "approve", "d.1": "reject", "m.1": "too broad", "m.2": "EU"})
        again = await office.submit(ADA)
        await office.settled(thread)

        assert (first["acked"], first["error"]) == (False, TROUBLE)
        assert (again["acked"], again["view"]) == (True, None)
        assert len(await events(office, "decision.made")) == 3


async def test_case_062_a_submission_that_arrives_late_is_decided_and_its_repetition_is_not(tmp_path):
    async with office_in(tmp_path) as office:
        thread = await office.propose("ask")
        card = await office.card("ask_user", button="decide.respond")

        await office.fault("deliver.view_submission", dup=True)
        closed = await said(office, ADA, card, "respond", "EU")
        await office.settled(thread)

        assert closed["view"] is None
        (message,) = await office.tool_messages(thread)
        assert message["content"] == "EU"
        assert len(await events(office, "decision.made")) == 1


async def test_a_window_that_was_closed_meanwhile_is_no_trouble_for_anybody(tmp_path):
    async with office_in(tmp_path) as office:
        await office.propose("three")
        root = await office.card("wait together", button="review.open")
        view = await opened(office, ADA, root, "review.open")

        await office.fault("views.update", error="not_found")
        pressed = await office.press(ADA, view, "decision", "d.0", value="reject", wait_s=0)
        await office.until(lambda: calls(office, "views.update"), "the window to be found closed")
        await change(office, "close", user=ADA, all=True)
        again = await opened(office, ADA, root, "review.open")

        assert pressed["acked"]
        assert await office.ephemerals(ADA) == []
        chosen = again["state"]["values"]["d.0"]["decision"]["selected_option"]
        assert chosen["value"] == "reject", "what was chosen before it closed is kept"
