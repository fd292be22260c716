"""Who may decide is asked again at every step, of what is stored, and never of the payload."""

from __future__ import annotations

import pytest

from bot.store.people import members_of
from tests.kit.forging import forge, pressed
from tests.kit.office import ADA, BEN, policy_text
from tests.kit.running import (
    TEAM,
    approve,
    button,
    change,
    deciding,
    decisions,
    edited,
    events,
    office_in,
    opened,
    posted,
    press_of,
    relayed_office_in,
    rows_of,
    said,
)
from tests.kit.sights import undecided

pytestmark = pytest.mark.asyncio

NOBODY = "      []\n"
ONLY_GROUP = "      - {group: S0SUPPORT, tools: [disable_user], may: [approve, edit, reject]}\n"


async def test_case_036_without_reviewers_nobody_may_decide_and_the_card_says_so(tmp_path):
    async with office_in(tmp_path, reviewers=NOBODY) as office:
        thread = await office.propose("one")
        card = await office.card("disable_user")
        (review,) = await office.reviews(thread)
        showing = await office.until(lambda: showing_of(office, review), "the card's showing to be stored")

        await forge(office, press_of(card, "decide.approve", value=showing))
        await office.told(ADA, "")

        assert deciding(card) == []
        assert await undecided(office, thread)


async def showing_of(office, review):
    return (await rows_of(office, review))[0].showing_id


async def test_case_036_an_empty_group_grants_nothing(tmp_path):
    async with office_in(tmp_path, reviewers=ONLY_GROUP) as office:
        await change(office, "people", id=BEN, groups=[], silent=True)
        thread = await office.propose("one")
        card = await office.card("disable_user")

        for user in (ADA, BEN):
            await approve(office, user, card)
            assert "not a reviewer" in await office.told(user)

        assert await undecided(office, thread)


async def test_case_036_a_card_of_a_tenant_that_the_policy_no_longer_has_decides_nothing(tmp_path):
    async with office_in(tmp_path) as office:
        thread = await office.propose("one")
        card = await office.card("disable_user", button="decide.approve")
        text = policy_text(office.agent.url, kind=office.agent.kind)
        await posted(office, thread)

        nowhere = text.replace("  demo:\n", "  other:\n").replace(office.agent.url, "http://127.0.0.1:9")
        await office.apply_policy(nowhere)
        (closed,) = await office.settled(thread, states=["superseded"])
        await forge(office, press_of(card, "decide.approve", value=button(card)["value"]))
        await office.told(ADA, "no longer waiting")

        assert closed.why == "moved_server"
        assert await decisions(office) == 0
        assert office.ran(thread) == []


async def test_what_a_policy_closed_is_asked_anew_once_the_policy_points_there_again(tmp_path):
    async with office_in(tmp_path) as office:
        thread = await office.propose("one")
        card = await office.card("disable_user", button="decide.approve")
        text = policy_text(office.agent.url, kind=office.agent.kind)
        await posted(office, thread)

        await office.apply_policy(text.replace(office.agent.url, "http://127.0.0.1:9"))
        await office.settled(thread, states=["superseded"])
        await office.apply_policy(text.replace("every: 1s", "every: 2s"))
        again = await office.review(thread, state="open")
        fresh = await office.card_of(again, button="decide.approve")
        await approve(office, ADA, fresh)
        await office.until(lambda: ran_once(office, thread), "the call to run")

        assert fresh["ts"] != card["ts"]


async def ran_once(office, thread):
    return office.ran(thread) == ["disable_user"]


async def test_case_036_a_group_that_cannot_be_read_grants_nothing_and_is_tried_again(tmp_path):
    async with office_in(tmp_path, reviewers=ONLY_GROUP) as office:
        await office.fault("usergroups.users.list", error="internal_error", times=None)
        thread = await office.propose("one")
        card = await office.card("disable_user")

        await approve(office, BEN, card)
        assert "could not be asked" in await office.told(BEN)
        refused = await undecided(office, thread)
        await change(office, "faults", clear=True)
        await office.until(lambda: pressed_until_taken(office, BEN, card), "the next press to be taken")
        await office.settled(thread)

        assert refused
        assert office.ran(thread) == ["disable_user"]


async def pressed_until_taken(office, user, card):
    """Each time a new press: one that was refused stays refused."""
    if not await decisions(office):
        await forge(office, pressed(user, button(card, "decide.approve")["value"], "decide.approve", card=card))
    return await decisions(office)


async def test_case_037_a_reviewer_removed_while_the_window_is_open_decides_nothing_by_submitting(tmp_path):
    async with office_in(tmp_path, reviewers=ONLY_GROUP) as office:
        thread = await office.propose("one")
        card = await office.card("disable_user", button="decide.reject")
        await opened(office, BEN, card, "decide.reject")

        await change(office, "people", id=BEN, groups=[])
        await office.until(lambda: left_group(office), "the group to be read anew")
        answer = await office.submit(BEN, {"m.0": "No."})

        assert any("not a reviewer" in text for text in answer["errors"].values())
        assert await undecided(office, thread)


async def left_group(office):
    """Whether the bot knows that Ben left: until then a press counts, and is judged again before anything is sent."""
    async with office.stores[0].read() as tx:
        return BEN not in await members_of(tx, TEAM, "S0SUPPORT")


async def test_case_037_a_removal_that_slack_never_told_is_found_before_anything_is_sent(tmp_path):
    async with office_in(tmp_path, reviewers=ONLY_GROUP) as office:
        thread = await office.propose("one")
        card = await office.card("disable_user", button="decide.edit")
        await edited(office, BEN, card, '{"user_id": "u_1", "reason": "x"}')

        await change(office, "people", id=BEN, groups=[], silent=True)
        await office.submit(BEN)
        await office.until(lambda: events(office, "decision.voided"), "the decision to be taken back")

        assert office.ran(thread) == []
        assert (await office.review(thread)).state.value == "open"


async def test_case_037_a_submission_with_somebody_elses_window_decides_nothing(tmp_path):
    async with office_in(tmp_path) as office:
        thread = await office.propose("one")
        card = await office.card("disable_user", button="decide.reject")
        view = await opened(office, BEN, card, "decide.reject")

        stolen = {
            "type": "view_submission",
            "team": {"id": TEAM},
            "user": {"id": ADA, "team_id": TEAM},
            "view": {**view, "state": {"values": {"m.0": {"message": {"type": "plain_text_input", "value": "x"}}}}},
        }
        answer = await forge(office, stolen)

        assert "too old to be traced" in answer.text
        assert await undecided(office, thread)


async def test_case_043_an_edit_cannot_name_another_tool(tmp_path):
    async with relayed_office_in(tmp_path) as (office, relay):
        thread = await office.propose("email")
        card = await office.card("send_email", button="decide.edit")
        view = await edited(office, ADA, card, '{"to": "b@example.com", "subject": "s", "body": "b"}')

        smuggled = {
            "name": {"name": {"type": "plain_text_input", "value": "execute_sql"}},
            "f.0.99": {"value": {"type": "plain_text_input", "value": "execute_sql"}},
        }
        submission = {
            "type": "view_submission",
            "team": {"id": TEAM},
            "user": {"id": ADA, "team_id": TEAM},
            "view": {**view, "state": {"values": smuggled}},
            "edited_action": {"name": "execute_sql", "args": {}},
        }
        await forge(office, submission)
        await office.settled(thread)

        (sent,) = relay.resumes
        ((answer,),) = [tree["decisions"] for tree in sent["command"]["resume"].values()]
        assert set(answer["edited_action"]) == {"name", "args"}
        assert answer["edited_action"]["name"] == "send_email"
        assert office.ran(thread) == ["send_email"]


async def test_case_046_who_started_the_run_may_reject_its_call_and_nothing_else(tmp_path):
    async with office_in(tmp_path) as office:
        thread = await office.propose("one", user=ADA)
        card = await office.card("disable_user", button="decide.approve")

        await approve(office, ADA, card)
        assert "You started this run" in await office.told(ADA)
        edit = await office.click(ADA, card, "decide.edit", wait_s=0)
        await office.until(lambda: told_times(office, ADA, "You started this run", 2), "the edit to be refused too")
        refused = await undecided(office, thread)
        await said(office, ADA, card, "reject", "Mine, and wrong.")
        await office.settled(thread)

        assert refused
        assert edit["view"] is None
        assert office.ran(thread) == []
        (message,) = await office.tool_messages(thread)
        assert "Mine, and wrong." in message["content"]


async def told_times(office, user, what, times):
    return sum(what in text for text in await office.ephemerals(user)) >= times


async def test_case_046_a_policy_may_let_requesters_approve(tmp_path):
    mine = "      disable_user: {title: Disable user, requester_may: [approve, reject]}\n"
    async with office_in(tmp_path) as office:
        text = policy_text(office.agent.url, kind=office.agent.kind)
        await office.apply_policy(text.replace("      disable_user: {title: Disable user}\n", mine))
        thread = await office.propose("one", user=ADA)
        card = await office.card("disable_user", button="decide.approve")

        await approve(office, ADA, card)
        await office.settled(thread)

        assert office.ran(thread) == ["disable_user"]
