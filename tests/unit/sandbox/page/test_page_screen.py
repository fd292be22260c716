import pytest

from bot.sandbox.slack.seed import APPROVALS
from tests.kit.sandbox_page import CHANNEL, open_page, part, words
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

pytestmark = pytest.mark.asyncio


def rich(*elements):
    return {"type": "rich_text", "elements": list(elements)}


def text(words, **more):
    return {"type": "text", "text": words, **more}


async def test_a_newcomer_is_a_reviewer_in_the_channel_where_the_app_is():
    async with open_page() as page:
        drawn = await page.page()

    assert part(drawn, "body", data_user="U0ADA", data_channel=CHANNEL)
    assert "You are Ada , reviewer" in words(drawn)
    assert words(drawn).index("# approvals") < words(drawn).index("# general")


async def test_each_person_says_what_they_are():
    async with open_page() as page:
        await page.do("people", id="U0BEN", deleted=True)
        shown = words(await page.page())

    assert "Ada reviewer B Ben deactivated C Cleo requester D Dan stranger G Gus guest" in shown


async def test_every_kind_of_block_is_drawn():
    blocks = [
        {"type": "header", "text": plain("Top")},
        section("*mid* line", fields=[marked("f1"), plain("f2")], accessory=button("side")),
        rich(
            {"type": "rich_text_section", "elements": [text("in line")]},
            {"type": "rich_text_preformatted", "elements": [text("in a box")]},
            {"type": "rich_text_quote", "elements": [text("in a quote")]},
            {"type": "rich_text_list", "style": "ordered", "offset": 2, "elements": [
                {"type": "rich_text_section", "elements": [text("third")]},
            ]},
        ),
        {"type": "divider"},
        {"type": "context", "elements": [marked("small"), {"type": "image", "image_url": "https://x/y", "alt_text": "A cat"}]},
        {"type": "image", "image_url": "https://x/y", "alt_text": "A dog"},
        actions(
            button("yes", style="primary", accessibility_label="Approve this call"),
            {"type": "overflow", "action_id": "more", "options": [option("a", "Again")]},
            choice("static_select", action_id="pick"),
            {"type": "users_select", "action_id": "who"},
        ),
    ]  # fmt: skip
    async with open_page() as page:
        await page.post(*blocks)
        drawn = await page.page()

    assert '<h3 class="b-header line">Top</h3>' in drawn
    assert "<b>mid</b> line" in drawn
    assert '<ol class="indent-0" start="3">' in drawn
    assert "<hr>" in drawn
    assert part(drawn, "span", role="img", aria_label="A cat")
    assert part(drawn, "button", class_="button primary", aria_label="Approve this call", data_action="yes")
    assert part(drawn, "select", aria_label="Choose")
    assert "https://x/y" not in drawn
    shown = words(drawn)
    for each in (
        "f1",
        "f2",
        "in line",
        "in a box",
        "in a quote",
        "third",
        "small",
        "A dog",
        "Again",
        "Choose a person",
    ):
        assert each in shown


async def test_a_card_is_called_by_its_text():
    async with open_page() as page:
        await page.post(text_override := section("seen"))
        await page.call("chat.postMessage", channel=CHANNEL, text="*Ran* by <@U0ADA>", blocks=[text_override])
        drawn = await page.page()

    assert part(drawn, "article", aria_label="placet: Ran by @Ada")


async def test_replies_hang_below_their_message_and_whispers_reach_one_person():
    async with open_page() as page:
        root = await page.post(section("root"))
        await page.post(section("reply"), thread_ts=root)
        await page.call("chat.postEphemeral", channel=CHANNEL, user="U0ADA", text="for Ada only")
        for_ada, for_ben = words(await page.page(as_="U0ADA")), words(await page.page(as_="U0BEN"))

    assert for_ada.index("root") < for_ada.index("1 reply") < for_ada.rindex("reply")
    assert "Only visible to you placet APP" in for_ada
    assert "for Ada only" in for_ada
    assert "for Ada only" not in for_ben


async def test_a_deleted_and_an_edited_message_say_so():
    async with open_page() as page:
        root = await page.post(section("root"))
        await page.post(section("reply"), thread_ts=root)
        plain_ts = (await page.call("chat.postMessage", channel=CHANNEL, text="first"))["ts"]
        await page.call("chat.update", channel=CHANNEL, ts=plain_ts, text="second")
        await page.do("delete-message", channel=CHANNEL, ts=root)
        shown = words(await page.page())

    assert "This message was deleted." in shown
    assert "second (edited)" in shown


async def test_an_archived_channel_and_a_direct_message_are_listed():
    async with open_page() as page:
        await page.call("chat.postMessage", channel="U0BEN", text="for Ben")
        await page.do("channels", id="C0GENERAL", archived=True)
        for_ben, for_ada = words(await page.page(as_="U0BEN")), words(await page.page(as_="U0ADA"))

    assert "# general (archived) placet APP App Home" in for_ben
    assert "placet APP" not in for_ada


async def test_a_direct_message_is_shown_to_nobody_else_and_left_behind_with_the_person():
    async with open_page() as page:
        ts = await page.call("chat.postMessage", channel="U0BEN", text="for Ben")
        drawn = await page.page(as_="U0BEN", in_=ts["channel"])
        refused = await page.http.get("/", params={"as": "U0ADA", "in": ts["channel"]})

    assert "for Ben" in words(drawn)
    assert part(drawn, "a", class_="person", href=f"?as=U0ADA&amp;in={CHANNEL}")
    assert refused.status_code == 404


FORM = [
    section("About it"),
    field_block("one", "Short", text_input(initial_value="first", placeholder=plain("A word"), focus_on_load=True)),
    field_block("many", "Long", text_input(multiline=True, initial_value="\nsecond"), optional=True, hint=plain("Take care")),
    field_block("way", "Way", choice("radio_buttons", "a", "b", initial_option=option("b")), dispatch_action=True),
    field_block("some", "Some", choice("checkboxes", "c", "d", initial_options=[option("d")])),
    field_block("pick", "Pick", choice("static_select", initial_option=option("a"))),
    field_block(
        "grouped", "Grouped",
        {"type": "static_select", "action_id": "v", "option_groups": [{"label": plain("Some"), "options": [option("e")]}]},
    ),
    field_block("number", "Number", {"type": "number_input", "action_id": "v", "is_decimal_allowed": True, "initial_value": "12.70"}),
    field_block("day", "Day", {"type": "datepicker", "action_id": "v", "initial_date": "2026-01-02"}),
    field_block("moment", "Moment", {"type": "datetimepicker", "action_id": "v", "initial_date_time": 1796040000}),
    field_block("person", "Person", {"type": "users_select", "action_id": "v", "initial_user": "U0BEN"}),
]  # fmt: skip


async def test_every_kind_of_input_stands_in_the_modal_with_its_value():
    async with open_page() as page:
        await page.open(modal(*FORM))
        drawn = await page.page()

    assert part(drawn, "input", type="text", value="first", placeholder="A word")
    assert part(drawn, "input", value="12.70", inputmode="decimal")
    assert part(drawn, "input", type="date", value="2026-01-02")
    assert part(drawn, "input", data_unix_value="1796040000")
    assert '<option value="U0BEN" selected>' in drawn
    assert part(drawn, "input", type="radio", value="b")[0].endswith("checked>")
    assert not part(drawn, "input", type="radio", value="a")[0].endswith("checked>")
    assert part(drawn, "input", type="checkbox", value="d")[0].endswith("checked>")
    assert part(drawn, "optgroup", label="Some")
    assert "\n\nsecond</textarea>" in drawn
    assert "Long (optional)" in words(drawn)
    assert "Take care" in words(drawn)
    assert part(drawn, "div", data_block="way", data_sends="change")
    assert part(drawn, "div", data_block="one", data_sends="")


async def test_an_error_stands_at_its_field_and_what_was_typed_stays():
    reply = {"response_action": "errors", "errors": {"f": "Too <short>."}}
    async with open_page(reply=lambda payload: reply if payload["type"] == "view_submission" else None) as page:
        await page.open(modal(field_block()))
        await page.do("submit", user="U0ADA", values={"f": "ab"})
        drawn = await page.page()

    (box,) = part(drawn, "input", value="ab")
    assert 'aria-invalid="true"' in box
    assert f'aria-describedby="{box.split(chr(34))[1]}-error"' in box
    assert "Too &lt;short&gt;.</p>" in drawn


async def test_an_error_at_radio_buttons_is_told_of_the_group():
    reply = {"response_action": "errors", "errors": {"f": "Choose."}}
    async with open_page(reply=lambda payload: reply if payload["type"] == "view_submission" else None) as page:
        await page.open(modal(field_block(element=choice(initial_option=option("a")))))
        await page.do("submit", user="U0ADA", values={})
        drawn = await page.page()

    (group,) = part(drawn, "fieldset")
    assert "aria-describedby=" in group
    assert "Choose." in words(drawn)


async def test_trouble_stands_above_the_form():
    async with open_page(reply=lambda payload: 500 if payload["type"] == "view_submission" else None) as page:
        await page.open(modal(field_block()))
        await page.do("submit", user="U0ADA", values={"f": "x"})
        drawn = await page.page()

    assert '<p class="notice" role="alert">We had some trouble connecting. Try again?</p>' in drawn


async def test_a_modal_is_in_front_of_nobody_else():
    async with open_page() as page:
        await page.open(modal(), user="U0ADA")
        for_ben = await page.page(as_="U0BEN")

    assert part(for_ben, "form", class_="view") == []


async def test_a_view_without_submit_can_only_be_closed():
    async with open_page() as page:
        await page.open({"type": "modal", "title": plain("Look"), "blocks": [section()]})
        drawn = await page.page()

    assert part(drawn, "button", type="submit", class_="button primary") == []
    assert "Close</button>" in drawn


async def test_a_confirm_dialog_is_there_with_its_words():
    asked = {"title": plain("Sure?"), "text": marked("It *runs*."), "confirm": plain("Do it"), "deny": plain("No"), "style": "danger"}  # fmt: skip
    async with open_page() as page:
        await page.post(actions(button(confirm=asked)))
        drawn = await page.page()

    assert part(drawn, "div", class_="confirm", data_style="danger")
    assert "It <b>runs</b>." in drawn


async def test_the_home_tab_is_what_the_app_published_for_that_person():
    async with open_page() as page:
        view = home(section("Your queue"), actions(button("refresh")))
        await page.call("views.publish", user_id="U0ADA", view=view)
        drawn, for_ben = await page.page(as_="U0ADA", in_="home"), await page.page(as_="U0BEN", in_="home")

    assert "Your queue" in words(drawn)
    assert part(drawn, "button", data_action="refresh")
    assert "The app shows nothing here yet." in words(for_ben)


async def test_a_channel_without_messages_says_so():
    async with open_page() as page:
        here, elsewhere = words(await page.page(in_=APPROVALS)), words(await page.page(in_="C0GENERAL"))

    assert "Nothing here yet. Let the agent propose something" in here
    assert "Let the agent propose something" not in elsewhere
