"""Sockets that drop, and an hour in which Slack answers nothing well: presses and decisions come through."""

from __future__ import annotations

import json

import pytest

from tests.kit.office import ADA
from tests.kit.running import approve, change, decisions, office_in, said

pytestmark = pytest.mark.asyncio


# -- Socket Mode


async def test_a_socket_that_is_refused_for_a_while_is_opened_as_soon_as_it_can_be(tmp_path):
    async with office_in(tmp_path, transport="socket") as office:
        thread = await office.propose("one")
        card = await office.card("disable_user", button="decide.approve")

        await office.fault("apps.connections.open", error="internal_error")
        await change(office, "socket", cut=True)
        await office.until(lambda: pressed(office, card), "a press to arrive again", patience=60)
        await office.settled(thread)

        assert office.ran(thread) == ["disable_user"]


async def pressed(office, card):
    """Press as somebody does whose press failed: again."""
    if not await decisions(office):
        await approve(office, ADA, card)
    return await decisions(office)


async def test_two_replicas_on_two_sockets_share_what_comes_and_decide_once(tmp_path):
    async with office_in(tmp_path, transport="socket", replicas=2) as office:
        threads = [await office.propose("one") for _ in range(3)]
        for thread in threads:
            (review,) = await office.until(lambda thread=thread: office.reviews(thread), "a review")
            card = await office.card_of(review, button="decide.approve")
            await approve(office, ADA, card)
            await approve(office, ADA, card)
        await office.settled()

        assert (await office.slack.get("/sandbox/socket")).json() == {"connections": 2}
        assert sorted(effect["thread_id"] for effect in office.effects()) == sorted(threads)
        assert await decisions(office) == 3


@pytest.mark.parametrize("transport", ["http", "socket"])
async def test_a_rejection_during_slacks_worst_hour_reaches_the_agent_and_then_the_card(tmp_path, transport):
    async with office_in(tmp_path, transport=transport) as office:
        thread = await office.propose("one")
        card = await office.card("disable_user", button="decide.reject")

        await said(office, ADA, card, "reject", "Not now.")
        await office.fault("chat.update", status=500, times=2)
        await office.fault("chat.update", status=429, retry_after=20)
        await office.fault("chat.update", drop="after")
        await office.settled(thread)
        settled = await office.until(lambda: updated_later(office), "the card to come right", every=0.5)

        assert settled["ts"] == card["ts"]
        assert "Not now." in json.dumps(settled["blocks"])
        (message,) = await office.tool_messages(thread)
        assert "Not now." in message["content"]


async def updated_later(office):
    """The settled card, or nothing yet: then some time passes."""
    office.advance(25_000)
    (card,) = await office.messages()
    return card if "Not now." in json.dumps(card["blocks"]) else None
