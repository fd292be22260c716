"""Headless Chromium in front of a served workspace, for tests that look at the page as a person does."""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass

import httpx
from playwright.async_api import Browser, Locator, Page, async_playwright, expect

from bot.sandbox.page.routes import pages
from bot.sandbox.serving import serving
from bot.sandbox.slack.app import create_app
from bot.sandbox.slack.rules import Rules
from bot.sandbox.slack.seed import make_world
from tests.kit.slack_sandbox import PLAIN, ScriptedApp, Workspace

CHROMIUM = "/usr/bin/chromium"
ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
]
PATIENCE_MS = 30_000
DESKTOP = {"width": 1280, "height": 900}
PHONE = {"width": 390, "height": 844}


def why_no_browser() -> str:
    """Why browser tests cannot run on this machine; empty where they can."""
    return "" if os.access(CHROMIUM, os.X_OK) else f"{CHROMIUM} is not there (Debian: apt-get install chromium)"


@contextlib.asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    """One browser process."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        try:
            yield browser
        finally:
            await browser.close()


@dataclass
class Complaints:
    """What the browser had to say against the page, and every address that it asked for."""

    said: list[str]
    asked: list[str]


@contextlib.asynccontextmanager
async def looking(browser: Browser, url: str, **context) -> AsyncIterator[tuple[Page, Complaints]]:
    """A fresh page at `url`; `context` as for Playwright's new_context."""
    complaints = Complaints([], [])
    async with await browser.new_context(**{"viewport": DESKTOP, **context}) as opened:
        opened.set_default_timeout(PATIENCE_MS)
        page = await opened.new_page()
        page.on("console", lambda said: complaints.said.append(said.text) if said.type == "error" else None)
        page.on("pageerror", lambda error: complaints.said.append(str(error)))
        page.on("request", lambda request: complaints.asked.append(request.url))
        await page.goto(url)
        yield page, complaints


expect.set_options(timeout=PATIENCE_MS)


@dataclass
class Served(Workspace):
    """A workspace on a port of its own, with an app that a test scripts."""

    url: str = ""

    def as_(self, user, place="C0APPROVALS"):
        """The page's address for this person."""
        return f"{self.url}/?as={user}&in={place}"


@contextlib.asynccontextmanager
async def served(reply=None) -> AsyncIterator[Served]:
    """A workspace with its page, and `reply` in the app's place."""
    world = make_world(rules=Rules(quiet_seconds=0.2, ack_seconds=3.0))
    world.listen_at("http://app.invalid/slack/events")
    bot = ScriptedApp(reply or (lambda payload: None))
    app = create_app(world, bot=httpx.ASGITransport(app=bot), pages=pages())
    async with serving(app) as url, httpx.AsyncClient(base_url=url, verify=PLAIN) as http:
        yield Served(world, bot, http, url)


def modal_of(page: Page) -> Locator:
    """The modal in front of the person."""
    return page.locator("#modal[open]")


async def is_focused(locator: Locator) -> None:
    """Wait until this element has the focus."""
    await expect(locator).to_be_focused()


async def edit_to(modal: Locator, args: dict[str, str], *, as_json: bool = False) -> None:
    """Fill in new arguments, one by one or as JSON."""
    if as_json:
        await modal.get_by_label("Arguments as JSON").fill(json.dumps(args))
        return
    for name, text in args.items():
        await modal.get_by_role("textbox", name=re.compile(rf"^{name}\b")).fill(text)
