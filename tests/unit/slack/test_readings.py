"""Readings are shared by all whose questions they can answer, and paced."""

import asyncio

import pytest

from bot.slack.client.people import Pace, SharedReads


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


def test_a_burst_is_free_and_then_the_pace_is_even():
    clock = Clock()
    pace = Pace(clock, burst=2, every=5.0)

    assert [pace.take(), pace.take(), pace.take()] == [0.0, 0.0, 5.0]
    clock.now += 5.0
    assert [pace.take(), pace.take()] == [0.0, 5.0]


def test_a_minute_never_sees_more_than_its_budget():
    clock = Clock()
    pace = Pace(clock, burst=5, every=7.5)
    starts = []
    while clock.now < 400:
        if pace.take() == 0.0:
            starts.append(clock.now)
        clock.now += 0.5

    assert max(sum(start <= other < start + 60 for other in starts) for start in starts) <= 13


def test_nothing_starts_while_the_other_side_says_wait():
    clock = Clock()
    pace = Pace(clock, burst=5, every=5.0)

    pace.hold(30)

    assert pace.take() == pytest.approx(30)
    clock.now += 30
    assert pace.take() == 0.0


class Source:
    """Something slow to read, with a clock in ms; `go` lets it answer."""

    def __init__(self):
        self.now, self.began, self.go = 0, [], asyncio.Event()

    async def read(self, reading):
        reading.began = self.now
        self.began.append(self.now)
        await self.go.wait()


async def asked(readings, source, since):
    task = asyncio.create_task(readings.join("who", since, source.read))
    for _ in range(3):
        await asyncio.sleep(0)
    return task


@pytest.mark.asyncio
async def test_a_reading_under_way_serves_older_questions():
    readings, source = SharedReads(), Source()
    source.now = 50
    first = await asked(readings, source, 10)

    second = await asked(readings, source, 50)
    source.go.set()
    await asyncio.gather(first, second)

    assert source.began == [50]


@pytest.mark.asyncio
async def test_a_newer_question_gets_a_reading_of_its_own():
    readings, source = SharedReads(), Source()
    source.now = 50
    first = await asked(readings, source, 10)

    source.now = 60
    second = await asked(readings, source, 55)
    source.go.set()
    await asyncio.gather(first, second)

    assert source.began == [50, 60]


@pytest.mark.asyncio
async def test_everybody_hears_of_a_reading_that_failed():
    readings = SharedReads()

    async def fails(_reading):
        raise RuntimeError("Slack is away")

    answers = await asyncio.gather(*(readings.join("who", 1, fails) for _ in range(3)), return_exceptions=True)

    assert [str(answer) for answer in answers] == ["Slack is away"] * 3
