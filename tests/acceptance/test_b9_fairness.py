"""B9, fairness: a tenant whose hundred cards are held up by Slack's limits does not hold up another tenant's.

Counted is what stands between the other tenant and its card: the noisy tenant's writes. Once each workspace has a limit
of its own, so that none need come between, and once both share one, where they take turns.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from bot.sandbox.agents.propose import propose
from bot.sandbox.slack.records import Channel, Member
from bot.sandbox.slack.seed import BOT_TOKEN, BOT_USER, TEAM, add_team
from bot.store import messages
from tests.kit.office import ADA, CLEO, buttons, local_agent, open_office, policy_text
from tests.kit.office_fixtures import PATIENT
from tests.kit.steps import call, deciding, stands

pytestmark = pytest.mark.asyncio

THREADS, CALLS = 13, 8  # a card for each call: 13 roots with 104 replies
BATCH = [[call("disable_user", user_id=f"u_{n:04d}", reason="dormant") for n in range(CALLS)]]
OTHER = """\
  quiet:
    slack: {{team: {team}, channel: {channel}}}
    agent: {{url: "{agent}", kind: aegra, users: [others], assistant: agent_platform}}
    intake_token_env: PLACET_INTAKE_DEMO
    watch: {{every: 1s}}
    reviewers:
      - {{user: {user}, tools: ["*"], may: [approve, reject]}}
"""
ALONE = {"team": "T0OTHER", "channel": "C0OTHERAPPROVALS", "user": "U0EVE"}
TOGETHER = {"team": TEAM, "channel": "C0QUIET", "user": ADA}
STRICT = replace(PATIENT, strict_rates=True)
TURNS = 20  # two rounds of message sync


def prepare(world, settings):
    """A second channel in the same workspace, and a second workspace."""
    world.add(Channel("C0QUIET", "quiet", TEAM, frozenset({BOT_USER, ADA})))
    add_team(world, "T0OTHER", people=[Member("U0EVE", "Eve", "T0OTHER")])
    return replace(settings, slack_bot_token="", slack_tokens={TEAM: BOT_TOKEN, "T0OTHER": "xoxb-other"})


async def noise(office):
    """Over a hundred cards that want to be posted, where Slack takes five at once and then one a second."""
    await asyncio.gather(*(propose(office.agents, turns=BATCH, user=ADA) for _ in range(THREADS)))
    await office.until(lambda: enough(office), "the cards to be wanted")


async def enough(office):
    reviews = [one for one in await office.reviews() if one.tenant == "demo"]
    return len(reviews) == THREADS and await owed(office) > 80


async def owed(office):
    """How many of the noisy tenant's messages are still to be posted."""
    async with office.stores[0].read() as tx:
        rows = [row for one in await office.reviews() for row in await messages.messages_of(tx, one.id)]
    return sum(row.tenant == "demo" and row.ts is None for row in rows)


def noisy(office):
    """How many writes the noisy tenant has had."""
    return sum(call.args.get("channel") == "C0APPROVALS" for call in office.world.calls if call.error is None)


async def card_in(office, channel, **wanted):
    """Wait for the one card there, with or without its buttons."""

    async def there():
        answer = await office.slack.get("/sandbox/messages", params={"channel": channel})
        found = answer.raise_for_status().json()
        return found[0] if found and bool(deciding(found[0])) is wanted["deciding"] else None

    return await office.until(there, f"the card in {channel}", patience=60)


# That tenants take turns on either engine stands in `tests.unit.store.test_store_messages`.
@pytest.mark.parametrize(
    ("database", "place"),
    [("sqlite", ALONE), ("postgresql", TOGETHER)],
    ids=["own_workspace", "same_workspace"],
    indirect=["database"],
)
async def test_b9_slack_down_for_a_batch_of_a_hundred_leaves_another_tenants_card_its_turn(database, tmp_path, place):
    async with local_agent(tmp_path, kind="aegra") as agent:
        policy = policy_text(agent.url, kind="aegra") + OTHER.format(agent=agent.url, **place)
        async with open_office(database, agent, policy=policy, prepare=prepare, rules=STRICT) as office:
            await noise(office)
            thread = (await propose(office.agents, preset="one", user=CLEO, identity="others"))["thread_id"]
            review = await office.review(thread, state="open")

            before = noisy(office)
            card = await card_in(office, place["channel"], deciding=True)
            posted_after = noisy(office) - before
            body = {"user": place["user"], "channel": place["channel"], "ts": card["ts"], "action_id": "decide.approve"}
            pressed = (await office.slack.post("/sandbox/click", json={**body, "wait_s": 0})).raise_for_status().json()
            assert pressed["acked"]
            await stands(office, review, "resumed")
            before = noisy(office)
            await card_in(office, place["channel"], deciding=False)
            settled_after = noisy(office) - before
            still_owed = await owed(office)

            assert office.ran(thread) == ["disable_user"]
            assert still_owed > 0, "the noise went on all the while"
            assert posted_after <= TURNS
            assert settled_after <= TURNS
            assert "decide.approve" in buttons(card)
