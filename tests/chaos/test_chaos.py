"""Whatever crashes, hangs or lies: no effect that nobody approved, no approved effect twice, no decision lost."""

from __future__ import annotations

import pytest

from tests.chaos.late import late_plan, too_late
from tests.chaos.plan import make_plan
from tests.chaos.run import chaos
from tests.chaos.stage import Setting

pytestmark = [pytest.mark.asyncio, pytest.mark.timeout(900)]

SEED, SECONDS = 11, 30.0
AT_ONCE = 12


async def test_kills_stops_and_bad_wires_lose_and_double_nothing(postgres, tmp_path):
    report = await chaos(make_plan(SEED, SECONDS), Setting(tmp_path, postgres))

    assert not report.faults, str(report)
    assert report.figures["duplicate effects"] == 0
    assert report.figures["kill -9 of replicas"] >= 2
    assert report.figures["kill -9 of the agent server"] >= 1
    assert report.figures["completed effects"] >= 3


@pytest.mark.parametrize("server", ["sandbox", "sandbox-langgraph"])
async def test_what_arrives_after_the_settle_time_may_run_twice_and_is_never_silent(postgres, tmp_path, server):
    report = await too_late(late_plan(SEED, AT_ONCE), Setting(tmp_path, postgres, server))

    assert report.kept == AT_ONCE
    assert not report.faults, report
    assert not report.silent, report
    assert report.doubled >= 1  # or this shows nothing
