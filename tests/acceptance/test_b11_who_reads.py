"""Who may decide nothing reads, in the private view, what the channel is not shown."""

from __future__ import annotations

import pytest

from tests.kit.office import DAN
from tests.kit.steps import call, hire, opened, says

pytestmark = pytest.mark.asyncio
SECRET = "SEEDED-suspected-77y"
HIDES = {"reviewers": '      - {user: U0ADA, tools: ["*"], may: [approve, edit, reject, respond]}\n'}


async def test_b11_redaction_a_suspected_secret_opens_for_nobody_who_may_not_decide(office_of):
    async with office_of(**HIDES) as office:
        args = {"to": "a", "subject": "s", "body": f"password={SECRET}; rm"}
        thread = await office.propose(turns=[[call("send_email", **args)]])
        (review,) = await opened(office, thread)
        card = await office.card_of(review, button="review.open")
        assert SECRET not in says(card)
        hire(office, "U0GUEST", is_restricted=True)
        for user in (DAN, "U0GUEST"):
            seen = await office.click(user, card, "review.open")
            assert SECRET not in str(seen["view"]), user


async def test_b11_redaction_a_suspected_secret_in_a_batch_opens_for_nobody_who_may_not_decide(office_of):
    async with office_of(**HIDES) as office:
        args = {"to": "a", "subject": "s", "body": f"password={SECRET}; rm"}
        thread = await office.propose(turns=[[call("send_email", **args), call("send_email", **args)]])
        (review,) = await opened(office, thread)
        root = await office.card_of(review, None, button="review.open")
        seen = await office.click(DAN, root, "review.open")
        assert SECRET not in str(seen["view"])
