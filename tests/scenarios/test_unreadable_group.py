"""A user group that Slack does not tell about: people whom a rule names go on deciding, unless the group may forbid it."""

from __future__ import annotations

import pytest
import structlog

from bot.store import people
from tests.kit.office import ADA, BEN
from tests.kit.steps import heal, reread

pytestmark = pytest.mark.asyncio

DENYING = """\
      - {user: U0ADA, tools: ["*"], may: [approve, edit, reject, respond]}
      - {group: S0SUPPORT, tools: ["*"], deny: [approve]}
"""


async def test_somebody_named_by_a_rule_decides_while_a_group_cannot_be_read(office_of):
    async with office_of() as office:
        await office.fault("usergroups.users.list", error="internal_error", times=None)
        thread = await office.propose("one")
        card = await office.card(button="decide.approve")

        await office.click(BEN, card, "decide.approve")
        await office.told(BEN, "could not be asked")
        await office.click(ADA, card, "decide.approve")
        await office.settled(thread)

        assert office.ran(thread) == ["disable_user"]


async def test_a_group_that_the_app_has_no_scope_for_is_named_as_such_until_it_has(office_of):
    async with office_of() as office:
        with structlog.testing.capture_logs() as logged:
            await office.fault("usergroups.users.list", error="missing_scope", times=None)
            thread = await office.propose("one")
            card = await office.card(button="decide.approve")

            await office.click(BEN, card, "decide.approve")
            told = await office.told(BEN, "usergroups:read")
            asked = await office.stores[0].now()
            office.advance(61_000)
            await office.until(lambda: refused_since(office, asked), "the group to be asked for again")
        await heal(office)
        await reread(office, BEN)
        await office.click(BEN, card, "decide.approve")
        await office.settled(thread)

        assert "trying again does not help" in told
        assert "minute" not in told
        assert len([one for one in logged if one.get("action") == "group_unreadable"]) == 1
        assert office.ran(thread) == ["disable_user"]
        assert "has changed" not in str(await office.messages()), "nobody joined the group"


async def refused_since(office, asked):
    async with office.stores[0].read() as tx:
        return (await people.group_faults(tx, "T0DEMO", ["S0SUPPORT"])).get("S0SUPPORT", 0) > asked


async def test_a_group_that_may_forbid_it_must_be_readable(office_of):
    async with office_of(reviewers=DENYING) as office:
        await office.fault("usergroups.users.list", error="internal_error", times=None)
        thread = await office.propose("one")
        card = await office.card(button="decide.approve")

        await office.click(ADA, card, "decide.approve")
        await office.told(ADA, "could not be asked")

        assert office.ran(thread) == []
