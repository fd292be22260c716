"""A whole batch in a browser: three calls, one edited, one rejected with a reason, one answered; what ran is what was decided."""

from __future__ import annotations

import json

import httpx
import pytest
from playwright.async_api import expect

from bot.demo import running
from bot.sandbox.agents.propose import propose
from tests.kit.browser import edit_to, modal_of

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(300)]

CALLS = [
    {"name": "refund", "args": {"order_id": 90071, "amount": 12.7, "currency": "EUR", "notify": True, "labels": None}},
    {"name": "execute_sql", "args": {"query": "DELETE FROM sessions"}},
    {"name": "ask_user", "args": {"question": "Which region?"}},
]


async def proposed(demo):
    async with httpx.AsyncClient(base_url=demo.agent, trust_env=False) as client:
        return (await propose(client, turns=[CALLS], user="U0CLEO"))["thread_id"]


async def results(demo, thread):
    """What the agent read as each tool's answer."""
    async with httpx.AsyncClient(base_url=demo.agent, trust_env=False) as client:
        state = (await client.get(f"/threads/{thread}/state", headers={"X-User-Id": "approvals"})).json()
    return {message["name"]: message["content"] for message in state["values"]["messages"] if message["type"] == "tool"}


def effects(demo):
    lines = demo.effects.read_text().splitlines() if demo.effects.exists() else []
    return [(one["tool"], one["args"]) for one in map(json.loads, lines)]


async def test_three_calls_edited_rejected_and_answered_leave_together_and_nothing_else_runs(look_at):
    async with running(port=0) as demo, look_at(demo.page) as (page, complaints):
        thread = await proposed(demo)
        root = page.locator(".message", has_text="3 calls wait together")
        await root.get_by_role("button", name="Review all").click()
        modal = modal_of(page)

        await modal.get_by_role("group", name="Decision for call 1").get_by_label("Edit").check()
        await edit_to(modal, {"amount": "12.70", "currency": "USD"})
        await modal.get_by_role("button", name="See changes").click()
        await expect(modal).to_contain_text("12.70")
        await modal.get_by_role("button", name="Keep this edit").click()
        await expect(modal.get_by_role("button", name="Edit again")).to_be_visible()
        await modal.get_by_role("group", name="Decision for call 2").get_by_label("Reject").check()
        await modal.get_by_label("Reason").fill("Not on a Friday.")
        await modal.get_by_label("Your answer").fill("eu-1")
        assert effects(demo) == []
        await modal.get_by_role("button", name="Send decisions").click()

        await expect(page.locator(".message", has_text="3 calls, all decided")).to_be_visible()
        await expect(page.locator(".message", has_text="Not on a Friday.").last).to_contain_text("Rejected")
        await expect(page.locator(".message", has_text="USD").last).to_contain_text("Ran")
        assert effects(demo) == [("refund", {**CALLS[0]["args"], "amount": 12.7, "currency": "USD"})]
        read = await results(demo, thread)
        assert "refunded 12.7 USD" in read["refund"]
        assert "not executed. Their reason: Not on a Friday." in read["execute_sql"]
        assert read["ask_user"] == "eu-1"
        assert complaints.said == []
