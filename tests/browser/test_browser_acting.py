import pytest
from playwright.async_api import expect

from tests.kit.browser import is_focused, modal_of
from tests.kit.slack_sandbox import (
    actions,
    button,
    choice,
    field_block,
    home,
    marked,
    modal,
    option,
    plain,
    section,
    text_input,
)

pytestmark = [pytest.mark.browser, pytest.mark.asyncio(loop_scope="session")]

ASKED = {"title": plain("Sure?"), "text": marked("It *runs*."), "confirm": plain("Do it"), "deny": plain("Go back")}


def submissions(slack):
    return [seen for seen in slack.bot.seen if seen.get("type") == "view_submission"]


def presses(slack):
    return [seen for seen in slack.bot.seen if seen.get("type") == "block_actions"]


def values(payload, block_id="f"):
    (held,) = payload["view"]["state"]["values"][block_id].values()
    return held


class App:
    """An app that opens `view` on a press and answers submissions with `answer`."""

    def __init__(self, view, answer=None):
        self.view, self.answer, self.slack = view, answer, None

    async def __call__(self, payload):
        if payload.get("type") == "block_actions" and payload["container"]["type"] == "message":
            opened = await self.slack.call("views.open", trigger_id=payload["trigger_id"], view=self.view)
            assert opened["ok"], opened
        return self.answer if payload.get("type") == "view_submission" else None


async def opened(slack, page):
    """Press the only button in the channel and wait for its modal."""
    await page.get_by_role("button", name="Go").click()
    await expect(modal_of(page)).to_be_visible()
    return modal_of(page)


def scripted(workspace, view, answer=None):
    app = App(view, answer)
    serving = workspace(app)

    class Scripted:
        async def __aenter__(self):
            app.slack = await serving.__aenter__()
            await app.slack.post(section("a card"), actions(button("go")))
            return app.slack

        async def __aexit__(self, *raised):
            return await serving.__aexit__(*raised)

    return Scripted()


async def test_escape_closes_the_modal_and_the_focus_goes_back_to_what_opened_it(workspace, look_at):
    async with scripted(workspace, modal()) as slack, look_at(slack.as_("U0ADA")) as (page, _):
        modal_shown = await opened(slack, page)
        await is_focused(modal_shown.get_by_label("Why"))
        await page.keyboard.press("Escape")

        await expect(modal_shown).to_have_count(0)
        await is_focused(page.get_by_role("button", name="Go"))
        assert slack.world.modals("U0ADA") == ()


async def test_the_focus_cannot_leave_an_open_modal(workspace, look_at):
    async with scripted(workspace, modal()) as slack, look_at(slack.as_("U0ADA")) as (page, _):
        await opened(slack, page)
        for _ in range(8):
            await page.keyboard.press("Tab")
            # Between last and first, the browser's own surface has its turn; then the document has no focus.
            inside = "!document.hasFocus() || document.activeElement === document.body || !!document.activeElement.closest('#modal')"
            assert await page.evaluate(inside)


async def test_enter_in_a_single_line_sends_the_form_and_in_several_lines_does_not(workspace, look_at):
    view = modal(field_block("f", "One"), field_block("g", "Many", text_input(multiline=True)))
    async with scripted(workspace, view) as slack, look_at(slack.as_("U0ADA")) as (page, _):
        shown = await opened(slack, page)
        await shown.get_by_label("Many").fill("a")
        await shown.get_by_label("Many").press("Enter")
        await expect(shown.get_by_label("Many")).to_have_value("a\n")
        await shown.get_by_label("One").fill("b")
        await shown.get_by_label("One").press("Enter")

        await expect(shown).to_have_count(0)
        (sent,) = submissions(slack)
        assert (values(sent)["value"], values(sent, "g")["value"]) == ("b", "a\n")


async def test_a_field_error_stands_at_its_field_takes_the_focus_and_keeps_what_was_typed(workspace, look_at):
    answer = {"response_action": "errors", "errors": {"g": "Write more."}}
    view = modal(field_block("f", "One"), field_block("g", "Two"))
    async with scripted(workspace, view, answer) as slack, look_at(slack.as_("U0ADA")) as (page, _):
        shown = await opened(slack, page)
        await shown.get_by_label("One").fill("first")
        await shown.get_by_label("Two").fill("x")
        await shown.get_by_role("button", name="Send").click()

        await is_focused(shown.get_by_label("Two"))
        await expect(shown.get_by_label("Two")).to_have_accessible_description("Write more.")
        await expect(shown.get_by_label("One")).to_have_value("first")


async def test_a_required_field_left_empty_is_not_sent(workspace, look_at):
    async with scripted(workspace, modal()) as slack, look_at(slack.as_("U0ADA")) as (page, _):
        shown = await opened(slack, page)
        await shown.get_by_role("button", name="Send").click()

        await expect(shown.get_by_label("Why")).to_have_accessible_description("Please complete this required field.")
        assert submissions(slack) == []


async def test_an_app_that_fails_is_said_to_have_trouble(workspace, look_at):
    async with scripted(workspace, modal(), 500) as slack, look_at(slack.as_("U0ADA")) as (page, _):
        shown = await opened(slack, page)
        await shown.get_by_label("Why").fill("because")
        await shown.get_by_role("button", name="Send").click()

        await expect(shown.get_by_role("alert")).to_have_text("We had some trouble connecting. Try again?")
        await expect(shown.get_by_label("Why")).to_have_value("because")


async def test_a_view_pushed_on_top_gives_way_to_the_one_below_as_it_was(workspace, look_at):
    on_top = modal(field_block("h", "Deeper"), title=plain("Second"), close=plain("Back"))
    answer = {"response_action": "push", "view": on_top}
    async with scripted(workspace, modal(), answer) as slack, look_at(slack.as_("U0ADA")) as (page, _):
        shown = await opened(slack, page)
        await shown.get_by_label("Why").fill("because")
        await shown.get_by_role("button", name="Send").click()
        await is_focused(shown.get_by_label("Deeper"))
        await shown.get_by_role("button", name="Back").click()

        await is_focused(shown.get_by_label("Why"))
        await expect(shown.get_by_label("Why")).to_have_value("because")


async def test_the_cross_closes_the_whole_stack(workspace, look_at):
    answer = {"response_action": "push", "view": modal(title=plain("Second"))}
    async with scripted(workspace, modal(), answer) as slack, look_at(slack.as_("U0ADA")) as (page, _):
        shown = await opened(slack, page)
        await shown.get_by_label("Why").fill("because")
        await shown.get_by_role("button", name="Send").click()
        await expect(shown.get_by_role("heading", name="Second")).to_be_visible()
        await shown.get_by_role("button", name="Close").click()

        await expect(shown).to_have_count(0)
        assert slack.world.modals("U0ADA") == ()


async def test_choosing_redraws_the_modal_and_keeps_what_was_typed(workspace, look_at):
    radios = choice("radio_buttons", "approve", "reject", action_id="way")
    first = modal(field_block("f", "Note"), field_block("w", "Way", radios, dispatch_action=True))

    async def reply(payload):
        if payload.get("type") != "block_actions" or payload["container"]["type"] != "view":
            return
        more = modal(*first["blocks"], field_block("r", "Reason", text_input(action_id="r")))
        await slack.call("views.update", view_id=payload["view"]["id"], view=more)

    async with workspace(reply) as slack:
        await slack.open(first)
        async with look_at(slack.as_("U0ADA")) as (page, _):
            shown = modal_of(page)
            await shown.get_by_label("Note").fill("typed")
            await shown.get_by_role("group", name="Way").get_by_label("reject").check()

            await expect(shown.get_by_label("Reason")).to_be_visible()
            await expect(shown.get_by_label("Note")).to_have_value("typed")
            await expect(shown.get_by_label("reject")).to_be_checked()
            state = presses(slack)[-1]["view"]["state"]["values"]
            assert state["f"]["v"]["value"] == "typed"
            assert state["w"]["way"]["selected_option"]["value"] == "reject"


async def test_every_kind_of_input_is_sent_as_slack_sends_it(workspace, look_at):
    view = modal(
        field_block("s", "Select", choice("static_select", "a", "b")),
        field_block("c", "Boxes", choice("checkboxes", "c", "d")),
        field_block("n", "Number", {"type": "number_input", "action_id": "v", "is_decimal_allowed": True}),
        field_block("d", "Day", {"type": "datepicker", "action_id": "v"}),
        field_block("m", "Moment", {"type": "datetimepicker", "action_id": "v"}),
        field_block("p", "Person", {"type": "users_select", "action_id": "v"}),
        field_block("o", "Optional"),
    )
    view["blocks"][-1]["optional"] = True
    async with scripted(workspace, view) as slack, look_at(slack.as_("U0ADA"), timezone_id="Asia/Tokyo") as (page, _):
        shown = await opened(slack, page)
        await shown.get_by_label("Select").select_option("b")
        await shown.get_by_label("c", exact=True).check()
        await shown.get_by_label("d", exact=True).check()
        await shown.get_by_label("Number").fill("12.70")
        await shown.get_by_label("Day").fill("2026-01-02")
        await shown.get_by_label("Moment").fill("2026-11-30T21:00")
        await shown.get_by_label("Person").select_option("U0BEN")
        await shown.get_by_role("button", name="Send").click()
        await expect(shown).to_have_count(0)

        (sent,) = submissions(slack)
        assert values(sent, "s")["selected_option"]["value"] == "b"
        assert [each["value"] for each in values(sent, "c")["selected_options"]] == ["c", "d"]
        assert values(sent, "n")["value"] == "12.70"
        assert values(sent, "d")["selected_date"] == "2026-01-02"
        assert values(sent, "m")["selected_date_time"] == 1796040000
        assert values(sent, "p")["selected_user"] == "U0BEN"
        assert values(sent, "o")["value"] is None


@pytest.mark.parametrize(("answer", "sent"), [("Do it", 1), ("Go back", 0)])
async def test_a_confirm_dialog_stands_between_press_and_app(workspace, look_at, answer, sent):
    async with workspace() as slack:
        await slack.post(actions(button("go", confirm=ASKED)))
        async with look_at(slack.as_("U0ADA")) as (page, _):
            await page.get_by_role("button", name="Go", exact=True).click()
            asked = page.get_by_role("dialog", name="Sure?")
            await expect(asked).to_contain_text("It runs.")
            await is_focused(asked.get_by_role("button", name="Go back"))
            await asked.get_by_role("button", name=answer).click()
            await expect(asked).to_be_hidden()
            await expect(page.locator('[data-press][aria-busy="true"]')).to_have_count(0)

            assert len(presses(slack)) == sent


async def test_a_press_looks_unfinished_from_its_dialog_to_its_answer(workspace, look_at):
    async with workspace() as slack:
        await slack.post(actions(button("go", confirm=ASKED)))
        async with look_at(slack.as_("U0ADA")) as (page, _):
            pressed = page.get_by_role("button", name="Go", exact=True)
            await pressed.click()
            await expect(page.get_by_role("dialog", name="Sure?")).to_be_visible()

            # In one script, so that nothing of the page comes between the answer and the look.
            busy = await page.evaluate(
                """() => {
                    document.querySelector("#confirm footer button:last-child").click();
                    return document.querySelectorAll('[data-press][aria-busy="true"]').length;
                }"""
            )

            assert busy == 1
            await expect(page.locator('[data-press][aria-busy="true"]')).to_have_count(0)
            assert len(presses(slack)) == 1


async def test_a_press_that_is_not_acknowledged_is_marked(workspace, look_at):
    async with workspace(lambda payload: 500) as slack:
        await slack.post(actions(button("go")))
        async with look_at(slack.as_("U0ADA")) as (page, _):
            await page.get_by_role("button", name="Go").click()

            await expect(page.locator("#told")).to_contain_text("did not acknowledge")


async def test_an_overflow_menu_and_a_select_in_a_message_send_what_was_chosen(workspace, look_at):
    menu = {"type": "overflow", "action_id": "menu", "options": [option("again"), option("never")]}
    async with workspace() as slack:
        await slack.post(actions(menu, choice("static_select", "a", "b", action_id="pick")))
        async with look_at(slack.as_("U0ADA")) as (page, _):
            await page.locator("summary", has_text="⋯").click()
            await page.get_by_role("button", name="never").click()
            await expect(page.locator('[aria-busy="true"]')).to_have_count(0)
            await page.get_by_label("Choose").select_option("b")
            await expect(page.locator('[aria-busy="true"]')).to_have_count(0)

        chosen = [press["actions"][0]["selected_option"]["value"] for press in presses(slack)]
        assert chosen == ["never", "b"]


async def test_a_slash_command_is_answered_in_private(workspace, look_at):
    async with workspace(lambda payload: {"text": "Nothing waits."}) as slack, look_at(slack.as_("U0ADA")) as (page, _):
        await page.get_by_label("Slash command").fill("/approvals list all")
        await page.get_by_label("Slash command").press("Enter")

        await expect(page.locator(".message.private")).to_contain_text("Nothing waits.")
        assert (slack.bot.seen[-1]["command"], slack.bot.seen[-1]["text"]) == ("/approvals", "list all")


async def test_plain_talk_is_not_sent(workspace, look_at):
    async with workspace() as slack, look_at(slack.as_("U0ADA")) as (page, _):
        await page.get_by_label("Slash command").fill("hello")
        await page.get_by_role("button", name="Send").click()

        await expect(page.locator("#told")).to_contain_text("starts with a slash")
        assert slack.bot.seen == []


async def test_the_home_tab_is_opened_and_its_buttons_work(workspace, look_at):
    async def reply(payload):
        if payload.get("type") == "event_callback":
            view = home(section("Your queue"), actions(button("refresh")))
            await slack.call("views.publish", user_id=payload["event"]["user"], view=view)

    async with workspace(reply) as slack, look_at(slack.as_("U0ADA")) as (page, _):
        await page.get_by_role("link", name="App Home").click()
        await expect(page.locator("#home")).to_contain_text("Your queue")
        await page.get_by_role("button", name="Go").click()
        await expect(page.locator('[aria-busy="true"]')).to_have_count(0)

        assert presses(slack)[-1]["container"]["type"] == "view"
