"""A2 authority in the Home tab and the command: what they show is no right, and whoever presses there is judged anew."""

from __future__ import annotations

import json

import pytest

from tests.kit.crossing import ONE_AND_TWO, crossed
from tests.kit.forging import forge, pressed, showing_of
from tests.kit.office import ADA, BEN, CHANNEL, DAN
from tests.kit.steps import change, heard, opened, pause, redrawn, refusals, reread, resume, rewrite, stands

pytestmark = pytest.mark.asyncio
REPLICAS = ONE_AND_TWO

QUORUM = '      "*": {approvals: 2}\n'


async def tab(office, user, containing, *, look=True):
    """Wait until somebody's open tab says this; answers the view."""

    async def there():
        query = {"user": user} | ({"look": "1"} if look else {})
        view = (await office.slack.get("/sandbox/home", params=query)).raise_for_status().json()["view"]
        return view if view and containing in json.dumps(view, ensure_ascii=False) else None

    return dict(await office.until(there, f"the tab of {user} to say {containing!r}"))


async def my_queue(office, user, text=""):
    """What the command answers to somebody."""
    body = {"user": user, "channel": CHANNEL, "command": "/approvals", "text": text}
    (await office.slack.post("/sandbox/command", json=body)).raise_for_status()
    private = (await office.slack.get("/sandbox/ephemerals", params={"user": user})).raise_for_status().json()
    return str(private[-1])


async def waiting_in_the_tab_of(office, user):
    """One waiting call, and the tab of somebody who may decide it."""
    thread = await office.propose("one")
    (review,) = await opened(office, thread)
    await office.slack.get("/sandbox/home", params={"user": user})
    return review, await tab(office, user, "Awaiting you: 1 call")


@crossed
async def test_a2_home_a_button_there_is_refused_to_whoever_lost_the_right_since(office_of):
    async with office_of() as office:
        review, view = await waiting_in_the_tab_of(office, BEN)
        await change(office, BEN, groups=[])
        await reread(office)

        await forge(office, pressed(BEN, showing_of(view, "decide.approve"), "decide.approve"))
        await office.told(BEN, "not a reviewer")
        emptied = await tab(office, BEN, "You may decide nothing here")

        assert "decide." not in json.dumps(emptied)
        assert "You may decide nothing here" in await my_queue(office, BEN)
        assert (await stands(office, review, "open")).actions[0].decision is None
        assert (office.ran(), heard(office, review.thread_id)) == ([], [])


async def test_a2_home_a_decision_from_there_is_checked_again_at_the_dispatch(office_of):
    async with office_of() as office:
        review, view = await waiting_in_the_tab_of(office, BEN)
        await pause(office)
        await forge(office, pressed(BEN, showing_of(view, "decide.approve"), "decide.approve"))
        await stands(office, review, "decided")
        await change(office, BEN, groups=[])
        await resume(office)

        await stands(office, review, "open", why="voided_authority")
        assert (office.ran(), heard(office, review.thread_id)) == ([], [])


async def test_a2_home_what_stood_there_before_an_edit_is_stale(office_of):
    """The tab of a colleague that shows the agent's arguments takes no approval of what was edited since."""
    async with office_of(tools=QUORUM, reviewers=BOTH) as office:
        review, view = await waiting_in_the_tab_of(office, ADA)
        card = await office.card_of(review, button="decide.edit")
        answer = await office.click(BEN, card, "decide.edit")
        named = {one["label"]["text"]: one["block_id"] for one in answer["view"]["blocks"] if one["type"] == "input"}
        await office.submit(BEN, {named["user_id"]: "u_edited"})
        await office.submit(BEN)
        await redrawn(office, review, "u_edited")

        await forge(office, pressed(ADA, showing_of(view, "decide.approve"), "decide.approve"))
        await office.told(ADA, "changed since")

        assert (ADA, "stale_showing") in await refusals(office)
        assert office.ran() == []
        assert "Approved by you, 1 of 2" in json.dumps(await tab(office, BEN, "", look=False))
        await tab(office, ADA, "u_edited")


async def test_a2_home_the_command_tells_who_may_decide_under_the_policy_that_is_in_force_now(office_of):
    async with office_of() as office:
        assert ADA in await my_queue(office, DAN, "who disable_user")

        await rewrite(office, reviewers='      - {user: U0BEN, tools: ["*"], may: [reject]}\n')

        told = await my_queue(office, DAN, "who disable_user")
        assert BEN in told
        assert ADA not in told


BOTH = """\
      - {user: U0ADA, tools: ["*"], may: [approve, edit, reject, respond]}
      - {group: S0SUPPORT, tools: ["*"], may: [approve, edit, reject]}
"""
