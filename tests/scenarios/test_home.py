"""The Home tab: what awaits one person, decided from there, and what they decided lately."""

from __future__ import annotations

import json

import pytest

from tests.kit.office import ADA, BEN, DAN

pytestmark = pytest.mark.asyncio

RISKY = "      refund: {risk: high, title: Pay back}\n"


async def home(office, user, *, look=False):
    """The tab as the person sees it; opened, unless they only look."""
    query = {"user": user} | ({"look": "1"} if look else {})
    view = (await office.slack.get("/sandbox/home", params=query)).raise_for_status().json()["view"]
    return view or {"blocks": []}


async def shows(office, user, containing):
    """Wait until the open tab says this."""

    async def there():
        view = await home(office, user, look=True)
        return view if containing in json.dumps(view) else None

    return await office.until(there, f"the tab of {user} to say {containing!r}")


def pressable(view):
    return [
        (block["block_id"], element["action_id"])
        for block in view["blocks"]
        if block["type"] == "actions"
        for element in block["elements"]
    ]


async def press(office, user, view, block_id, action_id):
    body = {"user": user, "view_id": view["id"], "action_id": action_id, "block_id": block_id}
    return (await office.slack.post("/sandbox/click", json=body)).raise_for_status().json()


async def test_home_shows_what_awaits_me_and_an_approval_from_there_runs_the_call(office_of):
    async with office_of() as office:
        await home(office, ADA)
        await shows(office, ADA, "Nothing awaits you")
        thread = await office.propose("one")
        view = await shows(office, ADA, "Awaiting you: 1 call")

        await press(office, ADA, view, *next(one for one in pressable(view) if one[1] == "decide.approve"))
        await office.settled(thread)

        assert office.ran(thread) == ["disable_user"]
        done = await shows(office, ADA, "What you decided lately")
        assert "Nothing awaits you" in json.dumps(done)


async def test_home_puts_high_risk_first_and_opens_a_window_for_a_reason(office_of):
    async with office_of(tools=RISKY) as office:
        calls = [{"name": "disable_user", "args": {"user_id": "u_1", "reason": "x"}}]
        await office.propose(turns=[calls])
        risky = [
            {"name": "refund", "args": {"order_id": 1, "amount": 2, "currency": "EUR", "notify": True, "labels": None}}
        ]
        thread = await office.propose(turns=[risky])
        await office.card("refund", button="decide.reject")
        await home(office, ADA)
        view = await shows(office, ADA, "Awaiting you: 2 calls")

        headings = [block["text"]["text"] for block in view["blocks"] if block["type"] == "header"]
        assert headings[1:] == ["High risk: Pay back", "Disable user"]

        opened = await press(office, ADA, view, *next(one for one in pressable(view) if one[1] == "decide.reject"))
        field = next(block["block_id"] for block in opened["view"]["blocks"] if block["type"] == "input")
        await office.submit(ADA, {field: "No."})
        await office.settled(thread)
        assert office.ran(thread) == []


async def test_home_of_somebody_without_rights_says_why_and_whom_to_ask(office_of):
    async with office_of() as office:
        await office.propose("one")
        await office.card(button="decide.approve")
        await home(office, DAN)
        view = await shows(office, DAN, "You may decide nothing here")

        assert f"<@{ADA}>" in json.dumps(view)
        assert pressable(view) == []


async def test_home_button_of_another_person_is_refused(office_of):
    from tests.kit.forging import forge, pressed, showing_of

    async with office_of() as office:
        thread = await office.propose("one")
        await office.card(button="decide.approve")
        await home(office, ADA)
        view = await shows(office, ADA, "Awaiting you: 1 call")

        await forge(office, pressed(BEN, showing_of(view, "decide.approve"), "decide.approve"))
        await office.told(BEN, "too old to be traced")

        assert office.ran(thread) == []


async def test_home_has_pages(office_of):
    async with office_of() as office:
        await office.propose("thirty")
        await office.cards(1)
        await home(office, ADA)
        view = await shows(office, ADA, "Page 1 of 5")

        await press(office, ADA, view, "home.pages", "home.page.next")
        second = await shows(office, ADA, "Page 2 of 5")

        assert len([one for one in pressable(second) if one[1] == "decide.approve"]) == 6


async def test_a_change_in_a_reviewers_group_is_one_line_in_the_channel(office_of):
    async with office_of() as office:
        await office.propose("one")
        await office.card(button="decide.approve")
        body = {"id": DAN, "groups": ["S0SUPPORT"]}
        (await office.slack.post("/sandbox/people", json=body)).raise_for_status()

        await office.card(f"added <@{DAN}>")

        lines = [one for one in await office.messages() if "reviewers' group" in one["text"]]
        assert len(lines) == 1


async def test_home_is_kept_up_by_whichever_replica_is_left(office_of):
    """An opened tab is a row: it does not matter who heard that it was opened, nor whether they are still there."""
    async with office_of(replicas=2) as office:
        for user in (ADA, BEN):  # one delivery for each replica
            await home(office, user)
            await shows(office, user, "Nothing awaits you")
        office.replicas[0].loops["home"].stop()

        await office.propose("one")

        for user in (ADA, BEN):
            await shows(office, user, "Awaiting you: 1 call")
