"""`after_unknown: hold`: while nobody can tell what became of a tool's call, nothing more of it is let go."""

from __future__ import annotations

import json

import pytest

from tests.kit.office import ADA, BEN, policy_text
from tests.kit.operating import ask
from tests.kit.running import approve, relayed_office_in

pytestmark = pytest.mark.asyncio

HOLD = '      "disable_*": {resend: never, after_unknown: hold}\n      "*": {resend: never}\n'
PROCEED = '      "*": {resend: never}\n'
HELD_BACK = "nobody can tell whether an earlier call ran"


async def becomes_unknown(office, relay, preset="one", tool="disable_user"):
    """Approve one call of which the server's answer, and the whole request, is lost for good."""
    thread = await office.propose(preset)
    relay.order(status=502, body={})
    await approve(office, ADA, await office.card(tool, button="decide.approve"))
    return await office.review(thread, state="unknown")


async def held_back(office, thread):
    async def there():
        (review,) = [one for one in await office.reviews(thread) if one.state.value == "decided"] or [None]
        return review if review is not None and review.why == "after_unknown" else None

    return await office.until(there, "the call to be held back")


async def test_a_call_of_the_same_tool_waits_until_the_unknown_one_is_settled_and_its_card_says_so(tmp_path):
    async with relayed_office_in(tmp_path, tools=HOLD) as (office, relay):
        unknown = await becomes_unknown(office, relay)
        thread = await office.propose("one")
        await approve(office, ADA, await office.card("disable_user", button="decide.approve"))
        await held_back(office, thread)
        office.advance(4_000)
        await office.card(HELD_BACK)
        before = office.ran()

        told = await ask(office, "settle", review=unknown, note="looked", **{"as": "executed"})
        await office.settled(thread)

        assert told["ok"], told
        assert before == []
        assert office.ran() == ["disable_user"]


async def test_a_call_of_another_tool_on_the_same_thread_waits_too(tmp_path):
    async with relayed_office_in(tmp_path, tools=HOLD) as (office, relay):
        thread = await office.propose("parallel")
        relay.order(status=502, body={})
        await approve(office, ADA, await office.card("disable_user", button="decide.approve"))
        await office.until(lambda: state_of(office, thread, "disable_user", "unknown"), "the first to be unknown")

        await approve(office, ADA, await office.card("execute_sql", button="decide.approve"))
        await held_back(office, thread)

        assert relay.sent_to(thread) == 1


async def state_of(office, thread, tool, state):
    return any(one.state.value == state and one.actions[0].tool == tool for one in await office.reviews(thread))


async def test_what_runs_nothing_and_other_tools_elsewhere_go_out_all_the_same(tmp_path):
    async with relayed_office_in(tmp_path, tools=HOLD) as (office, relay):
        await becomes_unknown(office, relay)

        rejected = await office.propose("one")
        card = await office.card("disable_user", button="decide.reject")
        await office.click(BEN, card, "decide.reject", wait_s=20)
        await office.submit(BEN, {})
        await office.settled(rejected)
        other = await office.propose("email")
        await approve(office, ADA, await office.card("send_email", button="decide.approve"))
        await office.settled(other)

        assert office.ran() == ["send_email"]


async def test_without_the_setting_later_calls_proceed(tmp_path):
    async with relayed_office_in(tmp_path, tools=PROCEED) as (office, relay):
        await becomes_unknown(office, relay)
        thread = await office.propose("one")
        await approve(office, ADA, await office.card("disable_user", button="decide.approve"))
        await office.settled(thread)

        assert office.ran() == ["disable_user"]


async def test_a_policy_that_stops_holding_lets_the_call_go(tmp_path):
    async with relayed_office_in(tmp_path, tools=HOLD) as (office, relay):
        await becomes_unknown(office, relay)
        thread = await office.propose("one")
        await approve(office, ADA, await office.card("disable_user", button="decide.approve"))
        await held_back(office, thread)

        await office.apply_policy(policy_text(relay.url, tools=PROCEED))
        office.advance(60_000)
        office.wake()
        await office.settled(thread)

        assert office.ran() == ["disable_user"]


async def test_the_wait_is_one_entry_in_the_record_and_not_one_every_few_seconds(tmp_path):
    async with relayed_office_in(tmp_path, tools=HOLD) as (office, relay):
        await becomes_unknown(office, relay)
        thread = await office.propose("one")
        await approve(office, ADA, await office.card("disable_user", button="decide.approve"))
        review = await held_back(office, thread)
        office.advance(30_000)
        office.wake()
        await office.propose("email")
        await office.card("send_email", button="decide.approve")

        waits = [one for one in await office.events(review.id) if "after_unknown" in json.dumps(str(one.content))]
        assert len(waits) == 1
