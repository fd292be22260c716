"""More than a thousand requests that nobody should send, over every listener and endpoint: nothing decided, no fault of ours.

Two tenants in two workspaces, on each engine. The requests go into the application without a socket, many at once. Which
listeners and routes there are is asked of Bolt and of Starlette, so one that no request reaches fails the test.
"""

from __future__ import annotations

import asyncio
import logging
import random
from urllib.parse import parse_qsl

import httpx
import pytest
from starlette.routing import Match
from structlog.testing import capture_logs

from tests.kit.forging import showing_of
from tests.kit.office import ADA, buttons
from tests.kit.strange_requests import Real, strange_requests
from tests.kit.two_tenants import EVE, PLACE, open_two
from tests.kit.wiretap import resumes

pytestmark = [pytest.mark.asyncio, pytest.mark.timeout(300)]

LEAST = 1_000
AT_ONCE = 24
OURS = ("revoked",)  # an alarm that is raised on purpose: the workspace says that the app was uninstalled
REACHED_BY = 5  # requests at the least, of every listener


class Heard:
    """What reaches one of Bolt's listeners, which then goes on to it."""

    def __init__(self, number, listener):
        self.name = f"{listener.ack_function.__qualname__} {number}"
        self.count, self._answer = 0, listener.ack_function
        listener.ack_function = self.answer  # a method, as Bolt knows ours to be

    async def answer(self, **asked):
        self.count += 1
        return await self._answer(**asked)


def listening(bolt):
    """An ear at every listener that is registered."""
    return [Heard(number, listener) for number, listener in enumerate(bolt._async_listeners)]


def unswept(web, sent):
    """The routes that no request fits."""
    scopes = [{"type": "http", "path": httpx.URL(one.path).path, "method": one.method} for one in sent]
    return [route.path for route in web.routes if not any(route.matches(scope)[0] is Match.FULL for scope in scopes)]


async def answers(web, sent):
    """Every request's status, many at once."""
    gate = asyncio.Semaphore(AT_ONCE)
    inside = httpx.ASGITransport(web, raise_app_exceptions=False, client=("127.0.0.1", 1))

    async def one(client, strange):
        async with gate:
            return strange, (await client.send(strange.request(client))).status_code

    async with httpx.AsyncClient(transport=inside, base_url="http://127.0.0.1") as client:
        return await asyncio.gather(*(one(client, strange) for strange in sent))


async def showings(office, *cards):
    """What the cards' buttons carry, and those of a Home tab and a modal that somebody has open."""

    async def tab():
        view = (
            (await office.slack.get("/sandbox/home", params={"user": ADA, "look": "1"}))
            .raise_for_status()
            .json()["view"]
        )
        return view if view and "decide.approve" in buttons(view) else None

    (await office.slack.get("/sandbox/home", params={"user": ADA})).raise_for_status()
    drawn = [*cards, await office.until(tab, "the Home tab")]
    found = [showing_of(one, action) for one in drawn for action in buttons(one)]
    opened = await office.click(ADA, cards[0], "decide.reject")
    return [*found, opened["view"]["private_metadata"]]


async def as_they_stand(office):
    return [(one.id, one.state, one.actions) for one in await office.reviews()]


async def test_a_thousand_strange_requests_decide_nothing_and_break_nothing(database, tmp_path, caplog):
    async with open_two(database, tmp_path) as two:
        office = two.office
        thread, theirs = await office.propose("three"), await two.propose()
        card, other = await office.card(button="decide.approve"), await two.other_card()
        real = Real(await showings(office, card), [showing_of(other, one) for one in buttons(other)])
        sent = strange_requests(real, random.Random(20_261_130))
        placet = office.replicas[0]
        ears, before = listening(placet.bolt), await as_they_stand(office)

        with capture_logs() as said, caplog.at_level(logging.ERROR):
            told = await answers(placet.web, sent)
            await office.until(lambda: quiet(placet), "all that was begun to end")
            after = await as_they_stand(office)

        assert len(sent) >= LEAST
        assert unswept(placet.web, sent) == []
        assert {ear.name: ear.count for ear in ears if ear.count < REACHED_BY} == {}
        assert [(one.path, parse_qsl(one.content.decode()), status) for one, status in told if status >= 500] == []
        assert [(one, status) for one, status in told if one.refusal and status not in one.refusal] == []
        assert [
            line for line in said if line["log_level"] in ("error", "critical") and line["action"] not in OURS
        ] == []
        assert [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR] == []
        assert after == before
        assert resumes(office.agent.heard, thread) == resumes(two.second.heard, theirs) == []
        await still_works(two, thread, theirs)


async def quiet(placet):
    return len(placet.tasks) == 0


async def still_works(two, thread, theirs):
    """Whoever may decide still can, in both workspaces, and each server runs its own."""
    office = two.office
    other = await two.other_card()
    body = {"user": EVE, "channel": PLACE, "ts": other["ts"], "action_id": "decide.approve"}
    (await office.slack.post("/sandbox/click", json=body)).raise_for_status()
    await office.settled(theirs)
    assert office.ran(thread) == []
    assert two.second.effects_file.exists()
