"""Slack in trouble: whatever it refuses, loses or takes away, a decision stands, and cards come right when it is back."""

from __future__ import annotations

import pytest

from tests.kit.forging import forge
from tests.kit.office import ADA, BEN, CHANNEL, DAN, buttons
from tests.kit.running import (
    approve,
    calls,
    change,
    deciding,
    decisions,
    events,
    fault_of,
    opened,
    posted,
    press_of,
    rows_of,
)

pytestmark = pytest.mark.asyncio

LONG_MS = 10 * 60_000


async def well(office):
    return await fault_of(office) is None


@pytest.mark.parametrize("status", ["token_revoked", "account_inactive"])
async def test_a_revoked_token_is_marked_on_the_tenant_until_it_works_again(office_in, tmp_path, status):
    async with office_in(tmp_path) as office:
        thread = await office.propose("one")
        card = await office.card("disable_user", button="decide.approve")

        await change(office, "installation", team="T0DEMO", status=status, silent=True)
        await approve(office, ADA, card)
        await office.until(lambda: fault_of(office), "the tenant to ail")
        ailing = await fault_of(office)
        await change(office, "installation", team="T0DEMO", status="active")
        office.advance(LONG_MS)
        await office.settled(thread)
        settled = await office.card("Ran", without="decide.approve")
        await office.until(lambda: well(office), "the tenant to be well")

        assert ailing == status
        assert settled["ts"] == card["ts"]
        assert office.ran(thread) == ["disable_user"]
        assert await decisions(office) == 1


async def test_an_archived_channel_keeps_nobody_from_deciding_by_a_window_that_is_open(office_in, tmp_path):
    async with office_in(tmp_path) as office:
        thread = await office.propose("one")
        card = await office.card("disable_user", button="decide.reject")
        view = await opened(office, BEN, card, "decide.reject")

        await change(office, "channels", id=CHANNEL, archived=True)
        await office.submit(BEN, {"m.0": "Channel or not."})
        await office.settled(thread)
        await office.until(lambda: fault_of(office), "the tenant to ail")
        ailing = await fault_of(office)
        await change(office, "channels", id=CHANNEL, archived=False)
        office.advance(LONG_MS)
        settled = await office.card("Rejected", without="decide.reject")
        await office.until(lambda: well(office), "the tenant to be well")

        assert view["callback_id"] == "reject"
        assert ailing == "is_inactive"
        assert settled["ts"] == card["ts"]
        assert office.ran(thread) == []


async def test_slack_down_while_a_decision_waits_for_its_recheck_voids_nothing(office_in, tmp_path):
    async with office_in(tmp_path) as office:
        thread = await office.propose("one")
        card = await office.card("disable_user", button="decide.approve")
        await posted(office, thread)

        for method in ("users.info", "usergroups.users.list", "chat.update"):
            await office.fault(method, status=503, times=None)
        await approve(office, ADA, card)
        await office.until(lambda: waiting(office, thread), "the re-check to wait")
        ran = office.ran(thread)
        await change(office, "faults", clear=True)
        office.advance(65_000)
        await office.settled(thread)
        settled = await office.card("Ran", without="decide.approve")

        assert ran == []
        assert settled["ts"] == card["ts"]
        assert office.ran(thread) == ["disable_user"]
        assert await events(office, "decision.voided") == []


async def waiting(office, thread):
    review = (await office.reviews(thread))[0]
    return review.state.value == "decided" and review.why == "cannot_confirm"


# -- what Slack finds too much

TOO_MUCH = ["msg_too_long", "msg_blocks_too_long", "invalid_blocks"]


@pytest.mark.parametrize("error", TOO_MUCH)
async def test_a_settled_card_that_slack_finds_too_much_is_updated_with_less(office_in, tmp_path, error):
    async with office_in(tmp_path) as office:
        thread = await office.propose("one")
        card = await office.card("disable_user", button="decide.approve")

        await office.fault("chat.update", error=error)
        await approve(office, ADA, card)
        await office.settled(thread)
        settled = await office.card("", without="decide.approve")

        assert settled["ts"] == card["ts"]
        assert deciding(settled) == []
        assert "Ran" in settled["text"]
        assert len(settled["text"]) <= 900
        assert any(block["type"] == "rich_text" for block in settled["blocks"]), "Slack may insist on one"
        drawn = str(settled["blocks"])
        assert "Ran" in drawn
        assert "<@U0ADA>" in drawn
        assert "disable_user" in drawn
        assert "Review" not in drawn, "there is no such button"
        assert len(await calls(office, "chat.update")) == 2


@pytest.mark.parametrize("error", TOO_MUCH)
async def test_a_card_that_slack_takes_only_with_less_on_it_is_reviewed_and_not_approved_from_the_channel(
    office_in, tmp_path, error
):
    async with office_in(tmp_path) as office:
        await office.fault("chat.postMessage", error=error)
        await office.fault("chat.update", error=error, times=None)  # so that it stays as it is
        thread = await office.propose("one")
        card = await office.card("", button="review.open")

        forged = press_of(card, "decide.approve")
        await forge(office, forged)
        refused = await office.told(ADA, "Press Review")
        await opened(office, ADA, card, "review.open")
        await office.submit(ADA, {"d.0": "approve"})
        await office.settled(thread)

        assert "decide.approve" not in buttons(card)
        assert "decide.reject" in buttons(card)
        assert refused
        assert office.ran(thread) == ["disable_user"]


async def test_a_batch_that_slack_finds_too_much_names_each_outcome_person_and_tool(office_in, tmp_path):
    async with office_in(tmp_path) as office:
        thread = await office.propose("three")
        root = await office.card("wait together", button="review.open")
        await opened(office, ADA, root, "review.open")

        await office.fault("chat.update", error="invalid_blocks", times=4)
        await office.submit(ADA, {"d.0": "approve", "d.1": "reject", "m.2": "EU"})
        await office.settled(thread)
        settled = await office.card("all decided", without="review.open")
        drawn = str(settled["blocks"])

        assert settled["ts"] == root["ts"]
        for said in ("ran", "rejected", "answered", "disable_user", "execute_sql", "ask_user", ADA, "All 3 decided"):
            assert said in drawn
        assert "Review all" not in drawn


async def test_a_message_that_the_workspace_lets_nobody_edit_any_more_is_followed_by_a_new_one(office_in, tmp_path):
    async with office_in(tmp_path) as office:
        thread = await office.propose("one")
        card = await office.card("disable_user", button="decide.approve")

        await office.fault("chat.update", error="edit_window_closed")
        await approve(office, ADA, card)
        (review,) = await office.settled(thread)
        settled = await office.card("Ran", without="decide.approve")
        (row,) = await posted(office, review.thread_id)

        assert settled["ts"] != card["ts"]
        assert row.ts == settled["ts"]
        assert len(await office.messages()) == 2


# -- private words


async def test_a_refusal_that_cannot_be_whispered_comes_by_direct_message(office_in, tmp_path):
    async with office_in(tmp_path) as office:
        thread = await office.propose("one")
        card = await office.card("disable_user", button="decide.approve")

        await office.fault("chat.postEphemeral", error="user_not_in_channel")
        await approve(office, DAN, card)
        told = await office.until(lambda: direct(office, DAN), "a direct message")

        assert "not a reviewer" in told
        assert office.ran(thread) == []


async def told_later(office, user):
    """What somebody was told in private, or nothing yet: then some time passes."""
    if await calls(office, "chat.postEphemeral"):
        office.advance(25_000)
    return any("not a reviewer" in text for text in await office.ephemerals(user))


async def direct(office, user):
    """What the bot told somebody in their direct conversation."""
    channels = (await office.slack.get("/sandbox/channels")).raise_for_status().json()
    for channel in channels:
        if channel["kind"] == "im" and user in channel["members"]:
            found = (await office.slack.get("/sandbox/messages", params={"channel": channel["id"]})).json()
            return found[-1]["text"] if found else ""
    return ""


async def test_a_refusal_waits_out_a_limit_and_is_told_once(office_in, tmp_path):
    async with office_in(tmp_path) as office:
        await office.propose("one")
        card = await office.card("disable_user", button="decide.approve")

        await office.fault("chat.postEphemeral", status=429, retry_after=45)
        await approve(office, DAN, card)
        await office.until(lambda: told_later(office, DAN), "the word to come", every=0.5)

        assert len(await office.ephemerals(DAN)) == 1


# -- presses that no version of ours has sent

STRANGE = ["decide.everything", "decide", "", "x" * 255, "review.close", "approve"]


async def test_an_unknown_button_is_acknowledged_and_answered_and_decides_nothing(office_in, tmp_path):
    async with office_in(tmp_path) as office:
        thread = await office.propose("one")
        card = await office.card("disable_user", button="decide.approve")

        answers = [await forge(office, press_of({**card, "ts": f"{n}.1"}, name)) for n, name in enumerate(STRANGE)]
        await office.told(ADA, "too old to be traced")

        assert [answer.status_code for answer in answers] == [200] * len(STRANGE)
        assert await decisions(office) == 0
        assert (await office.review(thread)).state.value == "open"


async def test_an_unknown_window_is_answered_in_its_place(office_in, tmp_path):
    async with office_in(tmp_path) as office:
        await office.propose("one")
        card = await office.card("disable_user", button="decide.reject")
        view = await opened(office, BEN, card, "decide.reject")

        payload = {
            "type": "view_submission",
            "team": {"id": "T0DEMO"},
            "user": {"id": BEN, "team_id": "T0DEMO"},
            "view": {**view, "callback_id": "of-another-version"},
        }
        answer = await forge(office, payload)

        assert answer.json()["response_action"] == "update"
        assert "too old to be traced" in answer.text
        assert await decisions(office) == 0


# -- a batch whose root is gone


async def test_replies_to_a_root_that_is_gone_follow_the_new_one(office_in, tmp_path):
    async with office_in(tmp_path) as office:
        await office.fault("chat.postMessage", delay_s=0.2)
        thread = await office.propose("three")
        root = await office.card("wait together", button="review.open")
        await office.fault("chat.postMessage", error="cannot_reply_to_message", times=3)
        await change(office, "delete-message", channel=CHANNEL, ts=root["ts"])

        await office.until(lambda: undelivered(office, thread), "a reply to find its root gone")
        office.advance(LONG_MS)
        rows = await posted(office, thread)
        there = {message["ts"] for message in await office.messages()}

        assert {row.ts for row in rows} <= there
        assert root["ts"] not in {row.ts for row in rows}


async def undelivered(office, thread):
    rows = [row for review in await office.reviews(thread) for row in await rows_of(office, review)]
    return rows[0].ts is None or any(row.last_error == "cannot_reply_to_message" for row in rows)
