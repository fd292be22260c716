"""Two deployments on one Slack app: whoever presses the other's card is told so, and so are the log and the doctor."""

from __future__ import annotations

import contextlib
from dataclasses import replace

import pytest
import structlog

from bot.app import compose
from bot.doctor.report import examine
from bot.sandbox.serving import serving
from bot.store.upgrade import migrate, open_store
from tests.kit.forging import forge
from tests.kit.office import ADA
from tests.kit.running import events, office_in, opened, posted, press_of

pytestmark = pytest.mark.asyncio

OTHERS = "another deployment of Placet on this Slack app"


@contextlib.asynccontextmanager
async def second_deployment(office, folder):
    """Another Placet with a database of its own, which gets what Slack sends from now on."""
    database = f"sqlite+aiosqlite:///{folder / 'other.db'}"
    await migrate(database)
    settings = replace(office.settings, database_url=database)
    placet = await compose(settings, await open_store(database))
    async with serving(placet.web) as url:
        office.world.listen_at(f"{url}/slack/events")
        yield settings
        await placet.stop()


async def test_a_press_that_the_wrong_deployment_gets_is_told_as_such_logged_and_found_by_the_doctor(tmp_path):
    async with office_in(tmp_path) as office:
        thread = await office.propose("one")
        card = await office.card("disable_user", button="decide.approve")
        await opened(office, ADA, card, "decide.reject")
        async with second_deployment(office, tmp_path) as settings:
            with structlog.testing.capture_logs() as logged:
                submitted = await office.submit(ADA, {"m.0": "No."})
                await office.click(ADA, card, "decide.edit", wait_s=0)
                told = await office.told(ADA, OTHERS)
            found = await examine(settings)

        assert OTHERS in str(submitted["view"]["blocks"])
        assert "app of its own" in told
        assert {one["log_level"] for one in logged if one.get("action") == "not_ours"} == {"warning"}
        assert any("never drew" in one.what and "app of its own" in one.mend for one in found)
        assert office.ran(thread) == []
        assert await events(office, "decision.made") == []


async def test_a_button_of_our_own_card_that_is_too_old_is_not_blamed_on_another_deployment(tmp_path):
    async with office_in(tmp_path) as office:
        thread = await office.propose("one")
        card = await office.card("disable_user", button="decide.approve")
        await posted(office, thread)

        await forge(office, press_of(card, "decide.edit", value="s_" + "a" * 26))

        assert OTHERS not in await office.told(ADA, "too old to be traced")
