"""Alarms outlive Slack's absence; a private word about a press does not."""

from __future__ import annotations

import pytest
from sqlalchemy import select

from bot.slack.outbound.notices import MOST_ATTEMPTS
from bot.store.notices import add_notice
from bot.store.tables import notices
from tests.kit.office import ADA, CHANNEL
from tests.kit.running import change, office_in

pytestmark = pytest.mark.asyncio
MANY = MOST_ATTEMPTS + 2


async def wanted(office, key, *, user):
    async with office.stores[0].begin() as tx:
        await add_notice(tx, tenant="demo", channel=CHANNEL, user=user, thread_ts=None, text=f"look: {key}", key=key)


async def stored(office, key):
    async with office.stores[0].read() as tx:
        return (await tx.conn.execute(select(notices).where(notices.c.key == key))).one()


async def test_what_operators_must_see_waits_for_slack_and_a_private_word_is_given_up(tmp_path):
    async with office_in(tmp_path) as office:
        for method in ("chat.postMessage", "chat.postEphemeral"):
            await office.fault(method, error="internal_error", times=None)
        await wanted(office, "alarm", user=None)
        await wanted(office, "word", user=ADA)

        async def tried():
            office.advance(61_000)
            return (await stored(office, "alarm")).attempts > MANY and (await stored(office, "word")).state == "failed"

        await office.until(tried, "more attempts than a word is worth", every=0.2)
        await change(office, "faults", clear=True)

        async def said():
            office.advance(61_000)
            return [one for one in await office.messages() if one["text"] == "look: alarm"]

        assert len(await office.until(said, "the alarm", every=0.2)) == 1
        assert (await stored(office, "word")).attempts == MOST_ATTEMPTS
