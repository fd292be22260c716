from __future__ import annotations

import re

import pytest

from bot.dispatch.housekeeping import Retention
from bot.store.policies import Policies
from tests.kit.office import ADA

pytestmark = pytest.mark.asyncio


async def scraped(office, name: str) -> float:
    """One figure of `/metrics`, counted anew; 0 where it is not there yet."""
    await Retention(office.stores[0], Policies(), lambda: None).step()
    text = (await office.bots[0].get("/metrics")).text
    found = re.search(rf"^{re.escape(name)} (\S+)$", text, re.MULTILINE)
    return float(found.group(1)) if found else 0.0


async def test_what_waits_and_how_long_a_press_takes_are_measured(office_of):
    async with office_of() as office:
        thread = await office.propose("one")
        card = await office.card("disable_user", button="decide.approve")
        waiting = await scraped(office, 'placet_open_reviews{tenant="demo"}')
        before = await scraped(office, "placet_decide_seconds_count")

        await office.click(ADA, card, "decide.approve")
        await office.settled(thread)

        assert waiting == 1.0
        assert await scraped(office, 'placet_open_reviews{tenant="demo"}') == 0.0
        assert await scraped(office, "placet_decide_seconds_count") == before + 1.0
