"""Opening what a tool answered: all of it, in private, page by page, for those who may, and on the record."""

from __future__ import annotations

import pytest

from tests.kit.office import ADA, BEN, CLEO, DAN, policy_text
from tests.kit.steps import call, opened

pytestmark = pytest.mark.asyncio

LONG = "".join(f"{n:05d} rows\n" for n in range(3_000)) + "THE-END"  # 33,007 characters: six pages


async def ran(office, currency=LONG):
    """A call that was read to its end and approved by a reviewer, and its settled card."""
    args = {"order_id": 1, "amount": 1.5, "currency": currency, "notify": False, "labels": None}
    thread = await office.propose(turns=[[call("refund", **args)]])
    (review,) = await opened(office, thread)
    if len(currency) < 1_000:
        await office.click(ADA, await office.card_of(review, button="decide.approve"), "decide.approve")
    else:
        view = (await office.click(ADA, await office.card_of(review, button="review.open"), "review.open"))["view"]
        while any(block["block_id"] == "pages" and "Next page" in str(block) for block in view["blocks"]):
            view = (await office.press(ADA, view, "review.page.next", "pages"))["view"]
        await office.submit(ADA, {"d.0": "approve"})
    await office.settled(thread)
    return thread, review, await office.card_of(review, button="result.open")


async def window(office, user, containing):
    async def there():
        view = (await office.slack.get("/sandbox/modal", params={"user": user})).json()["view"]
        return view if view and containing in str(view) else None

    return await office.until(there, f"a view with {containing}")


async def readers(office, review):
    return [event.actor for event in await office.events(review.id) if event.kind == "result.opened"]


async def test_a_long_result_is_read_to_its_end_by_who_asked_for_it_and_every_page_is_on_the_record(office_of):
    async with office_of(tools="      refund: {result: status}\n") as office:
        _, review, card = await ran(office)

        await office.click(CLEO, card, "result.open")
        view = await window(office, CLEO, "Page 1 of 6")
        for page in range(2, 7):
            await office.press(CLEO, view, "review.page.next", "pages")
            view = await window(office, CLEO, f"Page {page} of 6")

        assert "THE-END" in str(view)
        assert "kept" not in str(view)
        assert await readers(office, review) == [f"slack:T0DEMO/{CLEO}"] * 6


async def test_a_result_opens_for_nobody_else(office_of):
    async with office_of() as office:
        _, review, card = await ran(office, "EUR")

        await office.click(DAN, card, "result.open")
        told = await office.told(DAN)
        await office.click(BEN, card, "result.open")
        seen = await window(office, BEN, "refunded 1.5 EUR")

        assert "not a reviewer" in told
        assert "Page" not in str(seen["blocks"])
        assert await readers(office, review) == [f"slack:T0DEMO/{BEN}"]


async def test_a_result_that_cannot_be_read_to_its_end_is_called_a_beginning(office_of):
    async with office_of() as office:
        thread, _, card = await ran(office)
        await office.agents.delete(f"/threads/{thread}", headers={"X-User-Id": "approvals"})
        await office.click(ADA, card, "result.open")
        view = await window(office, ADA, "no longer holds")
        policy = policy_text(office.agent.url, kind=office.agent.kind)
        await office.apply_policy(policy.replace("users:", "api_key_env: PLACET_AGENT_KEY_LOST, users:"))

        await office.click(ADA, card, "result.open")
        await window(office, ADA, "cannot be asked just now")

        assert "00001 rows" in str(view)
        assert "Page 1 of 4" in str(view)
