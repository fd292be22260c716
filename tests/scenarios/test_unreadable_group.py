"""A user group that Slack does not tell about: people whom a rule names go on deciding, unless the group may forbid it."""

from __future__ import annotations

import pytest

from tests.office import ADA, BEN

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


async def test_a_group_that_may_forbid_it_must_be_readable(office_of):
    async with office_of(reviewers=DENYING) as office:
        await office.fault("usergroups.users.list", error="internal_error", times=None)
        thread = await office.propose("one")
        card = await office.card(button="decide.approve")

        await office.click(ADA, card, "decide.approve")
        await office.told(ADA, "could not be asked")

        assert office.ran(thread) == []
