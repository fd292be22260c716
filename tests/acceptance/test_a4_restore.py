"""A4 restore: a backup does not know what was taken back after it was made, so what it holds as decided is asked for anew.

The whole way as an operator goes it, on a file: stop, put the backup back, `placet doctor --after-restore`, start. What
the command does on either engine, and when it refuses, stands in `tests.acceptance.test_b14_stop`.
"""

from __future__ import annotations

import shutil
import signal
from pathlib import Path

import pytest

from blocks.reasons import why_text
from tests.kit.forging import showing_of
from tests.kit.office import ADA
from tests.kit.steps import opened, pause, redrawn, resume, says, stands
from tests.kit.wiretap import resumes

pytestmark = [pytest.mark.asyncio, pytest.mark.parametrize("database", ["sqlite"], indirect=True)]


async def stopped(house, process):
    """Nobody has the file open, and it holds everything."""
    process.signal(signal.SIGTERM)
    assert await process.ended() == 0
    await house.office.stores[0].close()


async def examined(house):
    """What the operator's command says."""
    doctor = house.launch("doctor", "--after-restore")
    assert await doctor.ended() == 0, doctor.said()
    return doctor.said()


async def approve(office, review, user):
    await office.click(user, await office.card_of(review, button="decide.approve"), "decide.approve")


async def test_a4_restored_backup_sends_no_decision_that_was_taken_back_after_it_was_made(house_of, database, tmp_path):
    async with house_of() as house:
        office, file = house.office, Path(database.partition(":///")[2])
        first = await house.start(later_ms=0)
        (review,) = await opened(office, await office.propose("one"))
        await pause(office)
        await approve(office, review, ADA)
        await stands(office, review, "decided")
        await stopped(house, first)
        shutil.copy(file, tmp_path / "backup.db")
        second = await house.start(later_ms=0)
        await office.click(ADA, await office.card_of(review, button="decision.take_back"), "decision.take_back")
        await stands(office, review, "open")
        await stopped(house, second)

        shutil.copy(tmp_path / "backup.db", file)
        restored = await stands(office, review, "decided")
        await office.stores[0].close()
        said = await examined(house)
        await house.start(later_ms=0)
        await resume(office)
        again = await stands(office, review, "open", why="voided_restore")
        await redrawn(office, review, why_text("voided_restore"))
        sent = resumes(office.agent.heard, review.thread_id)
        await approve(office, review, ADA)
        await stands(office, review, "resumed")

        assert restored.actions[0].decision.by.user == ADA
        assert said == "1 unsettled reviews were looked at again.\n"
        assert again.actions[0].decision is None
        assert sent == []
        assert office.ran() == ["disable_user"]


async def test_a4_restored_backup_has_every_card_drawn_anew_that_it_does_not_know(house_of, database, tmp_path):
    """The card in the channel looks as the backup says, and was drawn after it: its buttons lead nowhere any more."""
    async with house_of() as house:
        office, file = house.office, Path(database.partition(":///")[2])
        first = await house.start(later_ms=0)
        (review,) = await opened(office, await office.propose("one"))
        await stopped(house, first)
        shutil.copy(file, tmp_path / "backup.db")
        second = await house.start(later_ms=0)
        await pause(office)
        await redrawn(office, review, why_text("paused"))
        await resume(office)
        await office.until(lambda: without(office, review, why_text("paused")), "the card to be as it was")
        later = showing_of(await office.card_of(review), "decide.approve")
        await stopped(house, second)

        shutil.copy(tmp_path / "backup.db", file)
        await examined(house)
        await house.start(later_ms=0)
        await office.until(lambda: shows_another(office, review, later), "the card to be drawn anew")
        await approve(office, review, ADA)
        await stands(office, review, "resumed")

        assert office.ran() == ["disable_user"]
        assert len(await office.messages()) == 1


async def without(office, review, text):
    return text not in says(await office.card_of(review))


async def shows_another(office, review, showing):
    return showing_of(await office.card_of(review), "decide.approve") != showing
