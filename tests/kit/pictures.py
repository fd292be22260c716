"""Makes the README's pictures from a running demo: `uv run --all-extras python -m tests.kit.pictures`.

They show the page as a reader of the README will find it. Fonts are this machine's; Lato is Slack's own.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from pathlib import Path

from playwright.async_api import Browser, Page, expect

from bot.demo import Demo, running
from tests.kit.browser import PHONE, chromium, edit_to, looking, modal_of, why_no_browser

FOLDER = Path(__file__).parents[2] / ".pictures"
MOST_BYTES = 150_000
EDITED = {"user_id": "u_4821", "reason": "fraud review"}


async def main() -> int:
    """Make all of them; 1 where there is no browser or a picture came out too large."""
    if reason := why_no_browser():
        print(f"No pictures: {reason}")
        return 1
    logging.getLogger("uvicorn").setLevel(logging.CRITICAL)
    FOLDER.mkdir(exist_ok=True)
    async with chromium() as browser, running(port=0) as demo:
        await channel(browser, demo)
        await batch(browser, demo)
        await phone(browser, demo)
    return report()


def report() -> int:
    """Say how large each picture is."""
    sizes = {file.name: file.stat().st_size for file in sorted(FOLDER.glob("*.png"))}
    for name, size in sizes.items():
        print(f"{name}: {size:,} bytes{' (too large)' if size > MOST_BYTES else ''}")
    return int(any(size > MOST_BYTES for size in sizes.values()))


async def channel(browser: Browser, demo: Demo) -> None:
    """A call that was edited and ran, and one that waits."""
    async with looking(browser, demo.page, viewport={"width": 1200, "height": 740}) as (page, _):
        await propose(page, "Disable a user")
        await page.get_by_role("button", name="Edit").click()
        await edit_to(modal_of(page), EDITED)
        await modal_of(page).locator("[data-submit]").click()
        await modal_of(page).get_by_role("button", name="Approve this").click()
        await expect(page.locator(".message").last).to_contain_text("Ran")
        await propose(page, "Refund an order")
        await expect(page.locator(".message")).to_have_count(2)
        await expect(page.locator("#effects li")).to_have_count(1)
        await page.mouse.move(0, 0)
        await page.locator("#scroll").evaluate("box => { box.scrollTop = box.scrollHeight }")
        await page.screenshot(path=FOLDER / "channel.png")


async def batch(browser: Browser, demo: Demo) -> None:
    """The private view in which three calls are decided together."""
    async with looking(browser, demo.page) as (page, _):
        await propose(page, "Three calls together")
        await page.locator(".message", has_text="calls wait together").get_by_role("button", name="Review all").click()
        modal = modal_of(page)
        await modal.get_by_role("group", name="Decision for call 1").get_by_label("Edit").check()
        await edit_to(modal, EDITED)
        await modal.locator("[data-submit]").click()
        await modal.get_by_role("button", name="Keep this edit").click()
        await expect(modal.get_by_role("button", name="Edit again")).to_be_visible()
        await modal.screenshot(path=FOLDER / "batch.png")
        await page.keyboard.press("Escape")
        await expect(modal).to_have_count(0)


async def phone(browser: Browser, demo: Demo) -> None:
    """A card on a narrow screen."""
    async with looking(browser, demo.page, viewport=PHONE) as (page, _):
        await propose(page, "Refund an order")
        newest = page.locator(".message").last
        await expect(newest).to_contain_text("Refund an order")
        await expect(newest.get_by_role("button", name="Approve")).to_be_visible()
        await page.locator("#scroll").evaluate("box => { box.scrollTop = box.scrollHeight }")
        await page.evaluate("scrollTo(0, 0)")
        await page.screenshot(path=FOLDER / "phone.png")


async def propose(page: Page, label: str) -> None:
    """Press one of the panel's buttons."""
    await page.get_by_role("button", name=label, exact=True).click()


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
