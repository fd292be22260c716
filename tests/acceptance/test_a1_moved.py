"""A1 moved server: an answer goes where its question came from, or nowhere."""

from __future__ import annotations

import pytest

from tests.kit.forging import forge, pressed, showing_of
from tests.kit.office import ADA, BEN, local_agent
from tests.kit.steps import blindfold, deciding, heard, opened, pause, redrawn, resume, rewrite, stands

pytestmark = pytest.mark.asyncio


async def one_open_and_one_decided(office):
    waiting, decided = await office.propose("one"), await office.propose("email")
    (still_open,), (held,) = await opened(office, waiting), await opened(office, decided)
    await pause(office)
    await office.click(BEN, await office.card_of(held, button="decide.approve"), "decide.approve")
    await stands(office, held, "decided")
    return still_open, held


async def test_a1_moved_server_supersedes_open_and_decided_reviews_and_sends_to_neither(office_of, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    async with office_of() as office, local_agent(tmp_path / "elsewhere") as elsewhere:
        still_open, held = await one_open_and_one_decided(office)
        card = await office.card_of(still_open, button="decide.approve")

        await rewrite(office, url=elsewhere.url)
        await resume(office)

        for review in (still_open, held):
            await stands(office, review, "superseded", why="moved_server")
            assert not deciding(await redrawn(office, review, "points to another agent server"))
            assert heard(office, review.thread_id) == []
        await forge(office, pressed(ADA, showing_of(card, "decide.approve"), "decide.approve", card=card))
        assert "no longer waiting" in await office.told(ADA)
        assert office.effects() == []
        assert not [one.path for one in elsewhere.heard if "/runs" in one.path or "/commands" in one.path]


async def test_a1_moved_identity_is_noticed_by_the_dispatch_itself(office_of):
    async with office_of(kind="aegra") as office:
        _, held = await one_open_and_one_decided(office)
        blindfold(office)

        await rewrite(office, users="[others]")
        await resume(office)

        await stands(office, held, "superseded", why="moved_server")
        assert heard(office, held.thread_id) == []
        assert office.effects() == []
