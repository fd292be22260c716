"""A run that does not end: shown as unknown, told to operators, stopped by one of them and by nobody else."""

from __future__ import annotations

import json

import pytest

from bot.dispatch.claim import LONG_MS
from tests.kit.office import ADA, BEN
from tests.kit.operating import chosen, offered
from tests.kit.running import approve, events, office_in
from tests.kit.steps import redrawn, stands

pytestmark = pytest.mark.asyncio
SOON_MS = 900  # the lease: how often a worker that waits for a run's end looks up
FOREVER = [[{"name": "slow_op", "args": {"seconds": 600}}]]


async def a_run_that_does_not_end(office):
    thread = await office.propose(turns=FOREVER)
    await approve(office, ADA, await office.card("slow_op", button="decide.approve"))

    async def began():
        return office.ran(thread) == ["slow_op.begin"]

    await office.until(began, "the tool to begin")
    (review,) = await office.reviews(thread)
    await stands(office, review, "sent")
    office.advance(LONG_MS)
    return await stands(office, review, "unknown", why="still_running")


async def test_a_run_without_an_end_is_stopped_by_an_operator_who_is_told_what_is_not_known(tmp_path):
    async with office_in(tmp_path, kind="aegra", lease_ms=SOON_MS) as office:
        review = await a_run_that_does_not_end(office)
        card = await redrawn(office, review, "still runs")

        assert set(offered(card)) == {"settle", "cancel"}
        assert await chosen(office, BEN, card, "cancel") is None
        window = await chosen(office, ADA, card, "cancel")
        before = (await office.thread(review.thread_id))["status"]
        await office.submit(ADA)
        told = await office.told(ADA, "was stopped")
        await office.until(lambda: events(office, "dispatch.alarm"), "the alarm")
        (alarm,) = await events(office, "dispatch.alarm")

        assert "not known" in json.dumps(window)
        assert "What it had done by then is not known" in told
        assert before == "busy"
        assert (await office.thread(review.thread_id))["status"] != "busy"
        assert [one.kind for one in await events(office, "cancel.asked", "cancel.done")] == [
            "cancel.asked",
            "cancel.done",
        ]
        assert json.loads(alarm.content)["alarm"] == "unknown"
        assert (await office.reviews(review.thread_id))[0].state == "unknown"
        assert office.ran(review.thread_id) == ["slow_op.begin"]
