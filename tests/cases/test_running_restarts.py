"""The bot ends at every moment of a decision's way, cleanly or not, and the next one carries on from the rows."""

from __future__ import annotations

import asyncio

import pytest

from tests.kit.office import ADA, BEN, policy_text
from tests.kit.running import (
    approve,
    change,
    crashed,
    deciding,
    decisions,
    events,
    office_in,
    opened,
    posted,
    relayed_office_in,
    restarted,
    rows_of,
)

pytestmark = pytest.mark.asyncio

LEASE_MS = 1_500
ONLY_BEN = "      - {group: S0SUPPORT, tools: [disable_user], may: [approve, edit, reject]}\n"
ONLY_ADA = '      - {user: U0ADA, tools: ["*"], may: [approve, reject]}\n'


@pytest.mark.parametrize("crash", [False, True], ids=["stopped", "killed"])
async def test_case_052_the_first_press_after_a_restart_counts(tmp_path, crash):
    async with office_in(tmp_path, lease_ms=LEASE_MS) as office:
        thread = await office.propose("one")
        card = await office.card("disable_user", button="decide.approve")
        await posted(office, thread)

        async with restarted(office, tmp_path, crash=crash, lease_ms=LEASE_MS):
            await approve(office, ADA, card)
            await office.settled(thread)
            settled = await office.card("Ran", without="decide.approve")

        assert office.ran(thread) == ["disable_user"]
        assert settled["ts"] == card["ts"]


async def test_case_052_a_window_opened_before_the_restart_is_submitted_after_it(tmp_path):
    async with office_in(tmp_path) as office:
        thread = await office.propose("three")
        root = await office.card("wait together", button="review.open")
        view = await opened(office, ADA, root, "review.open")
        await office.press(ADA, view, "decision", "d.1", value="reject", wait_s=20)

        async with restarted(office, tmp_path):
            await office.submit(ADA, {"d.0": "approve", "d.1": "reject", "m.1": "too broad", "m.2": "EU"})
            await office.settled(thread)

        assert sorted(office.ran(thread)) == ["disable_user", "read_data"]


async def test_case_052_a_decision_claimed_and_not_sent_when_the_bot_was_killed_is_sent_once(tmp_path):
    async with office_in(tmp_path, lease_ms=LEASE_MS) as office:
        thread = await office.propose("one")
        card = await office.card("disable_user", button="decide.approve")

        await office.fault("users.info", delay_s=60, times=None)  # the re-check before sending hangs
        await approve(office, ADA, card)
        claimed = await office.review(thread, state="claimed")
        await crashed(office.replicas[0])
        await change(office, "faults", clear=True)
        async with restarted(office, tmp_path, crash=None, lease_ms=LEASE_MS):
            await office.settled(thread)
            made = await decisions(office)

        assert claimed.actions[0].decision is not None
        assert office.ran(thread) == ["disable_user"]
        assert made == 1


async def test_case_052_an_answer_under_way_when_the_bot_was_killed_is_found_and_not_sent_again(tmp_path):
    async with relayed_office_in(tmp_path, lease_ms=LEASE_MS) as (office, relay):
        thread = await office.propose("one")
        card = await office.card("disable_user", button="decide.approve")

        never = asyncio.Event()
        relay.order(body={"lost": True}, first=True, until_answered=never)
        await approve(office, ADA, card)
        await office.until(lambda: ran_once(office, thread), "the tool to run")
        async with restarted(office, tmp_path, crash=True, lease_ms=LEASE_MS):
            never.set()
            (review,) = await office.settled(thread)
            settled = await office.card("Ran", without="decide.approve")

        assert review.state.value == "resumed"
        assert len(relay.resumes) == 1
        assert office.ran(thread) == ["disable_user"]
        assert deciding(settled) == []


async def ran_once(office, thread):
    return office.ran(thread) == ["disable_user"]


async def test_case_052_a_card_that_was_not_updated_before_the_restart_is_updated_after_it(tmp_path):
    async with office_in(tmp_path) as office:
        thread = await office.propose("one")
        card = await office.card("disable_user", button="decide.approve")

        await office.fault("chat.update", error="internal_error", times=None)
        await approve(office, ADA, card)
        (review,) = await office.settled(thread)
        async with restarted(office, tmp_path, crash=True):
            await change(office, "faults", clear=True)
            office.advance(65_000)
            settled = await office.card("Ran", without="decide.approve")
            (row,) = await rows_of(office, review)

        assert settled["ts"] == card["ts"] == row.ts
        assert office.ran(thread) == ["disable_user"]


async def test_case_052_a_bot_killed_while_it_posted_does_not_post_again(tmp_path):
    async with office_in(tmp_path) as office:
        await office.fault("chat.postMessage", drop="after", delay_s=0.0)
        await office.fault("conversations.history", delay_s=60, times=None)  # it dies before it can look
        thread = await office.propose("one")
        await office.cards(1)
        await office.until(lambda: events(office, "review.opened"), "the review to be stored")

        async with restarted(office, tmp_path, crash=True):
            await change(office, "faults", clear=True)
            office.advance(65_000)
            card = await office.card("disable_user", button="decide.approve")
            await office.until(lambda: adopted(office, thread, card), "the card to be known")
            await approve(office, ADA, card)
            await office.settled(thread)
            found = await office.messages()

        assert [message["ts"] for message in found] == [card["ts"]]
        assert office.ran(thread) == ["disable_user"]


async def adopted(office, thread, card):
    (row,) = await rows_of(office, await office.review(thread))
    return row.ts == card["ts"]


# -- the answer does not get through


async def test_case_053_a_resume_that_failed_is_not_shown_as_applied_and_is_sent_again_once_it_is_safe(tmp_path):
    async with relayed_office_in(tmp_path) as (office, relay):
        thread = await office.propose("one")
        card = await office.card("disable_user", button="decide.approve")

        relay.order(status=500, body={"detail": "boom"})
        held = asyncio.Event()
        relay.order(until=held)
        await approve(office, ADA, card)
        await office.until(lambda: sent_times(relay, 2), "a second attempt")
        office.advance(4_000)  # what lasts longer than three seconds is drawn
        between = await office.card("*Sending* to the agent server", without="decide.approve")
        held.set()
        (review,) = await office.settled(thread)

        assert "Ran" not in str(between["blocks"])
        assert deciding(between) == []
        assert review.state.value == "resumed"
        assert office.ran(thread) == ["disable_user"]
        assert review.actions[0].decision.by.user == ADA
        marks = {body["config"]["metadata"]["placet_dispatch"] for body in relay.resumes}
        assert len(marks) == 1, "both attempts are the same dispatch"


async def sent_times(relay, count):
    return len(relay.resumes) >= count


async def test_case_053_authority_is_asked_again_before_the_second_attempt(tmp_path):
    async with relayed_office_in(tmp_path, reviewers=ONLY_BEN) as (office, relay):
        thread = await office.propose("one")
        card = await office.card("disable_user", button="decide.approve")

        relay.order(status=500, body={"detail": "boom"})
        await approve(office, BEN, card)
        await office.until(lambda: sent_times(relay, 1), "the first attempt")
        await office.apply_policy(policy_text(office.agent.url, reviewers=ONLY_ADA))
        await office.until(lambda: events(office, "decision.voided"), "the decision to be taken back")

        assert len(relay.resumes) == 1
        assert office.ran(thread) == []
        assert (await office.review(thread)).state.value == "open"
        assert await decisions(office) == 1
