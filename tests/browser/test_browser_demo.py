"""The whole way in a browser: the agent pauses, people decide, and exactly what they decided is what ran."""

import json

import pytest
from playwright.async_api import expect

from bot.demo import propose_telling, running
from tests.kit.browser import edit_to, modal_of

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(300)]

EDITED = {"user_id": "u_4821", "reason": "fraud review"}


def card(page, *texts):
    found = page.locator(".message")
    for text in texts:
        found = found.filter(has_text=text)
    return found.last


async def propose(page, label):
    await page.get_by_role("button", name=label, exact=True).click()


async def approve_one(page):
    await propose(page, "Disable a user")
    await card(page, "Disable user", "chargeback dispute").get_by_role("button", name="Approve").click()
    await expect(card(page, "Disable user", "✅ Ran")).to_be_visible()


async def reject_one_with_a_reason(page):
    await propose(page, "Refund an order")
    await card(page, "Refund an order").get_by_role("button", name="Reject").click()
    modal = modal_of(page)
    await modal.get_by_label("Reason").fill("Paid twice already.")
    await modal.get_by_role("button", name="Reject").click()
    await expect(card(page, "Refund an order", "Rejected", "Paid twice already.")).to_be_visible()


async def answer_the_question(page):
    await propose(page, "A question to a person")
    await card(page, "A question to a person", "Which region?").get_by_role("button", name="Respond").click()
    modal = modal_of(page)
    await modal.get_by_role("textbox").fill("EU, please.")
    await modal.get_by_role("button", name="Send answer").click()
    await expect(card(page, "A question to a person", "EU, please.", "Answered")).to_be_visible()


async def decide_the_batch_with_a_json_edit(page):
    await propose(page, "Three calls together")
    await card(page, "3 calls wait together").get_by_role("button", name="Review all").click()
    modal = modal_of(page)
    await modal.get_by_role("group", name="Decision for call 1").get_by_label("Edit").check()
    await modal.get_by_role("button", name="Edit as JSON").click()
    await edit_to(modal, EDITED, as_json=True)
    await modal.get_by_role("button", name="See changes").click()
    await modal.get_by_role("button", name="Keep this edit").click()
    await modal.get_by_role("group", name="Decision for call 2").get_by_label("Reject").check()
    await modal.get_by_label("Reason").fill("Too broad.")
    await modal.get_by_label("Your answer").fill("US")
    await modal.locator("[data-submit]").click()
    await expect(page.locator("#modal")).not_to_have_attribute("open", "")
    await expect(card(page, "3 calls, all decided")).to_be_visible()


def decided(demo):
    lines = [json.loads(line) for line in demo.effects.read_text().splitlines()]
    return [(line["tool"], line["args"]) for line in lines if line["tool"] != "read_data"]


async def test_what_people_decide_on_the_page_is_exactly_what_runs(look_at):
    async with running(port=0) as demo, look_at(demo.page) as (page, complaints):
        await approve_one(page)
        await reject_one_with_a_reason(page)
        await answer_the_question(page)
        await decide_the_batch_with_a_json_edit(page)
        effects = page.locator("#effects li")
        await expect(effects.filter(has_text="fraud review")).to_be_visible()

        assert decided(demo) == [
            ("disable_user", {"user_id": "u_4821", "reason": "chargeback dispute"}),
            ("disable_user", EDITED),
        ]
        assert complaints.said == []


async def test_the_demo_starts_with_calls_that_show_what_there_is(look_at):
    async with running(port=0) as demo, look_at(demo.page) as (page, _):
        await propose_telling(demo)
        for title in ("High risk: Run SQL", "A question to a person", "3 calls wait together", "Send an email"):
            await expect(card(page, title)).to_be_visible()
        await expect(page.locator("#panel-live")).to_contain_text("review.opened")
        await expect(page.locator("#panel-live")).to_contain_text("Placet: runs")


async def test_whoever_may_not_decide_is_told_in_private(look_at):
    async with running(port=0) as demo, look_at(f"{demo.page}/?as=U0DAN") as (page, _):
        await propose(page, "Disable a user")
        await card(page, "Disable user").get_by_role("button", name="Approve").click()
        told = page.locator(".message.private").filter(has_text="Only visible to you")
        await expect(told).to_contain_text("You are not a reviewer")
        await page.get_by_role("link", name="Ben reviewer").click()
        await expect(page.locator(".who")).to_contain_text("Ben")

        await expect(page.locator(".message.private")).to_have_count(0)
        assert decided(demo) == []
