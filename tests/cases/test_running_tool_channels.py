"""A tool's own channel: its cards go there, and everything that follows a card follows them there."""

from __future__ import annotations

import pytest

from bot.sandbox.slack.records import Channel
from bot.store import messages
from tests.kit.office import ADA, CHANNEL, CLEO, DAN, policy_text
from tests.kit.running import approve, change, fault_of, office_in

pytestmark = pytest.mark.asyncio

REFUNDS = "C0REFUNDS"
REFUND = {"name": "refund", "args": {"order_id": 7, "amount": 12, "currency": "EUR", "notify": True, "labels": None}}
DISABLE = {"name": "disable_user", "args": {"user_id": "u_1", "reason": "asked"}}
TOOLS = f"      refund: {{channel: {REFUNDS}}}\n"


def add_channel(office, channel=REFUNDS, *, members=None, **more):
    everybody = office.world.channels[CHANNEL].members
    office.world.add(Channel(channel, channel.lower(), "T0DEMO", everybody if members is None else members, **more))


async def messages_in(office, channel):
    answer = await office.slack.get("/sandbox/messages", params={"channel": channel})
    return list(answer.raise_for_status().json())


async def posted_in(office, channel, count=1):
    async def there():
        found = await messages_in(office, channel)
        return found if len(found) >= count else None

    return await office.until(there, f"{count} messages in {channel}")


async def updated_in(office, channel, containing):
    async def there():
        return next((one for one in await messages_in(office, channel) if containing in str(one)), None)

    return await office.until(there, f"{containing} in {channel}")


async def test_a_call_is_decided_in_the_channel_of_its_tool(tmp_path):
    async with office_in(tmp_path, tools=TOOLS) as office:
        add_channel(office)
        thread = await office.propose(turns=[[REFUND]])
        (card,) = await posted_in(office, REFUNDS)

        await office.click(ADA, card, "decide.approve", channel=REFUNDS)
        await office.settled(thread)
        settled = await updated_in(office, REFUNDS, "Ran")

        assert settled["ts"] == card["ts"]
        assert office.ran(thread) == ["refund"]
        assert await office.messages() == []


async def test_who_may_not_decide_is_told_so_in_the_tools_channel(tmp_path):
    async with office_in(tmp_path, tools=TOOLS) as office:
        add_channel(office)
        await office.propose(turns=[[REFUND]])
        (card,) = await posted_in(office, REFUNDS)

        await office.click(DAN, card, "decide.approve", channel=REFUNDS)

        assert await office.told(DAN)
        assert office.ran() == []


async def test_calls_of_one_batch_that_name_different_channels_go_to_the_tenants(tmp_path):
    async with office_in(tmp_path, tools=TOOLS) as office:
        add_channel(office)
        await office.propose(turns=[[REFUND, DISABLE]])
        await office.cards(3)

        assert await messages_in(office, REFUNDS) == []


async def test_calls_of_one_batch_that_name_one_channel_go_there_with_their_root(tmp_path):
    both = TOOLS + f'      "send_*": {{channel: {REFUNDS}}}\n'
    email = {"name": "send_email", "args": {"to": "a@example.com", "subject": "s", "body": "b"}}
    async with office_in(tmp_path, tools=both) as office:
        add_channel(office)
        await office.propose(turns=[[REFUND, email]])
        await posted_in(office, REFUNDS, 3)

        assert await office.messages() == []


async def test_a_lost_answer_is_looked_for_in_the_tools_channel_and_leaves_one_card(tmp_path):
    async with office_in(tmp_path, tools=TOOLS) as office:
        add_channel(office)
        await office.fault("chat.postMessage", drop="after", times=1)
        thread = await office.propose(turns=[[REFUND]])
        (card,) = await posted_in(office, REFUNDS)
        review = await office.review(thread)
        await office.until(lambda: delivered(office, review), "the card to be known")

        assert [one["ts"] for one in await messages_in(office, REFUNDS)] == [card["ts"]]
        assert await office.messages() == []


async def delivered(office, review):
    office.advance(5_000)
    return (await office.reviews(review.thread_id))[0].delivered_at


async def test_a_card_that_could_not_be_posted_follows_the_policy_to_another_channel(tmp_path):
    async with office_in(tmp_path, tools=TOOLS) as office:
        add_channel(office, members=frozenset({ADA}))
        await office.propose(turns=[[REFUND]])
        await office.until(lambda: fault_of(office), "the tenant to ail")
        add_channel(office, "C0OTHER")

        moved = policy_text(office.agent.url, tools=TOOLS.replace(REFUNDS, "C0OTHER"))
        await office.apply_policy(moved)
        office.advance(60_000)
        await posted_in(office, "C0OTHER")

        await office.until(lambda: is_well(office), "the tenant to be well")
        assert await messages_in(office, REFUNDS) == []


async def is_well(office):
    return await fault_of(office) is None


async def test_a_card_that_stands_stays_where_it_is_when_the_policy_moves_its_tool(tmp_path):
    async with office_in(tmp_path, tools=TOOLS) as office:
        add_channel(office)
        add_channel(office, "C0OTHER")
        thread = await office.propose(turns=[[REFUND]])
        (card,) = await posted_in(office, REFUNDS)

        await office.apply_policy(policy_text(office.agent.url, tools=TOOLS.replace(REFUNDS, "C0OTHER")))
        await office.click(ADA, card, "decide.approve", channel=REFUNDS)
        await office.settled(thread)
        await updated_in(office, REFUNDS, "Ran")

        assert await messages_in(office, "C0OTHER") == []


async def test_a_deleted_card_comes_again_where_the_policy_says_now(tmp_path):
    async with office_in(tmp_path, tools=TOOLS) as office:
        add_channel(office)
        add_channel(office, "C0OTHER")
        thread = await office.propose(turns=[[REFUND]])
        (card,) = await posted_in(office, REFUNDS)
        await office.apply_policy(policy_text(office.agent.url, tools=TOOLS.replace(REFUNDS, "C0OTHER")))

        await change(office, "delete-message", channel=REFUNDS, ts=card["ts"])
        review = await office.review(thread)
        async with office.stores[0].begin() as tx:
            await messages.doubt_all(tx, review.id)
        office.wake()
        (again,) = await posted_in(office, "C0OTHER")
        await office.click(ADA, again, "decide.approve", channel="C0OTHER")
        await office.settled(thread)

        await updated_in(office, "C0OTHER", "Ran")
        assert office.ran(thread) == ["refund"]


async def test_a_fault_of_one_channel_stays_while_cards_go_to_another(tmp_path):
    async with office_in(tmp_path, tools=TOOLS) as office:
        add_channel(office, members=frozenset({ADA, CLEO}))
        await office.propose(turns=[[REFUND]])
        await office.until(lambda: fault_of(office), "the tenant to ail")

        thread = await office.propose("one")
        await approve(office, ADA, await office.card("disable_user", button="decide.approve"))
        await office.settled(thread)
        await office.card("Ran", without="decide.approve")
        still = await fault_of(office)
        add_channel(office)
        office.advance(600_000)
        await posted_in(office, REFUNDS)
        await office.until(lambda: is_well(office), "the tenant to be well")

        assert still in ("not_in_channel", "channel_not_found")
