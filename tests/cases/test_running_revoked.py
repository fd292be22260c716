"""Slack says that the app is gone: the workspace's tenants are marked at once, without a card that would have to fail."""

from __future__ import annotations

import pytest

from tests.kit.running import change, fault_of, office_in

pytestmark = pytest.mark.asyncio


@pytest.mark.parametrize(
    ("status", "code"), [("token_revoked", "token_revoked"), ("account_inactive", "app_uninstalled")]
)
async def test_a_revoked_token_is_marked_before_anything_is_written_and_the_first_card_ends_it(tmp_path, status, code):
    async with office_in(tmp_path) as office:
        await change(office, "installation", team="T0DEMO", status=status)

        async def marked():
            return await fault_of(office) == code

        await office.until(marked, "the tenant to be marked")
        await change(office, "installation", team="T0DEMO", status="active")
        await office.propose("one")
        await office.card(button="decide.approve")

        async def well():
            return await fault_of(office) is None

        await office.until(well, "the mark to be gone")


async def test_a_persons_own_revoked_token_marks_nobody(tmp_path):
    async with office_in(tmp_path) as office:
        event = {"type": "tokens_revoked", "tokens": {"oauth": ["U0ADA"], "bot": []}}
        await change(office, "event", team="T0DEMO", event=event)
        await office.propose("one")
        await office.card(button="decide.approve")

        assert await fault_of(office) is None
