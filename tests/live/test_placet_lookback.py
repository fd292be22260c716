"""Looking back on live Aegra: a double that another client causes is told, and what nobody raced is left alone."""

import asyncio
import json

import httpx
import pytest
from sqlalchemy import func, select

from bot.store.tables import audit_events, lookbacks
from tests.kit.office import ADA, WHO

pytestmark = [pytest.mark.live, pytest.mark.asyncio]


async def counted(office, statement):
    async with office.stores[0].read() as tx:
        return await tx.conn.scalar(statement)


async def test_answers_that_follow_each_other_on_one_thread_raise_no_alarm(aegra_office):
    async with aegra_office() as office:
        threads = [await office.propose("parallel-three") for _ in range(3)]
        for thread in threads:

            async def all_asked(thread=thread):
                found = await office.reviews(thread)
                return found if len(found) == 3 else None

            for review in await office.until(all_asked, f"three reviews of {thread}"):
                await office.click(ADA, await office.card_of(review, button="decide.approve"), "decide.approve")
        for thread in threads:
            await office.settled(thread)

        async def none_left():
            office.advance(1_000)
            return await counted(office, select(func.count()).select_from(lookbacks)) == 0

        await office.until(none_left, "every look back", every=0.3)
        alarms = select(func.count()).where(audit_events.c.kind == "dispatch.alarm")
        assert await counted(office, alarms) == 0
        assert [len(office.ran(thread)) for thread in threads] == [3, 3, 3]


SLOW = [[{"name": "slow_op", "args": {"seconds": 1}}]]  # long enough for both answers to be under way together
RACES = 5


async def test_no_double_that_another_client_causes_goes_untold(relayed_office, aegra):
    async with relayed_office(aegra) as (office, relay), httpx.AsyncClient(base_url=relay.target, timeout=60) as other:
        theirs = []
        for _ in range(RACES):
            thread = await office.propose(turns=SLOW)

            def beside(body, thread=thread):
                told = {"assistant_id": json.loads(body)["assistant_id"], "command": json.loads(body)["command"]}
                post = other.post(f"/threads/{thread}/runs/wait", json=told, headers=WHO)
                theirs.append(asyncio.ensure_future(post))
                return body

            relay.order(ends=(f"/{thread}/runs/wait",), rewrite=beside)
            review = await office.review(thread, state="open")
            await office.click(ADA, await office.card_of(review, button="decide.approve"), "decide.approve")
            await office.settled(thread)
        await asyncio.gather(*theirs)

        async def none_left():
            office.advance(1_000)
            return await counted(office, select(func.count()).select_from(lookbacks)) == 0

        await office.until(none_left, "every look back", every=0.3)
        doubled = {thread for thread in office.threads if office.ran(thread).count("slow_op") > 1}
        told = {one.thread_id for one in await office.reviews() if one.why in ("raced", "possibly_twice")}
        assert doubled, "a race that doubled nothing proves nothing"
        assert doubled <= told
