"""Refusals on record: also where a window was not opened or is too old, and a hundred of them in two events."""

from __future__ import annotations

import json

import pytest

from tests.kit.forging import forge
from tests.kit.office import ADA, GUS
from tests.kit.running import events, office_in, press_of

pytestmark = pytest.mark.asyncio
TOO_OLD = "s_" + "a" * 26


async def refusals(office, user):
    """What is on record of one person's refused presses: kind, reason and count."""
    found = await events(office, "press.refused", "press.refused.again")
    told = [(one.kind, json.loads(one.content)) for one in found if one.actor.endswith(f"/{user}")]
    return [(kind, content["reason"], content.get("count")) for kind, content in told]


async def test_whoever_presses_edit_without_the_right_to_is_on_record_and_counted(tmp_path):
    async with office_in(tmp_path) as office:
        await office.propose("one")
        card = await office.card("disable_user", button="decide.edit")

        await office.click(GUS, card, "decide.edit", wait_s=0)
        await office.told(GUS, "not a reviewer")
        for _ in range(4):
            await office.click(GUS, card, "decide.edit", wait_s=0)

        async def counted():
            office.advance(20_000)
            told = [count or 1 for _, reason, count in await refusals(office, GUS) if reason == "not_a_reviewer"]
            return sum(told) == 5

        await office.until(counted, "every refusal to be accounted for", every=0.2)
        assert ("press.refused", "not_a_reviewer", None) in await refusals(office, GUS)
        assert {count for kind, _, count in await refusals(office, GUS) if kind == "press.refused.again"} & {3, 4}


async def test_a_button_and_a_window_that_nobody_can_trace_are_on_record_under_who_used_them(tmp_path):
    async with office_in(tmp_path) as office:
        await office.propose("one")
        card = await office.card("disable_user", button="decide.edit")
        window = {"id": "V1", "type": "modal", "callback_id": "reject", "private_metadata": TOO_OLD, "hash": "h"}

        await forge(office, press_of(card, "decide.edit", value=TOO_OLD, user=GUS))
        await forge(office, {**press_of(card, "decide.edit", user=ADA), "type": "view_submission", "view": window})

        async def both():
            return await refusals(office, GUS) and await refusals(office, ADA)

        await office.until(both, "both refusals on record")
        assert await refusals(office, GUS) == [("press.refused", "unknown_showing", None)]
        assert await refusals(office, ADA) == [("press.refused", "unknown_showing", None)]


NULLS = ("view", "event", "message", "container", "channel", "state", "authorizations", "enterprise", "response_urls")


async def test_a_press_that_says_null_where_slack_says_something_is_answered_without_a_fault_of_ours(tmp_path):
    async with office_in(tmp_path) as office:
        await office.propose("one")
        card = await office.card("disable_user", button="decide.edit")

        answers = [(await forge(office, press_of(card, "decide.edit", **{name: None}))).status_code for name in NULLS]

        assert set(answers) <= {200, 400}
