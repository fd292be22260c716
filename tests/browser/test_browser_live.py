import pytest
from playwright.async_api import expect

from tests.kit.browser import PHONE, is_focused, modal_of
from tests.kit.slack_sandbox import actions, button, field_block, marked, modal, plain, section, text_input

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]


async def test_a_new_card_shows_up_by_itself_and_typing_stays(workspace, look_at):
    async with workspace() as slack:
        await slack.open(modal(field_block(element=text_input(multiline=True))))
        async with look_at(slack.as_("U0ADA")) as (page, complaints):
            box = modal_of(page).get_by_label("Why")
            await box.press_sequentially("half a rea")
            loads = [asked for asked in complaints.asked if asked.endswith(".css")]
            await slack.post(section("a new card"))

            await expect(page.locator(".message", has_text="a new card")).to_be_attached()
            await expect(box).to_have_value("half a rea")
            await is_focused(box)
            assert [asked for asked in complaints.asked if asked.endswith(".css")] == loads


async def test_a_new_card_is_read_out_by_its_text(workspace, look_at):
    async with workspace() as slack, look_at(slack.as_("U0ADA")) as (page, _):
        await slack.call("chat.postMessage", channel="C0APPROVALS", text="Asked by <@U0CLEO>", blocks=[section("seen")])

        await expect(page.locator("#announcer")).to_have_text("placet: Asked by @Cleo")
        await expect(page.get_by_role("article", name="placet: Asked by @Cleo")).to_be_visible()


async def test_an_updated_card_is_redrawn_and_the_focus_stays_in_it(workspace, look_at):
    async with workspace() as slack:
        ts = await slack.post(section("waits"), actions(button("go")))
        async with look_at(slack.as_("U0ADA")) as (page, _):
            await page.get_by_role("button", name="Go").focus()
            await slack.call("chat.update", channel="C0APPROVALS", ts=ts, text="done", blocks=[section("is decided")])

            await expect(page.locator(".message")).to_contain_text("is decided")
            await is_focused(page.locator(".message article"))


async def test_another_button_in_a_buttons_place_does_not_inherit_its_focus(workspace, look_at):
    async with workspace() as slack:
        ts = await slack.post(actions(button("approve", text=plain("Approve"))))
        async with look_at(slack.as_("U0ADA")) as (page, _):
            await page.get_by_role("button", name="Approve").focus()
            blocks = [actions(button("back", text=plain("Take back")))]
            await slack.call("chat.update", channel="C0APPROVALS", ts=ts, text="decided", blocks=blocks)

            await expect(page.get_by_role("button", name="Take back")).to_be_visible()
            await expect(page.get_by_role("button", name="Take back")).not_to_be_focused()


async def test_news_far_below_are_offered_not_forced(workspace, look_at):
    async with workspace() as slack:
        for number in range(30):
            await slack.post(section(f"card {number}"))
        async with look_at(slack.as_("U0ADA")) as (page, _):
            await expect(page.locator(".message", has_text="card 29")).to_be_in_viewport()
            await page.locator("#scroll").evaluate("box => { box.scrollTop = 0 }")
            await slack.post(section("the newest"))
            await page.get_by_role("button", name="New messages").click()

            await expect(page.locator(".message", has_text="the newest")).to_be_in_viewport()
            await expect(page.get_by_role("button", name="New messages")).to_be_hidden()


async def test_a_date_is_in_the_readers_own_zone(workspace, look_at):
    async with workspace() as slack:
        await slack.post(section("at <!date^1796040000^{date_short} {time}|2026-11-30 08:00 UTC>"))
        async with look_at(slack.as_("U0ADA"), timezone_id="Asia/Tokyo") as (page, _):
            await expect(page.locator(".message .b-section")).to_have_text("at Nov 30, 2026 21:00")


async def test_hostile_text_stays_text(workspace, look_at):
    attack = "<img src=x onerror=alert(1)><script>alert(2)</script>"
    async with workspace() as slack:
        rich = {"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": [
            {"type": "text", "text": attack, "style": {"code": True}},
            {"type": "link", "url": "javascript:alert(3)", "text": "press"},
        ]}]}  # fmt: skip
        await slack.post(rich, section(attack))
        await slack.open(modal(field_block(label=attack, element=text_input(initial_value=attack, multiline=True))))
        async with look_at(slack.as_("U0ADA")) as (page, complaints):
            await expect(modal_of(page).get_by_label("<img")).to_have_value(attack)

            await expect(page.locator(".message .line").first).to_contain_text(attack)
            assert await page.locator(".message :is(img, script, a)").count() == 0
            assert complaints.said == []
            assert {asked.split("/")[2] for asked in complaints.asked} == {slack.url.split("/")[2]}


async def test_on_a_phone_nothing_is_wider_than_the_screen_and_the_menu_unfolds(workspace, look_at):
    async with workspace() as slack:
        wide = "x" * 300
        await slack.post(section(wide), {"type": "context", "elements": [marked(wide)]}, actions(*_many_buttons()))
        async with look_at(slack.as_("U0ADA"), viewport=PHONE) as (page, _):
            people = page.get_by_role("link", name="Ben reviewer")
            await expect(people).to_be_hidden()
            await page.get_by_role("button", name="Menu").click()
            await expect(people).to_be_visible()

            assert await page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]


def _many_buttons():
    return [button(f"b{number}", text=plain(f"A rather long label {number}")) for number in range(6)]
