"""A thousand requests that nobody should send, over every listener and endpoint: nothing decided, no fault of ours."""

from __future__ import annotations

import json
import random
from urllib.parse import urlencode

import pytest

from tests.forging import forge, post, pressed, showing_of, submitted
from tests.office import ADA, BEN, DAN, local_agent, open_office

pytestmark = [pytest.mark.asyncio, pytest.mark.timeout(600)]

COUNT = 1_000
ACTIONS = (
    "decide.approve", "decide.edit", "decide.reject", "decide.respond", "review.open", "review.page.next",
    "review.page.back", "edit.back", "decision.take_back", "decision", "home.page.next", "home.page.back", "x.y",
)  # fmt: skip
CALLBACKS = ("reject", "respond", "edit", "edit.confirm", "review", "batch", "notice", "unheard_of", "")
JUNK = (
    "",
    "s_",
    "s_" + "a" * 26,
    "s_" + "A" * 26,
    "../../etc/passwd",
    "' OR 1=1 --",
    "\x00",
    "ä" * 500,
    "9" * 2000,
    "-1",
)
PATHS = (
    "/v1/tenants/demo/threads/x/sync", "/v1/tenants/other/threads/x/sync", "/v1/tenants/demo/threads/..%2f..%2fx/sync",
    "/v1/tenants/demo/webhook", "/v1/tenants/%00/webhook", "/slack/events", "/healthz", "/nothing", "/v1/tenants//webhook",
)  # fmt: skip


def mangled(payload, chance):
    """A payload of which something is missing or of another type."""
    key = chance.choice(sorted(payload))
    changed = {**payload, key: chance.choice([None, [], {}, "", 7, {"id": None}, [None], {"values": []}])}
    if chance.random() < 0.3:
        del changed[key]
    return changed


async def one(office, number, chance, showing):
    """The next strange request; answers its status."""
    kind = number % 6
    user, value = chance.choice([DAN, "U0NOBODY", "", "<@U0ADA>"]), chance.choice([*JUNK, showing])
    team = chance.choice(["T0DEMO", "T0OTHER", "T0", "E0ORG"])
    if kind == 0:
        return await forge(office, pressed(user, value, chance.choice(ACTIONS), team=team))
    if kind == 1:
        block = chance.choice(["m.0", "e.0", "d.0", "f.0.0", "m.99", "", "x"])
        values = {block: {"message": {"type": "plain_text_input", "value": chance.choice(JUNK)}}}
        return await forge(office, submitted(user, value, chance.choice(CALLBACKS), values, team=team))
    if kind == 2:
        base = pressed(ADA, chance.choice(JUNK), chance.choice(ACTIONS))
        return await forge(office, mangled(base, chance))
    if kind == 3:
        body = chance.choice(["", "payload=", "payload={}", "payload=[]", "{}", urlencode({"payload": "null"}), "%"])
        return await post(
            office, body, **chance.choice([{}, {"secret": "no"}, {"at": 1.0}, {"without": ("x-slack-signature",)}])
        )
    if kind == 4:
        command = {
            "command": "/approvals",
            "text": chance.choice([*JUNK, f"who {chance.choice(JUNK)}"]),
            "user_id": user,
            "team_id": team,
        }
        return await post(office, urlencode(command, errors="replace"))
    token = chance.choice(["", "Bearer", "Bearer x", "Basic eA==", "Bearer ä".encode().decode("latin-1")])
    body = json.dumps({"user_id": chance.choice(JUNK), "thread_id": chance.choice(JUNK)})
    return await office.bots[0].post(
        chance.choice(PATHS), content=body, headers={"Authorization": token.encode("latin-1")}
    )


async def test_a_thousand_strange_requests_decide_nothing_and_break_nothing(tmp_path):
    chance = random.Random(20_261_130)  # the same thousand in every run
    async with (
        local_agent(tmp_path) as agent,
        open_office(f"sqlite+aiosqlite:///{tmp_path / 'placet.db'}", agent) as office,
    ):
        thread = await office.propose("three")
        card = await office.card(button="decide.approve")
        showing = showing_of(card, "decide.approve")
        statuses = [(number, (await one(office, number, chance, showing)).status_code) for number in range(COUNT)]
        (review,) = await office.reviews(thread)

        assert [found for found in statuses if found[1] >= 500] == []
        assert all(action.decision is None and not action.approvals for action in review.actions)
        assert office.ran(thread) == []
        await office.click(BEN, await office.card(button="decide.approve"), "decide.approve")
